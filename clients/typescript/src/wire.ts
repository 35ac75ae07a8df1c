/** One HTTP request to the ledger and what came of it: an answer, or none. */
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

import type { CallRecord, Hooks } from "./observing.js";

const MOST_BYTES = 32 * 1024 * 1024;
const IDLE_MS = 15_000;

/** One request; `number` counts its tries from 1. */
export interface Call {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly permitId?: string;
}

/** The answer to a call: `body` is its JSON, undefined where it is none; header names are in lower case. */
export class Reply {
  constructor(
    readonly status: number,
    readonly body?: unknown,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  /** The problem document, empty where the body is something else. */
  get problem(): Readonly<Record<string, unknown>> {
    return isRecord(this.body) && typeof this.body["code"] === "string" ? this.body : {};
  }
}

/** Nobody answered in time, or the connection broke; `why` is the name of the error. */
export class NoAnswer {
  constructor(readonly why: string) {}
}

/** What carries a request; `seconds` is how long the answer may take. Never rejects. */
export type Transport = (call: Call, seconds: number) => Promise<Reply | NoAnswer>;

/** Is this a JSON object? */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Requests over connections that are kept. The key goes to this URL and nowhere else: redirects are not followed. */
export class Connections {
  private readonly base: URL;
  private readonly agent: HttpAgent;
  private readonly isTls: boolean;

  /** Throws TypeError for a URL that is none. */
  constructor(
    url: string,
    private readonly key: string,
  ) {
    this.base = new URL(url);
    this.isTls = this.base.protocol === "https:";
    if (!this.isTls && this.base.protocol !== "http:") {
      throw new TypeError("the ledger's URL must begin with http:// or https://");
    }
    const kept = { keepAlive: true, timeout: IDLE_MS };
    this.agent = this.isTls ? new HttpsAgent(kept) : new HttpAgent(kept);
  }

  /** See Transport. */
  readonly transport: Transport = (call, seconds) =>
    new Promise((settle) => {
      const content = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
      const prefix = this.base.pathname.replace(/\/+$/, "");
      const started = (this.isTls ? httpsRequest : httpRequest)({
        protocol: this.base.protocol,
        hostname: this.base.hostname.replace(/^\[|\]$/g, ""),
        port: this.base.port,
        agent: this.agent,
        method: call.method,
        path: prefix + call.path,
        headers: this.headers(call, content),
      });
      const timer = setTimeout(() => started.destroy(new LateAnswer()), seconds * 1000);
      const end = (answer: Reply | NoAnswer): void => {
        clearTimeout(timer);
        settle(answer);
      };
      started.on("error", (error) => end(new NoAnswer(nameOf(error))));
      started.on("response", (response) => {
        const parts: Buffer[] = [];
        let length = 0;
        response.on("data", (part: Buffer) => {
          length += part.length;
          parts.push(part);
          if (length > MOST_BYTES) started.destroy(new TooLong());
        });
        response.on("error", (error) => end(new NoAnswer(nameOf(error))));
        response.on("close", () => end(new NoAnswer("IncompleteAnswer")));
        response.on("end", () => {
          if (!response.complete) return end(new NoAnswer("IncompleteAnswer"));
          const text = Buffer.concat(parts).toString("utf8");
          end(new Reply(response.statusCode ?? 0, decoded(text), joined(response.headers)));
        });
      });
      started.end(content);
    });

  /** Close the connections. */
  close(): void {
    this.agent.destroy();
  }

  private headers(call: Call, content: Buffer | undefined): Record<string, string | number> {
    const own = { Authorization: `Bearer ${this.key}`, Accept: "application/json", ...call.headers };
    if (content === undefined) return own;
    return { ...own, "Content-Type": "application/json", "Content-Length": content.length };
  }
}

/** The same, and the hooks hear of each try. */
export function observed(transport: Transport, hooks: Hooks) {
  return async (call: Call, number: number, seconds: number): Promise<Reply | NoAnswer> => {
    const started = Date.now();
    const began = performance.now();
    let answer: Reply | NoAnswer;
    try {
      answer = await transport(call, seconds);
    } catch (error) {
      answer = new NoAnswer(nameOf(error));
    }
    hooks.onCall(record(call, number, answer, started, (performance.now() - began) / 1000));
    return answer;
  };
}

function record(call: Call, number: number, answer: Reply | NoAnswer, started: number, seconds: number): CallRecord {
  const isReply = answer instanceof Reply;
  const named = isReply && isRecord(answer.body) ? answer.body["permit_id"] : undefined;
  const code = isReply ? answer.problem["code"] : answer.why;
  return {
    operation: call.operation,
    number,
    status: isReply ? answer.status : 0,
    code: typeof code === "string" ? code : undefined,
    permitId: call.permitId ?? (typeof named === "string" ? named : undefined),
    started,
    seconds,
  };
}

class LateAnswer extends Error {}
class TooLong extends Error {}

/** The name of an error: its code where it has one. Messages are left out, as they may name an address. */
export function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "error";
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string" && /^[A-Z0-9_]{1,40}$/.test(code)) return code;
  return error.name !== "Error" ? error.name : error.constructor.name;
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function joined(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) found[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return found;
}
