// The connections themselves: what breaks off, is cut short, comes late or leads elsewhere is no answer.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, test } from "node:test";

import { Ledger, Unavailable } from "@sendledger/client";

let behave;
let requests = [];
const sockets = new Set();
const server = createServer((socket) => {
  sockets.add(socket);
  let text = "";
  socket.on("error", () => {});
  socket.on("close", () => sockets.delete(socket));
  socket.on("data", (part) => {
    text += part;
    const [head, body = ""] = text.split("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (!text.includes("\r\n\r\n") || Buffer.byteLength(body) < length) return;
    text = "";
    requests.push({ head, body });
    behave(socket, requests.length);
  });
});
let url;
before(async () => {
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${server.address().port}`;
});
after(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

const answer = (status, body, headers = "") =>
  `HTTP/1.1 ${status} X\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** Read with one behaviour of the server. */
async function read(behaviour, options = {}) {
  requests = [];
  behave = behaviour;
  const lines = { warn() {}, error() {} };
  const ledger = new Ledger({ url, key: "slk_test", log: lines, pace: { deadline: 0.4, perCall: 0.2, firstPause: 0.01 }, ...options });
  try {
    return await ledger.read("/v1/due", { limit: 1, stage: undefined });
  } finally {
    await ledger.close();
  }
}

test("an answer is read, and the request says who asks for what", async () => {
  assert.deepEqual(await read((socket) => socket.write(answer(200, '{"items": []}'))), { items: [] });
  assert.match(requests[0].head, /^GET \/v1\/due\?limit=1 HTTP\/1\.1\r\n/);
  assert.match(requests[0].head, /^Authorization: Bearer slk_test$/m);
  // Nothing is left that would keep the program from ending.
  assert.deepEqual(process.getActiveResourcesInfo().filter((name) => name === "Timeout"), []);
});

test("an address with a path of its own is kept", async () => {
  await read((socket) => socket.write(answer(200, "{}")), { url: `${url}/ledger/` });
  assert.match(requests[0].head, /^GET \/ledger\/v1\/due\?limit=1 /);
});

for (const [name, behaviour] of [
  ["a connection that breaks", (socket) => socket.destroy()],
  ["half an answer", (socket) => socket.end(answer(200, '{"items": []}').slice(0, -3))],
  ["half of its head", (socket) => socket.end("HTTP/1.1 200 O")],
  ["no HTTP", (socket) => socket.end("220 smtp.example ESMTP\r\n")],
  ["no answer in time", () => {}],
  ["an answer without an end", (socket) => socket.write(answer(200, '{"items": []}').slice(0, -3))],
]) {
  test(`${name} is asked for again, and then is no answer`, async () => {
    await assert.rejects(read(behaviour), Unavailable);
    assert.ok(requests.length >= 2, `${requests.length} tries`);
  });
}

test("what breaks off once is asked for again", async () => {
  const found = await read((socket, number) => (number === 1 ? socket.destroy() : socket.write(answer(200, '{"a": 1}'))));
  assert.deepEqual([found, requests.length], [{ a: 1 }, 2]);
});

test("a redirect is not followed: the key goes to one place", async () => {
  const elsewhere = (socket) => socket.write(answer(307, "", `Location: ${url}/elsewhere\r\n`));
  await assert.rejects(read(elsewhere), { why: "status 307" });
  assert.equal(requests.length, 1);
});

test("a port where nobody listens is no answer", async () => {
  const gone = createServer();
  await new Promise((listening) => gone.listen(0, "127.0.0.1", listening));
  const { port } = gone.address();
  await new Promise((closed) => gone.close(closed));
  await assert.rejects(read(() => {}, { url: `http://127.0.0.1:${port}` }), { why: "ECONNREFUSED" });
});
