import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { parseArk } from "../src/identifiers/ark.js";
import { SUPPORTED_BY } from "../src/model/provenance.js";
import { evidenceGraph } from "../src/services/evidence/evidence-graph.js";
import { OxigraphEngine } from "../src/storage/graph/oxigraph/index.js";
import type { RecordStore } from "../src/storage/records/port.js";
import { openSqliteRecordStore } from "../src/storage/records/sqlite/index.js";
import type { Bench, Figure } from "./bench.js";
import { alternating, timed } from "./support/measure.js";
import { writeProvenance } from "./support/provenance.js";
import { startRegistry, untilLoaded } from "./support/server.js";

const MOST = 100_000;
const LOAD = 120_000;
const WARM = 4;
/** A record of every graph with little evidence of its own. */
const SMALL = "ark:99999/graph-dataset-20";

/**
 * A whole graph compared with the bare query and the reading of its records; and the memory that a
 * very large answer takes.
 */
export const evidenceGraphs: Bench = async ({ sizes, folder, say }) => [
  await beside(sizes.graph, sizes.rounds, await folder()),
  await memoryOf(sizes.largeGraph, await folder(), say),
];

async function beside(count: number, rounds: number, dataDir: string): Promise<Figure> {
  const records = await openSqliteRecordStore({ file: join(dataDir, "records.db") });
  const queries = new OxigraphEngine({ openFeed: () => records.openFeed() });
  try {
    const root = await writeProvenance(records, count);
    queries.start();
    await queries.reach(await records.sequence(), LOAD);
    const graph = async (): Promise<void> => {
      const answer = await evidenceGraph(
        { ark: parseArk(root)!, direction: "upstream", limit: MOST },
        { records, queries },
      );
      if (answer["@graph"].length < count - 1)
        throw new Error(`the graph has ${answer["@graph"].length} nodes instead of ${count}`);
      JSON.stringify(answer);
    };
    const bare = async (): Promise<void> =>
      void (await readAll(
        records,
        (await queries.select(`SELECT DISTINCT ?n { <${root}> <${SUPPORTED_BY}>+ ?n }`)).rows.map(
          (row) => row["n"]!.value,
        ),
      ));
    // A running registry is warm: both sides answer a few times first, so that the time of the
    // compiler is not measured.
    for (let round = 0; round < WARM; round++) {
      await graph();
      await bare();
    }
    const measured = await alternating(rounds, {
      graph: () => timed(graph),
      bare: () => timed(bare),
    });
    return {
      name: `evidence graph of ${count} nodes`,
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

async function memoryOf(
  count: number,
  dataDir: string,
  say: (line: string) => void,
): Promise<Figure> {
  const records = await openSqliteRecordStore({ file: join(dataDir, "records.db") });
  const root = await writeProvenance(records, count);
  await records.close();
  const server = await startRegistry(dataDir);
  try {
    await untilLoaded(server);
    const ask = (ark: string) => fetch(`${server.url}/evidencegraph/query/${ark}?limit=${MOST}`);
    // The memory of code and first use does not belong to an answer's size; the engine's memory for
    // finding the nodes does.
    await (await ask(SMALL)).text();
    await pause(1000);
    const before = await residentOf(server.pid);
    let peak = before;
    let over = false;
    const watching = (async () => {
      for (; !over; await pause(20)) peak = Math.max(peak, await residentOf(server.pid));
    })();
    let size = 0;
    const began = performance.now();
    for await (const chunk of (await ask(root)).body!) size += (chunk as Uint8Array).byteLength;
    const took = performance.now() - began;
    over = true;
    await watching;
    say(`${count} nodes in ${(took / 1000).toFixed(1)} s`);
    return {
      name: `memory for an answer of ${count} nodes`,
      value: Math.max(0.1, peak - before),
      unit: "MiB",
      baseline: { name: "size of the answer", value: size / 2 ** 20 },
      wanted: { atMost: 3 },
    };
  } finally {
    await server.stop();
  }
}

const run = promisify(execFile);
/** MiB. */
const residentOf = async (pid: number): Promise<number> =>
  Number((await run("ps", ["-o", "rss=", "-p", String(pid)])).stdout) / 1024;
