import { setTimeout as pause } from "node:timers/promises";
import { findProgram } from "../test/support/servers/programs.js";
import type { Bench } from "./bench.js";
import { arkOf } from "./support/documents.js";
import { timed } from "./support/measure.js";
import { residentWithChildren } from "./support/resident.js";
import { type Server, startRegistry, untilLoaded } from "./support/server.js";

/** ms that the first load of the graph, and reading its log, may take. */
const MOST = 2 * 3_600_000;

/**
 * A registry of a million records with `GRAPH_ENGINE=oxigraph`: how long its graph is loaded the
 * first time, when records and evidence are answered after later starts, and the memory of both
 * processes. The first start after the load reads a log of a gigabyte.
 */
export const graphServer: Bench = async ({ sizes, stores, say }) => {
  const program = findProgram("oxigraph");
  if (program === undefined) {
    say("the Oxigraph server is not installed: nothing is measured");
    return [];
  }
  const count = sizes.millionRecords;
  const folder = await stores.of(count);
  const start = () =>
    startRegistry(folder, { GRAPH_ENGINE: "oxigraph", OXIGRAPH_PROGRAM: program });

  const first = await start();
  const load = await timed(() => untilLoaded(first, MOST));
  say(`the graph was loaded in ${(load / 1000).toFixed(0)} s`);
  await first.stop();

  const last = `/${arkOf(count - 1)}`;
  const starts = [];
  for (const name of ["the first start after that", "a later start"]) {
    const began = performance.now();
    const server = await start();
    try {
      await answered(server, last);
      const records = performance.now() - began;
      await answered(server, `/evidencegraph/query${last}`);
      const evidence = performance.now() - began;
      await untilLoaded(server, MOST);
      await pause(sizes.settle * 1000);
      starts.push({ name, records, evidence, memory: residentWithChildren(server.pid) });
    } finally {
      await server.stop();
    }
  }
  return [
    {
      name: `${count} records: the graph's first load`,
      value: load / 1000,
      unit: "s",
      note: `${Math.round(count / (load / 1000))} records a second`,
    },
    ...starts.flatMap(({ name, records, evidence, memory }, index) => [
      { name: `${name}: a record`, value: records, unit: "ms" },
      {
        name: `${name}: an evidence graph`,
        value: evidence,
        unit: "ms",
        ...(index > 0 && { wanted: { below: 3_000 } }),
      },
      {
        name: `${name}: idle, with the Oxigraph server`,
        value: memory,
        unit: "MiB",
        wanted: { below: 2_048 },
      },
    ]),
  ];
};

/** Asks until the answer is whole. */
async function answered({ url }: Server, path: string): Promise<void> {
  for (const end = performance.now() + MOST; ; await pause(100)) {
    const { status } = await fetch(url + path).then(async (answer) => {
      await answer.arrayBuffer();
      return answer;
    });
    if (status === 200) return;
    if (status !== 503 || performance.now() > end) throw new Error(`${path} answers ${status}`);
  }
}
