import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSqliteRecordStore } from "../../../../src/storage/records/sqlite/index.js";
import { Connection } from "../../../../src/storage/records/sqlite/statement.js";
import { openSqliteTransfer } from "../../../../src/storage/records/sqlite/transfer.js";
import { endsEarly } from "../../../../src/storage/records/sqlite/write-ahead-log.js";

let folder: string;
/** A data folder whose process was killed after 100 answered commits. */
let killed: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "arkgraph-wal-"));
  killed = join(folder, "killed");
  mkdirSync(killed);
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("writing-process.mjs", import.meta.url)), join(killed, "records.db")],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let answered = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if ((answered += text.split("\n").length - 1) >= 100) child.kill("SIGKILL");
  });
  await once(child, "close");
  expect(child.signalCode).toBe("SIGKILL");
  // A kill within a commit leaves frames that are no part of the log.
  const wal = join(killed, "records.db-wal");
  truncateSync(wal, endOfLastCommit(readFileSync(wal)));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HEADER = 32;
const FRAME = 24 + 4096;
/** Where the last frame ends that completes a commit: https://sqlite.org/fileformat2.html#walformat. */
function endOfLastCommit(wal: Buffer): number {
  let end = HEADER;
  for (let at = HEADER; at + FRAME <= wal.length; at += FRAME) {
    const isOfThisLog = wal.subarray(at + 8, at + 16).equals(wal.subarray(16, 24));
    if (isOfThisLog && wal.readUInt32BE(at + 4) > 0) end = at + FRAME;
  }
  return end;
}

let copies = 0;
/** A copy of the folder, changed; the path of its database. */
function copied(change: (wal: string) => void = () => {}): string {
  const copy = join(folder, `copy-${++copies}`);
  cpSync(killed, copy, { recursive: true });
  change(join(copy, "records.db-wal"));
  return join(copy, "records.db");
}

/** What opening the store warns of, and how many records it has. */
async function opened(file: string): Promise<{ warnings: string[]; records: number }> {
  const warnings: string[] = [];
  const store = await openSqliteRecordStore({ file, warn: (message) => warnings.push(message) });
  await store.close();
  const connection = new Connection(file);
  const [row] = connection.prepare("SELECT count(*) AS n FROM record").all();
  connection.close();
  return { warnings, records: Number(row![0]) };
}

const flip = (at: (size: number) => number) => (wal: string) => {
  const bytes = readFileSync(wal);
  bytes[at(bytes.length)]! ^= 1;
  writeFileSync(wal, bytes);
};

describe("a start after an unclean stop", () => {
  it("logs nothing when the write-ahead log is sound", async () => {
    const { warnings, records } = await opened(copied());
    expect(warnings).toEqual([]);
    expect(records).toBeGreaterThan(50);
  });

  it.each([
    ["has a wrong byte in its middle", flip((size) => size >> 1)],
    ["has a wrong byte in its last frame", flip((size) => size - 1)],
    ["has a wrong byte in its header", flip(() => 20)],
    ["is cut inside a frame", (wal: string) => truncateSync(wal, 32 + 9 * FRAME + 100)],
  ])("warns that records may be lost when the log %s", async (_, change) => {
    const whole = await opened(copied());
    const file = copied(change);
    const { warnings, records } = await opened(file);
    expect(records).toBeLessThanOrEqual(whole.records);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`${file}-wal`);
    expect(warnings[0]).toMatch(/may be lost.*backup/);
    // What there was to say has been said: the log is gone, and the stop was clean.
    expect((await opened(file)).warnings).toEqual([]);
  });

  it("warns in a transfer too, which would empty the log", async () => {
    const file = copied(flip((size) => size >> 1));
    const warnings: string[] = [];
    const transfer = await openSqliteTransfer({
      file,
      make: true,
      log: (message) => warnings.push(message),
    });
    await transfer.close();
    expect(warnings).toEqual([expect.stringContaining("may be lost")]);
  });

  it("logs nothing about a damaged log when the stop was clean", async () => {
    const file = copied(flip((size) => size >> 1));
    rmSync(`${file}.pid`);
    expect((await opened(file)).warnings).toEqual([]);
  });
});

describe("a write-ahead log that is whole", () => {
  let connection: Connection;
  let file: string;
  const fill = (rows: number) =>
    connection.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
       INSERT INTO t SELECT randomblob(2000) FROM n`,
    );
  /** Of a copy: closing the log would end the locks that this process has on it. */
  const early = () => {
    copyFileSync(`${file}-wal`, `${file}-copy`);
    return endsEarly(`${file}-copy`);
  };
  beforeAll(() => {
    file = join(folder, "whole.db");
    connection = new Connection(file);
    connection.pragma("journal_mode = WAL");
    connection.exec("CREATE TABLE t (x)");
  });
  afterAll(() => connection.close());

  it("may end with frames of an earlier run", () => {
    fill(500);
    connection.pragma("wal_checkpoint(RESTART)");
    fill(5);
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(200 * FRAME);
    expect(early()).toBe(false);
  });

  it("may end with frames of a transaction that was rolled back", () => {
    connection.pragma("wal_checkpoint(TRUNCATE)");
    connection.pragma("cache_size = 10");
    connection.exec("BEGIN");
    fill(500);
    connection.exec("ROLLBACK");
    fill(5);
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(100 * FRAME);
    expect(early()).toBe(false);
  });

  it("may be empty, or not be there", () => {
    connection.pragma("wal_checkpoint(TRUNCATE)");
    expect(early()).toBe(false);
    expect(endsEarly(`${file}-none`)).toBe(false);
  });
});
