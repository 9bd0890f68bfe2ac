import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqliteRecordStore } from "../../../../src/stores/records/sqlite/index.js";
import { Connection } from "../../../../src/stores/records/sqlite/statement.js";
import { create, write } from "../../../conformance/records/fixtures.js";

describe("opening the file of records", () => {
  let folder: string;
  let file: string;
  const children: ChildProcess[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "arkgraph-opening-"));
    file = join(folder, "records.db");
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  });

  const refused = (text: RegExp): Promise<void> => expect(openSqliteRecordStore({ file })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", message: expect.stringMatching(text) });

  test("refuses one that a newer version wrote, and leaves it as it is", async () => {
    await (await openSqliteRecordStore({ file })).close();
    const connection = new Connection(file);
    connection.pragma("user_version = 999");
    connection.close();
    await refused(/newer version \(its schema is 999/);
    await refused(/newer version/);
  });

  test("brings one that an older version wrote up to date, with all that is in it", async () => {
    const before = await openSqliteRecordStore({ file });
    await write(before, create("ark:99999/before"));
    await before.close();
    const connection = new Connection(file);
    connection.exec("DROP TABLE vector; DROP TABLE vector_reach; DROP TABLE score; DROP TABLE lease; PRAGMA user_version = 2");
    connection.close();
    const after = await openSqliteRecordStore({ file });
    expect(await after.find("ark:99999/before")).toMatchObject({ record: { name: "A table", revision: 1 } });
    await after.keepScore({ crate: "ark:99999/before", state: "1", whole: true, body: new Uint8Array([1]) });
    expect(await after.keptScore("ark:99999/before")).toMatchObject({ state: "1" });
    const { to } = await after.changedTexts("m", "", 9);
    expect(await after.keepVectors("m", { after: "", to: to!, vectors: [{ ark: "ark:99999/before", digest: new Uint8Array(1), vector: Float32Array.of(1) }] })).toBe(true);
    expect(await after.search({ text: "", match: "related", offset: 0, limit: 1, near: { model: "m", vector: Float32Array.of(1) } })).toMatchObject({ total: 1 });
    await after.close();
  });

  test("refuses one that is not a database, or another program's", async () => {
    writeFileSync(file, "just some text, and enough of it to be read as a header of a database file. ".repeat(50));
    await refused(/is not a database/);
    rmSync(file);
    const connection = new Connection(file);
    connection.exec("CREATE TABLE theirs (a)");
    connection.close();
    await refused(/another program/);
  });

  test("refuses a folder that is not there, in one sentence", async () => {
    file = join(folder, "nowhere", "records.db");
    await refused(/check the folder/);
  });

  test("refuses a second time in this process, and again after closing succeeds", async () => {
    const store = await openSqliteRecordStore({ file });
    await refused(/in use by this process/);
    await store.close();
    await (await openSqliteRecordStore({ file })).close();
  });

  test("refuses while another process has it, naming that one, and takes over when it was killed", async () => {
    const child = spawn(process.execPath, [fileURLToPath(new URL("writing-process.mjs", import.meta.url)), file], { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    await new Promise((resolve) => child.stdout!.once("data", resolve));
    await refused(new RegExp(`in use by process ${child.pid}`));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    const store = await openSqliteRecordStore({ file });
    expect(await store.count({})).toBeGreaterThan(0);
    expect(readFileSync(`${file}.pid`, "utf8").trim()).toBe(String(process.pid));
    await store.close();
  });

  test("answers what was asked before closing, and refuses what comes after", async () => {
    const store = await openSqliteRecordStore({ file });
    const pending = write(store, create("ark:99999/a"));
    const closing = store.close();
    expect((await pending).sequence).toBe(1);
    await expect(write(store, create("ark:99999/b"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await closing;
    await expect(store.find("ark:99999/a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect(store.health()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});
