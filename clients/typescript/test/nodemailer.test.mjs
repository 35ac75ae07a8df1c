// Nodemailer against SMTP servers that refuse and break off: what is reported is what happened.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, test } from "node:test";

import { InDoubt, Refused, Reply } from "@sendledger/client";
import { NodemailerMailer, refusalOf } from "@sendledger/client/nodemailer";
import nodemailer from "nodemailer";
import { SMTPServer } from "smtp-server";

import { GRANT, Stub } from "./stub.mjs";

const MAIL = { from: "Acme <shop@acme.example>", subject: "Hello", text: "Thank you." };
const FIELDS = { event_type: "shipped", event_id: "9", customer_id: "C1" };

/** An SMTP server that does at one step what the test says, and keeps what it took. */
class Smtp {
  mails = [];
  faults = {};

  async start() {
    const step = (name) => (...given) => {
      const next = given.at(-1);
      const fault = this.faults[name];
      if (fault === "break") return [...this.server.connections].forEach((one) => one.close());
      next(fault && Object.assign(new Error("no"), { responseCode: fault }));
    };
    this.server = new SMTPServer({
      disabledCommands: ["STARTTLS", "AUTH"],
      logger: false,
      onConnect: step("connect"),
      onMailFrom: step("mail"),
      onRcptTo: (address, session, next) => {
        const isCopy = address.address.startsWith("kim");
        if (this.faults.copy && isCopy) return next(Object.assign(new Error("no"), { responseCode: 550 }));
        if (this.faults.main && !isCopy) return next(Object.assign(new Error("no"), { responseCode: 550 }));
        step("rcpt")(address, session, next);
      },
      onData: (stream, session, next) => {
        const parts = [];
        stream.on("data", (part) => parts.push(part));
        stream.on("end", () => {
          const text = Buffer.concat(parts).toString();
          if (this.faults.data === undefined || this.faults.data === "break") {
            this.mails.push({ text, to: session.envelope.rcptTo.map((one) => one.address) });
          }
          step("data")(stream, session, next);
        });
      },
    });
    this.server.on("error", () => {});
    await new Promise((listening) => this.server.listen(0, "127.0.0.1", listening));
    return this.server.server.address().port;
  }
}

const smtp = new Smtp();
let port;
before(async () => {
  port = await smtp.start();
});
after(() => new Promise((closed) => smtp.server.close(closed)));

const mailerAt = (at, more = {}) =>
  new NodemailerMailer(nodemailer.createTransport({ host: "127.0.0.1", port: at, ...more }));

/** Send one mail; what the ledger was told, and the error that came out. */
async function send({ faults = {}, mail = MAIL, mailer = mailerAt(port), fields = FIELDS, grant = {}, stub = new Stub() }) {
  smtp.mails = [];
  smtp.faults = faults;
  stub.next("ask", new Reply(201, { ...GRANT, ...grant }));
  stub.next("redeem", new Reply(200, { ...GRANT, ...grant, state: "redeemed" }));
  const ended = stub.ledger().permit.notification(fields, async (permit) => permit.sent(await mailer.send(permit, mail)));
  const error = await ended.then(() => undefined, (caught) => caught);
  return { told: stub.bodies("outcome")[0], error };
}

test("a mail that is taken carries the permit's headers and goes to nobody else", async () => {
  const { told, error } = await send({
    mail: { ...MAIL, headers: { "x-ledger-send": "false", "X-Campaign": "7", "message-id": "<own@acme.example>" } },
    fields: { ...FIELDS, cc: ["kim@example.com"] },
  });
  assert.equal(error, undefined);
  assert.deepEqual(told, { outcome: "sent", provider: "smtp" });
  const [{ text, to }] = smtp.mails;
  assert.deepEqual(to, ["pat@example.com", "kim@example.com"]);
  const header = (name) => [...text.matchAll(new RegExp(`^${name}: (.*)$`, "gim"))].map((found) => found[1].trim());
  assert.deepEqual(header("Message-ID"), ["<p.mac@ledger.example>"]);
  assert.deepEqual(header("X-Ledger-Send"), ["p-token-mac"]);
  assert.deepEqual(header("Auto-Submitted"), ["auto-generated"]);
  assert.deepEqual(header("X-Campaign"), ["7"]);
  assert.deepEqual(header("To"), ["pat@example.com"]);
});

for (const [name, faults, detail] of [
  ["the connection", { connect: 554 }, "SMTP 554 for the greeting"],
  ["the sender", { mail: 550 }, "SMTP 550 for MAIL FROM"],
  ["the recipient", { rcpt: 450 }, "SMTP 450 for RCPT TO"],
  ["the data", { data: 552 }, "SMTP 552 for the data"],
]) {
  test(`a refusal of ${name} is rejected`, async () => {
    const { told, error } = await send({ faults });
    assert.ok(error instanceof Refused, String(error));
    assert.deepEqual([told.outcome, told.detail], ["rejected", detail]);
    assert.equal(smtp.mails.length, 0);
  });
}

for (const step of ["connect", "mail", "rcpt"]) {
  test(`a connection that breaks at ${step} is rejected: no server had the data`, async () => {
    const { told, error } = await send({ faults: { [step]: "break" } });
    assert.ok(error instanceof Refused, String(error));
    assert.equal(told.outcome, "rejected");
    assert.match(told.detail, /^SMTP: E\w+ before the data$/);
    assert.equal(smtp.mails.length, 0);
  });
}

test("a connection that breaks at the data is a doubt", async () => {
  const { told, error } = await send({ faults: { data: "break" } });
  assert.ok(error instanceof InDoubt, String(error));
  assert.equal(told.outcome, "unknown");
  assert.equal(smtp.mails.length, 1);
});

test("several mailers share a transporter, and it still sends the program's own mail", async () => {
  const transport = nodemailer.createTransport({ host: "127.0.0.1", port });
  for (const _ of [1, 2]) {
    const { told } = await send({ faults: { rcpt: "break" }, mailer: new NodemailerMailer(transport) });
    assert.equal(told.outcome, "rejected");
  }
  smtp.faults = {};
  await transport.sendMail({ ...MAIL, to: "own@example.com" });
  assert.deepEqual(smtp.mails.map((mail) => mail.to), [["own@example.com"]]);
});

test("defaults of the transporter add no recipient", async () => {
  const defaults = { cc: "all@acme.example", bcc: "archive@acme.example", headers: { "X-Campaign": "7" } };
  const envelope = { from: "a@acme.example", to: ["eve@example.com"] };
  for (const more of [{}, { envelope }, { raw: "To: eve@example.com\r\n\r\nHello" }]) {
    const transport = nodemailer.createTransport({ host: "127.0.0.1", port }, { ...defaults, ...more });
    await send({ mailer: new NodemailerMailer(transport) });
    assert.deepEqual(smtp.mails.map((mail) => mail.to), [["pat@example.com"]]);
    assert.match(smtp.mails[0].text, /^X-Campaign: 7\r$/m);
    assert.match(smtp.mails[0].text, /^X-Ledger-Send: p-token-mac\r$/m);
  }
});

test("a server that is not there is rejected", async () => {
  const free = createServer();
  await new Promise((listening) => free.listen(0, "127.0.0.1", listening));
  const unused = free.address().port;
  await new Promise((closed) => free.close(closed));
  const { told } = await send({ mailer: mailerAt(unused) });
  assert.equal(told.outcome, "rejected");
  assert.match(told.detail, /^no SMTP connection: E/);
});

test("a copy that is refused does not unsend the mail; a recipient that is refused is a doubt", async () => {
  const fields = { ...FIELDS, cc: ["kim@example.com"] };
  assert.equal((await send({ faults: { copy: true }, fields })).told.outcome, "sent");
  const { told, error } = await send({ faults: { main: true }, fields });
  assert.deepEqual([told.outcome, error.detail], ["unknown", "the SMTP server took the mail for a copy alone"]);
});

for (const [name, options] of [
  ["another recipient", { mail: { ...MAIL, to: "eve@example.com" } }],
  ["a copy of its own", { mail: { ...MAIL, cc: "eve@example.com" } }],
  ["an envelope of its own", { mail: { ...MAIL, envelope: { from: "a@x", to: ["eve@example.com"] } } }],
  ["no recipient", { grant: { to: null } }],
]) {
  test(`a mail with ${name} is not handed over`, async () => {
    const { told, error } = await send(options);
    assert.ok(error instanceof Refused);
    assert.deepEqual([told.outcome, smtp.mails.length], ["rejected", 0]);
  });
}

test("a recipient may be named, or come from the sender where the ledger knows none", async () => {
  await send({ mail: { ...MAIL, to: { name: "Pat", address: "PAT@example.com" } } });
  assert.match(smtp.mails[0].text, /^To: Pat <pat@example\.com>/m);
  await send({ mail: { ...MAIL, to: "lee@example.com" }, grant: { to: null } });
  assert.deepEqual(smtp.mails[0].to, ["lee@example.com"]);
});

test("a permit that ran out is not handed over", async () => {
  const stub = new Stub();
  const mailer = mailerAt(port);
  smtp.mails = [];
  const late = stub.ledger().permit.notification(FIELDS, (permit) => {
    stub.now += 601;
    return mailer.send(permit, MAIL);
  });
  await assert.rejects(late, Refused);
  assert.equal(smtp.mails.length, 0);
});

test("a transport that may hand a mail over twice is refused", () => {
  assert.throws(() => mailerAt(port, { pool: true }), /maxRequeues: 0/);
  assert.ok(mailerAt(port, { pool: true, maxRequeues: 0 }));
  assert.throws(() => new NodemailerMailer(nodemailer.createTransport({ sendmail: true })), /Sendmail/);
  assert.throws(() => new NodemailerMailer({ sendMail: async () => ({}), use: () => {} }), /unknown/);
});

test("refusalOf says nothing of what is no error of Nodemailer", () => {
  assert.equal(refusalOf(new Error("550 no")), undefined);
  assert.equal(refusalOf("550"), undefined);
  const error = Object.assign(new Error("x"), { code: "EENVELOPE", command: "RCPT TO", responseCode: 550 });
  assert.equal(refusalOf(error), "SMTP 550 for RCPT TO");
});
