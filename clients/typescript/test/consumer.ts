// A program that uses the package: it compiles, as ESM and as CommonJS, only if the types are right.
import { Denied, kinds, Ledger, type Permit } from "@sendledger/client";
import { sendInJob } from "@sendledger/client/bullmq";
import { NodemailerMailer } from "@sendledger/client/nodemailer";
import { ResendMailer } from "@sendledger/client/resend";

const ledger = new Ledger({ url: "http://127.0.0.1:8080", key: "slk" });

export const ask = kinds.notification({ event_type: "shipped", event_id: "9", happened_at: new Date(), cc: ["kim@example.com"] });
export const answered: Promise<number> = ledger.permit.reply({ thread_id: "t", in_reply_to: "m" }, (permit: Permit) => permit.cc.length);
export const value: Promise<string | undefined> = ledger.sendOnce(ask, async () => "re_1").then((result) => result.value);
export const adapters = [sendInJob, NodemailerMailer, ResendMailer];

export function next(denied: Denied): string {
  switch (denied.nextAction) {
    case "retry_at":
      return denied.availableAt?.toISOString() ?? "";
    case "stop":
    case "ask_human":
    case "fix_request":
    case "find_out":
      return denied.nextStep;
  }
}

// @ts-expect-error a reply names the message that it answers
kinds.reply({ thread_id: "t" });
// @ts-expect-error there is no such field
kinds.digest({ inbox_id: "i", date: "2026-12-24", day: "2026-12-24" });
// @ts-expect-error the client redeems by itself
kinds.digest({ inbox_id: "i", date: "2026-12-24", redeem: true });
// @ts-expect-error there is no such kind
ledger.permit.replay({}, () => 1);
