import { join } from "node:path";
import { parseArk } from "../src/identifiers/ark.js";
import { SUPPORTED_BY } from "../src/model/provenance.js";
import { evidenceGraph } from "../src/services/evidence/evidence-graph.js";
import { OxigraphEngine } from "../src/storage/graph/oxigraph/index.js";
import type { RecordStore } from "../src/storage/records/port.js";
import { openSqliteRecordStore } from "../src/storage/records/sqlite/index.js";
import type { Bench, Figure, Surroundings } from "./bench.js";
import { Client } from "./support/client.js";
import { datasetBody } from "./support/documents.js";
import { alternating, timed } from "./support/measure.js";
import { writeProvenance } from "./support/provenance.js";
import { startRegistry, untilLoaded } from "./support/server.js";

const MOST = 100_000;
const LOAD = 120_000;
/** Answers before the first measurement of a whole graph. */
const WARM = 4;

/**
 * Evidence graphs: of a record without support and of the end of a chain, compared with fetching
 * the record; and of many nodes, compared with the bare query.
 */
export const evidence: Bench = async (surroundings) => [
  ...(await overHttp(surroundings)),
  await besideQuery(surroundings),
];

async function overHttp({ sizes, folder, load }: Surroundings): Promise<Figure[]> {
  const { rounds, seconds, warmUp, chain } = sizes;
  const server = await startRegistry(await folder());
  try {
    await untilLoaded(server);
    const client = await Client.register(server);
    const { generatedBy: _, ...lone } = datasetBody(client.user);
    const alone = (await client.create("/dataset", lone))["@id"];
    // Written from the end, so that links may dangle until all records are stored.
    const link = (index: number) => `ark:99999/dataset-chain${index}`;
    for (let index = 0; index < chain; index += 100) {
      await Promise.all(
        Array.from({ length: Math.min(100, chain - index) }, (_each, offset) =>
          client.create("/dataset", {
            ...lone,
            "@id": link(index + offset),
            ...(index + offset === 0 ? {} : { derivedFrom: link(index + offset - 1) }),
          }),
        ),
      );
    }
    const end = link(chain - 1);
    const answer = (await (await client.get(`/evidencegraph/query/${end}`)).json()) as {
      "@graph": unknown[];
    };
    if (answer["@graph"].length !== chain)
      throw new Error(
        `the chain's evidence has ${answer["@graph"].length} nodes instead of ${chain}`,
      );

    // One at a time: then a rate gives the mean time of an answer. It is the time that a caller in
    // Node waits, including its own.
    const mean =
      (path: string) =>
      async (length = seconds) =>
        1000 /
        (await load.run({ url: server.url + path, connections: 1, seconds: length, inNode: true }))
          .perSecond;
    const sides = { fetched: mean(`/${alone}`), lone: mean(`/evidencegraph/query/${alone}`) };
    await sides.fetched(warmUp);
    await sides.lone(warmUp);
    const measured = await alternating(rounds, {
      fetched: () => sides.fetched(),
      lone: () => sides.lone(),
      chain: () => timed(async () => (await client.get(`/evidencegraph/query/${end}`)).text()),
    });
    const baseline = { name: "plain fetch of the record", value: measured.fetched };
    return [
      {
        name: "evidence graph of a lone record, repeated",
        value: measured.lone,
        unit: "ms",
        baseline,
      },
      {
        name: `evidence graph of a chain of ${chain}`,
        value: measured.chain,
        unit: "ms",
        wanted: { below: 100 },
      },
    ];
  } finally {
    await server.stop();
  }
}

async function besideQuery({ sizes, folder }: Surroundings): Promise<Figure> {
  const records = await openSqliteRecordStore({ file: join(await folder(), "records.db") });
  const queries = new OxigraphEngine({ openFeed: () => records.openFeed() });
  try {
    const root = await writeProvenance(records, sizes.graph);
    queries.start();
    await queries.reach(await records.sequence(), LOAD);
    const graph = async (): Promise<void> => {
      const answer = await evidenceGraph(
        { ark: parseArk(root)!, direction: "upstream", limit: MOST },
        { records, queries },
      );
      if (answer["@graph"].length < sizes.graph - 1)
        throw new Error(`the graph has ${answer["@graph"].length} nodes instead of ${sizes.graph}`);
      JSON.stringify(answer);
    };
    const bare = async (): Promise<void> => {
      const path = `SELECT DISTINCT ?n { <${root}> <${SUPPORTED_BY}>+ ?n }`;
      const { text } = await queries.text(path, "json");
      const { results } = JSON.parse(text) as { results: { bindings: { n: { value: string } }[] } };
      await readAll(
        records,
        results.bindings.map(({ n }) => n.value),
      );
    };
    // A running registry is warm: both sides answer a few times first, so that the time of the
    // compiler is not measured.
    for (let round = 0; round < WARM; round++) {
      await graph();
      await bare();
    }
    const measured = await alternating(sizes.rounds, {
      graph: () => timed(graph),
      bare: () => timed(bare),
    });
    return {
      name: `evidence graph of ${sizes.graph} nodes`,
      value: measured.graph,
      unit: "ms",
      baseline: { name: "bare property path, and reading its records", value: measured.bare },
      wanted: { atMost: 2 },
    };
  } finally {
    await queries.close();
    await records.close();
  }
}

/** The records as JSON, in the plain way of a program that makes nodes of them. */
async function readAll(records: RecordStore, arks: readonly string[]): Promise<unknown[]> {
  return (await records.findMany(arks)).map(
    (record) => record && (JSON.parse(Buffer.from(record.document).toString()) as unknown),
  );
}
