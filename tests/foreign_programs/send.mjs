// One mail by a provider's own library, pointed at a gate by its base URL alone.
// node send.mjs LIBRARY GATE KEY TO SUBJECT prints {"id"} or {"status", "text"}.

const [library, gate, key, to, subject] = process.argv.slice(2);
const from = "billing@acme.example";
const text = "It is on its way.";

async function byResend() {
  process.env.RESEND_BASE_URL = `${gate}/resend`;
  const { Resend } = await import("resend");
  const { data, error } = await new Resend(key).emails.send({ from, to, subject, text });
  if (error) return { status: error.statusCode, text: `${error.name}|${error.message}` };
  return { id: data.id };
}

async function byPostmark() {
  const { ServerClient } = await import("postmark");
  const host = `${gate.replace("http://", "")}/postmark`;
  const client = new ServerClient(key, { useHttps: false, requestHost: host });
  const mail = { From: from, To: to, Subject: subject, TextBody: text };
  try {
    return { id: (await client.sendEmail(mail)).MessageID };
  } catch (error) {
    return { status: error.statusCode, text: `${error.name}|${error.message}` };
  }
}

async function bySendGrid() {
  const { default: sendgrid } = await import("@sendgrid/mail");
  sendgrid.setApiKey(key);
  sendgrid.client.setDefaultRequest("baseUrl", `${gate}/sendgrid`);
  try {
    const [answer] = await sendgrid.send({ from, to, subject, text });
    return { id: answer.headers["x-message-id"] };
  } catch (error) {
    return { status: error.code, text: error.response.body.errors[0].message };
  }
}

async function byMailgun() {
  const { default: Mailgun } = await import("mailgun.js");
  const { default: FormData } = await import("form-data");
  const client = new Mailgun(FormData).client({ username: "api", key, url: `${gate}/mailgun` });
  try {
    return { id: (await client.messages.create("acme.example", { from, to, subject, text })).id };
  } catch (error) {
    return { status: error.status, text: error.details };
  }
}

const libraries = {
  resend: byResend,
  postmark: byPostmark,
  sendgrid: bySendGrid,
  mailgun: byMailgun,
};
console.log(JSON.stringify(await libraries[library]()));
