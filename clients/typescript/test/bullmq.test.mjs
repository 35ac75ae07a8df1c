// BullMQ's own worker on a real Redis: what a job waits for, what it fails by, and that it sends once.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { kinds, Refused } from "@sendledger/client";
import { sendInJob } from "@sendledger/client/bullmq";
import { Queue, QueueEvents, Worker } from "bullmq";

import { lost, no, PERMIT_ID, Stub } from "./stub.mjs";

const ASK = kinds.notification({ event_type: "shipped", event_id: "9", customer_id: "C1" });
const folder = fs.mkdtempSync(join(tmpdir(), "sl-redis-"));
let redis;
let connection;
let queue;
let events;

before(async () => {
  const free = createServer();
  await new Promise((listening) => free.listen(0, "127.0.0.1", listening));
  const { port } = free.address();
  await new Promise((closed) => free.close(closed));
  const options = ["--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder];
  redis = spawn("redis-server", options.map(String), { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((ready, failed) => {
    redis.once("error", failed);
    redis.stdout.on("data", (text) => String(text).includes("Ready to accept connections") && ready());
  });
  connection = { host: "127.0.0.1", port };
  queue = new Queue("mail", { connection });
  events = new QueueEvents("mail", { connection });
  await events.waitUntilReady();
});
after(async () => {
  await events?.close();
  await queue?.close();
  redis?.kill();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** A worker with this sender; add a job, and say what became of it: `delayed`, or its end. */
async function run(stub, send, { options, promote = 0, client = {} } = {}) {
  const starts = [];
  const ledger = stub.ledger({ pace: { deadline: 0 }, ...client });
  const process_ = (job, token) => {
    starts.push(job.attemptsStarted);
    return sendInJob(job, token, ledger, ASK, send, options);
  };
  const worker = new Worker("mail", process_, { connection });
  const delayed = [];
  const seen = new Promise((found) => {
    events.on("delayed", async ({ jobId, delay }) => {
      delayed.push(Number(delay));
      if (delayed.length <= promote) (await queue.getJob(jobId)).promote();
      else found({ state: "delayed" });
    });
    events.on("completed", ({ returnvalue }) => found({ state: "completed", value: returnvalue }));
    events.on("failed", ({ failedReason }) => found({ state: "failed", why: failedReason }));
  });
  await queue.add("one", {}, { attempts: 5 });
  const ended = await seen;
  events.removeAllListeners();
  await worker.close();
  await queue.obliterate({ force: true });
  return { ...ended, starts, waits: delayed.map((at) => Math.round((at - Date.now()) / 1000)) };
}

const isAbout = (found, expected) => assert.ok(Math.abs(found - expected) <= 15, `${found}, not about ${expected}`);

test("a job that is run sends, and says so", async () => {
  const { state, value } = await run(new Stub(), () => "re_1");
  assert.equal(state, "completed");
  assert.deepEqual(value, { state: "sent", duplicate: false, permitId: PERMIT_ID, providerMessageId: "re_1" });
});

test("a job that runs again hears of the first send", async () => {
  const stub = new Stub();
  stub.next("ask", no(409, "already_sent", {}, { original: { permit_id: "p0", provider_message_id: "re_0" } }));
  const { value } = await run(stub, () => assert.fail("a second mail"));
  assert.deepEqual(value, { state: "sent", duplicate: true, permitId: "p0", providerMessageId: "re_0" });
});

test("a job waits while the ledger is away, and after a definite refusal, and then sends", async () => {
  const stub = new Stub();
  stub.next("ask", lost);
  let tries = 0;
  const send = () => {
    tries += 1;
    if (tries === 1) throw new Refused("SMTP 450");
    return "re_1";
  };
  const { state, value, starts, waits } = await run(stub, send, { promote: 2 });
  assert.deepEqual([state, value.state, starts, tries], ["completed", "sent", [1, 2, 3], 2]);
  for (const wait of waits) isAbout(wait, 60);
  assert.deepEqual(stub.bodies("outcome").map((body) => body.outcome), ["rejected", "sent"]);
});

for (const [name, headers, more, wait] of [
  ["after the time that it is told", { "retry-after": "900" }, {}, 900],
  ["until the time that is named", {}, { available_at: new Date(Date.now() + 1800_000).toISOString() }, 1800],
  ["for six hours at most", { "retry-after": "864000" }, {}, 6 * 3600],
]) {
  test(`a job waits ${name}`, async () => {
    const stub = new Stub();
    stub.next("ask", no(409, "on_hold", headers, { retryable: true, next_action: "retry_at", ...more }));
    const { state, waits } = await run(stub, () => assert.fail("a mail"));
    assert.equal(state, "delayed");
    isAbout(waits[0], wait);
  });
}

test("a refusal that only the program knows is waited for, too", async () => {
  for (const send of [
    () => Promise.reject(new RangeError("too large")),
    (permit) => {
      permit.rejected("too large");
      throw new Error("pat@example.com");
    },
  ]) {
    const stub = new Stub();
    const classify = (error) => (error instanceof RangeError ? "too large" : undefined);
    const { state, waits } = await run(stub, send, { client: { classify } });
    assert.equal(state, "delayed");
    isAbout(waits[0], 60);
    assert.deepEqual(stub.bodies("outcome"), [{ outcome: "rejected", detail: "too large" }]);
  }
});

test("a no that waiting does not change is the job's result", async () => {
  const stub = new Stub();
  stub.next("ask", no(409, "breaker_open", {}, { retryable: true, next_action: "ask_human" }));
  assert.equal((await run(stub, () => assert.fail("a mail"))).value.code, "breaker_open");
  stub.next("ask", no(409, "outcome_unknown", {}, { next_action: "find_out", next_step: "Look.", permit_id: "p0" }));
  const { state, value } = await run(stub, () => assert.fail("a second mail"));
  assert.equal(state, "completed");
  const expected = { state: "denied", code: "outcome_unknown", nextAction: "find_out", nextStep: "Look.", permitId: "p0" };
  assert.deepEqual(value, expected);
});

test("a mail in doubt fails the job at once, without its error's message", async () => {
  const stub = new Stub();
  const { state, why, starts } = await run(stub, () => {
    throw new TypeError("pat@example.com");
  });
  assert.deepEqual([state, why, starts], ["failed", "the mail is in doubt: TypeError", [1]]);
  assert.deepEqual(stub.bodies("outcome").map((body) => body.outcome), ["unknown"]);
});

test("a job does not wait for ever", async () => {
  const stub = new Stub();
  stub.always("ask", lost);
  const { state, why, starts } = await run(stub, () => assert.fail("a mail"), { options: { mostStarts: 3 }, promote: 9 });
  assert.deepEqual([state, why, starts], ["failed", "waited too often: ECONNRESET", [1, 2, 3]]);
});
