import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { Committer } from "../../../../src/storage/records/sqlite/commit.js";
import {
  openForReading,
  openForWriting,
} from "../../../../src/storage/records/sqlite/connection.js";
import { openSqliteRecordStore } from "../../../../src/storage/records/sqlite/index.js";
import { FeedReads, RecordReads } from "../../../../src/storage/records/sqlite/reads.js";
import { migrate } from "../../../../src/storage/records/sqlite/schema.js";
import { SelectionReads } from "../../../../src/storage/records/sqlite/selection-reads.js";
import { Connection } from "../../../../src/storage/records/sqlite/statement.js";
import { TABLE_SQL } from "../../../../src/storage/records/sqlite/table-sql.js";
import { TableStatements } from "../../../../src/storage/records/sqlite/table-statements.js";
import { Tables } from "../../../../src/storage/records/tables/tables.js";
import type { RecordFilter } from "../../../../src/storage/records/port/selection.js";
import { create, linkTo, remove, replace, write } from "../../../conformance/records/fixtures.js";

/**
 * Tables and names for them that grow with the records. An index that is read from one end to the
 * limit is a search, not a scan.
 */
const LARGE =
  /^SCAN (?:record|r|state|s|text|t|link|l|page|keyword|k|change_log|object_ref|o|vector|v)\b/;

/** Has the statements of tables that both databases share prepared, which are at their first use. */
async function useTables(connection: Connection): Promise<void> {
  const statements = new TableStatements(connection);
  const tables = new Tables(statements, TABLE_SQL);
  const { access, accounts, links, objects, reviewLinks, revisions } = tables;
  const { scores, submissions, uses, vectors } = tables;
  const user = "ark:99999/user";
  const score = { crate: user, state: "", whole: true, body: new Uint8Array() };
  const link = { hash: "", id: "", record: user, createdBy: user, createdAt: 0, expiresAt: 1 };
  const job = { type: "crate", user, sha256: "a", input: {}, at: 0 } as const;
  await accounts.accounts({ limit: 1 });
  await accounts.listedAccount(user);
  await access.accessRequests({ actingFor: { user }, now: 0, limit: 1 });
  await access.accessGrants(user, [user]);
  await access.forget([user]);
  await reviewLinks.storeReviewLink({ ...link, anonymous: false, uses: 0, usedAt: null }, 1);
  await reviewLinks.reviewLink("");
  await reviewLinks.reviewLinksOf(user);
  await scores.storeScore(score);
  await scores.forget([user]);
  await submissions.submit({ id: "1", ...job });
  await submissions.submissionsOf(user, { limit: 1 });
  for (const vector of [null, Float32Array.of(1)]) {
    const vectorOfUser = { ark: user, digest: new Uint8Array(1), vector };
    await vectors.storeVectors(String(vector), { after: "", to: "1/1", vectors: [vectorOfUser] });
  }
  await vectors.forgetVectors("m", 1);
  await vectors.vectorsReach("m");
  await vectors.changedTexts("m", "", 1);
  await objects.objectsOf(user);
  await objects.objectsOf(user, { revision: 1 });
  await objects.filesOf(user, { limit: 1 });
  await objects.contentWasDeleted(user);
  await objects.referenced({ limit: 1 });
  await uses.usesOf(user);
  await uses.usedElsewhere([user], user);
  await uses.closedMembers(user, { limit: 1 });
  await uses.embargoes({ limit: 1 });
  await uses.danglingLinks(user, { limit: 1 });
  await uses.stateOfCrate(user);
  for (const backward of [false, true]) {
    await links.linksFrom([user], { backward, limit: 1 });
    await links.linksTo([user], { backward, limit: 1 });
  }
  await revisions.atRevision(user, 1);
  await revisions.history(user, { limit: 1 });
  await revisions.quads(user);
  await revisions.changes({ sequence: 0, record: 0 }, 1);
  // Asked for members that there are only.
  await statements.query(TABLE_SQL.uses.closed, [[1]]);
  await statements.query(TABLE_SQL.uses.links, [[1], 0, 0, 1, null]);
}

test("no prepared statement scans a whole table of records", async () => {
  const folder = mkdtempSync(join(tmpdir(), "arkgraph-plans-"));
  const connection = openForWriting(join(folder, "records.db"));
  try {
    migrate(connection, "records.db");
    const prepare = vi.spyOn(Connection.prototype, "prepare");
    const prepared = [Committer, FeedReads, RecordReads].map((Kind) => new Kind(connection));
    expect(prepared).toHaveLength(3);
    await useTables(connection);
    const statements = prepare.mock.calls.map(([sql]) => sql);
    prepare.mockRestore();
    expect(statements.length).toBeGreaterThan(80);
    const scans = statements.flatMap((sql) => {
      const plan = connection.prepare<[number, number, number, string]>(
        `EXPLAIN QUERY PLAN ${connection.prepare(sql).executed}`,
      );
      return plan
        .all(Array.from({ length: plan.parameters }, () => null))
        .filter(([, , , step]) => LARGE.test(step))
        .map(([, , , step]) => `${step}: ${sql}`);
    });
    expect(scans).toEqual([]);
    const [[, , , step]] = connection
      .prepare<[number, number, number, string]>(
        "EXPLAIN QUERY PLAN SELECT key FROM record WHERE ark = ?",
      )
      .all([null]) as [[number, number, number, string]];
    expect(step).toMatch(LARGE);
  } finally {
    connection.close();
    rmSync(folder, { recursive: true });
  }
});

test("a list by text is the same whether hits are read or asked for one by one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "arkgraph-plans-"));
  const file = join(folder, "records.db");
  try {
    const store = await openSqliteRecordStore({ file });
    const names = ["alpha one", "beta", "alpha two", "gamma", "delta alpha", "alpha -", "one"];
    for (const [index, name] of names.entries())
      await write(store, create(`ark:99999/r${index}`, { name }));
    await write(store, replace("ark:99999/r2", 1, { name: "two alphas" }));
    await write(store, remove("ark:99999/r0", 1));
    await store.close();
    const connection = openForReading(file);
    const [read, asked] = [
      new SelectionReads(connection),
      new SelectionReads(connection, { sparse: 1, dense: 1 }),
    ];
    const prepare = vi.spyOn(Connection.prototype, "prepare");
    for (const text of ["alpha", "alpha -two", "one", "none", ""])
      for (const filter of [{ text }, { not: { text } }, { text, and: [{ nameContains: "t" }] }])
        for (const by of ["created", "modified", "published", "name"] as const)
          for (const descending of [false, true]) {
            const query = { filter, order: { by, descending }, limit: 3 };
            expect(asked.select(query), JSON.stringify(query)).toEqual(read.select(query));
          }
    expect(prepare.mock.calls.some(([sql]) => sql.includes("AND rowid = r.id"))).toBe(true);
    prepare.mockRestore();
    for (const one of [read, asked]) one.close();
    connection.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a list by links is the same whether they are followed from one end or the other", async () => {
  const folder = mkdtempSync(join(tmpdir(), "arkgraph-plans-"));
  const file = join(folder, "records.db");
  try {
    const store = await openSqliteRecordStore({ file });
    const [uses, used, made] = ["evi:used", "evi:usedBy", "evi:generatedBy"] as const;
    const link = (target: number, predicate: string) => linkTo(`ark:99999/r${target}`, predicate);
    for (const [index, links] of [
      [],
      [link(0, uses), link(5, uses)],
      [link(1, made), link(0, uses)],
      [link(1, made), link(4, used)],
      [link(9, made)],
      [link(2, uses), link(5, made), link(1, used)],
    ].entries())
      await write(store, create(`ark:99999/r${index}`, { name: `name ${index}`, links }));
    await store.close();
    const connection = openForReading(file);
    const [read, asked] = [
      new SelectionReads(connection),
      new SelectionReads(connection, { sparse: 1, dense: 1 }),
    ];
    const to = (filter: RecordFilter): RecordFilter => ({
      related: { out: [uses], in: [used], filter },
    });
    const by = (filter: RecordFilter): RecordFilter => ({
      related: { out: [made], in: [], filter },
    });
    const prepare = vi.spyOn(Connection.prototype, "prepare");
    for (const inner of [{}, { nameContains: "0" }, { keys: ["ark:99999/r9", "ark:99999/r0"] }])
      for (const filter of [
        to(inner),
        by(inner),
        by(to(inner)),
        by(to(by(to(inner)))),
        to(to(to(to(inner)))),
        { not: by(to(inner)) },
        { and: [to(inner), by({})] },
        { ...to(inner), nameContains: "e" },
      ]) {
        expect(asked.count({ filter })).toBe(read.count({ filter }));
        for (const order of ["created", "modified", "name", "size"] as const)
          for (const descending of [false, true]) {
            const query = { filter, order: { by: order, descending }, limit: 9 };
            expect(asked.select(query), JSON.stringify(query)).toEqual(read.select(query));
          }
      }
    expect(prepare.mock.calls.some(([sql]) => /EXISTS.*EXISTS/s.test(sql))).toBe(true);
    prepare.mockRestore();
    for (const one of [read, asked]) one.close();
    connection.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the last published records are read from an index, in its order", async () => {
  const folder = mkdtempSync(join(tmpdir(), "arkgraph-plans-"));
  const file = join(folder, "records.db");
  try {
    const store = await openSqliteRecordStore({ file });
    for (const name of ["one", "two", "three"])
      await write(store, create(`ark:99999/${name}`, { name }));
    await store.close();
    const connection = openForReading(file);
    const reads = new SelectionReads(connection, { sparse: 1, dense: 1 });
    const prepare = vi.spyOn(Connection.prototype, "prepare");
    const order = { by: "published", descending: true } as const;
    reads.select({ filter: { statuses: ["DRAFT"] }, order, limit: 2, viewer: { user: null } });
    const text = prepare.mock.calls.map(([sql]) => sql).find((sql) => sql.includes("ORDER BY"))!;
    prepare.mockRestore();
    const steps = connection
      .prepare<[number, number, number, detail: string]>(`EXPLAIN QUERY PLAN ${text}`)
      .all([3, "DRAFT"])
      .map(([, , , detail]) => detail);
    expect(steps.join("\n")).toContain("live_published");
    expect(steps.join("\n")).not.toContain("TEMP B-TREE");
    reads.close();
    connection.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
