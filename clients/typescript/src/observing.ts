/** What the client tells of its work: records and log lines, none of which holds an address or the key. */

/**
 * One try of one call: `status` is 0 and `code` an error's name where nobody answered. `started` is
 * Unix time in milliseconds, `seconds` what the try took.
 */
export interface CallRecord {
  readonly operation: string;
  readonly number: number;
  readonly status: number;
  readonly code: string | undefined;
  readonly permitId: string | undefined;
  readonly started: number;
  readonly seconds: number;
}

/** What became of a permit's mail; `reported` says whether the ledger has heard it. */
export interface OutcomeRecord {
  readonly permitId: string;
  readonly kind: string;
  readonly outcome: string;
  readonly detail: string | undefined;
  readonly reported: boolean;
}

/** Is told of each call and each outcome; an error of a hook is logged and goes no further. */
export interface Hook {
  onCall?(record: CallRecord): void;
  onOutcome?(record: OutcomeRecord): void;
}

/** Where log lines go: `console` is one, and so are pino and winston. */
export interface Log {
  debug?(line: string): void;
  info?(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}

/** Warnings and errors to the console. */
export const CONSOLE: Log = {
  warn: (line) => console.warn(`sendledger: ${line}`),
  error: (line) => console.error(`sendledger: ${line}`),
};

/** A line for each try (debug) and each outcome: info, warn where it is unknown, error where it is not reported. */
function logHook(log: Log): Hook {
  return {
    onCall(one) {
      const what = `${one.status || "no answer"} ${one.code ?? ""} in ${one.seconds.toFixed(3)} s`;
      log.debug?.(`${one.operation} try ${one.number}: ${what}, permit ${one.permitId ?? "-"}`);
    },
    onOutcome(one) {
      const why = one.detail ? ` (${one.detail})` : "";
      const line = `permit ${one.permitId} (${one.kind}): ${one.outcome}${why}`;
      if (!one.reported) log.error(`${line}, not reported`);
      else if (one.outcome === "unknown") log.warn(`${line}, reported`);
      else log.info?.(`${line}, reported`);
    },
  };
}

/** The log and the hooks as one. */
export class Hooks {
  private readonly hooks: readonly Hook[];

  constructor(
    readonly log: Log,
    hooks: readonly Hook[],
  ) {
    this.hooks = [logHook(log), ...hooks];
  }

  /** Tell every hook. */
  onCall(record: CallRecord): void {
    this.tell((hook) => hook.onCall?.(record));
  }

  /** Tell every hook. */
  onOutcome(record: OutcomeRecord): void {
    this.tell((hook) => hook.onOutcome?.(record));
  }

  private tell(say: (hook: Hook) => void): void {
    for (const hook of this.hooks) {
      try {
        say(hook);
      } catch (error) {
        // Its message is left out: it may be the sender's own, which may name an address.
        this.log.error(`a hook failed: ${error instanceof Error ? error.name : "error"}`);
      }
    }
  }
}
