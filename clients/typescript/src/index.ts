/**
 * Ask the send ledger before you mail: each real-world mail at most once.
 *
 * `Ledger` is the client, `kinds` makes requests, `Denied` and `Unavailable` mean that nothing may be
 * sent.
 */
export * as kinds from "./kinds.js";
export type { Ask } from "./kinds.js";
export { Ledger, type LedgerOptions, type Permits, type Send } from "./ledger.js";
export { type Classify, type Delivered, InDoubt, NotDelivered, Refused } from "./delivery.js";
export { Denied, LedgerError, type NextAction, type Original, OutcomeGiven, Unavailable } from "./errors.js";
export type { SendResult } from "./flows.js";
export type { CallRecord, Hook, Log, OutcomeRecord } from "./observing.js";
export type { PaceOptions } from "./pace.js";
export { Granted, Outcome, type OutcomeState, Permit } from "./permit.js";
export { type Call, NoAnswer, Reply, type Transport } from "./wire.js";
