import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openForWriting } from "../../../../src/storage/records/sqlite/connection.js";
import { Committer } from "../../../../src/storage/records/sqlite/commit.js";
import { CrateUseReads } from "../../../../src/storage/records/sqlite/crate-uses.js";
import { FeedReads, RecordReads } from "../../../../src/storage/records/sqlite/reads.js";
import { LinkReads } from "../../../../src/storage/records/sqlite/links.js";
import { ObjectReads } from "../../../../src/storage/records/sqlite/objects.js";
import { migrate } from "../../../../src/storage/records/sqlite/schema.js";
import { Connection } from "../../../../src/storage/records/sqlite/statement.js";
import { VectorReads, VectorWrites } from "../../../../src/storage/records/sqlite/derived.js";

/**
 * Tables and names for them that grow with the records. An index that is read from one end to the
 * limit is a search, not a scan.
 */
const LARGE =
  /^SCAN (?:record|r|state|s|text|t|link|l|page|keyword|k|change_log|object_ref|o|vector|v)\b/;

test("no prepared statement scans a whole table of records", () => {
  const folder = mkdtempSync(join(tmpdir(), "arkgraph-plans-"));
  const connection = openForWriting(join(folder, "records.db"));
  try {
    migrate(connection, "records.db");
    const prepare = vi.spyOn(Connection.prototype, "prepare");
    const prepared = [
      Committer,
      VectorWrites,
      CrateUseReads,
      FeedReads,
      LinkReads,
      ObjectReads,
      RecordReads,
      VectorReads,
    ].map((Kind) => new Kind(connection));
    expect(prepared).toHaveLength(8);
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
