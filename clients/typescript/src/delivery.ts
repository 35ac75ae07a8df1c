/** What handing a mail over came to: delivered, certainly refused, or in doubt. */
import { LedgerError } from "./errors.js";

/** Says of an error why the mail certainly did not go out; undefined where that is not certain. */
export type Classify = (error: unknown) => string | undefined;

/** The provider took the mail; `messageId` where it gave the mail another than the permit's. */
export interface Delivered {
  readonly providerMessageId?: string | undefined;
  readonly provider?: string | undefined;
  readonly messageId?: string | undefined;
}

/** What a mailer returned: a Delivered, the provider's id, or an object with an `id`. */
export function deliveredOf(result: unknown): Delivered {
  if (typeof result === "string") return { providerMessageId: result };
  if (typeof result !== "object" || result === null) return {};
  const found = result as Record<string, unknown>;
  const pick = (name: string): string | undefined => {
    const value = found[name];
    return typeof value === "string" ? value : undefined;
  };
  return {
    providerMessageId: pick("providerMessageId") ?? pick("id"),
    provider: pick("provider"),
    messageId: pick("messageId"),
  };
}

/** The mail was not taken, or nobody knows; `detail` holds no address. */
export class NotDelivered extends LedgerError {
  constructor(
    readonly detail: string,
    options?: ErrorOptions,
  ) {
    super(detail, options);
  }
}

/** The mail certainly did not go out: refused, or never handed over. */
export class Refused extends NotDelivered {}

/** The mail may have gone out: the answer is missing or says neither. */
export class InDoubt extends NotDelivered {}

/**
 * Why the mail certainly did not go out, undefined where the error does not prove that. Of errors
 * that no adapter raised none is known: `classify` of the client is for those.
 */
export function certainRefusal(error: unknown): string | undefined {
  return error instanceof Refused ? error.detail : undefined;
}
