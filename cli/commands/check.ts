import { endpointOptions } from "../../src/compose/endpoint.js";
import { openEndpointEngine } from "../../src/stores/queries/endpoint/index.js";
import { openOxigraphEngine, openTruthDigester } from "../../src/stores/queries/oxigraph/index.js";
import { checkIndex, type CheckedIndex } from "../../src/use-cases/check/index.js";
import { openRecords } from "../records.js";

/**
 * Compares the index with the records of a data folder: the one on the SPARQL endpoint where the settings name one,
 * brought up to date first, else one that is built for it. Status 0 when they agree, 1 when they differ. The registry must not run on the folder: the records belong to one process at a time.
 * @throws Failure, ServiceError `STORE_UNAVAILABLE` when the folder is in use or damaged
 */
export async function checkCommand(options: { data?: string }): Promise<void> {
  const { config, records } = await openRecords(options);
  const openFeed = () => records.openFeed();
  try {
    const endpoint = endpointOptions(config, records);
    const queries = endpoint ? await openEndpointEngine(endpoint) : await openOxigraphEngine({ openFeed, queryTimeout: config.QUERY_TIMEOUT });
    try {
      const checked = await checkIndex({ openTruth: () => openTruthDigester(openFeed), queries });
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
