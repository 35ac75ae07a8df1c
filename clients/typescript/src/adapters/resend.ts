/** Resend: hands a mail over by its SDK, with the permit's key as its Idempotency-Key. */
import { type Delivered, InDoubt, Refused } from "../delivery.js";
import type { Permit } from "../permit.js";
import { isRecord, nameOf } from "../wire.js";
import { checkCopies, checkTime, headersFor, recipientFor } from "./addressing.js";

/** A mail for Resend; `to` only where the ledger knows no address; copies: the permit's. */
export interface Mail {
  readonly from: string;
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
  readonly to?: string;
  readonly replyTo?: string | string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly attachments?: readonly Readonly<Record<string, unknown>>[];
}

/** What this module needs of `new Resend(key)`. */
export interface ResendClient {
  // The SDK's own types differ from version to version, and are no dependency of this package.
  readonly emails: { send(mail: any, options?: any): Promise<any> };
}

/** 4xx that do not say that nothing was taken: a time-out, or an earlier request of the same key. */
const DOUBTFUL: ReadonlySet<number> = new Set([408, 409, 425]);
const RECIPIENTS = ["cc", "bcc", "scheduledAt"];
const LONGEST_TAG = 256;

/** Hands mails over by Resend's SDK. */
export class ResendMailer {
  private readonly seconds: number;

  /** `timeout`: seconds that an answer may take (30). */
  constructor(
    private readonly client: ResendClient,
    options: { readonly timeout?: number } = {},
  ) {
    this.seconds = options.timeout ?? 30;
  }

  /** Hand the mail over to the permit's `to` and copies, with its headers. Throws Refused or InDoubt. */
  async send(permit: Permit, mail: Mail): Promise<Delivered> {
    checkTime(permit);
    checkCopies(mail, RECIPIENTS);
    const to = recipientFor(permit, mail.to).address;
    const token = permit.sendToken;
    const asked = {
      ...mail,
      to: [to],
      ...(permit.cc.length > 0 ? { cc: [...permit.cc] } : {}),
      headers: headersFor(permit, mail.headers),
      // Events of Resend show tags, not headers.
      ...(token && token.length <= LONGEST_TAG && !token.includes(" ")
        ? { tags: [{ name: "X-Ledger-Send", value: token }] }
        : {}),
    };
    const idempotencyKey = permit.providerIdempotencyKey ?? permit.permitId;
    return judged(await this.answered(asked, idempotencyKey));
  }

  /** The SDK's answer; it has no time-out of its own. */
  private async answered(asked: object, idempotencyKey: string): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, fail) => {
      timer = setTimeout(() => fail(new InDoubt("resend: no answer in time")), this.seconds * 1000);
    });
    try {
      return await Promise.race([this.client.emails.send(asked, { idempotencyKey }), late]);
    } catch (error) {
      if (error instanceof InDoubt) throw error;
      throw new InDoubt(`resend: ${nameOf(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What the answer proves: the SDK returns errors, with the status where there was an answer. */
function judged(answer: unknown): Delivered {
  if (!isRecord(answer)) throw new InDoubt("resend: no answer");
  const { data, error } = answer;
  if (isRecord(error)) {
    const status = error["statusCode"];
    if (typeof status !== "number") throw new InDoubt("resend: no answer");
    if (status >= 400 && status < 500 && !DOUBTFUL.has(status)) throw new Refused(`resend answered ${status}`);
    throw new InDoubt(`resend answered ${status}`);
  }
  const id = isRecord(data) ? data["id"] : undefined;
  if (typeof id !== "string") throw new InDoubt("resend: an answer without an id");
  return { provider: "resend", providerMessageId: id };
}
