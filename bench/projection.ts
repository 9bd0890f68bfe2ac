import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { endpointOptions } from "../src/app/open-stores.js";
import { readConfig } from "../src/config/config.js";
import { SparqlHttp } from "../src/storage/graph/endpoint/http-client.js";
import { openEndpointEngine } from "../src/storage/graph/endpoint/index.js";
import { blocksOf, batchesOf } from "../src/storage/graph/endpoint/projector/updates.js";
import { FeedReader } from "../src/storage/graph/feed-reader.js";
import type { FeedGraph, RecordStore } from "../src/storage/records/port.js";
import { openSqliteRecordStore } from "../src/storage/records/sqlite/index.js";
import { FUSEKI } from "../test/support/servers/fuseki.js";
import { OXIGRAPH } from "../test/support/servers/oxigraph.js";
import { SparqlServer } from "../test/support/servers/sparql-server.js";
import type { Bench, Figure } from "./bench.js";
import { alternating, timed } from "./support/measure.js";

const MAKES = [OXIGRAPH, FUSEKI];

/** Whether there is a server to measure with. */
export const canProject = (): boolean => MAKES.some((make) => new SparqlServer(make).installed);

/**
 * Filling an empty endpoint from the records, against the server taking the same quads in updates
 * of the same size that are written beforehand.
 */
export const projection: Bench = async ({ sizes, stores, say }) => {
  const records = await openSqliteRecordStore({
    file: join(await stores.copy(sizes.projected), "records.db"),
  });
  const figures: Figure[] = [];
  try {
    for (const make of MAKES) {
      const server = new SparqlServer(make);
      if (server.installed)
        figures.push(
          await measured(await server.start(), records, sizes.rounds).finally(() => server.stop()),
        );
      else say(`${make.name} is not installed (${make.needs})`);
    }
  } finally {
    await records.close();
  }
  return figures;
};

async function measured(
  server: SparqlServer,
  records: RecordStore,
  rounds: number,
): Promise<Figure> {
  const config = readConfig({
    SPARQL_QUERY_URL: server.queryUrl,
    SPARQL_UPDATE_URL: server.updateUrl,
  });
  const options = endpointOptions(config, records)!;
  const updates: string[] = [];
  let quads = 0;
  for (const batch of batchesOf(
    await everything(records),
    new Set(),
    config.PROJECTION_BATCH,
    () => {},
  )) {
    for (const { statements } of batch) quads += statements.length;
    updates.push(`INSERT DATA {\n${blocksOf(batch)}\n}`);
  }
  const http = new SparqlHttp(options, 1);
  const insert = async () => {
    await server.clear();
    return (
      (quads /
        (await timed(async () => {
          for (const update of updates) await http.update(update, { timeout: 600_000 });
        }))) *
      1000
    );
  };
  const project = async () => {
    await server.clear();
    const source = randomUUID();
    const ms = await timed(async () => {
      const engine = await openEndpointEngine({ ...options, source: async () => source });
      while (engine.state().state !== "ready") await pause(5);
      await engine.close();
    });
    return (quads / ms) * 1000;
  };
  try {
    await insert();
    const rates = await alternating(rounds, { project, insert });
    return {
      name: `projection to ${server.make.name}`,
      value: rates.project,
      unit: "quads/s",
      baseline: { name: "its own INSERT DATA", value: rates.insert },
      wanted: { atLeast: 0.5 },
      note: `${quads} quads in ${updates.length} updates`,
    };
  } finally {
    http.close();
  }
}

async function everything(records: RecordStore): Promise<FeedGraph[]> {
  const feed = new FeedReader(records.openFeed());
  const graphs: FeedGraph[] = [];
  try {
    for (let after: number | undefined = 0; after !== undefined;) {
      const page = await feed.ask({ all: { after, limit: 1_000 } });
      graphs.push(...page.graphs);
      after = page.next;
    }
  } finally {
    feed.close();
  }
  return graphs;
}
