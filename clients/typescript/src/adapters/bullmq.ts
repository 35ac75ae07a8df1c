/**
 * BullMQ: a job that sends at most once, however often the queue runs it.
 *
 *     new Worker("mail", (job, token) => sendInJob(job, token, ledger, ask(job.data), (permit) => …))
 */
import { Refused } from "../delivery.js";
import { Denied, Unavailable } from "../errors.js";
import type { Ask } from "../kinds.js";
import type { Ledger, Send } from "../ledger.js";
import type { Permit } from "../permit.js";
import { nameOf } from "../wire.js";

const SOON = 60;
const LATEST = 6 * 3600;
const MOST_STARTS = 20;

/** What this module needs of a job. */
export interface JobLike {
  readonly attemptsStarted?: number;
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
}

/** A job's result, which any serializer takes; `state` is `denied` where nobody may send. */
export interface JobResult {
  readonly state: string;
  readonly duplicate?: boolean;
  readonly permitId?: string | undefined;
  readonly providerMessageId?: string | undefined;
  readonly code?: string;
  readonly nextAction?: string;
  readonly nextStep?: string;
}

/** Tells the worker that the job waits. BullMQ knows its errors by their names, too. */
class DelayedError extends Error {
  override readonly name = "DelayedError";
}

/** Tells the worker that to run the job again would not help. */
class UnrecoverableError extends Error {
  override readonly name = "UnrecoverableError";
}

/**
 * Send, or say what is known of the first send.
 *
 * Where waiting helps, the job is delayed: after a definite refusal, when the ledger cannot be asked,
 * or until the time that it names; `mostStarts` (20) bounds how often. A denial that waiting does not
 * change is the job's result, as nobody may send. A mail in doubt is not tried again: the job fails,
 * and the ledger's queue of unknown sends has it. `token` is the second argument of the processor.
 */
export async function sendInJob<T>(
  job: JobLike,
  token: string | undefined,
  ledger: Pick<Ledger, "sendOnce">,
  ask: Ask,
  send: Send<T>,
  options: { readonly mostStarts?: number } = {},
): Promise<JobResult> {
  let handed: Permit | undefined;
  const handOver: Send<T> = (permit) => {
    handed = permit;
    return send(permit);
  };
  try {
    const { state, duplicate, permitId, providerMessageId } = await ledger.sendOnce(ask, handOver);
    return { state, duplicate, permitId, providerMessageId };
  } catch (error) {
    // `classify` of the client, and `permit.rejected()`, know of refusals that are no Refused.
    const wait = handed?.outcome?.state === "rejected" ? SOON : waitAfter(error);
    if (wait !== undefined) {
      if ((job.attemptsStarted ?? 0) >= (options.mostStarts ?? MOST_STARTS)) {
        throw new UnrecoverableError(`waited too often: ${why(error)}`, { cause: error });
      }
      await job.moveToDelayed(Date.now() + wait * 1000, token);
      throw new DelayedError(why(error), { cause: error });
    }
    if (!(error instanceof Denied)) throw new UnrecoverableError(`the mail is in doubt: ${why(error)}`, { cause: error });
    const { code, nextAction, nextStep, permitId } = error;
    return { state: "denied", code, nextAction, nextStep, permitId };
  }
}

/** Seconds until to run the job again, undefined where that would not help. */
function waitAfter(error: unknown): number | undefined {
  if (error instanceof Unavailable || error instanceof Refused) return SOON;
  if (!(error instanceof Denied) || !error.retryable || error.nextAction !== "retry_at") return undefined;
  if (error.retryAfter !== undefined) return Math.min(LATEST, error.retryAfter);
  if (error.availableAt === undefined) return SOON;
  return Math.min(LATEST, Math.max(1, (error.availableAt.getTime() - Date.now()) / 1000));
}

/** BullMQ keeps the message of an error, so it must hold no address. */
function why(error: unknown): string {
  if (error instanceof Denied) return error.code;
  if (error instanceof Unavailable) return error.why;
  return error instanceof Refused ? error.detail : nameOf(error);
}
