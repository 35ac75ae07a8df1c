/** Whom a mail goes to, and what it carries: never to anybody whom its permit does not name. */
import { Refused } from "../delivery.js";
import type { Permit } from "../permit.js";

/** An address, with the name of its owner where one is given. */
export type Address = string | { readonly name: string; readonly address: string };

const OWN_FIRST: ReadonlySet<string> = new Set(["in-reply-to", "references"]);

/** Throws Refused where `send_by` has passed: the ledger may have granted the send anew. */
export function checkTime(permit: Permit): void {
  if (!permit.inTime) throw new Refused("the permit ran out before the mail was handed over");
}

/**
 * The recipient: the permit's `to`; where the ledger knows no address it is the sender's own. Throws
 * Refused for anybody else.
 */
export function recipientFor(permit: Permit, to: Address | undefined): { name: string; address: string } {
  const given = typeof to === "string" ? { name: "", address: to } : to;
  const address = permit.to ?? given?.address;
  if (!address) throw new Refused("neither the permit nor the mail names a recipient");
  if (given !== undefined && !isSame(given.address, address)) {
    throw new Refused("the mail is addressed to somebody else than its permit");
  }
  return { name: given?.name ?? "", address };
}

/** Throws Refused for a mail that names recipients beside `to`: copies are those of the permit. */
export function checkCopies(mail: object, names: readonly string[]): void {
  const found = mail as Record<string, unknown>;
  const named = names.find((name) => found[name] !== undefined && found[name] !== null);
  if (named !== undefined) throw new Refused(`the mail has ${named}; its copies are those of its permit`);
}

/**
 * The mail's own headers and those that the permit says it must carry, which come first; but an own
 * In-Reply-To or References is kept. Names are compared as mail does, without regard to case.
 */
export function headersFor(permit: Permit, own: Readonly<Record<string, string>> = {}): Record<string, string> {
  const given = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const isKept = (name: string): boolean => OWN_FIRST.has(name) && given.has(name);
  const must = Object.entries(permit.headers).filter(([name]) => !isKept(name.toLowerCase()));
  const taken = new Set(must.map(([name]) => name.toLowerCase()));
  const others = Object.entries(own).filter(([name]) => !taken.has(name.toLowerCase()));
  return Object.fromEntries([...others, ...must]);
}

/** Are these the same address? */
export function isSame(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}
