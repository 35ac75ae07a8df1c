// A program that asks before it mails, by the generated types: it compiles only if they are right.
import type { components, paths } from "./ledger";

type Schemas = components["schemas"];
type Answers = paths["/v1/permits"]["post"]["responses"];
type Granted = Answers[201]["content"]["application/json"];
type Denied = Answers[409]["content"]["application/problem+json"];

export const asked: Schemas["PermitRequest"] = {
  kind: "reminder",
  invoices: ["INV-1"],
  stage: "day-7",
  dry_run: false,
};

// Always there, never null.
export function mail(permit: Granted): [string, string] {
  return [permit.permit_id, permit.send_by];
}

// May be missing or null: to use it without a look must not compile.
export function recipient(permit: Granted): string {
  // @ts-expect-error to is null where the ledger knows no address
  const to: string = permit.to;
  return to;
}

// Every value of next_action is known.
export function next(problem: Denied): boolean {
  switch (problem.next_action) {
    case "retry_at":
      return problem.retryable;
    case "stop":
    case "ask_human":
    case "fix_request":
    case "find_out":
      return false;
  }
}

// A code that the ledger does not have must not compile.
// @ts-expect-error there is no such code
export const unknown: Denied["code"] = "no_such_code";

export function used(window: Schemas["WindowLeft"]): number {
  return window.used + window.left;
}
