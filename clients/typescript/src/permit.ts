/** A permit: what was granted, what its mail carries, and what its sender says became of it. */
import type { PermitBody } from "./calls.js";
import { certainRefusal, type Classify, type Delivered, deliveredOf, NotDelivered } from "./delivery.js";
import { LedgerError, OutcomeGiven } from "./errors.js";
import type { Ask } from "./kinds.js";
import { instant } from "./times.js";
import { isRecord, nameOf } from "./wire.js";

const LONGEST_ID = 255;
const LONGEST_DETAIL = 500;
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;

/** What an outcome may be; `rejected` means that the mail certainly did not go out. */
export type OutcomeState = "sent" | "rejected" | "unknown";

/**
 * A permit that was granted and not yet redeemed. It allows nothing before it is redeemed.
 * `askedAt` is the monotonic time in seconds at which the client asked.
 */
export class Granted {
  private isUsed = false;

  constructor(
    readonly body: PermitBody,
    readonly askedAt: number,
    readonly ask?: Ask,
  ) {}

  /** Throws LedgerError the second time: who redeems twice could give back what was sent. */
  use(): void {
    if (this.isUsed) throw new LedgerError(`permit ${this.permitId} was used already`);
    this.isUsed = true;
  }

  /** The permit's id. */
  get permitId(): string {
    return this.body.permit_id;
  }

  /** The kind of mail. */
  get kind(): string {
    return textIn(this.body, "kind") ?? "";
  }

  /** The monotonic time in seconds of `send_by`, whatever this machine's clock says. */
  runsOut(): number | undefined {
    const granted = instant(this.body["granted_at"]);
    const sendBy = instant(this.body["send_by"]);
    if (granted === undefined || sendBy === undefined) return undefined;
    return this.askedAt + (sendBy.getTime() - granted.getTime()) / 1000;
  }
}

/** What became of a mail. */
export class Outcome {
  constructor(
    readonly state: OutcomeState,
    readonly detail?: string,
    readonly delivered: Delivered = {},
  ) {}

  /** The report; ids that the ledger would not take are left out, so that the rest arrives. */
  body(): Record<string, string> {
    const found = {
      outcome: this.state,
      detail: short(this.detail),
      provider: id(this.delivered.provider),
      provider_message_id: id(this.delivered.providerMessageId),
      message_id: id(this.delivered.messageId),
    };
    const given = Object.entries(found).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return Object.fromEntries(given);
  }
}

/**
 * A redeemed permit: its mail may be handed over once, now, to `to` and the copies in `cc`.
 *
 * `to` is undefined where the ledger knows no address; it may be the one that was asked for. Say what
 * became of the mail with `sent`, `rejected` or `unknown`; it is reported when the callback ends.
 */
export class Permit {
  /** The permit as the ledger told it. */
  readonly body: PermitBody;
  readonly ask: Ask | undefined;
  /** What was told so far. */
  outcome: Outcome | undefined;
  private readonly runsOutAt: number | undefined;

  constructor(
    granted: Granted,
    redeemed: PermitBody,
    private readonly classify: Classify | undefined,
    private readonly noted: (permit: Permit) => void,
    private readonly clock: () => number,
  ) {
    this.body = { ...granted.body, ...redeemed };
    this.ask = granted.ask;
    this.runsOutAt = granted.runsOut();
  }

  /** The permit's id. */
  get permitId(): string {
    return this.body.permit_id;
  }

  /** The kind of mail. */
  get kind(): string {
    return this.text("kind") ?? "";
  }

  /** Whose mail it is. */
  get customerId(): string | undefined {
    return this.text("customer_id");
  }

  /** The address to send to, undefined where the ledger knows none. */
  get to(): string | undefined {
    return this.text("to") ?? textIn(this.ask?.fields, "to");
  }

  /** The copies that were asked for: exactly these may get one. */
  get cc(): readonly string[] {
    const asked = this.ask?.fields["cc"];
    return Array.isArray(asked) ? asked.filter((one): one is string => typeof one === "string") : [];
  }

  /** The invoices of a reminder: `invoice_id`, `stage`, `amount_remaining`, `currency`. */
  get items(): readonly Readonly<Record<string, unknown>>[] {
    const found = this.body["items"];
    return Array.isArray(found) ? found.filter(isRecord) : [];
  }

  /** What the customer owed when an apology was granted. */
  get statement(): Readonly<Record<string, unknown>> | undefined {
    const found = this.body["statement"];
    return isRecord(found) ? found : undefined;
  }

  /** The Message-ID for the mail. */
  get messageId(): string | undefined {
    return this.text("message_id");
  }

  /** What the mail carries in the header `X-Ledger-Send`. */
  get sendToken(): string | undefined {
    return this.text("send_token");
  }

  /** The key for a provider that takes one. */
  get providerIdempotencyKey(): string | undefined {
    return this.text("provider_idempotency_key");
  }

  /** Until when the mail may be handed over, by the ledger's clock. */
  get sendBy(): Date | undefined {
    return instant(this.body["send_by"]);
  }

  /** May the mail still be handed over? Measured since the question, not by this clock. */
  get inTime(): boolean {
    return this.runsOutAt === undefined || this.clock() < this.runsOutAt;
  }

  /**
   * The headers that the mail must carry. Message-ID and X-Ledger-Send let the ledger recognise it;
   * Auto-Submitted keeps other programs from answering it (RFC 3834, section 5); a reply names what
   * it answers.
   */
  get headers(): Record<string, string> {
    const found: Record<string, string> = {};
    if (this.messageId) found["Message-ID"] = this.messageId;
    if (this.sendToken) found["X-Ledger-Send"] = this.sendToken;
    found["Auto-Submitted"] = this.kind === "reply" ? "auto-replied" : "auto-generated";
    const answered = textIn(this.ask?.fields, "in_reply_to");
    if (answered) found["In-Reply-To"] = found["References"] = bracketed(answered);
    return found;
  }

  /** The provider took the mail; `result` is what the mailer returned (see deliveredOf). */
  sent(result?: unknown): void {
    this.note(new Outcome("sent", undefined, deliveredOf(result)));
  }

  /** The mail certainly did not go out; the send is free again. No address in `detail`. */
  rejected(detail = "not handed over"): void {
    this.note(new Outcome("rejected", detail));
  }

  /** The mail may have gone out: nothing is sent again until somebody finds out. */
  unknown(detail = "not known"): void {
    this.note(new Outcome("unknown", detail));
  }

  /**
   * Inside a loop over what is due: one mail that fails does not end the loop. The error of a mailer
   * (NotDelivered) says what became of the mail, and goes no further; any other is judged and thrown.
   */
  async handOver(body: (permit: Permit) => unknown): Promise<void> {
    try {
      await body(this);
      this.left();
    } catch (error) {
      this.left(error ?? new Error("nothing was thrown"));
      if (!(error instanceof NotDelivered)) throw error;
    }
  }

  /** The callback is over: what was not told is judged by the error that left it. */
  left(error?: unknown): void {
    if (this.outcome !== undefined) return;
    if (error === undefined) return this.unknown("the sender did not say");
    const refusal = this.judged(error) ?? certainRefusal(error);
    if (refusal !== undefined) this.rejected(refusal);
    else this.unknown(nameOf(error));
  }

  private judged(error: unknown): string | undefined {
    try {
      return this.classify?.(error) || undefined;
    } catch {
      return undefined;
    }
  }

  /** The first word stands; only `sent` may replace `unknown`. Throws OutcomeGiven. */
  private note(outcome: Outcome): void {
    const before = this.outcome;
    if (before?.state === outcome.state) return;
    if (before !== undefined && !(before.state === "unknown" && outcome.state === "sent")) {
      throw new OutcomeGiven(`permit ${this.permitId} is ${before.state}, not ${outcome.state}`);
    }
    this.outcome = outcome;
    this.noted(this);
  }

  private text(name: string): string | undefined {
    return textIn(this.body, name);
  }
}

function textIn(body: Readonly<Record<string, unknown>> | undefined, name: string): string | undefined {
  const value = body?.[name];
  return typeof value === "string" ? value : undefined;
}

function bracketed(messageId: string): string {
  const bare = messageId.trim();
  return bare.startsWith("<") || !bare.includes("@") ? bare : `<${bare}>`;
}

/** An id that the ledger takes, undefined for any other. */
function id(text: string | undefined): string | undefined {
  const fits = text && text.length <= LONGEST_ID && !UNPRINTABLE.test(text) && text === text.trim();
  return fits ? text : undefined;
}

function short(text: string | undefined): string | undefined {
  if (!text) return undefined;
  return Array.from(text).filter((one) => !UNPRINTABLE.test(one)).slice(0, LONGEST_DETAIL).join("") || undefined;
}
