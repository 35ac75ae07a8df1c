// The package as others get it: both module formats, its types, its contents; and the code in its pages.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import * as client from "@sendledger/client";
import { SMTPServer } from "smtp-server";
import ts from "typescript";

import { Service } from "./service.mjs";
import { Stub } from "./stub.mjs";

const HERE = fileURLToPath(new URL("../", import.meta.url));
const ROOT = join(HERE, "../..");
const README = join(HERE, "README.md");
const PAGES = [README, join(ROOT, "docs/guides/typescript-client.md"), join(ROOT, "docs/recipes/bullmq.md")];
const NAMES = ["Ledger", "Denied", "Unavailable", "Refused", "InDoubt", "Outcome", "OutcomeGiven", "kinds"];
const MADE = join(HERE, "build");
const require = createRequire(import.meta.url);

before(() => {
  fs.rmSync(MADE, { recursive: true, force: true });
  fs.mkdirSync(MADE);
});
after(() => fs.rmSync(MADE, { recursive: true, force: true }));

/** The page's pieces of TypeScript. */
const blocks = (page) => [...fs.readFileSync(page, "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text]) => text);

/** Compile strictly; what the compiler says. */
function compile(files, ...options) {
  const tsc = join(HERE, "node_modules/typescript/bin/tsc");
  const strict = ["--noEmit", "--strict", "--target", "ES2022", "--types", "node", ...options];
  const ran = spawnSync(process.execPath, [tsc, ...strict, ...files], { cwd: HERE, encoding: "utf8" });
  return ran.stdout;
}

test("import and require give the same names", async () => {
  const required = require("@sendledger/client");
  for (const name of NAMES) assert.equal(typeof required[name], typeof client[name], name);
  assert.deepEqual(Object.keys(required).filter((name) => name !== "__esModule").sort(), Object.keys(client).sort());
  const adapters = { nodemailer: "NodemailerMailer", resend: "ResendMailer", bullmq: "sendInJob", opentelemetry: "OpenTelemetry" };
  for (const [adapter, name] of Object.entries(adapters)) {
    const path = `@sendledger/client/${adapter}`;
    assert.equal(typeof require(path)[name], "function");
    assert.equal(typeof (await import(path))[name], "function");
  }
});

test("errors of one module format are known to the other, and a program's own classes stay apart", async () => {
  const required = require("@sendledger/client");
  assert.notEqual(required.Refused, client.Refused);
  const refused = new required.Refused("SMTP 550");
  for (const name of ["Refused", "NotDelivered", "LedgerError"]) assert.ok(refused instanceof client[name], name);
  for (const name of ["InDoubt", "Denied", "Unavailable"]) assert.ok(!(refused instanceof client[name]), name);
  assert.ok(!(new Error("SMTP 550") instanceof client.LedgerError) && !(null instanceof client.LedgerError));
  class OwnRefused extends client.Refused {}
  assert.ok(new OwnRefused("550") instanceof client.Refused && new OwnRefused("550") instanceof OwnRefused);
  assert.ok(!(new client.Refused("550") instanceof OwnRefused));
  const stub = new Stub();
  const ended = stub.ledger().permit.notification({ event_type: "e", event_id: "1" }, () => Promise.reject(refused));
  await assert.rejects(ended, client.Refused);
  assert.deepEqual(stub.bodies("outcome"), [{ outcome: "rejected", detail: "SMTP 550" }]);
});

test("a program compiles strictly as ESM and as CommonJS, with the package's own types checked", () => {
  const program = fs.readFileSync(join(HERE, "test/consumer.ts"), "utf8");
  for (const format of ["mts", "cts"]) fs.writeFileSync(join(MADE, `consumer.${format}`), program);
  const files = ["mts", "cts"].map((format) => join(MADE, `consumer.${format}`));
  assert.equal(compile(files, "--module", "NodeNext", "--skipLibCheck", "false"), "");
});

test("the package needs nothing, and holds the two builds, its README and its licence", () => {
  const described = JSON.parse(fs.readFileSync(join(HERE, "package.json"), "utf8"));
  assert.equal(described.dependencies, undefined);
  for (const version of Object.values(described.devDependencies)) assert.match(version, /^\d+\.\d+\.\d+$/);
  const ran = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: HERE, encoding: "utf8" });
  const [{ files, size }] = JSON.parse(ran.stdout);
  const paths = files.map((file) => file.path);
  const sources = fs.readdirSync(join(HERE, "src"), { recursive: true }).map(String);
  const modules = (sources.length ? sources : []).filter((name) => name.endsWith(".ts"));
  const adapters = fs.readdirSync(join(HERE, "src/adapters")).map((name) => `adapters/${name}`);
  const stems = [...new Set([...modules, ...adapters])].map((name) => name.slice(0, -3));
  const built = stems.flatMap((stem) => ["esm", "cjs"].flatMap((format) => [`dist/${format}/${stem}.js`, `dist/${format}/${stem}.d.ts`]));
  assert.deepEqual(paths.sort(), ["LICENSE", "README.md", "dist/cjs/package.json", "package.json", ...built].sort());
  assert.ok(size < 100_000, `${size} bytes`);
});

test("the code in the pages compiles", () => {
  const files = PAGES.flatMap((page, number) => {
    const found = blocks(page);
    assert.ok(found.length > 0, page);
    return found.map((text, index) => {
      const file = join(MADE, `page-${number}-${index}.mts`);
      fs.writeFileSync(file, `${text}\nexport {};\n`);
      return file;
    });
  });
  const ambient = join(HERE, "test/pages.d.ts");
  assert.equal(compile([...files, ambient], "--module", "NodeNext", "--skipLibCheck", "true"), "");
  fs.writeFileSync(join(MADE, "wrong.mts"), 'import { kinds } from "@sendledger/client";\nkinds.replay({});\n');
  assert.match(compile([join(MADE, "wrong.mts")], "--module", "NodeNext"), /replay/);
});

test("the agent of the README sends twice, and guarded once", async () => {
  const service = await new Service().start();
  const mails = [];
  const smtp = new SMTPServer({
    disabledCommands: ["STARTTLS", "AUTH"],
    onData(stream, session, next) {
      stream.resume();
      stream.on("end", () => {
        mails.push(session.envelope.rcptTo[0].address);
        next();
      });
    },
  });
  await new Promise((listening) => smtp.listen(0, "127.0.0.1", listening));
  const incoming = { from: "pat@example.com", subject: "Where is it?", threadId: "readme-1", messageId: "<readme-1@example.com>" };
  globalThis.write = async () => "It is on its way.";
  globalThis.fact = (mail) => ({
    thread_id: mail.threadId,
    message_id: mail.messageId,
    direction: "inbound",
    from: mail.from,
    to: "help@acme.example",
    headers: { "Auto-Submitted": "no" },
  });
  process.env.LEDGER_URL = service.url;
  process.env.LEDGER_KEY = (await service.key("send")).key;
  const [unguarded, guarded] = blocks(README);
  assert.ok(unguarded.split("\n").filter((line) => line.trim()).length <= 10);
  const counted = {};
  try {
    for (const [name, text] of Object.entries({ unguarded, guarded })) {
      const local = text.replace('host: "localhost"', `host: "127.0.0.1", port: ${smtp.server.address().port}`);
      const options = { compilerOptions: { module: ts.ModuleKind.ES2022, target: ts.ScriptTarget.ES2022 } };
      fs.writeFileSync(join(MADE, `${name}.mjs`), ts.transpileModule(local, options).outputText);
      const { answer } = await import(pathToFileURL(join(MADE, `${name}.mjs`)).href);
      for (let turn = 0; turn < 2; turn++) {
        await answer(incoming).catch((error) => (counted[error.code] = (counted[error.code] ?? 0) + 1));
      }
      counted[name] = mails.splice(0).length;
    }
  } finally {
    await new Promise((closed) => smtp.close(closed));
    await service.stop();
  }
  assert.deepEqual(counted, { unguarded: 2, guarded: 1, already_replied: 1 });
});
