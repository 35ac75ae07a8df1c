/**
 * What may be asked for: a function for each kind of mail, with the fields that the ledger's HTTP
 * interface has for it. The ledger's guide for senders says what each kind is sent once for.
 */
import type { components } from "./openapi.js";

type Schemas = components["schemas"];

/** The client redeems by a call of its own, and what it asks for it sends: these are not the caller's. */
type NotAskedFor = "kind" | "redeem" | "dry_run";

/** The same fields, where each time may be a Date, too. */
type Fields<T> = { [K in keyof Omit<T, NotAskedFor>]: K extends "happened_at" | "not_after" ? T[K] | Date : T[K] };

/** Invoices of one customer: once for each invoice, past-due cycle and stage. */
export type ReminderFields = Fields<Schemas["ReminderRequest"]>;
/** A failed payment: once for each failure. */
export type PaymentFailedFields = Fields<Schemas["PaymentFailedRequest"]>;
/** An answer to an inbound message: once for each message. */
export type ReplyFields = Fields<Schemas["ReplyRequest"]>;
/** A message of a program's own in a thread: once for each thread and intent. */
export type MessageFields = Fields<Schemas["MessageRequest"]>;
/** A numbered follow-up: once for each thread and step, and none after a person answered. */
export type FollowUpFields = Fields<Schemas["FollowUpRequest"]>;
/** News of an event: once for each event and customer. */
export type NotificationFields = Fields<Schemas["NotificationRequest"]>;
/** The digest of an inbox: once for each inbox and day. */
export type DigestFields = Fields<Schemas["DigestRequest"]>;
/** The apology of an incident: once for each incident and customer. */
export type ApologyFields = Fields<Schemas["ApologyPermitRequest"]>;

/** A request for a permit; it may be asked as often as one likes. */
export interface Ask {
  readonly kind: Schemas["PermitRequest"]["kind"];
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A reminder of invoices of one customer. */
export const reminder = (fields: ReminderFields): Ask => ({ kind: "reminder", fields });
/** The mail about a failed payment. */
export const paymentFailed = (fields: PaymentFailedFields): Ask => ({ kind: "payment_failed", fields });
/**
 * An answer to an inbound message. `message` is the message as the ledger takes it
 * (`thread.message`): with its headers, so that no machine is answered.
 */
export const reply = (fields: ReplyFields): Ask => ({ kind: "reply", fields });
/** A message of a program's own in a thread. */
export const message = (fields: MessageFields): Ask => ({ kind: "message", fields });
/** A numbered follow-up. */
export const followUp = (fields: FollowUpFields): Ask => ({ kind: "follow_up", fields });
/** A notification of an event. */
export const notification = (fields: NotificationFields): Ask => ({ kind: "notification", fields });
/** The digest of an inbox. */
export const digest = (fields: DigestFields): Ask => ({ kind: "digest", fields });
/** The apology of an incident. */
export const apology = (fields: ApologyFields): Ask => ({ kind: "apology", fields });

/** The request as the ledger takes it; what was not given is left out. */
export function bodyOf(ask: Ask): Record<string, unknown> {
  const given = Object.entries(ask.fields).filter(([, value]) => value !== undefined && value !== null);
  return { kind: ask.kind, ...Object.fromEntries(given) };
}
