import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { QuadsRewriter } from "../../../src/app/upkeep.js";
import type { RecordStore } from "../../../src/storage/records/port.js";
import { openSqliteRecordStore } from "../../../src/storage/records/sqlite/index.js";
import { Connection } from "../../../src/storage/records/sqlite/statement.js";
import { commitOf, create, quadsOf, linkTo } from "../../conformance/records/fixtures.js";

const STATES = 500;
const QUADS = quadsOf("ark:99999/dataset-1", "A table", [
  linkTo("ark:99999/software-1", "evi:usedSoftware"),
]);
/** The same as versions up to 0.2 stored them. */
const EARLIER = Buffer.from(
  "AmFyazo5OTk5OS9kYXRhc2V0LTEBAgUiIkEgdGFibGUiAQIFUwhzb2Z0d2FyZS0xAQ==",
  "base64",
);

let folder: string;
let store: RecordStore;
const lines: object[] = [];
const log = { info: (fields: object) => void lines.push(fields) } as never;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-quads-"));
  store = await openSqliteRecordStore({ file: join(folder, "records.db") });
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

/** Stored quads as any tool reads them, with how often they come. */
const stored = (): unknown[] => {
  const connection = new Connection(join(folder, "records.db"));
  try {
    return connection
      .prepare("SELECT CAST(quads AS TEXT), count(*) FROM state GROUP BY 1 ORDER BY 2 DESC")
      .all();
  } finally {
    connection.close();
  }
};
const done = () => expect.poll(() => store.setting("quads-rewritten"), { timeout: 60_000 });

test("quads of an earlier version become readable text, also when a stop came between", async () => {
  const records = Array.from({ length: STATES }, (_, index) => ({
    ...create(`ark:99999/d${index}`),
    quads: EARLIER,
  }));
  await store.commit(commitOf(records));
  const first = new QuadsRewriter({ records: store, log });
  first.start();
  await first.close();
  expect(Number(await store.setting("quads-rewritten"))).toBeLessThan(STATES);
  const second = new QuadsRewriter({ records: store, log });
  second.start();
  await done().toBe("done");
  await second.close();
  expect(stored()).toEqual([[QUADS, STATES]]);
  expect(await store.quads("ark:99999/d7")).toBe(QUADS);
});

test("a registry without records has nothing to rewrite, and does not look again", async () => {
  const rewriter = new QuadsRewriter({ records: store, log });
  rewriter.start();
  await done().toBe("done");
  await rewriter.close();
});
