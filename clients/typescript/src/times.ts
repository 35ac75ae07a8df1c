/** Times as the ledger writes them, and the header Retry-After (RFC 9110, section 10.2.3). */

/** A time of an answer; undefined where there is none or it cannot be read. */
export function instant(value: unknown): Date | undefined {
  if (typeof value !== "string") return undefined;
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** Retry-After in seconds from now, from a number or a date; undefined where it is not told. */
export function retryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const text = (headers["retry-after"] ?? "").trim();
  if (/^\d+$/.test(text)) return Number(text);
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}
