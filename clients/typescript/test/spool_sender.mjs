// Sends once with a spool and dies at the step that is given: run as a process of its own.
import { kinds, Ledger } from "@sendledger/client";

const { url, spool, step } = JSON.parse(process.argv[2]);
const die = () => process.kill(process.pid, "SIGKILL");
const lines = { warn() {}, error() {} };
const hook = {
  onCall(record) {
    if (step === record.operation) die();
  },
};
const pace = { deadline: 1, reportDeadline: 0.2, firstPause: 0.01 };
const ledger = new Ledger({ url, key: "slk_test", spool, hooks: [hook], log: lines, pace });
await ledger.sendOnce(kinds.notification({ event_type: "shipped", event_id: "9" }), (permit) => {
  if (step === "hand_over") die();
  permit.sent("re_1");
  if (step === "told") die();
});
if (step === "exit") process.exit(0);
await ledger.close();
