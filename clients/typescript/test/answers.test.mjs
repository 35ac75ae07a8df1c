// What the client does with every answer and with none: only a yes lets a mail out.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Denied, kinds, LedgerError, Reply, Unavailable } from "@sendledger/client";

import { GRANT, lost, no, PERMIT_ID, Stub } from "./stub.mjs";

const ASK = kinds.notification({ event_type: "shipped", event_id: "9", customer_id: "C1" });
const REDEEMED = { ...GRANT, state: "redeemed" };

/** A stand-in, its client and a mailer that counts. */
function begin() {
  const stub = new Stub();
  const mails = [];
  const mailer = (permit) => `re_${mails.push(permit.permitId)}`;
  return { stub, ledger: stub.ledger(), mails, mailer };
}

const outcomes = (stub) => stub.bodies("outcome").map((body) => body.outcome);
const distinct = (values) => new Set(values).size;

test("a send asks, redeems and reports", async () => {
  const { stub, ledger, mailer } = begin();
  const result = await ledger.sendOnce(ASK, mailer);
  assert.deepEqual(
    [result.permitId, result.state, result.duplicate, result.providerMessageId, result.value],
    [PERMIT_ID, "sent", false, "re_1", "re_1"],
  );
  assert.deepEqual(stub.asked.map((call) => call.operation), ["ask", "redeem", "outcome"]);
  assert.deepEqual(stub.bodies("ask"), [
    { kind: "notification", event_type: "shipped", event_id: "9", customer_id: "C1" },
  ]);
  assert.deepEqual(stub.bodies("outcome"), [{ outcome: "sent", provider_message_id: "re_1" }]);
});

test("a lost answer is asked for with the same key and the same attempt", async () => {
  const { stub, ledger, mails, mailer } = begin();
  stub.next("ask", lost, lost, new Reply(200, GRANT, { "idempotent-replayed": "true" }));
  stub.next("redeem", lost, no(503, "unavailable", { "retry-after": "2" }));
  stub.next("outcome", lost);
  await ledger.sendOnce(ASK, mailer);
  assert.deepEqual(mails, [PERMIT_ID]);
  assert.equal(distinct(stub.calls("ask").map((call) => call.headers["Idempotency-Key"])), 1);
  assert.equal(stub.calls("redeem").length, 3);
  assert.equal(distinct(stub.bodies("redeem").map((body) => body.attempt)), 1);
  assert.deepEqual(outcomes(stub), ["sent", "sent"]);
});

test("each send has a key and an attempt of its own", async () => {
  const { stub, ledger, mailer } = begin();
  await ledger.sendOnce(ASK, mailer);
  await ledger.sendOnce(ASK, mailer);
  assert.equal(distinct(stub.calls("ask").map((call) => call.headers["Idempotency-Key"])), 2);
  assert.equal(distinct(stub.bodies("redeem").map((body) => body.attempt)), 2);
});

for (const [name, answer] of [
  ["200 that is no replay", new Reply(200, GRANT)],
  ["202", new Reply(202, GRANT)],
  ["201 without an id", new Reply(201, { state: "granted" })],
  ["201 of a text", new Reply(201)],
  ["204", new Reply(204)],
  ["a redirect", new Reply(302, undefined, { location: "http://elsewhere.test" })],
  ["404 of a proxy", new Reply(404)],
  ["500", no(500, "internal_error")],
]) {
  test(`whatever is no yes of the ledger lets no mail out: ${name}`, async () => {
    const { stub, ledger, mails, mailer } = begin();
    stub.next("ask", answer);
    await assert.rejects(ledger.sendOnce(ASK, mailer), Unavailable);
    assert.deepEqual([mails.length, stub.asked.length], [0, 1]);
  });
}

for (const [name, answer] of [
  ["201", new Reply(201, REDEEMED)],
  ["another state", new Reply(200, GRANT)],
  ["another permit", new Reply(200, { ...REDEEMED, permit_id: "another" })],
  ["a text", new Reply(200)],
]) {
  test(`a redeem that says anything else is given back: ${name}`, async () => {
    const { stub, ledger, mails, mailer } = begin();
    stub.next("redeem", answer);
    await assert.rejects(ledger.sendOnce(ASK, mailer), Unavailable);
    assert.equal(mails.length, 0);
    assert.deepEqual(outcomes(stub), ["rejected"]);
  });
}

test("without an answer to ask nothing is sent, and the wait is bounded and told", async () => {
  const { stub, ledger, mails, mailer } = begin();
  stub.always("ask", lost);
  await assert.rejects(ledger.sendOnce(ASK, mailer), { name: "Unavailable", why: "ECONNRESET" });
  assert.deepEqual(stub.lines.warn, [
    "the ledger did not answer the ask (ECONNRESET); asking again for up to 30 seconds",
  ]);
  assert.equal(mails.length, 0);
  assert.ok(stub.asked.length >= 8 && stub.asked.length <= 40, `${stub.asked.length} tries`);
  assert.ok(stub.slept.reduce((sum, one) => sum + one, 0) <= 30);
  assert.ok(stub.slept[0] < stub.slept[3] && stub.slept[3] < stub.slept[6]);
});

test("without an answer to redeem nothing is sent, and the permit is given back", async () => {
  const { stub, ledger, mails, mailer } = begin();
  stub.always("redeem", lost);
  await assert.rejects(ledger.sendOnce(ASK, mailer), Unavailable);
  assert.equal(mails.length, 0);
  assert.deepEqual(stub.bodies("outcome"), [{ outcome: "rejected", detail: "no answer to redeem" }]);
});

test("503 is asked again after its time, and says what is known", async () => {
  const { stub, ledger, mailer } = begin();
  stub.always("ask", no(503, "unavailable", { "retry-after": "7" }, { committed: "unknown" }));
  await assert.rejects(ledger.sendOnce(ASK, mailer), { name: "Unavailable", committed: "unknown" });
  assert.ok(stub.slept.every((slept) => slept >= 7 && slept <= 7.1));
  assert.equal(stub.asked.length, 5);
});

test("429 of the key waits as told, and 429 of a cap is a denial", async () => {
  const { stub, ledger, mails, mailer } = begin();
  stub.next("ask", no(429, "rate_limited", { "retry-after": "3" }));
  await ledger.sendOnce(ASK, mailer);
  assert.deepEqual(stub.slept, [3.05]);
  stub.next("ask", no(429, "loop_guard", { "retry-after": "900" }, { retryable: true }));
  await assert.rejects(ledger.sendOnce(ASK, mailer), { code: "loop_guard", retryAfter: 900 });
  assert.deepEqual([mails.length, stub.calls("ask").length], [1, 3]);
});

test("a denial says what to do next", async () => {
  const { stub, ledger, mailer } = begin();
  const next_step = "Wait until the hold ends, or have a person lift it.";
  stub.next(
    "ask",
    no(409, "on_hold", {}, {
      retryable: true,
      next_action: "retry_at",
      next_step,
      available_at: "2026-12-03T08:00:00Z",
      decision_id: "d1",
    }),
  );
  const denied = await ledger.sendOnce(ASK, mailer).catch((error) => error);
  assert.ok(denied instanceof Denied && denied instanceof LedgerError);
  assert.match(denied.message, /Wait until the hold ends/);
  assert.deepEqual([denied.status, denied.code, denied.nextAction, denied.nextStep], [409, "on_hold", "retry_at", next_step]);
  assert.equal(denied.availableAt.toISOString(), "2026-12-03T08:00:00.000Z");
  assert.deepEqual([denied.retryable, denied.decisionId, denied.isDuplicate], [true, "d1", false]);
  assert.equal(stub.asked.length, 1);
});

test("a time that helps only a human is not one to ask again at", async () => {
  const { stub, ledger, mailer } = begin();
  stub.next("ask", no(429, "cap_reached", {}, { frees_at: "2026-12-03T08:00:00Z" }));
  const denied = await ledger.sendOnce(ASK, mailer).catch((error) => error);
  assert.equal(denied.freesAt.toISOString(), "2026-12-03T08:00:00.000Z");
  assert.deepEqual([denied.availableAt, denied.retryable, stub.asked.length], [undefined, false, 1]);
});

test("a redeem that may have been a yes is given back", async () => {
  const { stub, ledger, mails, mailer } = begin();
  stub.next("redeem", lost);
  stub.always("redeem", no(429, "rate_limited", { "retry-after": "20" }));
  await assert.rejects(ledger.sendOnce(ASK, mailer), Denied);
  assert.equal(mails.length, 0);
  assert.deepEqual(outcomes(stub), ["rejected"]);
});

test("a permit is used once", async () => {
  const { stub, ledger } = begin();
  const granted = await ledger.ask(ASK);
  await ledger.redeem(granted, (permit) => permit.sent());
  await assert.rejects(ledger.redeem(granted, () => assert.fail("a second mail")), /used already/);
  await assert.rejects(ledger.giveBack(granted), /used already/);
  assert.deepEqual(outcomes(stub), ["sent"]);
});

test("a denied redeem sends nothing and reports nothing", async () => {
  const { stub, ledger, mails, mailer } = begin();
  stub.next("redeem", no(409, "revoked"));
  await assert.rejects(ledger.sendOnce(ASK, mailer), Denied);
  assert.deepEqual([mails.length, stub.calls("outcome").length], [0, 0]);
});

test("a redeem that came after send_by is given back", async () => {
  const { stub, ledger, mails, mailer } = begin();
  stub.next("redeem", () => {
    stub.now += 601;
    return new Reply(200, REDEEMED);
  });
  await assert.rejects(ledger.sendOnce(ASK, mailer), /send_by/);
  assert.equal(mails.length, 0);
  assert.deepEqual(outcomes(stub), ["rejected"]);
});

test("a report that is invalid is made without its details", async () => {
  const { stub, ledger, mailer } = begin();
  stub.next("outcome", no(422, "invalid_request"));
  await ledger.sendOnce(ASK, mailer);
  assert.deepEqual(stub.bodies("outcome")[1], { outcome: "sent" });
});

for (const id of ["x".repeat(256), "a\nb", " re_1", ""]) {
  test(`an id that no ledger takes does not cost the report: ${JSON.stringify(id.slice(0, 5))}`, async () => {
    const { stub, ledger } = begin();
    await ledger.sendOnce(ASK, () => id);
    assert.deepEqual(stub.bodies("outcome"), [{ outcome: "sent" }]);
  });
}

test("a report that fails does not make a sent mail look unsent", async () => {
  const { stub, ledger, mailer } = begin();
  stub.always("outcome", lost);
  assert.equal((await ledger.sendOnce(ASK, mailer)).state, "sent");
  assert.ok(stub.lines.warn.some((line) => line.includes("an outcome is not reported: ECONNRESET")));
  assert.deepEqual(stub.lines.error, [`permit ${PERMIT_ID} (notification): sent, not reported`]);
});

test("there is no client without a key, and none for an address that is none", () => {
  const before = process.env.LEDGER_KEY;
  delete process.env.LEDGER_KEY;
  const stub = new Stub();
  assert.throws(() => stub.ledger({ key: undefined }), /LEDGER_KEY/);
  assert.throws(() => stub.ledger({ url: "ftp://ledger.test" }), TypeError);
  process.env.LEDGER_KEY = "slk_environment";
  assert.ok(stub.ledger({ key: undefined }));
  if (before === undefined) delete process.env.LEDGER_KEY;
  else process.env.LEDGER_KEY = before;
});
