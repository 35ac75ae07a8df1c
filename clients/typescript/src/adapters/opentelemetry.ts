/**
 * OpenTelemetry: a span and a duration for each try of a call, a counter of outcomes. No addresses.
 *
 * Needs @opentelemetry/api.
 */

import {
  type Counter,
  type Histogram,
  type MeterProvider,
  metrics,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
  type TracerProvider,
} from "@opentelemetry/api";

import type { CallRecord, Hook, OutcomeRecord } from "../observing.js";

const NAME = "sendledger";

/** A hook for `new Ledger({ hooks: [new OpenTelemetry()] })`; by default by the global providers. */
export class OpenTelemetry implements Hook {
  private readonly tracer: Tracer;
  private readonly seconds: Histogram;
  private readonly outcomes: Counter;

  constructor(providers: { readonly tracer?: TracerProvider; readonly meter?: MeterProvider } = {}) {
    this.tracer = (providers.tracer ?? trace).getTracer(NAME);
    const meter = (providers.meter ?? metrics).getMeter(NAME);
    this.seconds = meter.createHistogram("sendledger.call.duration", { unit: "s" });
    this.outcomes = meter.createCounter("sendledger.outcomes");
  }

  /** A span with the times of the try, and its duration as a measurement. */
  onCall(record: CallRecord): void {
    const attributes: Record<string, string | number> = {
      "sendledger.operation": record.operation,
      "sendledger.try": record.number,
      "http.response.status_code": record.status,
    };
    if (record.code !== undefined) attributes["sendledger.code"] = record.code;
    const named = record.permitId === undefined ? {} : { "sendledger.permit_id": record.permitId };
    const span = this.tracer.startSpan(`sendledger ${record.operation}`, {
      kind: SpanKind.CLIENT,
      attributes: { ...attributes, ...named },
      startTime: record.started,
    });
    if (record.status === 0 || record.status >= 500) {
      span.setStatus({ code: SpanStatusCode.ERROR, ...(record.code === undefined ? {} : { message: record.code }) });
    }
    span.end(record.started + record.seconds * 1000);
    this.seconds.record(record.seconds, attributes);
  }

  /** One more outcome of its kind. */
  onOutcome(record: OutcomeRecord): void {
    this.outcomes.add(1, {
      "sendledger.kind": record.kind,
      "sendledger.outcome": record.outcome,
      "sendledger.reported": record.reported,
    });
  }
}
