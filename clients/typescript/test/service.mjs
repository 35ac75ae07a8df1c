// A real ledger for a test file: started by the launcher, on a clock of its own.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PYTHON = process.env.LEDGER_TEST_PYTHON ?? `${ROOT}.venv/bin/python`;

/** A running ledger: `url`, and a first key that may do everything. */
export class Service {
  now = new Date("2026-12-01T00:00:00Z");

  async start() {
    this.child = spawn(PYTHON, ["-m", "clients.typescript.test.serve"], { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
    const line = await new Promise((found, failed) => {
      createInterface(this.child.stdout).once("line", found);
      this.child.once("exit", (code) => failed(new Error(`the launcher ended with ${code}`)));
    });
    ({ url: this.url, key: this.first } = JSON.parse(line));
    return this;
  }

  async stop() {
    this.child.stdin.end();
    await new Promise((ended) => this.child.once("exit", ended));
  }

  /** Call with any key; the answer's JSON. */
  async call(method, path, body, key = this.first) {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const answer = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    const found = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(found)}`);
    return found;
  }

  /** A new key of these scopes that must redeem. */
  async key(...scopes) {
    const name = `sender-${randomBytes(4).toString("hex")}`;
    return { name, key: (await this.call("POST", "/v1/keys", { name, scopes })).key };
  }

  /** Move the clock on. */
  async advance(minutes) {
    this.now = new Date(this.now.getTime() + minutes * 60_000);
    await this.call("POST", "/v1/test-clock", { now: this.now.toISOString() });
  }
}
