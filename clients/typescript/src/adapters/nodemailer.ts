/**
 * Nodemailer: hands a mail over by SMTP, once.
 *
 * Until the data is asked for nothing was handed over; a reply to the data is definite either way
 * (RFC 5321, section 4.2.5). Nodemailer gives the same error for a connection that breaks before and
 * during the data, so the mailer watches whether the content was read: that is done after the
 * server's 354.
 */
import { Readable } from "node:stream";

import { type Delivered, InDoubt, Refused } from "../delivery.js";
import { LedgerError } from "../errors.js";
import type { Permit } from "../permit.js";
import { isRecord, nameOf } from "../wire.js";
import { type Address, checkCopies, checkTime, headersFor, isSame, recipientFor } from "./addressing.js";

/** A mail; `to` only where the ledger knows no address, or with a name. Other fields are Nodemailer's. */
export interface Mail {
  readonly from: Address;
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly to?: Address;
  readonly replyTo?: Address;
  readonly headers?: Readonly<Record<string, string>>;
  readonly attachments?: readonly Readonly<Record<string, unknown>>[];
}

/** What this module needs of a transporter of Nodemailer's `createTransport`. */
export interface Transporter {
  // Nodemailer's own types differ from version to version, and are no dependency of this package.
  sendMail(mail: any): Promise<any>;
  use(step: string, plugin: (mail: any, done: () => void) => void): unknown;
}

/** Stands in a mail's data under this name; versions before 8 drop symbols. */
const WATCH = "sendledgerWatch";
/** `unwatched` proves nothing: Nodemailer did not show the content to this module. */
interface Watch {
  content: "unwatched" | "unread" | "read";
}
const watched = new WeakSet<object>();
/** Transports whose content is read only after the server's 354. */
const BY_SMTP: ReadonlySet<string> = new Set(["SMTP", "SMTP (pool)"]);
/** What else names recipients: with the key set, defaults of the transporter are not taken. */
const NO_DEFAULTS = { bcc: "", envelope: undefined, raw: undefined, dsn: undefined };

/** Transports that hand a mail to one server, once; the last two are for tests. */
const ONCE: ReadonlySet<string> = new Set(["SMTP", "SMTP (pool)", "JSONTransport", "StreamTransport"]);
const RECIPIENTS = ["cc", "bcc", "envelope", "raw", "dsn"];
/** Commands before the data; `API` is Nodemailer itself. */
const BEFORE_DATA = /^(API|EHLO|HELO|LHLO|STARTTLS|AUTH|MAIL FROM|RCPT TO)\b/;
const NO_GREETING: ReadonlySet<string> = new Set(["Connection timeout", "Greeting never received"]);

/** Hands mails over by a transporter of Nodemailer. */
export class NodemailerMailer {
  private readonly isSmtp: boolean;

  /** Throws LedgerError for a transport that may hand a mail over twice, or whose errors prove nothing. */
  constructor(private readonly transporter: Transporter) {
    const inner = (transporter as { transporter?: unknown }).transporter;
    const name = isRecord(inner) ? String(inner["name"]) : "";
    if (!ONCE.has(name)) throw new LedgerError(`the transport is not SMTP but ${name || "unknown"}`);
    const options = isRecord(inner) && isRecord(inner["options"]) ? inner["options"] : {};
    if (name === "SMTP (pool)" && options["maxRequeues"] !== 0) {
      throw new LedgerError("a pool repeats mails by itself: give createTransport maxRequeues: 0");
    }
    this.isSmtp = BY_SMTP.has(name);
    watchContent(transporter);
  }

  /** Hand the mail over to the permit's `to` and copies, with its headers. Throws Refused or InDoubt. */
  async send(permit: Permit, mail: Mail): Promise<Delivered> {
    checkTime(permit);
    checkCopies(mail, RECIPIENTS);
    const to = recipientFor(permit, mail.to);
    const { "Message-ID": messageId, ...headers } = headersFor(permit, mail.headers);
    const copies = permit.cc.map((address) => ({ name: "", address }));
    const watch: Watch = { content: "unwatched" };
    let info: unknown;
    try {
      info = await this.transporter.sendMail({ ...mail, ...NO_DEFAULTS, to, cc: copies, headers, messageId, [WATCH]: watch });
    } catch (error) {
      const isBefore = this.isSmtp && watch.content === "unread";
      const refusal = refusalOf(error) ?? (isBefore ? `SMTP: ${nameOf(error)} before the data` : undefined);
      if (refusal !== undefined) throw new Refused(refusal, { cause: error });
      throw new InDoubt(`SMTP: ${nameOf(error)}`, { cause: error });
    }
    const refused = isRecord(info) && Array.isArray(info["rejected"]) ? info["rejected"] : [];
    if (refused.some((one) => isSame(typeof one === "string" ? one : String((one as { address?: unknown }).address), to.address))) {
      throw new InDoubt("the SMTP server took the mail for a copy alone");
    }
    return { provider: "smtp" };
  }
}

/** Once for each transporter: the content of a mail that carries a watch tells when it is read. */
function watchContent(transporter: Transporter): void {
  if (watched.has(transporter)) return;
  watched.add(transporter);
  transporter.use("stream", (mail, done) => {
    const watch: Watch | undefined = mail.data[WATCH];
    if (watch !== undefined) {
      watch.content = "unread";
      mail.message.processFunc((input: Readable) => Readable.from(readBy(input, watch), { objectMode: false }));
    }
    done();
  });
}

async function* readBy(input: Readable, watch: Watch): AsyncGenerator<Buffer> {
  watch.content = "read";
  for await (const part of input) yield part as Buffer;
}

/**
 * Why the mail certainly did not go out, undefined where an error of Nodemailer does not prove that.
 * It serves as `classify` of the client for programs that call Nodemailer themselves, once for each
 * permit and without a pool: an error says nothing of an earlier try.
 */
export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, command, responseCode, syscall } = error as Error & Record<string, unknown>;
  if (typeof code !== "string" || typeof command !== "string") return undefined;
  const reply = typeof responseCode === "number" ? `SMTP ${responseCode}` : "SMTP";
  if (code === "EENVELOPE") return `${reply} for ${command}`;
  if (code === "ESTREAM") return undefined;
  if (BEFORE_DATA.test(command)) return `${reply} for ${command}: ${code}`;
  if (code === "EMESSAGE" && typeof responseCode === "number" && responseCode >= 400) return `${reply} for the data`;
  if (syscall === "connect" || code === "EDNS" || code === "ETLS") return `no SMTP connection: ${code}`;
  if (code === "EPROTOCOL" && error.message.startsWith("Invalid greeting")) return `${reply} for the greeting`;
  if (code === "ETIMEDOUT" && NO_GREETING.has(error.message)) return `no SMTP connection: ${code}`;
  return undefined;
}
