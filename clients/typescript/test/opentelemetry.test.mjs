// OpenTelemetry: spans, durations and outcomes, without addresses.
import assert from "node:assert/strict";
import { test } from "node:test";

import { kinds } from "@sendledger/client";
import { OpenTelemetry } from "@sendledger/client/opentelemetry";

import { lost, Stub } from "./stub.mjs";

const ASK = kinds.notification({ event_type: "shipped", event_id: "9", to: "pat@example.com" });

test("each try is a span and a duration, each outcome is counted", async () => {
  const [spans, durations, outcomes] = [[], [], []];
  const startSpan = (name, options) => {
    const span = { name, ...options, status: undefined, end: 0 };
    spans.push(span);
    return { setStatus: (status) => (span.status = status), end: (at) => (span.end = at) };
  };
  const meter = {
    createHistogram: () => ({ record: (value, attributes) => durations.push([value, attributes]) }),
    createCounter: () => ({ add: (value, attributes) => outcomes.push([value, attributes]) }),
  };
  const hook = new OpenTelemetry({ tracer: { getTracer: () => ({ startSpan }) }, meter: { getMeter: () => meter } });
  const stub = new Stub();
  stub.next("ask", lost);
  await stub.ledger({ hooks: [hook] }).sendOnce(ASK, () => "re_1");
  assert.deepEqual(
    spans.map((span) => [span.name, span.attributes["http.response.status_code"], span.attributes["sendledger.try"]]),
    [["sendledger ask", 0, 1], ["sendledger ask", 201, 2], ["sendledger redeem", 200, 1], ["sendledger outcome", 200, 1]],
  );
  assert.deepEqual([spans[0].status, spans[1].status], [{ code: 2, message: "ECONNRESET" }, undefined]);
  assert.ok(spans.every((span) => span.end >= span.startTime && span.startTime > 1.6e12));
  assert.equal(durations.length, 4);
  const told = { "sendledger.kind": "notification", "sendledger.outcome": "sent", "sendledger.reported": true };
  assert.deepEqual(outcomes, [[1, told]]);
  assert.ok(!JSON.stringify([spans, durations, outcomes]).includes("example.com"));
});

test("without providers the global ones are used, which do nothing by default", async () => {
  const stub = new Stub();
  assert.equal((await stub.ledger({ hooks: [new OpenTelemetry()] }).sendOnce(ASK, () => "re_1")).state, "sent");
  assert.deepEqual(stub.lines.error, []);
});
