/** What can go wrong: the ledger says no, or cannot be asked. In either case: do not send. */
import { instant, retryAfter } from "./times.js";
import { isRecord, Reply } from "./wire.js";

/** Codes that say for certain: this mail went out already. */
export const DUPLICATES: ReadonlySet<string> = new Set([
  "already_sent",
  "duplicate_intent",
  "already_replied",
  "apology_already_sent",
]);

/** What to do about a denial; see the ledger's page of denials. */
export type NextAction = "stop" | "retry_at" | "ask_human" | "fix_request" | "find_out";

/** The base of every error of this package. */
export class LedgerError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/**
 * The ledger gave no decision within the deadline: nothing may be sent. `why` is a short name;
 * `committed` is what the ledger said of the effect of the last try: `no`, `unknown`, or undefined
 * where it did not answer.
 */
export class Unavailable extends LedgerError {
  constructor(
    readonly why: string,
    readonly committed?: string,
  ) {
    super(`the ledger gave no decision (${why}); nothing may be sent`);
  }
}

/** The permit's outcome was told already, and another one was told now. */
export class OutcomeGiven extends LedgerError {}

/** The send that a duplicate repeats, as far as the ledger knows it. */
export interface Original {
  readonly permitId: string | undefined;
  readonly sender: string | undefined;
  readonly sentAt: Date | undefined;
  readonly providerMessageId: string | undefined;
}

/**
 * The ledger said no.
 *
 * `code` is the stable code; `nextStep` a sentence for a person or a model; `retryable` says whether
 * the program may ask again by itself, from `availableAt` on or after `retryAfter` seconds where they
 * are told. `freesAt` is a time that helps only after a human has acted. `problem` is the whole
 * problem document.
 */
export class Denied extends LedgerError {
  readonly problem: Readonly<Record<string, unknown>>;
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly nextAction: NextAction;
  readonly nextStep: string;
  readonly retryable: boolean;
  readonly availableAt: Date | undefined;
  readonly freesAt: Date | undefined;
  readonly retryAfter: number | undefined;
  readonly permitId: string | undefined;
  readonly decisionId: string | undefined;
  readonly dueStage: string | undefined;
  readonly original: Original | undefined;

  constructor(reply: Reply) {
    const problem = reply.problem;
    const code = text(problem["code"]) ?? `http_${reply.status}`;
    const title = text(problem["title"]) ?? "";
    const detail = text(problem["detail"]) ?? "";
    const nextStep = text(problem["next_step"]) ?? "Do not send; look at the ledger's answer.";
    super(`${code}: ${detail || title}. ${nextStep}`);
    this.problem = problem;
    this.status = reply.status;
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.nextAction = (text(problem["next_action"]) ?? "ask_human") as NextAction;
    this.nextStep = nextStep;
    this.retryable = problem["retryable"] === true;
    this.availableAt = instant(problem["available_at"]);
    this.freesAt = instant(problem["frees_at"]);
    this.retryAfter = retryAfter(reply.headers);
    this.permitId = text(problem["permit_id"]);
    this.decisionId = text(problem["decision_id"]);
    this.dueStage = text(problem["due_stage"]);
    this.original = original(problem["original"]);
  }

  /** Does the ledger know for certain that this mail went out already? */
  get isDuplicate(): boolean {
    return DUPLICATES.has(this.code);
  }
}

/** The error for an answer that is no yes. */
export function noOf(reply: Reply): Denied | Unavailable {
  const problem = reply.problem;
  if (typeof problem["code"] === "string" && reply.status >= 400 && reply.status < 500) return new Denied(reply);
  return new Unavailable(text(problem["code"]) ?? `status ${reply.status}`, text(problem["committed"]));
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function original(value: unknown): Original | undefined {
  if (!isRecord(value)) return undefined;
  return {
    permitId: text(value["permit_id"]),
    sender: text(value["sender"]),
    sentAt: instant(value["sent_at"]),
    providerMessageId: text(value["provider_message_id"]),
  };
}
