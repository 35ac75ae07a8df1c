/** The flows of a send: ask, redeem, hand over, report. */
import { askCall, claimCall, claimedIn, grantedIn, outcomeCall, type PermitBody, redeemCall, redeemedIn } from "./calls.js";
import type { Classify } from "./delivery.js";
import { Denied, noOf, Unavailable } from "./errors.js";
import type { Ask } from "./kinds.js";
import type { Hooks } from "./observing.js";
import type { Pace } from "./pace.js";
import { Granted, Outcome, Permit } from "./permit.js";
import type { Report, Spool } from "./spool.js";
import { type Call, NoAnswer, Reply } from "./wire.js";

const LEAST_TIMEOUT = 0.05;
const BETWEEN_FLUSHES = 30;
/** Seconds for a report that a question waits for. */
const IN_PASSING = 2;
/** 4xx that do not refuse a report for good: the key may be put right. */
const ASK_AGAIN: ReadonlySet<number> = new Set([401, 408, 429]);

/** One try of a call: its number from 1, and how many seconds it may take. */
export type Try = (call: Call, number: number, seconds: number) => Promise<Reply | NoAnswer>;

/**
 * What `sendOnce` came to. `duplicate`: the mail went out before, and nothing was sent now; the other
 * fields are then what the ledger knows of the first send. `value` is what the sender's function
 * returned, undefined for a duplicate. `state` is `sent`, or what the function itself told.
 */
export interface SendResult<T> {
  readonly permitId: string | undefined;
  readonly state: string;
  readonly providerMessageId: string | undefined;
  readonly duplicate: boolean;
  readonly value?: T | undefined;
  readonly sentAt?: Date | undefined;
  readonly sender?: string | undefined;
}

/** Every flow of one client, with what they share. */
export class Flows {
  private flushedAt: number | undefined;

  constructor(
    private readonly attempt: Try,
    private readonly pace: Pace,
    private readonly hooks: Hooks,
    readonly spool: Spool | undefined,
    private readonly classify: Classify | undefined,
  ) {}

  /** The final answer to a call that may be repeated, tried until the deadline. Throws Unavailable where there is none. */
  async exchange(call: Call, seconds = this.pace.deadline): Promise<Reply> {
    const end = this.pace.clock() + seconds;
    const left = (): number => Math.max(0, end - this.pace.clock());
    for (let number = 1; ; number++) {
      const timeout = Math.max(LEAST_TIMEOUT, Math.min(this.pace.perCall, left()));
      const answer = await this.attempt(call, number, timeout);
      const wait = this.pace.wait(answer, number);
      if (wait === undefined && answer instanceof Reply) {
        const warning = answer.headers["ledger-warning"];
        if (warning) this.hooks.log.info?.(`the ledger warns of the ${call.operation}: ${warning}`);
        return answer;
      }
      if (wait === undefined || wait >= left()) {
        throw answer instanceof NoAnswer ? new Unavailable(answer.why) : noOf(answer);
      }
      if (number === 1) {
        const why = answer instanceof NoAnswer ? answer.why : `status ${answer.status}`;
        const again = `asking again for up to ${left().toFixed(0)} seconds`;
        this.hooks.log.warn(`the ledger did not answer the ${call.operation} (${why}); ${again}`);
      }
      await this.pace.sleep(wait);
    }
  }

  /** A permit, not yet redeemed. Throws Denied or Unavailable. */
  async ask(ask: Ask): Promise<Granted> {
    await this.flushIfTime();
    const askedAt = this.pace.clock();
    const reply = await this.exchange(askCall(ask));
    return new Granted(grantedIn(reply), askedAt, ask);
  }

  /**
   * The right to hand the mail over now. Throws Denied or Unavailable. A yes that was not heard, or
   * came after `send_by`, is given back: the mail was not sent.
   */
  async redeem(granted: Granted): Promise<Permit> {
    granted.use();
    await this.spool?.ready();
    let redeemed: PermitBody;
    try {
      redeemed = redeemedIn(await this.exchange(redeemCall(granted.permitId)), granted.permitId);
    } catch (error) {
      // An earlier try may have been a yes, whose answer was lost.
      const isCertain = error instanceof Denied && error.code !== "rate_limited";
      if (!isCertain) await this.reportUnsent(granted, "no answer to redeem");
      throw error;
    }
    const noted = (permit: Permit): void => this.noted(permit);
    const permit = new Permit(granted, redeemed, this.classify, noted, this.pace.clock);
    if (!permit.inTime) {
      await this.reportUnsent(granted, "redeemed too late");
      throw new Unavailable("the answer to redeem came after send_by");
    }
    this.spool?.handingOver(permit.permitId);
    return permit;
  }

  /** Report that a permit was not used; true once the ledger has heard it. */
  async giveBack(granted: Granted): Promise<boolean> {
    granted.use();
    await this.spool?.ready();
    return this.reportUnsent(granted, "not sent");
  }

  /** Redeem, let the caller's function hand over, report what became of it. */
  async handOver<T>(granted: Granted, body: (permit: Permit) => T | Promise<T>): Promise<T> {
    const permit = await this.redeem(granted);
    return this.judged(permit, body, () => permit.left());
  }

  /** Send by the function, unless the mail went out before: then say what is known of it. */
  async sendOnce<T>(ask: Ask, send: (permit: Permit) => T | Promise<T>): Promise<SendResult<Awaited<T>>> {
    let granted: Granted;
    try {
      granted = await this.ask(ask);
    } catch (error) {
      if (error instanceof Denied && error.isDuplicate) return firstSend(error);
      throw error;
    }
    const permit = await this.redeem(granted);
    const value = await this.judged(permit, send, (result) => {
      if (permit.outcome === undefined) permit.sent(result);
    });
    const state = permit.outcome?.state ?? "unknown";
    const providerMessageId = permit.outcome?.delivered.providerMessageId;
    return { permitId: permit.permitId, state, providerMessageId, duplicate: false, value: value as Awaited<T> };
  }

  /**
   * Claim what is due, hand each permit over in turn, report each; no send comes twice. A mail that
   * is refused is due again at once; it is left for a later run. A permit that was claimed and not
   * used lapses: to report it as rejected would count against its send.
   */
  async *due(limit: number, stage: string | undefined): AsyncGenerator<Permit, void, void> {
    await this.flushIfTime();
    const seen = new Set<string>();
    for (;;) {
      const askedAt = this.pace.clock();
      const { permits, withheld } = claimedIn(await this.exchange(claimCall(limit, stage)));
      this.warnOf(withheld);
      const page = permits.map((body) => new Granted(body, askedAt));
      const fresh = page.filter((granted) => !sendsOf(granted).some((send) => seen.has(send)));
      for (const granted of fresh) {
        for (const send of sendsOf(granted)) seen.add(send);
        const permit = await this.redeemDue(granted);
        if (permit === undefined) continue;
        try {
          yield permit;
        } finally {
          permit.left();
          await this.report(permit);
        }
      }
      if (fresh.length < limit) return;
    }
  }

  /** Tell the ledger the permit's outcome; true once it has heard it. */
  async report(permit: Permit): Promise<boolean> {
    if (permit.outcome === undefined) return false;
    return this.reportOne(permit.permitId, permit.outcome.body(), permit.kind);
  }

  /** Report what the spool has, each within so many seconds; how many are left. It stops at the first that is not heard: the ledger is away. */
  async flush(seconds?: number): Promise<number> {
    if (this.spool === undefined) return 0;
    this.flushedAt = this.pace.clock();
    const waiting = await this.spool.leftovers();
    for (const [index, [name, body]] of waiting.entries()) {
      if (!(await this.reportOne(name, body, "", seconds))) return waiting.length - index;
    }
    return 0;
  }

  /** The body of any other call's 2xx. Throws Denied or Unavailable. */
  async plain(call: Call): Promise<unknown> {
    const reply = await this.exchange(call);
    if (reply.status < 200 || reply.status >= 300) throw noOf(reply);
    return reply.body;
  }

  private async judged<T>(
    permit: Permit,
    body: (permit: Permit) => T | Promise<T>,
    ended: (value: T) => void,
  ): Promise<T> {
    let value: T;
    try {
      value = await body(permit);
    } catch (error) {
      permit.left(error ?? new Error("nothing was thrown"));
      await this.report(permit);
      throw error;
    }
    ended(value);
    await this.report(permit);
    return value;
  }

  private async redeemDue(granted: Granted): Promise<Permit | undefined> {
    try {
      return await this.redeem(granted);
    } catch (error) {
      if (!(error instanceof Denied)) throw error;
      this.hooks.log.info?.(`permit ${granted.permitId} is not redeemed: ${error.code}`);
      return undefined;
    }
  }

  private warnOf(withheld: readonly Record<string, unknown>[]): void {
    if (withheld.length === 0) return;
    const codes = [...new Set(withheld.map((one) => String(one["code"])))].sort().join(", ");
    this.hooks.log.warn(`${withheld.length} customers are due and get no mail now: ${codes}`);
  }

  private async reportUnsent(granted: Granted, detail: string): Promise<boolean> {
    const body = new Outcome("rejected", detail).body();
    this.spool?.outcome(granted.permitId, body);
    return this.reportOne(granted.permitId, body, granted.kind);
  }

  private noted(permit: Permit): void {
    if (permit.outcome !== undefined) this.spool?.outcome(permit.permitId, permit.outcome.body());
  }

  private async flushIfTime(): Promise<void> {
    const now = this.pace.clock();
    const isTime = this.flushedAt === undefined || now - this.flushedAt >= BETWEEN_FLUSHES;
    if (this.spool !== undefined && isTime) await this.flush(IN_PASSING);
  }

  private async reportOne(permitId: string, body: Report, kind: string, seconds?: number): Promise<boolean> {
    const reported = await this.isHeard(permitId, body, seconds ?? this.pace.reportDeadline);
    if (reported) this.spool?.done(permitId);
    else this.spool?.unreported(permitId);
    const detail = typeof body["detail"] === "string" ? body["detail"] : undefined;
    this.hooks.onOutcome({ permitId, kind, outcome: String(body["outcome"]), detail, reported });
    return reported;
  }

  /** Has the ledger taken the outcome, or said that it never will? */
  private async isHeard(permitId: string, body: Report, seconds: number): Promise<boolean> {
    try {
      let reply = await this.exchange(outcomeCall(permitId, body), seconds);
      if (reply.status === 422) {
        // Better a bare outcome than none.
        reply = await this.exchange(outcomeCall(permitId, { outcome: body["outcome"] }), seconds);
      }
      if (reply.status === 200) return true;
      const code = reply.problem["code"];
      this.hooks.log.error(`an outcome is not taken: ${typeof code === "string" ? code : reply.status}`);
      const isFinal = reply.status >= 400 && reply.status < 500 && !ASK_AGAIN.has(reply.status);
      return isFinal && code !== undefined;
    } catch (error) {
      if (error instanceof Denied) this.hooks.log.warn(`an outcome is not reported: ${error.code}`);
      else if (error instanceof Unavailable) this.hooks.log.warn(`an outcome is not reported: ${error.why}`);
      else throw error;
      return false;
    }
  }
}

/** What a reminder is for: invoice, cycle and stage, each as one text. */
function sendsOf(granted: Granted): string[] {
  const items = granted.body["items"];
  if (!Array.isArray(items) || items.length === 0) return [granted.permitId];
  return items.map((item: Record<string, unknown>) => `${item["invoice_id"]}\n${item["cycle"]}\n${item["stage"]}`);
}

function firstSend(denied: Denied): SendResult<never> {
  const first = denied.original;
  return {
    permitId: first?.permitId ?? denied.permitId,
    state: "sent",
    providerMessageId: first?.providerMessageId,
    duplicate: true,
    sentAt: first?.sentAt,
    sender: first?.sender,
  };
}
