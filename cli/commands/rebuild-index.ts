import { setTimeout as pause } from "node:timers/promises";
import { openEndpoint } from "../../src/app/open-stores.js";
import { openEndpointEngine } from "../../src/storage/graph/endpoint/index.js";
import { Failure } from "../failure.js";
import { openRecords } from "../records.js";

/** ms between polls of the progress. */
const LOOK = 100;

/**
 * Deletes all content of the SPARQL endpoint and fills it from the records of a data folder.
 * @throws Failure when no endpoint is set; ServiceError `STORE_UNAVAILABLE` while it is unavailable
 */
export async function rebuildIndexCommand(options: { data?: string }): Promise<void> {
  const { config, records } = await openRecords(options);
  try {
    const log = { info() {}, warn: say, error: say };
    const endpoint = await openEndpoint(config, records, log);
    if (!endpoint)
      throw new Failure(
        "no SPARQL endpoint is set (SPARQL_QUERY_URL and SPARQL_UPDATE_URL, or " +
          "GRAPH_ENGINE=oxigraph): the built-in index needs no rebuild, because it is built at " +
          "each start",
      );
    const queries = await openEndpointEngine(endpoint.options);
    try {
      await queries.rebuild();
      while (queries.state().state === "loading") {
        await queries.health();
        await pause(LOOK);
      }
      const { sequence } = queries.state();
      process.stdout.write(
        `The SPARQL endpoint holds the graphs of all records as of commit ${sequence}; ` +
          `arkgraph check compares the two.\n`,
      );
    } finally {
      await queries.close();
      await endpoint.close();
    }
  } finally {
    await records.close();
  }
}

function say(fields: object, message: string): void {
  const { reason } = fields as { reason?: string };
  process.stderr.write(`arkgraph: ${message}${reason === undefined ? "" : `: ${reason}`}\n`);
}
