/** The client: `new Ledger({ url, key })`. */
import { factsCall, invoiceCall, readCall, reportCall } from "./calls.js";
import type { Classify } from "./delivery.js";
import { LedgerError } from "./errors.js";
import { Flows, type SendResult } from "./flows.js";
import * as kinds from "./kinds.js";
import type { Ask } from "./kinds.js";
import { CONSOLE, type Hook, Hooks, type Log } from "./observing.js";
import type { components } from "./openapi.js";
import { Pace, type PaceOptions } from "./pace.js";
import type { Granted, Outcome, Permit } from "./permit.js";
import { Spool } from "./spool.js";
import { Connections, observed, type Transport } from "./wire.js";

type Schemas = components["schemas"];

const DEFAULT_URL = "http://127.0.0.1:8080";

/** What a client is made of; all of it may be left out where LEDGER_KEY is set. */
export interface LedgerOptions {
  /** The ledger's address: LEDGER_URL, else http://127.0.0.1:8080. */
  readonly url?: string | undefined;
  /** The key: LEDGER_KEY. */
  readonly key?: string | undefined;
  /** How long to ask. */
  readonly pace?: PaceOptions | undefined;
  /** A folder for outcomes that could not be reported: SENDLEDGER_SPOOL, else none. */
  readonly spool?: string | undefined;
  /** Are told of calls and outcomes, beside the log. */
  readonly hooks?: readonly Hook[] | undefined;
  /** Where lines go; warnings and errors to the console if it is not given. */
  readonly log?: Log | undefined;
  /** Says of an error that leaves a callback why the mail certainly did not go out. */
  readonly classify?: Classify | undefined;
  /** Replaces the connections, for instance in tests. */
  readonly transport?: Transport | undefined;
}

/** The function that hands a mail over. */
export type Send<T> = (permit: Permit) => T | Promise<T>;

type Open<F> = <T>(fields: F, body: Send<T>) => Promise<T>;

/**
 * `ledger.permit`: a method for each kind of mail. Each asks and redeems, lets the function hand the
 * mail over, and reports what became of it; `ledger.permit(ask, body)` does so for a request that
 * was made before. What the function returns is returned, what it throws is thrown.
 */
export interface Permits {
  <T>(ask: Ask, body: Send<T>): Promise<T>;
  readonly reminder: Open<kinds.ReminderFields>;
  readonly paymentFailed: Open<kinds.PaymentFailedFields>;
  readonly reply: Open<kinds.ReplyFields>;
  readonly message: Open<kinds.MessageFields>;
  readonly followUp: Open<kinds.FollowUpFields>;
  readonly notification: Open<kinds.NotificationFields>;
  readonly digest: Open<kinds.DigestFields>;
  readonly apology: Open<kinds.ApologyFields>;
}

/** The client of a send ledger. One serves a whole program. */
export class Ledger {
  /** See Permits. */
  readonly permit: Permits;
  private readonly flows: Flows;
  private readonly connections: Connections;

  /** Throws LedgerError where no key is given. */
  constructor(options: LedgerOptions = {}) {
    const url = (options.url || process.env["LEDGER_URL"] || DEFAULT_URL).replace(/\/+$/, "");
    const key = options.key || process.env["LEDGER_KEY"];
    if (!key) throw new LedgerError("there is no key: set LEDGER_KEY, or give key");
    const folder = options.spool || process.env["SENDLEDGER_SPOOL"];
    const log = options.log ?? CONSOLE;
    const hooks = new Hooks(log, options.hooks ?? []);
    this.connections = new Connections(url, key);
    const attempt = observed(options.transport ?? this.connections.transport, hooks);
    const spool = folder ? new Spool(folder, `${url} ${key}`, log) : undefined;
    this.flows = new Flows(attempt, new Pace(options.pace), hooks, spool, options.classify);
    this.permit = this.permits();
  }

  /**
   * Send by this function, at most once; for a duplicate what is known of the first send. Throws
   * Denied for every other no, Unavailable where the ledger cannot be asked, and what the function
   * throws.
   */
  sendOnce<T>(ask: Ask, send: Send<T>): Promise<SendResult<Awaited<T>>> {
    return this.flows.sendOnce(ask, send);
  }

  /**
   * A whole poller: a redeemed permit for each customer with something newly due. Run it as often and
   * as many times at once as you like. What became of a mail is reported when the loop goes on or is
   * left. `limit`: so many are claimed at once (25).
   */
  due(options: { readonly limit?: number; readonly stage?: string } = {}): AsyncGenerator<Permit, void, void> {
    return this.flows.due(options.limit ?? 25, options.stage);
  }

  /** A permit that is not redeemed yet, for a mail that takes long to write. */
  ask(ask: Ask): Promise<Granted> {
    return this.flows.ask(ask);
  }

  /** Redeem the permit of `ask`, let the function hand the mail over, report what became of it. */
  redeem<T>(granted: Granted, body: Send<T>): Promise<T> {
    return this.flows.handOver(granted, body);
  }

  /**
   * Report that the permit of `ask` was not used; true once the ledger has heard it. It counts as a
   * rejection. A permit of a key that must redeem lapses by itself as unused.
   */
  giveBack(granted: Granted): Promise<boolean> {
    return this.flows.giveBack(granted);
  }

  /** Post facts (CloudEvents); their (source, id) makes a repeat harmless. */
  tell(facts: Iterable<Readonly<Record<string, unknown>>>): Promise<unknown> {
    return this.flows.plain(factsCall(facts));
  }

  /** Put an invoice's snapshot: what the billing system says now. */
  putInvoice(invoiceId: string, snapshot: Schemas["InvoiceSnapshot"]): Promise<unknown> {
    return this.flows.plain(invoiceCall(invoiceId, snapshot));
  }

  /**
   * Report the outcome of a permit whose callback is not this program's any more. Throws Denied or
   * Unavailable: here somebody waits for the answer.
   */
  report(permitId: string, outcome: Outcome): Promise<unknown> {
    return this.flows.plain(reportCall(permitId, outcome));
  }

  /**
   * The answer to a call that changes nothing: a GET, or a POST where there is a body. `path` is that
   * of the HTTP interface, such as `/v1/due`. Throws Denied or Unavailable.
   */
  read(path: string, query: Readonly<Record<string, unknown>> = {}, body?: unknown): Promise<unknown> {
    return this.flows.plain(readCall(path, query, body));
  }

  /** Report what the spool holds; how many outcomes are left. */
  flush(): Promise<number> {
    return this.flows.flush();
  }

  /** Close connections and spool. */
  async close(): Promise<void> {
    this.connections.close();
    await this.flows.spool?.close();
  }

  private permits(): Permits {
    const open = async <T>(ask: Ask, body: Send<T>): Promise<T> =>
      this.flows.handOver(await this.flows.ask(ask), body);
    const opening =
      <F>(make: (fields: F) => Ask): Open<F> =>
      (fields, body) =>
        open(make(fields), body);
    return Object.assign(open, {
      reminder: opening(kinds.reminder),
      paymentFailed: opening(kinds.paymentFailed),
      reply: opening(kinds.reply),
      message: opening(kinds.message),
      followUp: opening(kinds.followUp),
      notification: opening(kinds.notification),
      digest: opening(kinds.digest),
      apology: opening(kinds.apology),
    });
  }
}
