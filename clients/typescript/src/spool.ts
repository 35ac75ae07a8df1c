/**
 * Outcomes that the ledger has not heard yet, kept in files that outlive a killed process.
 *
 * Each client writes a file of its own in the folder. While it lives it listens on a Unix socket
 * beside it: the kernel closes that socket when the process ends, however it ends, so a file whose
 * socket nobody answers was left, and is taken over by a rename and reported. Lines are only
 * appended, and written to disk before the mail is handed over and before its outcome is reported.
 * They hold ids and outcomes, no addresses. The folder must be on a disk of this machine: another
 * one (NFS) would not see the socket.
 */
import { createHash, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";

import { LedgerError } from "./errors.js";
import type { Log } from "./observing.js";
import { isRecord, nameOf } from "./wire.js";

/** The body of a report. */
export type Report = Readonly<Record<string, unknown>>;

const DIED: Report = { outcome: "unknown", detail: "the process ended before it told the outcome" };
const MOST_BYTES = 1 << 20;
const MOST_PENDING = 10_000;
const LONGEST_SOCKET = process.platform === "linux" ? 107 : 103;
const ANSWER_MS = 2000;

/** The file of this process, and the socket that says that the process lives. */
interface Own {
  readonly token: string;
  readonly server: Server;
  file: number;
  path: string;
}

/** The spool of one client. `owner` (the ledger's URL and key) keeps spools of several apart. */
export class Spool {
  private readonly prefix: string;
  private readonly pending = new Map<string, Report>();
  private readonly leftover = new Set<string>();
  private own: Own | undefined;
  private opening: Promise<void> | undefined;

  /** Throws LedgerError where there are no Unix sockets, or the folder's name is too long for one. */
  constructor(
    private readonly folder: string,
    owner: string,
    private readonly log: Log,
    private readonly mostBytes = MOST_BYTES,
    private readonly mostPending = MOST_PENDING,
  ) {
    if (process.platform === "win32") throw new LedgerError("a spool needs Unix sockets, which Windows does not have");
    this.prefix = createHash("sha256").update(owner).digest("hex").slice(0, 8);
    if (Buffer.byteLength(this.socketOf("0".repeat(12))) > LONGEST_SOCKET) {
      throw new LedgerError("the spool folder's name is too long for a Unix socket in it");
    }
    fs.mkdirSync(folder, { mode: 0o700, recursive: true });
  }

  /** Have a file of this process. */
  async ready(): Promise<void> {
    if (this.own !== undefined) return;
    this.opening ??= this.open().finally(() => (this.opening = undefined));
    await this.opening;
  }

  /** From now on the mail may be out: a process that dies leaves `unknown`. */
  handingOver(permitId: string): void {
    this.write(permitId, DIED);
  }

  /** The outcome is known, and not yet reported. */
  outcome(permitId: string, body: Report): void {
    this.write(permitId, body);
  }

  /** The ledger has heard the outcome. */
  done(permitId: string): void {
    this.leftover.delete(permitId);
    if (!this.pending.delete(permitId) || this.own === undefined) return;
    this.append(this.own, { permit_id: permitId, done: true }, false);
    this.shrink(this.own);
  }

  /** The report failed for now: it is among the leftovers. */
  unreported(permitId: string): void {
    if (this.pending.has(permitId)) this.leftover.add(permitId);
  }

  /** What is to be reported: left by processes that are gone, or by a report that failed. */
  async leftovers(): Promise<[string, Report][]> {
    await this.ready();
    await this.takeOver();
    return [...this.leftover].sort().map((name) => [name, this.pending.get(name) ?? DIED]);
  }

  /** Give the file up: without anything in it it goes, else the next process takes it over. */
  async close(): Promise<void> {
    await this.opening;
    const own = this.own;
    this.own = undefined;
    if (own === undefined) return;
    if (this.pending.size === 0) fs.rmSync(own.path, { force: true });
    fs.closeSync(own.file);
    this.pending.clear();
    this.leftover.clear();
    await new Promise((closed) => own.server.close(closed));
  }

  private async open(): Promise<void> {
    const token = randomBytes(6).toString("hex");
    const server = createServer((caller) => caller.destroy());
    await new Promise<void>((listening, failed) => {
      server.once("error", failed);
      server.listen(this.socketOf(token), listening);
    });
    server.unref();
    server.on("error", () => this.log.error("the spool's socket failed"));
    this.own = { token, server, ...this.begin(token) };
  }

  /** A new file of this process. */
  private begin(token: string): { file: number; path: string } {
    const path = this.fileOf(token);
    const file = fs.openSync(path, "ax", 0o600);
    const folder = fs.openSync(this.folder, "r");
    try {
      fs.fsyncSync(folder);
    } finally {
      fs.closeSync(folder);
    }
    return { file, path };
  }

  private write(permitId: string, body: Report): void {
    const own = this.own;
    if (own === undefined) {
      this.log.error(`the spool is closed: what becomes of permit ${permitId} is not kept`);
      return;
    }
    if (!this.pending.has(permitId) && this.pending.size >= this.mostPending) {
      this.log.error(`the spool is full: what becomes of permit ${permitId} is not kept`);
      return;
    }
    this.pending.set(permitId, body);
    this.append(own, { permit_id: permitId, report: body }, true);
    this.shrink(own);
  }

  private append(own: Own, entry: Report, sync: boolean): void {
    try {
      fs.writeSync(own.file, `${JSON.stringify(entry)}\n`);
      if (sync) fs.fsyncSync(own.file);
    } catch (error) {
      this.log.error(`the spool cannot be written: ${nameOf(error)}`);
    }
  }

  /** Go on in a new file once the old one is long and mostly done. */
  private shrink(own: Own): void {
    if (fs.fstatSync(own.file).size <= this.mostBytes) return;
    const { file, path } = own;
    Object.assign(own, this.begin(own.token));
    for (const [name, body] of this.pending) this.append(own, { permit_id: name, report: body }, false);
    fs.fsyncSync(own.file);
    fs.rmSync(path, { force: true });
    fs.closeSync(file);
  }

  private async takeOver(): Promise<void> {
    const pattern = new RegExp(`^${this.prefix}-([0-9a-f]{12})\\.[0-9a-f]{12}\\.outcomes$`);
    for (const name of fs.readdirSync(this.folder).sort()) {
      const token = pattern.exec(name)?.[1];
      if (token === undefined || token === this.own?.token) continue;
      if (!(await isLeft(this.socketOf(token))) || this.own === undefined) continue;
      this.take(join(this.folder, name), this.own);
      fs.rmSync(this.socketOf(token), { force: true });
    }
  }

  /** Make the file one of this process, so that nobody else takes it; then write on what it holds. */
  private take(path: string, own: Own): void {
    const mine = this.fileOf(own.token);
    try {
      fs.renameSync(path, mine);
    } catch (error) {
      // Another process was faster.
      if (nameOf(error) === "ENOENT") return;
      throw error;
    }
    for (const [permitId, body] of pendingIn(fs.readFileSync(mine, "utf8"))) {
      this.write(permitId, body);
      this.unreported(permitId);
    }
    fs.rmSync(mine, { force: true });
  }

  private socketOf(token: string): string {
    return join(this.folder, `${this.prefix}-${token}.sock`);
  }

  private fileOf(token: string): string {
    return join(this.folder, `${this.prefix}-${token}.${randomBytes(6).toString("hex")}.outcomes`);
  }
}

/** Is the process gone that listened on this socket? In doubt it lives. */
function isLeft(socket: string): Promise<boolean> {
  return new Promise((tell) => {
    const caller = connect(socket);
    const end = (left: boolean): void => {
      caller.destroy();
      tell(left);
    };
    caller.setTimeout(ANSWER_MS, () => end(false));
    caller.once("connect", () => end(false));
    caller.once("error", (error) => end(["ECONNREFUSED", "ENOENT"].includes(nameOf(error))));
  });
}

/** What a file still has to report; a last line that was cut short is left out. */
function pendingIn(text: string): Map<string, Report> {
  const pending = new Map<string, Report>();
  for (const line of text.split("\n")) {
    let entry: unknown;
    try {
      entry = JSON.parse(line);
    } catch {
      continue;
    }
    if (!isRecord(entry) || typeof entry["permit_id"] !== "string") continue;
    if (entry["done"] === true) pending.delete(entry["permit_id"]);
    else if (isRecord(entry["report"])) pending.set(entry["permit_id"], entry["report"]);
  }
  return pending;
}
