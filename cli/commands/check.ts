import { access } from "node:fs/promises";
import { join } from "node:path";
import { readConfig } from "../../src/config.js";
import { openOxigraphEngine, openTruthDigester } from "../../src/stores/queries/oxigraph/index.js";
import { openSqliteRecordStore } from "../../src/stores/records/sqlite/index.js";
import { checkIndex, type CheckedIndex } from "../../src/use-cases/check/index.js";
import { Failure } from "../failure.js";

/**
 * Builds the index from the records of a data folder and compares the two. Status 0 when they agree, 1 when
 * they differ. The registry must not run on the folder: the records belong to one process at a time.
 * @throws Failure, ServiceError `STORE_UNAVAILABLE` when the folder is in use or damaged
 */
export async function checkCommand({ data }: { data?: string }): Promise<void> {
  const config = readConfig({ ...process.env, ...(data === undefined ? {} : { DATA_DIR: data }) });
  const file = join(config.DATA_DIR, "records.db");
  // Opening would make a new, empty registry.
  await access(file).catch(() => {
    throw new Failure(`${config.DATA_DIR} holds no registry (no records.db): name its data folder with --data or DATA_DIR`);
  });
  const records = await openSqliteRecordStore({ file, log: (message) => process.stderr.write(`arkgraph: ${message}\n`) });
  try {
    const queries = await openOxigraphEngine({ openFeed: () => records.openFeed(), queryTimeout: config.QUERY_TIMEOUT });
    try {
      const checked = await checkIndex({ openTruth: () => openTruthDigester(() => records.openFeed()), queries });
      process.stdout.write(figures(checked));
      if (checked.agree !== true) process.exitCode = 1;
    } finally {
      await queries.close();
    }
  } finally {
    await records.close();
  }
}

function figures({ agree, truth, index }: CheckedIndex): string {
  const rows: [string, string | number][] = [
    ["commit", truth.sequence], ["quads in the records", truth.quads], ["quads in the index", index.quads],
    ["digest of the records", truth.digest], ["digest of the index", index.digest], ["lines the index cannot hold", truth.leftOut],
    ["result", agree === true ? "the index agrees with the records" : agree === false ? "the index differs from the records" : "not comparable: the records changed meanwhile"],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${value}\n`).join("");
}
