import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RecordFilter } from "../../../../src/storage/records/port/selection.js";
import { openSqliteRecordStore } from "../../../../src/storage/records/sqlite/index.js";
import { MIGRATIONS } from "../../../../src/storage/records/sqlite/schema.js";
import { Connection } from "../../../../src/storage/records/sqlite/statement.js";
import {
  commitOf,
  create,
  linkTo,
  remove,
  replace,
  write,
} from "../../../conformance/records/fixtures.js";
import { arkFrom } from "../../../support/arks.js";
import { AS_CREATED } from "../../../../src/services/records/pages.js";

/** Columns that had another name in earlier schemas. */
const FORMER: Readonly<Record<string, string>> = { user: "person" };

/** Puts a file of the newest schema into one as programs of schema 5 made it. */
function inSchema5(file: string): void {
  const older = `${file}.older`;
  const connection = new Connection(older);
  for (const migration of MIGRATIONS.slice(0, 5)) connection.exec(migration as string);
  connection.exec(`ATTACH '${file}' AS newer`);
  for (const [table] of connection
    .prepare<[string]>(
      "SELECT name FROM newer.sqlite_schema WHERE type = 'table' AND sql LIKE '%STRICT%'",
    )
    .all()) {
    const columns = connection
      .prepare<[string]>("SELECT name FROM pragma_table_info(?, 'main')")
      .all([table])
      .map(([name]) => name);
    const now = columns.map((name) => FORMER[name] ?? name);
    // Tables of later schemas are not there.
    if (columns.length > 0)
      connection.exec(
        `INSERT INTO main.${table} (${columns.join()}) SELECT ${now.join()} FROM newer.${table}`,
      );
  }
  connection.exec(
    "INSERT INTO search (rowid, name, description, keywords, other) SELECT id, name, " +
      "description, keywords, other FROM text",
  );
  connection.exec(
    "PRAGMA application_id = " +
      `${Number(connection.prepare("PRAGMA newer.application_id").get()![0])}; PRAGMA ` +
      "user_version = 5",
  );
  connection.close();
  for (const end of ["-wal", "-shm"]) rmSync(file + end, { force: true });
  renameSync(older, file);
}

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

  const refused = (text: RegExp): Promise<void> =>
    expect(openSqliteRecordStore({ file })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringMatching(text),
    });

  test("refuses one that a newer version wrote, and leaves it unchanged", async () => {
    await (await openSqliteRecordStore({ file })).close();
    const connection = new Connection(file);
    connection.pragma("user_version = 999");
    connection.close();
    await refused(/newer version \(its schema is 999/);
    await refused(/newer version/);
  });

  test("upgrades one that an older version wrote, with all its data", async () => {
    const before = await openSqliteRecordStore({ file });
    await write(before, create("ark:99999/before"));
    await before.close();
    const connection = new Connection(file);
    connection.exec(
      "DROP TABLE embedding; DROP TABLE embedding_reach; DROP TABLE score; DROP TABLE lease; " +
        "PRAGMA user_version = 2",
    );
    connection.close();
    const after = await openSqliteRecordStore({ file });
    expect(await after.find(arkFrom("ark:99999/before"))).toMatchObject({
      record: { name: "A table", revision: 1 },
    });
    await after.storeScore({
      crate: "ark:99999/before",
      state: "1",
      whole: true,
      body: new Uint8Array([1]),
    });
    expect(await after.storedScore("ark:99999/before")).toMatchObject({ state: "1" });
    const { to } = await after.changedTexts("m", "", 9);
    expect(
      await after.storeVectors("m", {
        after: "",
        to: to!,
        vectors: [
          { ark: "ark:99999/before", digest: new Uint8Array(1), vector: Float32Array.of(1) },
        ],
      }),
    ).toBe(true);
    expect(
      await after.search({
        text: "",
        match: "related",
        offset: 0,
        limit: 1,
        near: { model: "m", vector: Float32Array.of(1) },
      }),
    ).toMatchObject({ total: 1 });
    await after.close();
  });

  test("keeps the vectors of schema 13", async () => {
    const before = await openSqliteRecordStore({ file });
    await write(before, create("ark:99999/near"), create("ark:99999/far"));
    await before.close();
    const connection = new Connection(file);
    connection.exec(
      `DROP TABLE embedding; DROP TABLE embedding_reach;
      CREATE TABLE vector (model TEXT NOT NULL, record INTEGER NOT NULL, kind TEXT NOT NULL,
        step INTEGER NOT NULL, digest BLOB, vector BLOB, PRIMARY KEY (model, record)) STRICT;
      CREATE INDEX vector_step ON vector (model, step, record);
      CREATE TABLE vector_reach (model TEXT PRIMARY KEY, sequence INTEGER NOT NULL,
        record INTEGER NOT NULL, era TEXT NOT NULL, step INTEGER NOT NULL) STRICT;
      INSERT INTO vector_reach VALUES ('m', 1, 2, 'e', 1);
      INSERT INTO vector SELECT 'm', id, kind, 1, x'01', CASE WHEN ark LIKE '%near'
        THEN x'0000803f00000000' ELSE x'000000000000803f' END FROM record;
      INSERT INTO vector VALUES ('m', 9, 'dataset', 1, NULL, NULL); PRAGMA user_version = 13`,
    );
    connection.close();
    const after = await openSqliteRecordStore({ file });
    expect(await after.vectorsReach("m")).toBe("1/2");
    const near = { model: "m", vector: Float32Array.of(1, 0) };
    expect(
      await after.search({ text: "", match: "related", offset: 0, limit: 9, near }),
    ).toMatchObject({ hits: [{ ark: "ark:99999/near", score: 1 }] });
    await after.close();
  });

  test("copies every row of schema 5 into the new table of records of schema 6", async () => {
    const before = await openSqliteRecordStore({ file });
    await write(
      before,
      create("ark:99999/a-b.csv", { name: "First", links: [linkTo("ark:99999/late")] }),
      create("ark:99999/ab.csv", { name: "Of the same key" }, { mayShareKey: true }),
    );
    await write(before, create("ark:99999/late"));
    await write(before, replace("ark:99999/late", 1, { name: "Later" }));
    await write(before, create("ark:99999/gone"));
    await write(before, remove("ark:99999/gone", 1, { reason: "a trial" }));
    await before.close();
    inSchema5(file);

    const after = await openSqliteRecordStore({ file });
    expect(await after.find(arkFrom("ark:99999/a-b.csv"))).toMatchObject({
      record: { name: "First", revision: 1 },
    });
    expect(await after.find(arkFrom("ark:99999/ab.csv"))).toMatchObject({
      record: { name: "Of the same key" },
    });
    expect(await after.find(arkFrom("ark:99999/-ab.csv"))).toEqual({
      ambiguous: ["ark:99999/a-b.csv", "ark:99999/ab.csv"],
    });
    expect(await after.find(arkFrom("ark:99999/l-ate"))).toMatchObject({
      record: { ark: "ark:99999/late", name: "Later", revision: 2 },
    });
    expect(await after.find(arkFrom("ark:99999/gone"))).toMatchObject({
      record: { tombstone: { reason: "a trial" } },
    });
    expect(
      (await after.history("ark:99999/late", { limit: 9 })).map(({ action }) => action),
    ).toEqual(["update", "create"]);
    const { items } = await after.select({ filter: {}, order: AS_CREATED, limit: 9 });
    expect(items.map(({ name }) => name)).toEqual(["First", "Of the same key", "Later"]);
    await expect(
      write(after, create("ark:99999/ab.csv", {}, { mayShareKey: true })),
    ).rejects.toMatchObject({ code: "DUPLICATE" });
    await write(after, create("ark:99999/new"));
    expect(await after.countSelected({ filter: {} })).toBe(4);
    await after.close();

    const connection = new Connection(file);
    expect(connection.prepare("SELECT ark FROM record ORDER BY id").all().flat()).toEqual([
      "ark:99999/a-b.csv",
      "ark:99999/ab.csv",
      "ark:99999/late",
      "ark:99999/gone",
      "ark:99999/new",
    ]);
    expect(connection.prepare("PRAGMA integrity_check").get()).toEqual(["ok"]);
    connection.close();
  });

  test("drops archives of before schema 7 that contain deleted content, and no other", async () => {
    const archive = (letter: string) => ({
      objects: [
        {
          sha256: letter.repeat(64),
          size: 1,
          mediaType: "application/zip",
          name: "crate.zip",
          role: "archive" as const,
        },
      ],
    });
    const content = {
      objects: [
        {
          sha256: "c".repeat(64),
          size: 1,
          mediaType: "text/plain",
          name: "c.txt",
          role: "content" as const,
        },
      ],
    };
    const crates = ["whole", "content", "member", "used", "again"].map(
      (name) => `ark:99999/${name}`,
    );
    const before = await openSqliteRecordStore({ file });
    for (const [index, crate] of crates.entries())
      await write(
        before,
        create(crate, { kind: "rocrate" }, archive("abdef"[index]!)),
        create(`${crate}/x`, {}, { crate, ...content }),
      );
    const [, ofContent, ofMember, used, again] = crates;
    await before.commit(commitOf([], { uses: { crate: used!, arks: [`${ofContent}/x`] } }));
    await write(before, replace(`${again}/x`, 1, {}, { objects: [], dropObjects: true }));
    await write(before, replace(again!, 1, { kind: "rocrate" }, archive("9")));
    await before.close();
    // As programs of schema 6 deleted.
    const connection = new Connection(file);
    const at = Date.UTC(2100, 0);
    connection.exec(
      "UPDATE object_ref SET until = 1, dropped = 1 WHERE name = 'c.txt' AND record = " +
        "(SELECT id FROM " +
        `record WHERE ark = '${ofContent}/x');
      UPDATE revision SET at = ${at} WHERE record = (SELECT id FROM record WHERE ark = ` +
        `'${ofContent}/x');
      UPDATE record SET deleted_at = ${at} WHERE ark = '${ofMember}/x'; PRAGMA user_version = 6`,
    );
    connection.close();
    const after = await openSqliteRecordStore({ file });
    const left = await Promise.all(
      crates.map(async (crate) => (await after.objectsOf(crate)).map(({ sha256 }) => sha256[0])),
    );
    expect(left).toEqual([["a"], [], [], [], ["9"]]);
    expect((await after.referenced({ limit: 99 })).items.map((sha256) => sha256[0])).toEqual([
      "9",
      "a",
      "c",
    ]);
    await after.close();
  });

  test("removes identifiers from the searched text of before schema 8", async () => {
    const other = "Ada ark:99999/clusters-of-cells Lovelace https://n2t.net/ark:/99999/nuclei";
    const before = await openSqliteRecordStore({ file });
    await write(
      before,
      create("ark:99999/by-ada", {}, { text: { name: "", description: "", keywords: "", other } }),
      create(
        "ark:99999/clusters",
        {},
        { text: { name: "", description: "", keywords: "", other: "clusters" } },
      ),
    );
    await before.close();
    const connection = new Connection(file);
    connection.exec("PRAGMA user_version = 7");
    connection.close();
    const after = await openSqliteRecordStore({ file });
    const found = async (text: string) =>
      (await after.search({ text, match: "all", offset: 0, limit: 9 })).hits.map(({ ark }) => ark);
    expect(await found("ada lovelace")).toEqual(["ark:99999/by-ada"]);
    expect(await found("clusters")).toEqual(["ark:99999/clusters"]);
    expect(await found("nuclei")).toEqual([]);
    // The index holds what its removal needs.
    await write(after, remove("ark:99999/by-ada", 1));
    expect(await found("ada")).toEqual([]);
    await after.close();
  });

  test("reads licences and scores of before schema 10 from what is stored", async () => {
    const [byId, byUrl, other, gone, crate] = ["id", "url", "other", "gone", "crate"].map(
      (name) => `ark:99999/${name}`,
    ) as [string, string, string, string, string];
    const before = await openSqliteRecordStore({ file });
    const stating = (license: unknown) => ({ extra: { license } }) as const;
    await write(
      before,
      create(byId, stating("MIT")),
      create(byUrl, stating([{ "@id": "https://opensource.org/licenses/MIT" }])),
      create(other, { name: 'no "license" here' }),
      create(gone, stating("MIT")),
      create(crate, { kind: "rocrate" }),
      create("ark:99999/ada", { kind: "user", ...stating("MIT") }),
    );
    await write(before, remove(gone, 1));
    const answer = { score: { met: 3, partly: 1, total: 6 } };
    await before.storeScore({
      crate,
      state: "1",
      whole: true,
      body: Buffer.from(JSON.stringify({ answer })),
    });
    await before.storeScore({ crate: other, state: "1", whole: true, body: Buffer.from("{") });
    await before.close();
    const connection = new Connection(file);
    connection.exec(
      "DROP INDEX live_licence; DROP INDEX live_open; DROP INDEX score_percent; DROP INDEX gone; ALTER TABLE record " +
        "DROP COLUMN licence; ALTER TABLE score DROP COLUMN record; ALTER TABLE score DROP " +
        "COLUMN percent; PRAGMA user_version = 9",
    );
    connection.close();
    const after = await openSqliteRecordStore({ file });
    const found = async (filter: RecordFilter) => {
      const order = { by: "created", descending: false } as const;
      return (await after.select({ filter, order, limit: 9 })).items.map(({ ark }) => ark);
    };
    expect(await found({ licences: ["MIT"] })).toEqual([byId, byUrl]);
    expect(await found({ score: { atLeast: 58, below: 59 } })).toEqual([crate]);
    expect(await found({ score: {} })).toEqual([crate]);
    expect(await found({ deleted: {} })).toEqual([gone]);
    await after.close();
  });

  test("reads dates of publication of before schema 23 from what is stored", async () => {
    const [stated, opened, draft, gone] = ["stated", "opened", "draft", "gone"].map(
      (name) => `ark:99999/${name}`,
    ) as [string, string, string, string];
    const before = await openSqliteRecordStore({ file });
    const stating = (datePublished: unknown) => ({ extra: { datePublished } }) as const;
    await write(
      before,
      create(stated, stating(["soon", "2019-05"])),
      create(opened, stating("99999-01-01")),
      create(draft, { name: 'no "datePublished" here' }),
      create(gone, stating("2019")),
    );
    await write(
      before,
      { op: "publish", ark: opened, status: "PUBLISHED", embargoedUntil: null },
      remove(gone, 1),
    );
    await before.close();
    const connection = new Connection(file);
    connection.exec(
      `DROP INDEX live_open; DROP INDEX live_published; ALTER TABLE record DROP COLUMN stated_at;
        ALTER TABLE record DROP COLUMN published_at; PRAGMA user_version = 22`,
    );
    connection.close();
    const after = await openSqliteRecordStore({ file });
    const order = { by: "published", descending: true } as const;
    const { items } = await after.select({ filter: {}, order, limit: 9 });
    expect(items.map(({ ark }) => ark)).toEqual([opened, stated, draft]);
    const filter = { published: { since: Date.UTC(2019, 4, 1), before: Date.UTC(2019, 4, 2) } };
    expect(await after.countSelected({ filter })).toBe(1);
    await after.close();
  });

  test("finds accounts and submissions of before schema 24, whose columns had other names", async () => {
    const user = "ark:99999/ada";
    const before = await openSqliteRecordStore({ file });
    await before.commit(
      commitOf([create(user, { kind: "user" })], {
        account: {
          op: "create",
          user,
          email: "ada@example.org",
          passwordHash: "x",
          admin: false,
        },
      }),
    );
    const job = { id: "1", type: "crate", user, sha256: null, input: {}, at: 1 } as const;
    await before.submit(job);
    await before.close();
    const connection = new Connection(file);
    for (const table of ["account", "credential", "identity", "submission"])
      connection.exec(`ALTER TABLE ${table} RENAME COLUMN person TO user`);
    connection.exec(
      `DROP INDEX account_email;
      CREATE UNIQUE INDEX account_email ON account (email) WHERE deleted = 0;
      PRAGMA user_version = 23`,
    );
    connection.close();
    const after = await openSqliteRecordStore({ file });
    expect(await after.accountByEmail("ada@example.org")).toMatchObject({ user });
    expect((await after.submissionsOf(user, { limit: 9 })).items).toHaveLength(1);
    await after.close();
    const reading = new Connection(file);
    const plan = "EXPLAIN QUERY PLAN SELECT person FROM account WHERE email = 'a' AND NOT deleted";
    expect(String(reading.prepare(plan).get()!.at(-1))).toContain("account_email");
    reading.close();
  });

  test("refuses one that is not a database, or another program's", async () => {
    writeFileSync(
      file,
      "just some text, and enough of it to be read as a header of a database file. ".repeat(50),
    );
    await refused(/is not a database/);
    rmSync(file);
    const connection = new Connection(file);
    connection.exec("CREATE TABLE theirs (a)");
    connection.close();
    await refused(/another program/);
  });

  test("refuses a missing folder, in one sentence", async () => {
    file = join(folder, "nowhere", "records.db");
    await refused(/check the folder/);
  });

  test("refuses a second opening in this process, and succeeds after closing", async () => {
    const store = await openSqliteRecordStore({ file });
    await refused(/in use by this process/);
    await store.close();
    await (await openSqliteRecordStore({ file })).close();
  });

  test("refuses while another process has it, naming that one, and succeeds when that was killed", async () => {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL("writing-process.mjs", import.meta.url)), file],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    children.push(child);
    await new Promise((resolve) => child.stdout.once("data", resolve));
    await refused(new RegExp(`in use by process ${child.pid}`));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    const store = await openSqliteRecordStore({ file });
    expect(await store.countSelected({ filter: {} })).toBeGreaterThan(0);
    expect(readFileSync(`${file}.pid`, "utf8").trim()).toBe(String(process.pid));
    await store.close();
  });

  test("answers requests from before closing, and refuses later ones", async () => {
    const store = await openSqliteRecordStore({ file });
    const pending = write(store, create("ark:99999/a"));
    const closing = store.close();
    expect((await pending).sequence).toBe(1);
    await expect(write(store, create("ark:99999/b"))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    await closing;
    await expect(store.find(arkFrom("ark:99999/a"))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    await expect(store.health()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});
