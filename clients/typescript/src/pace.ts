/** How long to ask, and how long to wait between two tries: deadlines, jitter, Retry-After. */
import { retryAfter } from "./times.js";
import { NoAnswer, Reply } from "./wire.js";

/** Statuses that say that nothing was decided, also from a proxy in between. */
const AGAIN: ReadonlySet<number> = new Set([408, 502, 503, 504]);

/** Times in seconds; what is not given has its default. */
export interface PaceOptions {
  /** How long one question may take with all its tries (30). */
  readonly deadline?: number;
  /** The same for a report (30). */
  readonly reportDeadline?: number;
  /** How long one try may take (10). */
  readonly perCall?: number;
  /** The waits between tries are drawn at random, so that many clients do not ask at once (0.1). */
  readonly firstPause?: number;
  /** The longest such wait (5). */
  readonly mostPause?: number;
  /** A monotonic clock in seconds. */
  readonly clock?: () => number;
  /** A number from 0 to 1, drawn at random. */
  readonly draw?: () => number;
  /** Waits so many seconds. */
  readonly sleep?: (seconds: number) => Promise<void>;
}

/** The times of one client, in seconds. */
export class Pace {
  readonly deadline: number;
  readonly reportDeadline: number;
  readonly perCall: number;
  readonly clock: () => number;
  readonly sleep: (seconds: number) => Promise<void>;
  private readonly firstPause: number;
  private readonly mostPause: number;
  private readonly draw: () => number;

  constructor(given: PaceOptions = {}) {
    this.deadline = given.deadline ?? 30;
    this.reportDeadline = given.reportDeadline ?? 30;
    this.perCall = given.perCall ?? 10;
    this.firstPause = given.firstPause ?? 0.1;
    this.mostPause = given.mostPause ?? 5;
    this.clock = given.clock ?? (() => performance.now() / 1000);
    this.draw = given.draw ?? Math.random;
    this.sleep = given.sleep ?? ((seconds) => new Promise((wake) => setTimeout(wake, seconds * 1000)));
  }

  /**
   * Seconds until the next try after try `number`; undefined where the answer is final. A 429 is a
   * denial, unless it is about the key asking too fast.
   */
  wait(answer: Reply | NoAnswer, number: number): number | undefined {
    const backoff = Math.min(this.mostPause, this.firstPause * 2 ** Math.min(number, 16)) * this.draw();
    if (answer instanceof NoAnswer) return backoff;
    const code = answer.problem["code"];
    const isTooFast = answer.status === 429 && (code === undefined || code === "rate_limited");
    if (!AGAIN.has(answer.status) && !isTooFast) return undefined;
    const told = retryAfter(answer.headers);
    return told === undefined ? backoff : told + this.firstPause * this.draw();
  }
}
