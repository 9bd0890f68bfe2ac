import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openSqliteRecordStore } from "../../../../src/storage/records/sqlite/index.js";
import { Connection } from "../../../../src/storage/records/sqlite/statement.js";

interface Answered {
  sequence: number;
  records: [op: string, ark: string, revision: number][];
}

/** Runs the writing process and kills it after `ms`; answers the writes it was answered. */
async function writeAndDie(file: string, round: number, ms: number): Promise<Answered[]> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("writing-process.mjs", import.meta.url)), file, String(round)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (out === "") setTimeout(() => child.kill("SIGKILL"), ms);
    out += text;
  });
  await new Promise((resolve) => child.once("close", resolve));
  expect(child.signalCode).toBe("SIGKILL");
  return out
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Answered);
}

/** What must never be found in the file, as counts by name. */
const NEVER = {
  "records without their revision":
    "SELECT count(*) FROM record AS r LEFT JOIN revision AS v ON v.record = r.id AND " +
    "v.revision = r.revision WHERE v.record IS NULL",
  "records without a state":
    "SELECT count(*) FROM record AS r LEFT JOIN state AS s ON s.id = r.state WHERE s.id IS NULL",
  "revisions missing in between":
    "SELECT count(*) FROM record AS r WHERE (SELECT count(*) FROM revision WHERE record = " +
    "r.id) <> r.revision",
  "links of records that are absent or deleted":
    "SELECT count(*) FROM link AS l LEFT JOIN record AS r ON r.id = l.source AND " +
    "r.deleted_at IS NULL WHERE r.id IS NULL",
  "pairs of which one is there":
    "SELECT count(*) FROM (SELECT substr(ark, 1, length(ark) - 1) AS pair, count(*) AS n " +
    "FROM record GROUP BY pair) WHERE n <> 2",
  "live records without search text":
    "SELECT count(*) FROM record AS r LEFT JOIN text AS t ON t.id = r.id WHERE " +
    "(r.deleted_at IS NULL) <> (t.id IS NOT NULL)",
  "sequences missing in between":
    "SELECT coalesce(max(sequence), 0) - count(DISTINCT sequence) FROM change_log",
  "kinds counted wrong":
    "SELECT count(*) FROM tally WHERE live <> (SELECT count(*) FROM record WHERE kind = " +
    "tally.kind AND deleted_at IS NULL)",
};

test(
  "after a kill at any time every answered write is present and no commit is partial",
  { timeout: 60_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "arkgraph-crash-"));
    const file = join(folder, "records.db");
    try {
      let highest = 0;
      for (let round = 0; round < 5; round++) {
        const answered = await writeAndDie(file, round, Math.random() * 300);
        expect(answered.length).toBeGreaterThan(0);
        const store = await openSqliteRecordStore({ file });
        for (const { records } of answered) {
          for (const [op, ark, revision] of records) {
            const then = await store.atRevision(ark, revision);
            expect(then, `${op} of ${ark}`).toMatchObject({
              action: { create: "create", replace: "update", delete: "delete" }[op],
            });
          }
        }
        highest = Math.max(highest, ...answered.map(({ sequence }) => sequence));
        expect(await store.sequence()).toBeGreaterThanOrEqual(highest);
        await store.close();
        const connection = new Connection(file);
        for (const [what, sql] of Object.entries(NEVER))
          expect(connection.prepare(sql).get(), what).toEqual([0]);
        expect(connection.pragma("integrity_check")).toBe("ok");
        connection.exec("INSERT INTO search (search) VALUES ('integrity-check')");
        connection.close();
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
