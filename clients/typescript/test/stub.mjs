// A stand-in for the ledger, for what a real one does only in trouble: lost answers, 503.
import { Ledger, NoAnswer, Reply } from "@sendledger/client";

export const PERMIT_ID = "7d0f4a1e-0000-4000-8000-000000000001";
export const GRANT = {
  permit_id: PERMIT_ID,
  state: "granted",
  kind: "notification",
  customer_id: "C1",
  to: "pat@example.com",
  granted_at: "2026-12-01T00:00:00Z",
  send_by: "2026-12-01T00:10:00Z",
  message_id: "<p.mac@ledger.example>",
  send_token: "p-token-mac",
  provider_idempotency_key: "k".repeat(48),
};
const ANSWERS = {
  ask: new Reply(201, GRANT),
  redeem: new Reply(200, { ...GRANT, state: "redeemed" }),
  outcome: new Reply(200, { ...GRANT, state: "sent" }),
  claim: new Reply(200, { permits: [], withheld: [], position: "1" }),
};

/** Answers calls by their operation: the next of the script, else all is well. Nobody waits: the clock is its own. */
export class Stub {
  now = 1000;
  slept = [];
  asked = [];
  script = {};
  lines = { debug: [], info: [], warn: [], error: [] };

  /** The next answers to this call. */
  next(operation, ...answers) {
    (this.script[operation] ??= []).push(...answers);
  }

  /** So many times this answer that no deadline outlasts it. */
  always(operation, answer) {
    this.next(operation, ...Array(10_000).fill(answer));
  }

  /** The calls of one kind. */
  calls(operation) {
    return this.asked.filter((call) => call.operation === operation);
  }

  /** What was asked or told. */
  bodies(operation) {
    return this.calls(operation).map((call) => JSON.parse(JSON.stringify(call.body)));
  }

  /** A client on this stand-in. */
  ledger(options = {}) {
    return new Ledger({
      url: "http://ledger.test",
      key: "slk_test",
      log: Object.fromEntries(Object.entries(this.lines).map(([level, lines]) => [level, (line) => lines.push(line)])),
      pace: { clock: () => this.now, draw: () => 0.5, sleep: async (seconds) => this.sleep(seconds) },
      transport: async (call) => this.answer(call),
      ...options,
    });
  }

  sleep(seconds) {
    this.slept.push(seconds);
    this.now += seconds;
  }

  answer(call) {
    this.asked.push(call);
    const next = this.script[call.operation]?.shift() ?? ANSWERS[call.operation];
    return typeof next === "function" ? next(call) : next;
  }
}

/** The connection breaks before an answer. */
export const lost = new NoAnswer("ECONNRESET");

/** A problem document. */
export function no(status, code, headers = {}, more = {}) {
  return new Reply(status, { status, code, title: code, detail: code, retryable: false, ...more }, headers);
}
