/** The HTTP calls of the ledger, and the reading of their answers. */
import { randomUUID } from "node:crypto";

import { noOf, Unavailable } from "./errors.js";
import { type Ask, bodyOf } from "./kinds.js";
import type { Outcome } from "./permit.js";
import { type Call, isRecord, type Reply } from "./wire.js";

const PERMITS = "/v1/permits";

/** A permit of an answer: it has its id. */
export type PermitBody = Readonly<Record<string, unknown>> & { readonly permit_id: string };

/**
 * May this be sent? The key is of this one question, which nobody else may share: two that share a
 * key get one permit, and one of them could give back what the other sends.
 */
export function askCall(ask: Ask): Call {
  const headers = { "Idempotency-Key": randomUUID() };
  return { operation: "ask", method: "POST", path: PERMITS, body: bodyOf(ask), headers };
}

/** Permits for what is newly due. */
export function claimCall(limit: number, stage: string | undefined): Call {
  const headers = { "Idempotency-Key": randomUUID() };
  return { operation: "claim", method: "POST", path: "/v1/due/claim", body: { limit, stage }, headers };
}

/** May it be handed over now? The same `attempt` hears a lost answer again. */
export function redeemCall(permitId: string): Call {
  const path = `${PERMITS}/${encodeURIComponent(permitId)}/redeem`;
  return { operation: "redeem", method: "POST", path, body: { attempt: randomUUID() }, permitId };
}

/** Report one outcome. */
export function outcomeCall(permitId: string, body: Readonly<Record<string, unknown>>): Call {
  const path = `${PERMITS}/${encodeURIComponent(permitId)}/outcome`;
  return { operation: "outcome", method: "POST", path, body, permitId };
}

/** The permit of an answer to `ask`: only 201 is a yes, and 200 where a yes is replayed. */
export function grantedIn(reply: Reply): PermitBody {
  const isReplayed = (reply.headers["idempotent-replayed"] ?? "").toLowerCase() === "true";
  if (reply.status === 201 || (reply.status === 200 && isReplayed)) return permitIn(reply);
  throw noOf(reply);
}

/** The permit of an answer to `redeem`: only this 200 is a yes. */
export function redeemedIn(reply: Reply, permitId: string): PermitBody {
  if (reply.status !== 200) throw noOf(reply);
  const body = permitIn(reply);
  if (body.permit_id !== permitId || body["state"] !== "redeemed") {
    throw new Unavailable("the answer is about something else");
  }
  return body;
}

/** The permits of an answer to `claim`, and how many are due and get no mail now. */
export function claimedIn(reply: Reply): { permits: PermitBody[]; withheld: Record<string, unknown>[] } {
  const body = isRecord(reply.body) ? reply.body : {};
  if (reply.status !== 200 || !Array.isArray(body["permits"])) throw noOf(reply);
  const withheld = Array.isArray(body["withheld"]) ? body["withheld"] : [];
  return { permits: body["permits"].filter(isPermit), withheld: withheld.filter(isRecord) };
}

/** Tell facts; a fact without an `id` gets a random one, which its retries keep. */
export function factsCall(facts: Iterable<Readonly<Record<string, unknown>>>): Call {
  const events = Array.from(facts, (fact) => ({ id: randomUUID(), ...fact }));
  return { operation: "facts", method: "POST", path: "/v1/facts", body: { facts: events } };
}

/** Put an invoice's snapshot. */
export function invoiceCall(invoiceId: string, snapshot: unknown): Call {
  const path = `/v1/invoices/${encodeURIComponent(invoiceId)}`;
  return { operation: "invoice", method: "PUT", path, body: snapshot };
}

/** Report one outcome that somebody waits for. */
export function reportCall(permitId: string, outcome: Outcome): Call {
  return outcomeCall(permitId, outcome.body());
}

/** Read something; parameters that are undefined are left out. */
export function readCall(path: string, query: Readonly<Record<string, unknown>>, body: unknown): Call {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const found = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  const target = found ? `${path}?${found}` : path;
  return { operation: "read", method: body === undefined ? "GET" : "POST", path: target, body };
}

function permitIn(reply: Reply): PermitBody {
  if (!isPermit(reply.body)) throw new Unavailable("the answer is no permit");
  return reply.body;
}

function isPermit(value: unknown): value is PermitBody {
  return isRecord(value) && typeof value["permit_id"] === "string";
}
