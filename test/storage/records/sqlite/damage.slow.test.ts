import { spawn } from "node:child_process";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqliteRecordStore } from "../../../../src/storage/records/sqlite/index.js";
import { openSqliteTransfer } from "../../../../src/storage/records/sqlite/transfer.js";
import type { FoundDamage } from "../../../../src/storage/records/transfer-port.js";
import { create, linkTo, replace, write } from "../../../conformance/records/fixtures.js";
import { arkFrom } from "../../../support/arks.js";

const RECORDS = 120;
const arkOf = (index: number): string => `ark:99999/damaged-${String(index).padStart(4, "0")}`;

describe("a damaged file of records", () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "arkgraph-damage-"));
    file = join(folder, "records.db");
    const store = await openSqliteRecordStore({ file });
    for (let index = 0; index < RECORDS; index += 20) {
      await write(
        store,
        ...Array.from({ length: 20 }, (_, at) =>
          create(arkOf(index + at), {
            name: `Table ${index + at} of the record`,
            links: [linkTo(arkOf((index + at + 1) % RECORDS))],
            extra: { filler: "x".repeat(600) },
          }),
        ),
      );
    }
    await write(store, replace(arkOf(0), 1, { name: "Second" }));
    await store.close();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Overwrites a text that stands in the file, wherever it does. */
  function overwrite(text: string, by: Uint8Array): number {
    const bytes = readFileSync(file);
    const descriptor = openSync(file, "r+");
    let count = 0;
    for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1), count++)
      writeSync(descriptor, by, 0, by.length, at);
    closeSync(descriptor);
    return count;
  }

  async function found(): Promise<FoundDamage[]> {
    const transfer = await openSqliteTransfer({ file, make: false });
    try {
      return await gathered(transfer.damage());
    } finally {
      await transfer.close();
    }
  }

  test(
    "never ends the process, whatever its damage, is refused with one code, and is " +
      "reported by the check",
    { timeout: 120_000 },
    async () => {
      const records = Array.from({ length: RECORDS }, (_, index) => arkOf(index));
      const child = spawn(
        process.execPath,
        [fileURLToPath(new URL("damaged-file.mjs", import.meta.url)), file, "1", "45"],
        {
          stdio: ["ignore", "pipe", "pipe"],
          env: { ...process.env, READS: JSON.stringify({ records }) },
        },
      );
      let [out, err] = ["", ""];
      child.stdout.on("data", (text: Buffer) => (out += text.toString()));
      child.stderr.on("data", (text: Buffer) => (err += text.toString()));
      const status = await new Promise((resolve) =>
        child.once("close", (code, signal) => resolve(signal ?? code)),
      );
      const rounds = out
        .split("\n")
        .slice(0, -1)
        .map(
          (line) =>
            JSON.parse(line) as {
              seed: number;
              answers: Record<string, number>;
              found: string[];
              count: number;
            },
        );
      expect({ status, err: err.slice(0, 500), rounds: rounds.length }).toEqual({
        status: 0,
        err: "",
        rounds: 45,
      });
      for (const { seed, answers, count } of rounds) {
        const codes = Object.keys(answers).filter(
          (code) => !["ok", "STORE_DAMAGED", "STORE_UNAVAILABLE"].includes(code),
        );
        expect(codes, `seed ${seed}`).toEqual([]);
        if (answers["STORE_DAMAGED"] !== undefined)
          expect(count, `seed ${seed}: ${JSON.stringify(answers)}`).toBeGreaterThan(0);
      }
      // Else the property would hold because nothing was met.
      expect(
        rounds.filter(({ answers }) => answers["STORE_DAMAGED"] !== undefined).length,
      ).toBeGreaterThan(10);
      expect(rounds.filter(({ answers }) => (answers["ok"] ?? 0) > RECORDS).length).toBeGreaterThan(
        10,
      );
    },
  );

  test("refuses the record whose text is not UTF-8 any more, and serves the others", async () => {
    expect(overwrite("Table 7 of the record", Buffer.from([0xff, 0xfe]))).toBeGreaterThan(0);
    const store = await openSqliteRecordStore({ file });
    try {
      await expect(store.find(arkFrom(arkOf(7)))).rejects.toMatchObject({
        code: "STORE_DAMAGED",
        status: 503,
      });
      expect(await store.find(arkFrom(arkOf(8)))).toMatchObject({
        record: { name: "Table 8 of the record" },
      });
    } finally {
      await store.close();
    }
    expect((await found()).map(({ where }) => where)).toContainEqual(
      expect.stringMatching(/^record ark:99999\/damaged-0007 \(table record/),
    );
  });

  test("fails only the write that meets damage, and writes others before and after it", async () => {
    // The search index holds the old text of a record that is changed: to take it out, its row of
    // `text` is read.
    overwrite("Table 7 of the record", Buffer.from([0xff, 0xfe]));
    const store = await openSqliteRecordStore({ file });
    try {
      const writes = [1, 7, 8].map((index) =>
        write(store, replace(arkOf(index), 1, { name: `Changed ${index}` })).then(
          () => "ok",
          (error: { code: string }) => error.code,
        ),
      );
      expect(await Promise.all(writes)).toEqual(["ok", "STORE_DAMAGED", "ok"]);
      await write(store, create("ark:99999/after"));
      expect(await store.find(arkFrom(arkOf(8)))).toMatchObject({
        record: { name: "Changed 8", revision: 2 },
      });
    } finally {
      await store.close();
    }
  });

  test("names the revision whose document cannot be decoded", async () => {
    overwrite(`{"@id":"${arkOf(11)}"`, Buffer.from("?"));
    expect(await found()).toEqual([
      {
        where: expect.stringMatching(
          /^record ark:99999\/damaged-0011, revision 1 \(table state, row \d+\)$/,
        ),
        what: "the document is not JSON",
      },
    ]);
  });

  test("reports no damage in an intact file", async () => {
    expect(await found()).toEqual([]);
  });

  test("fails reads when it is truncated while open, instead of ending the process", async () => {
    const store = await openSqliteRecordStore({ file });
    try {
      truncateSync(file, 3 * 4096);
      const answers = await Promise.allSettled(
        Array.from({ length: RECORDS }, (_, index) => store.find(arkFrom(arkOf(index)))),
      );
      for (const answer of answers)
        if (answer.status === "rejected")
          expect((answer.reason as { code: string }).code).toMatch(/^STORE_/);
      expect(answers.some(({ status }) => status === "rejected")).toBe(true);
    } finally {
      await store.close().catch(() => {});
    }
  });
});

async function gathered<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
