// A sender that is killed: run as a process of its own, with its plan as JSON on standard input.
//
// It goes through its sends from where the process before it stopped, a few earlier ones again, as a
// queue would. At the step that the plan names it kills itself.
import * as fs from "node:fs";

import { Denied, InDoubt, kinds, Ledger, Unavailable } from "@sendledger/client";

/** So many finished sends are asked for again after a restart. */
const AGAIN = 3;
/** Gives up a try before the network lets it go, so that it arrives after its repetition. */
const HASTY = { deadline: 4, reportDeadline: 2, perCall: 0.3, firstPause: 0.005, mostPause: 0.05 };

const plan = JSON.parse(fs.readFileSync(0, "utf8"));
let left = plan.after ?? 1;

/** A step was done: at the one that the plan names the process ends, at once. */
function at(step) {
  if (step !== plan.step) return;
  left -= 1;
  if (left <= 0) process.kill(process.pid, "SIGKILL");
}

/** Hands a mail to the counting receiver; an answer that is lost is a doubt. */
async function deliver(name, permit) {
  const options = { method: "POST", body: JSON.stringify({ to: permit.to }), signal: AbortSignal.timeout(5000) };
  const answer = await fetch(`${plan.receiver}/${name}`, options).catch(() => {
    throw new InDoubt("the receiver did not answer");
  });
  const { id } = await answer.json();
  at("handed_over");
  return id;
}

const ledger = new Ledger({
  url: plan.ledger,
  key: plan.key,
  spool: plan.spool,
  pace: plan.hasty ? HASTY : {},
  hooks: [{ onCall: (record) => [200, 201].includes(record.status) && at(record.operation) }],
  log: { warn() {}, error() {} },
});
const finished = fs.existsSync(plan.done) ? fs.readFileSync(plan.done, "utf8").trim().split("\n").filter(Boolean).length : 0;
for (const name of plan.sends.slice(Math.max(0, finished - AGAIN))) {
  const ask = kinds.notification({ event_type: "chaos", event_id: name, customer_id: `c-${name}`, to: `${name}@example.com` });
  try {
    await ledger.sendOnce(ask, (permit) => deliver(name, permit));
  } catch (error) {
    if (![Denied, InDoubt, Unavailable].some((known) => error instanceof known)) throw error;
  }
  fs.appendFileSync(plan.done, `${name}\n`);
}
await ledger.close();
