// Resend's SDK against a stand-in: what its answers prove, and what the mail carries.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { InDoubt, kinds, Refused, Reply } from "@sendledger/client";

import { GRANT, Stub } from "./stub.mjs";

const ASK = kinds.notification({ event_type: "shipped", event_id: "9", customer_id: "C1", cc: ["kim@example.com"] });
const MAIL = { from: "shop@acme.example", subject: "Hello", text: "Thank you." };

let asked = [];
let answer;
const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    asked.push({ headers: request.headers, url: request.url, body: JSON.parse(Buffer.concat(parts).toString()) });
    if (answer === "break") return request.socket.destroy();
    if (answer === "never") return;
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
  });
});

let client;
let ResendMailer;
before(async () => {
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  // The SDK reads it when it is loaded.
  process.env.RESEND_BASE_URL = `http://127.0.0.1:${server.address().port}`;
  const { Resend } = await import("resend");
  ({ ResendMailer } = await import("@sendledger/client/resend"));
  client = new Resend("re_key");
});
after(() => {
  server.closeAllConnections();
  server.close();
});

async function send(given, mail = MAIL, options = {}) {
  asked = [];
  answer = given;
  const stub = new Stub();
  const mailer = new ResendMailer(client, options);
  const ended = stub.ledger().sendOnce(ASK, (permit) => mailer.send(permit, mail));
  const error = await ended.then(() => undefined, (caught) => caught);
  return { told: stub.bodies("outcome")[0], error };
}

test("a mail that is taken has the permit's key, headers, tag, recipient and copies", async () => {
  const { told } = await send({ status: 200, body: { id: "re_1" } }, { ...MAIL, headers: { "X-Own": "1", "auto-submitted": "no" } });
  assert.deepEqual(told, { outcome: "sent", provider: "resend", provider_message_id: "re_1" });
  const [{ headers, url, body }] = asked;
  assert.deepEqual([asked.length, url, headers["idempotency-key"]], [1, "/emails", "k".repeat(48)]);
  assert.deepEqual(body, {
    from: "shop@acme.example",
    subject: "Hello",
    text: "Thank you.",
    to: ["pat@example.com"],
    cc: ["kim@example.com"],
    headers: {
      "X-Own": "1",
      "Message-ID": "<p.mac@ledger.example>",
      "X-Ledger-Send": "p-token-mac",
      "Auto-Submitted": "auto-generated",
    },
    tags: [{ name: "X-Ledger-Send", value: "p-token-mac" }],
  });
});

const problem = (statusCode) => ({ status: statusCode, body: { statusCode, name: "e", message: "pat@example.com" } });

for (const [name, given, outcome, detail] of [
  ["422", problem(422), "rejected", "resend answered 422"],
  ["429", problem(429), "rejected", "resend answered 429"],
  ["409 of a key in use", problem(409), "unknown", "InDoubt"],
  ["408", problem(408), "unknown", "InDoubt"],
  ["500", problem(500), "unknown", "InDoubt"],
  ["502 of a proxy", { status: 502, body: "<html>" }, "unknown", "InDoubt"],
  ["200 without an id", { status: 200, body: {} }, "unknown", "InDoubt"],
  ["200 that is no JSON", { status: 200, body: "<html>" }, "unknown", "InDoubt"],
  ["a connection that breaks", "break", "unknown", "InDoubt"],
  ["no answer", "never", "unknown", "InDoubt"],
]) {
  test(`an answer that is ${name} is ${outcome}`, async () => {
    const { told, error } = await send(given, MAIL, { timeout: 0.2 });
    assert.ok(error instanceof (outcome === "rejected" ? Refused : InDoubt), String(error));
    assert.deepEqual([told.outcome, told.detail, asked.length], [outcome, detail, 1]);
    assert.doesNotMatch(error.message, /@/);
  });
}

test("a mail for somebody else, with copies of its own or for later is not handed over", async () => {
  for (const more of [{ to: "eve@example.com" }, { bcc: "eve@example.com" }, { scheduledAt: "in 1 hour" }]) {
    const { told, error } = await send({ status: 200, body: { id: "re_1" } }, { ...MAIL, ...more });
    assert.ok(error instanceof Refused);
    assert.deepEqual([told.outcome, asked.length], ["rejected", 0]);
  }
});

test("a permit without a provider's key uses its id, and without a token has no tag", async () => {
  asked = [];
  answer = { status: 200, body: { id: "re_1" } };
  const stub = new Stub();
  const { provider_idempotency_key, send_token, ...grant } = GRANT;
  stub.next("ask", new Reply(201, grant));
  stub.next("redeem", new Reply(200, { ...grant, state: "redeemed" }));
  await stub.ledger().sendOnce(ASK, (permit) => new ResendMailer(client).send(permit, MAIL));
  assert.equal(asked[0].headers["idempotency-key"], GRANT.permit_id);
  assert.equal(asked[0].body.tags, undefined);
});
