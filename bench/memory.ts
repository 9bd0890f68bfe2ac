import { setTimeout as pause } from "node:timers/promises";
import type { Bench } from "./bench.js";
import { arkOf } from "./support/documents.js";
import { timed } from "./support/measure.js";
import { resident, residentWithChildren } from "./support/resident.js";
import { startRegistry, untilLoaded } from "./support/server.js";

const ONE = `SELECT ?p ?o { <${arkOf(3)}> ?p ?o }`;
const COUNT = "SELECT (COUNT(*) AS ?quads) { GRAPH ?g { ?s ?p ?o } }";

/**
 * Resident memory of a registry that was started and left alone: empty, with records in its index,
 * and after the first query at /sparql, whose process has a copy of the graphs of its own and is
 * counted.
 */
export const memory: Bench = async ({ sizes, stores, folder }) => {
  const idle = async (dataDir: string, afterSparql: boolean) => {
    const began = performance.now();
    const server = await startRegistry(dataDir);
    try {
      await untilLoaded(server);
      const loaded = (performance.now() - began) / 1000;
      await pause(sizes.settle * 1000);
      const before = resident(server.pid);
      if (!afterSparql) return { loaded, before, after: 0, first: 0 };
      const ask = async (query: string): Promise<void> => {
        const answer = await fetch(`${server.url}/sparql?query=${encodeURIComponent(query)}`);
        const text = await answer.text();
        if (answer.status !== 200)
          throw new Error(`/sparql answered ${answer.status}: ${text.slice(0, 300)}`);
      };
      // The time is that of having the graph: counting its statements takes seconds of its own.
      const first = await timed(() => ask(ONE));
      await ask(COUNT);
      await pause(sizes.settle * 1000);
      const after = residentWithChildren(server.pid);
      return { loaded, before, after, first };
    } finally {
      await server.stop();
    }
  };
  const empty = (await idle(await folder(), false)).before;
  const filled = await stores.of(sizes.startRecords);
  const full = await idle(filled, true);
  const baseline = { name: "empty", value: empty };
  const note = (value: number) =>
    `${(((value - empty) * 1024) / sizes.startRecords).toFixed(1)} KiB a record`;
  const name = `idle, ${sizes.startRecords} records`;
  return [
    { name: "idle, empty", value: empty, unit: "MiB", wanted: { below: 200 } },
    {
      name,
      value: full.before,
      unit: "MiB",
      baseline,
      wanted: { below: 750 },
      note: `${note(full.before)}; ready for evidence ${full.loaded.toFixed(1)} s after the start`,
    },
    {
      name: `${name}, after a query at /sparql`,
      value: full.after,
      unit: "MiB",
      baseline,
      note: `${note(full.after)}; the first query took ${(full.first / 1000).toFixed(1)} s`,
    },
  ];
};
