import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { arkOf, ownerRecord, recordMaker } from "../../bench/support/documents.js";
import { serve, type Running } from "../../src/app/serve.js";
import { readConfig } from "../../src/config/config.js";
import type { RecordWrite } from "../../src/storage/records/port.js";

const RECORDS = 2_500;
/** A dataset that the computation before it wrote. */
const WRITTEN = arkOf(3);

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), "arkgraph-restore-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));
const data = (name: string): string => join(folder, "data", name);

/** Starts the registry on the folder, and stops it after the work. */
async function running<T>(work: (registry: Running) => Promise<T>): Promise<T> {
  const config = readConfig({
    PORT: "0",
    HOST: "127.0.0.1",
    DATA_DIR: join(folder, "data"),
  });
  const registry = await serve(config, pino({ level: "silent" }));
  try {
    const { records, queries } = registry.registry.deps;
    await queries.reach(await records.sequence(), 30_000);
    return await work(registry);
  } finally {
    await registry.stop();
  }
}
const names = async ({ url }: Running): Promise<string[]> => {
  const answer = (await (await fetch(`${url}/evidencegraph/query/${WRITTEN}`)).json()) as {
    "@graph": { name: string }[];
  };
  return answer["@graph"].map(({ name }) => name);
};
const commit = ({ registry: { deps } }: Running, records: RecordWrite[]) =>
  deps.records.commit({ by: null, at: Date.now(), records });

describe("the graph of a registry", () => {
  it("is that of its records after a restart, and that of the backup after a restore", async () => {
    const make = await recordMaker();
    const first = await running(async (registry) => {
      const owners = await Promise.all([0, 1, 2].map(ownerRecord));
      await commit(registry, [
        ...owners,
        ...Array.from({ length: RECORDS }, (_, index) => make(index)),
      ]);
      await registry.registry.deps.queries.reach(
        await registry.registry.deps.records.sequence(),
        30_000,
      );
      return names(registry);
    });
    // Of an earlier release, which stored copies of the graph there.
    await writeFile(data("evidence.snapshot"), "x");
    await writeFile(data("sparql.snapshot"), "x");
    await cp(data("records.db"), join(folder, "backup.db"));

    await running(async (registry) => {
      expect(await readdir(join(folder, "data"))).not.toContainEqual(
        expect.stringContaining("snapshot"),
      );
      expect(await names(registry)).toEqual(first);
      const deletions = Array.from({ length: RECORDS }, (_, index) => arkOf(index)).filter(
        (ark) => ark !== WRITTEN,
      );
      const { sequence } = await commit(
        registry,
        deletions.map((ark) => ({ op: "delete", ark, ifRevision: 1 })),
      );
      await registry.registry.deps.queries.reach(sequence, 30_000);
    });
    expect(first.length).toBeGreaterThan(1);
    await running(async (registry) => expect(await names(registry)).toHaveLength(1));

    await rm(data("records.db"));
    await cp(join(folder, "backup.db"), data("records.db"));
    await running(async (registry) => expect(await names(registry)).toEqual(first));
  }, 60_000);
});
