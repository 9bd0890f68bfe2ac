import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openFileObjects } from "../../src/storage/objects/files/store.js";
import { makePrivate } from "../../src/storage/records/sqlite/connection.js";
import { openSqliteRecordStore } from "../../src/storage/records/sqlite/index.js";
import { create, write } from "../conformance/records/fixtures.js";

/** Every path below a folder whose group or others may do anything with it. */
function open(folder: string): string[] {
  const found: string[] = [];
  for (const entry of [".", ...readdirSync(folder, { recursive: true, encoding: "utf8" })]) {
    if ((statSync(join(folder, entry)).mode & 0o077) !== 0) found.push(entry);
  }
  return found;
}

describe("the data folder", () => {
  let folder: string;
  let umask: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "arkgraph-private-"));
    umask = process.umask(0o000);
  });
  afterEach(() => {
    process.umask(umask);
    rmSync(folder, { recursive: true });
  });

  test(
    "contains only files that nobody else can read, also where the operator made it " +
      "readable for everyone",
    async () => {
      chmodSync(folder, 0o755);
      await makePrivate(folder, () => {});
      const records = await openSqliteRecordStore({ file: join(folder, "records.db") });
      const objects = await openFileObjects(join(folder, "objects"));
      await write(records, create("ark:99999/one"));
      await (await objects.stage([Buffer.from("bytes")] as never)).publish();
      await objects.health();
      expect(readdirSync(folder)).toEqual(
        expect.arrayContaining([
          "records.db",
          "records.db-wal",
          "records.db-shm",
          "records.db.lock",
          "records.db.pid",
        ]),
      );
      expect(open(folder)).toEqual([]);
      await records.close();
    },
  );

  test("is closed to others at the start, including files of an earlier version", async () => {
    for (const name of [
      "records.db",
      "records.db-wal",
      "records.db-shm",
      "records.db.lock",
      "jwt-secret",
    ])
      writeFileSync(join(folder, name), "", { mode: 0o644 });
    mkdirSync(join(folder, "objects", "staging"), { recursive: true, mode: 0o755 });
    chmodSync(folder, 0o755);
    await makePrivate(folder, () => {});
    expect(open(folder)).toEqual([]);
  });

  test("warns once, naming the path, where it cannot be closed to others", async () => {
    writeFileSync(join(folder, "records.db"), "", { mode: 0o644 });
    const warn = vi.fn();
    const refuse = () => Promise.reject(Object.assign(new Error("EPERM"), { code: "EPERM" }));
    await makePrivate(folder, warn, refuse);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]![0]).toMatch(/records\.db.*chmod/s);
  });
});
