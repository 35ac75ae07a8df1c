// The end of a callback reports the truth: what was told, a definite refusal, else doubt.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Denied, InDoubt, kinds, OutcomeGiven, Refused, Reply } from "@sendledger/client";

import { GRANT, lost, no, PERMIT_ID, Stub } from "./stub.mjs";

const FIELDS = { event_type: "shipped", event_id: "9", customer_id: "C1" };
const told = (stub) => stub.bodies("outcome").map((body) => [body.outcome, body.detail]);

for (const [name, body, expected] of [
  ["sent with the provider's id", (permit) => permit.sent("re_1"), { outcome: "sent", provider_message_id: "re_1" }],
  ["sent with what a provider answers", (permit) => permit.sent({ id: "re_1" }), { outcome: "sent", provider_message_id: "re_1" }],
  ["sent with nothing", (permit) => permit.sent(), { outcome: "sent" }],
  [
    "sent with all that is known",
    (permit) => permit.sent({ provider: "smtp", providerMessageId: "q1", messageId: "<m@x>" }),
    { outcome: "sent", provider: "smtp", provider_message_id: "q1", message_id: "<m@x>" },
  ],
  ["rejected", (permit) => permit.rejected("no such file"), { outcome: "rejected", detail: "no such file" }],
  ["unknown", (permit) => permit.unknown(), { outcome: "unknown", detail: "not known" }],
  ["without a word", () => "done", { outcome: "unknown", detail: "the sender did not say" }],
  ["a detail with line breaks and no end", (permit) => permit.rejected("a\n" + "b".repeat(900)), {
    outcome: "rejected",
    detail: "a" + "b".repeat(499),
  }],
]) {
  test(`a callback that ends: ${name}`, async () => {
    const stub = new Stub();
    await stub.ledger().permit.notification(FIELDS, async (permit) => body(permit));
    assert.deepEqual(stub.bodies("outcome"), [expected]);
  });
}

for (const [name, error, expected] of [
  ["a refusal", new Refused("SMTP 550"), ["rejected", "SMTP 550"]],
  ["a doubt", new InDoubt("no answer"), ["unknown", "InDoubt"]],
  ["any error, whose message may name an address", new TypeError("pat@example.com"), ["unknown", "TypeError"]],
  ["an error of the system", Object.assign(new Error("pat@example.com"), { code: "EPIPE" }), ["unknown", "EPIPE"]],
  ["no error at all", undefined, ["unknown", "Error"]],
]) {
  test(`a callback that throws ${name}`, async () => {
    const stub = new Stub();
    const ended = stub.ledger().permit.notification(FIELDS, () => Promise.reject(error));
    assert.equal(await ended.then(() => "returned", (caught) => caught), error);
    assert.deepEqual(told(stub), [expected]);
  });
}

test("classify knows the errors of a mailer of one's own, and one that fails knows none", async () => {
  const stub = new Stub();
  const classify = (error) => {
    if (error.status === 400) return "the mailer answered 400";
    throw new Error("unclear");
  };
  const ledger = stub.ledger({ classify });
  for (const status of [400, 500]) {
    const error = Object.assign(new Error("no"), { status });
    await assert.rejects(ledger.permit.notification(FIELDS, () => Promise.reject(error)));
  }
  assert.deepEqual(told(stub), [["rejected", "the mailer answered 400"], ["unknown", "Error"]]);
});

test("what was told stands, whatever is thrown after", async () => {
  const stub = new Stub();
  await assert.rejects(
    stub.ledger().permit.notification(FIELDS, (permit) => {
      permit.sent("re_1");
      throw new Refused("too late");
    }),
    Refused,
  );
  assert.deepEqual(told(stub), [["sent", undefined]]);
});

test("a callback tells one outcome; only sent may replace unknown", async () => {
  const stub = new Stub();
  const ledger = stub.ledger();
  const twice = ledger.permit.notification(FIELDS, (permit) => {
    permit.rejected();
    permit.sent();
  });
  await assert.rejects(twice, OutcomeGiven);
  await ledger.permit.notification(FIELDS, (permit) => {
    permit.unknown();
    permit.sent("re_2");
    permit.sent("re_3");
  });
  assert.deepEqual(stub.bodies("outcome"), [
    { outcome: "rejected", detail: "not handed over" },
    { outcome: "sent", provider_message_id: "re_2" },
  ]);
});

test("a callback returns what its function returns", async () => {
  const stub = new Stub();
  const ask = kinds.notification(FIELDS);
  assert.equal(await stub.ledger().permit(ask, (permit) => (permit.sent(), 42)), 42);
});

test("a duplicate returns what the ledger knows of the first send, and calls nothing", async () => {
  const stub = new Stub();
  const original = { permit_id: "p0", sender: "poller", sent_at: "2026-12-01T08:00:00Z", provider_message_id: "re_0" };
  stub.next("ask", no(409, "already_sent", {}, { original }), no(409, "outcome_unknown"));
  const ask = kinds.notification(FIELDS);
  const mustNotRun = () => assert.fail("a second mail");
  const result = await stub.ledger().sendOnce(ask, mustNotRun);
  assert.deepEqual(result, {
    permitId: "p0",
    state: "sent",
    providerMessageId: "re_0",
    duplicate: true,
    sentAt: new Date("2026-12-01T08:00:00Z"),
    sender: "poller",
  });
  await assert.rejects(stub.ledger().sendOnce(ask, mustNotRun), Denied);
});

test("a permit names address, copies, headers and keys", async () => {
  const stub = new Stub();
  const { send_token, to, ...without } = GRANT;
  stub.next("ask", new Reply(201, { ...without, kind: "reply", to: null }));
  stub.next("redeem", new Reply(200, { ...without, kind: "reply", to: null, state: "redeemed" }));
  const fields = { thread_id: "t", in_reply_to: "m1@example.com", to: "kim@example.com", cc: ["lee@example.com"] };
  await stub.ledger().permit.reply(fields, (permit) => {
    assert.deepEqual([permit.to, permit.cc, permit.inTime], ["kim@example.com", ["lee@example.com"], true]);
    assert.deepEqual(permit.headers, {
      "Message-ID": "<p.mac@ledger.example>",
      "Auto-Submitted": "auto-replied",
      "In-Reply-To": "<m1@example.com>",
      References: "<m1@example.com>",
    });
    assert.equal(permit.providerIdempotencyKey.length, 48);
    stub.now += 600;
    assert.equal(permit.inTime, false);
    permit.rejected();
  });
});

test("the poller reports each mail, and one that fails does not end it", async () => {
  const stub = new Stub();
  const due = ["p1", "p2", "p3", "p4"].map((permit_id) => ({ ...GRANT, permit_id, kind: "reminder" }));
  stub.next("claim", new Reply(200, { permits: due, withheld: [{ code: "on_hold" }] }), new Reply(200, { permits: [due[0]] }));
  const redeemed = (call) => new Reply(200, { ...GRANT, permit_id: call.permitId, state: "redeemed" });
  stub.next("redeem", redeemed, no(409, "revoked"), redeemed, redeemed);
  const seen = [];
  for await (const permit of stub.ledger().due({ limit: 4, stage: "day-3" })) {
    seen.push(permit.permitId);
    await permit.handOver(() => {
      if (seen.length === 2) throw new Refused("SMTP 550");
      permit.sent(`re_${seen.length}`);
    });
  }
  assert.deepEqual(seen, ["p1", "p3", "p4"]);
  assert.deepEqual(stub.bodies("claim"), [{ limit: 4, stage: "day-3" }, { limit: 4, stage: "day-3" }]);
  assert.deepEqual(told(stub).map(([outcome]) => outcome), ["sent", "rejected", "sent"]);
  assert.deepEqual(stub.lines.warn, ["1 customers are due and get no mail now: on_hold"]);
});

test("who leaves the poller leaves a mail that was not told in doubt, and the rest for later", async () => {
  const stub = new Stub();
  const due = ["p1", "p2"].map((permit_id) => ({ ...GRANT, permit_id }));
  stub.next("claim", new Reply(200, { permits: due }));
  stub.next("redeem", new Reply(200, { ...GRANT, permit_id: "p1", state: "redeemed" }));
  for await (const permit of stub.ledger().due()) {
    assert.equal(permit.permitId, "p1");
    break;
  }
  assert.deepEqual(told(stub), [["unknown", "the sender did not say"]]);
});

test("hooks hear of tries and outcomes without addresses, and their errors go no further", async () => {
  const stub = new Stub();
  const records = [];
  const hook = { onCall: (one) => records.push(one), onOutcome: (one) => records.push(one) };
  const broken = { onCall: () => { throw new TypeError("pat@example.com"); } };
  stub.next("ask", lost);
  await stub.ledger({ hooks: [broken, hook] }).permit.notification(FIELDS, (permit) => permit.sent("re_1"));
  assert.deepEqual(
    records.map((one) => [one.operation ?? "", one.number, one.status, one.code ?? one.outcome, one.permitId]),
    [
      ["ask", 1, 0, "ECONNRESET", undefined],
      ["ask", 2, 201, undefined, PERMIT_ID],
      ["redeem", 1, 200, undefined, PERMIT_ID],
      ["outcome", 1, 200, undefined, PERMIT_ID],
      ["", undefined, undefined, "sent", PERMIT_ID],
    ],
  );
  const everything = JSON.stringify([records, stub.lines]);
  assert.doesNotMatch(everything, /@example\.com|slk_/);
  assert.deepEqual(new Set(stub.lines.error), new Set(["a hook failed: TypeError"]));
});
