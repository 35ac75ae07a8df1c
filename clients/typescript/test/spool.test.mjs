// The spool: what a killed process left is reported by the next, and nothing of a process that lives is.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";

import { kinds, Ledger, Reply } from "@sendledger/client";

import { GRANT, lost, no, Stub } from "./stub.mjs";

const SENDER = fileURLToPath(new URL("spool_sender.mjs", import.meta.url));
const ASK = kinds.notification({ event_type: "shipped", event_id: "9" });
const DIED = { outcome: "unknown", detail: "the process ended before it told the outcome" };

let hears = true;
const server = createServer((request, response) => {
  request.resume();
  const call = request.url.split("/").at(-1);
  if (call === "outcome" && !hears) return request.socket.destroy();
  const status = { permits: 201 }[call] ?? 200;
  const state = { permits: "granted", redeem: "redeemed", outcome: "sent" }[call];
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ ...GRANT, state }));
});
let url;
let folder;
before(async () => {
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${server.address().port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  hears = true;
  folder = fs.mkdtempSync(join(tmpdir(), "sl-"));
});

const files = () => fs.readdirSync(folder);
const outcomesIn = () => files().filter((name) => name.endsWith(".outcomes"));

/** Run a sender to its end; its exit status or signal. */
function sender(step) {
  const child = spawn(process.execPath, [SENDER, JSON.stringify({ url, spool: folder, step })], { stdio: ["ignore", "inherit", "inherit"] });
  return new Promise((ended) => child.on("exit", (code, signal) => ended(signal ?? code)));
}

/** A client that finds what was left: its stand-in has heard what it reports. */
async function next(stub = new Stub()) {
  const ledger = stub.ledger({ url, spool: folder });
  const left = await ledger.flush();
  await ledger.close();
  return { told: stub.bodies("outcome"), left };
}

for (const [step, expected] of [
  ["ask", []],
  ["redeem", []],
  ["hand_over", [DIED]],
  ["told", [{ outcome: "sent", provider_message_id: "re_1" }]],
  ["outcome", [{ outcome: "sent", provider_message_id: "re_1" }]],
]) {
  test(`a process that is killed at ${step} leaves what it knew`, async () => {
    assert.equal(await sender(step), "SIGKILL");
    assert.deepEqual(await next(), { told: expected, left: 0 });
    assert.deepEqual(files(), []);
    assert.deepEqual(await next(), { told: [], left: 0 });
  });
}

test("a process that ends in good order leaves nothing", async () => {
  assert.equal(await sender("none"), 0);
  assert.deepEqual(files(), []);
});

test("an outcome that the ledger did not hear is reported by the next process", async () => {
  hears = false;
  assert.equal(await sender("exit"), 0);
  assert.equal(outcomesIn().length, 1);
  const left = fs.readFileSync(join(folder, outcomesIn()[0]), "utf8");
  assert.doesNotMatch(left, /@|slk_/);
  assert.equal(fs.statSync(join(folder, outcomesIn()[0])).mode & 0o077, 0);
  const away = new Stub();
  away.always("outcome", lost);
  assert.deepEqual((await next(away)).left, 1);
  assert.deepEqual(await next(), { told: [{ outcome: "sent", provider_message_id: "re_1" }], left: 0 });
  assert.deepEqual(files(), []);
});

test("two that start at once report what was left once", async () => {
  await sender("told");
  const both = await Promise.all([next(), next()]);
  assert.equal(both.flatMap((one) => one.told).length, 1);
  assert.deepEqual(files(), []);
});

test("nothing of a client that lives is taken", async () => {
  const living = new Stub();
  const ledger = living.ledger({ url, spool: folder });
  await ledger.sendOnce(ASK, async (permit) => {
    assert.deepEqual(await next(), { told: [], left: 0 });
    permit.sent("re_1");
  });
  assert.deepEqual(living.bodies("outcome"), [{ outcome: "sent", provider_message_id: "re_1" }]);
  await ledger.close();
  assert.deepEqual(files(), []);
});

test("a spool of another ledger or key is not touched", async () => {
  await sender("told");
  const stub = new Stub();
  const other = stub.ledger({ url: "http://other.test", spool: folder });
  assert.equal(await other.flush(), 0);
  await other.close();
  assert.deepEqual([stub.asked.length, outcomesIn().length], [0, 1]);
});

test("a line that was cut short costs only itself", async () => {
  await sender("told");
  fs.appendFileSync(join(folder, outcomesIn()[0]), '{"permit_id":"p2","rep');
  assert.deepEqual((await next()).told, [{ outcome: "sent", provider_message_id: "re_1" }]);
});

test("a failed report is made again before a later question, half a minute after the last", async () => {
  const stub = new Stub();
  const ledger = stub.ledger({ url, spool: folder });
  stub.next("outcome", no(401, "unauthorized"));
  await ledger.sendOnce(ASK, () => "re_1");
  await ledger.sendOnce(ASK, () => "re_1");
  assert.equal(stub.bodies("outcome").length, 2);
  stub.now += 31;
  stub.next("ask", new Reply(201, { ...GRANT, permit_id: "p2" }));
  stub.next("redeem", new Reply(200, { ...GRANT, permit_id: "p2", state: "redeemed" }));
  stub.asked = [];
  await ledger.sendOnce(ASK, () => "re_2");
  assert.deepEqual(stub.asked.map((call) => [call.operation, call.permitId]).slice(-3), [
    ["ask", undefined],
    ["redeem", "p2"],
    ["outcome", "p2"],
  ]);
  await ledger.close();
  assert.deepEqual(files(), []);
});

test("an outcome that the ledger refuses for good is not kept", async () => {
  const stub = new Stub();
  const ledger = stub.ledger({ url, spool: folder });
  stub.next("outcome", no(409, "already_settled"));
  await ledger.sendOnce(ASK, () => "re_1");
  assert.equal(await ledger.flush(), 0);
  await ledger.close();
  assert.deepEqual([stub.bodies("outcome").length, files()], [1, []]);
});

test("a folder whose name is too long for a socket is refused at once", () => {
  assert.throws(() => new Ledger({ key: "slk", spool: join(folder, "x".repeat(90)) }), /too long/);
});

test("a spool stays small, and stops at its bounds", async () => {
  const { Spool } = await import("../dist/esm/spool.js");
  const errors = [];
  const spool = new Spool(folder, "o", { warn() {}, error: (line) => errors.push(line) }, 2000, 3);
  await spool.ready();
  for (let number = 0; number < 200; number++) {
    spool.handingOver("p");
    spool.done("p");
  }
  assert.equal(outcomesIn().length, 1);
  assert.ok(fs.statSync(join(folder, outcomesIn()[0])).size <= 2200);
  for (const name of ["a", "b", "c", "d"]) spool.handingOver(name);
  assert.deepEqual(errors, ["the spool is full: what becomes of permit d is not kept"]);
  await spool.close();
  const heir = new Spool(folder, "o", { warn() {}, error: assert.fail });
  assert.deepEqual((await heir.leftovers()).map(([name]) => name), ["a", "b", "c"]);
  for (const name of ["a", "b", "c"]) heir.done(name);
  await heir.close();
  assert.deepEqual(files(), []);
});
