// The client and a real ledger: each kind, the words of a denial, the poller, facts, the README.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";

import { Denied, kinds, Ledger, Outcome, Refused, Unavailable } from "@sendledger/client";

import { Service } from "./service.mjs";

const service = new Service();
let own;
let ledger;
let name;
before(async () => {
  await service.start();
  own = await service.key("send", "facts");
  ledger = new Ledger({ url: service.url, key: own.key });
});
after(async () => {
  await ledger?.close();
  await service.stop();
});
beforeEach(() => {
  name = randomBytes(6).toString("hex");
});

const mustNotRun = () => assert.fail("a second mail");
const stateOf = async (permitId) => (await service.call("GET", `/v1/permits/${permitId}`)).state;
const caught = (promise) => promise.then(() => assert.fail("nothing was thrown"), (error) => error);

const snapshot = (customer_id) => ({
  customer_id,
  email: `${customer_id}@example.com`,
  currency: "EUR",
  total: 12_000,
  amount_remaining: 12_000,
  status: "open",
  due_on: "2026-11-26",
});

const inbound = (thread_id, message_id) => ({
  thread_id,
  message_id,
  direction: "inbound",
  from: `${thread_id}@example.com`,
  to: "billing@example.org",
  customer_id: `c-${thread_id}`,
  at: "2026-11-30T09:00:00Z",
  headers: { "Auto-Submitted": "no" },
});

/** Fields of each kind that a ledger without history grants. */
const FIELDS = {
  reminder: (n) => ({
    invoices: [`i-${n}`],
    stage: "day-3",
    expected: { [`i-${n}`]: { cycle: 1, amount_remaining: 12_000 } },
    facts: { [`i-${n}`]: snapshot(`c-${n}`) },
  }),
  paymentFailed: (n) => ({
    invoice_id: `i-${n}`,
    event_id: `e-${n}`,
    attempt_id: `a-${n}`,
    facts: { [`i-${n}`]: snapshot(`c-${n}`) },
  }),
  reply: (n) => ({
    thread_id: `t-${n}`,
    in_reply_to: `<q-${n}@example.com>`,
    message: inbound(`t-${n}`, `<q-${n}@example.com>`),
  }),
  message: (n) => ({ thread_id: `t-${n}`, intent: "refund_notice", customer_id: `c-${n}` }),
  followUp: (n) => ({ thread_id: `t-${n}`, step: 1, to: `${n}@example.com` }),
  notification: (n) => ({
    event_type: "shipped",
    event_id: `o-${n}`,
    customer_id: `c-${n}`,
    happened_at: new Date("2026-11-30T23:00:00Z"),
  }),
  digest: (n) => ({ inbox_id: `in-${n}`, date: "2026-12-01", to: `${n}@example.com` }),
};

for (const [kind, code] of [
  ["reminder", "already_sent"],
  ["paymentFailed", "already_sent"],
  ["reply", "already_replied"],
  ["message", "duplicate_intent"],
  ["followUp", "already_sent"],
  ["notification", "already_sent"],
  ["digest", "already_sent"],
]) {
  test(`a ${kind} is sent once, and the second hears of the first`, async () => {
    const ask = kinds[kind](FIELDS[kind](name));
    const first = await ledger.sendOnce(ask, () => `re_${name}`);
    assert.deepEqual([first.state, first.duplicate, first.value], ["sent", false, `re_${name}`]);
    const second = await ledger.sendOnce(ask, mustNotRun);
    assert.deepEqual(
      [second.permitId, second.providerMessageId, second.state, second.duplicate, second.value, second.sender],
      [first.permitId, `re_${name}`, "sent", true, undefined, own.name],
    );
    assert.ok(second.sentAt instanceof Date);
    const denied = await caught(ledger.permit[kind](FIELDS[kind](name), mustNotRun));
    assert.ok(denied instanceof Denied, String(denied));
    assert.deepEqual([denied.code, denied.nextAction, denied.isDuplicate], [code, "stop", true]);
    assert.equal(denied.original.permitId, first.permitId);
    assert.equal(await stateOf(first.permitId), "sent");
  });
}

test("an apology is sent once and carries a statement", async () => {
  const span = { from: "2026-11-30T00:00:00Z", to: "2026-11-30T12:00:00Z" };
  const made = { title: "flood", cause: "a poller without memory", ...span };
  const { incident_id } = await service.call("POST", "/v1/incidents", made);
  await ledger.putInvoice(`i-${name}`, snapshot(`c-${name}`));
  const fields = { incident_id, customer_id: `c-${name}` };
  const denied = await caught(ledger.permit.apology(fields, mustNotRun));
  assert.deepEqual([denied.code, denied.nextAction], ["not_paused", "ask_human"]);
  await service.call("POST", "/v1/control/pause", { scope: `sender:${name}`, reason: "flood" });
  await ledger.permit.apology(fields, (permit) => {
    assert.equal(permit.statement.owed[0].amount, 12_000);
    permit.sent();
  });
  assert.equal((await ledger.sendOnce(kinds.apology(fields), mustNotRun)).duplicate, true);
});

test("the permit names address, headers and keys", async () => {
  await ledger.permit.reply(FIELDS.reply(name), (permit) => {
    assert.equal(permit.to, `t-${name}@example.com`);
    assert.equal(permit.headers["Auto-Submitted"], "auto-replied");
    assert.equal(permit.headers["In-Reply-To"], `<q-${name}@example.com>`);
    assert.equal(permit.headers["Message-ID"], permit.messageId);
    assert.equal(permit.headers["X-Ledger-Send"], permit.sendToken);
    assert.equal(permit.providerIdempotencyKey.length, 48);
    assert.deepEqual([permit.inTime, permit.customerId], [true, `c-t-${name}`]);
    permit.sent();
  });
});

for (const [error, state] of [
  [new Refused("550"), "rejected"],
  [new Error("broken"), "unknown"],
]) {
  test(`the ledger has what a callback left that failed: ${state}`, async () => {
    let permitId;
    const failing = ledger.permit.notification(FIELDS.notification(name), (permit) => {
      permitId = permit.permitId;
      throw error;
    });
    assert.equal(await caught(failing), error);
    assert.equal(await stateOf(permitId), state);
    const again = ledger.sendOnce(kinds.notification(FIELDS.notification(name)), () => "1");
    if (state === "rejected") assert.equal((await again).duplicate, false);
    else assert.deepEqual((({ code, nextAction }) => [code, nextAction])(await caught(again)), ["outcome_unknown", "find_out"]);
  });
}

/** Every permit of a whole poller. */
async function drained(client, options) {
  const mailed = [];
  for await (const permit of client.due(options)) {
    mailed.push(permit.to);
    permit.sent();
  }
  return mailed;
}

test("two pollers at once share what is due, and a third has nothing to do", async () => {
  await drained(ledger);
  const invoices = Array.from({ length: 6 }, (_, number) => `${number}-${name}`);
  for (const one of invoices) assert.equal((await ledger.putInvoice(`i${one}`, snapshot(`c${one}`))).applied, true);
  const other = new Ledger({ url: service.url, key: own.key });
  const both = (await Promise.all([drained(ledger, { limit: 2 }), drained(other, { limit: 2 })])).flat();
  const rest = await drained(ledger);
  assert.deepEqual([...both, ...rest].sort(), invoices.map((one) => `c${one}@example.com`));
  assert.deepEqual(await drained(other), []);
  await other.close();
});

test("who leaves the poller leaves the rest for later", async () => {
  for (const number of [0, 1, 2]) await ledger.putInvoice(`i${number}-${name}`, snapshot(`c${number}-${name}`));
  for await (const permit of ledger.due()) {
    assert.deepEqual(permit.items.map((item) => item.stage), ["day-3"]);
    permit.sent();
    break;
  }
  assert.deepEqual(await drained(ledger), []);
  await service.advance(11);
  assert.equal((await drained(ledger)).length, 2);
});

test("a slow agent asks first, and redeems what still holds", async () => {
  const granted = await ledger.ask(kinds.notification(FIELDS.notification(name)));
  assert.equal(await ledger.redeem(granted, (permit) => (permit.sent(), 7)), 7);
  assert.equal(await stateOf(granted.permitId), "sent");
  const unused = await ledger.ask(kinds.message(FIELDS.message(name)));
  assert.equal(await ledger.giveBack(unused), true);
  assert.equal(await stateOf(unused.permitId), "rejected");
  const paid = await ledger.ask(kinds.reminder(FIELDS.reminder(name)));
  const data = { invoice_id: `i-${name}`, payment_id: `p-${name}`, amount: 12_000, state: "succeeded" };
  await ledger.tell([{ source: "billing", type: "invoice.payment", data }]);
  assert.equal((await caught(ledger.redeem(paid, mustNotRun))).code, "revoked");
});

test("a wrong key is denied", async () => {
  const stranger = new Ledger({ url: service.url, key: "slk_nobody" });
  const denied = await caught(stranger.permit.digest(FIELDS.digest(name), mustNotRun));
  assert.deepEqual([denied.status, denied.code], [401, "unauthorized"]);
  await stranger.close();
});

test("what is reported and read outside of a callback", async () => {
  let permitId;
  await ledger.permit.notification(FIELDS.notification(name), (permit) => {
    permitId = permit.permitId;
    permit.unknown();
  });
  assert.equal((await ledger.report(permitId, new Outcome("sent"))).state, "sent");
  assert.equal((await caught(ledger.report(permitId, new Outcome("rejected")))).code, "already_settled");
  assert.equal((await ledger.read(`/v1/permits/${permitId}`)).state, "sent");
  assert.deepEqual((await ledger.read("/v1/due", { limit: 1, stage: undefined })).items, []);
  await assert.rejects(ledger.read("/v1/nothing"), (error) => error instanceof Denied || error instanceof Unavailable);
});
