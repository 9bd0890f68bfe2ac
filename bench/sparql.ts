import { execFileSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { Store } from "oxigraph";
import type { Bench } from "./bench.js";
import { arkOf } from "./support/documents.js";
import { alternating, median, percentile, timed } from "./support/measure.js";
import { reads } from "./support/reads.js";
import { startRegistry, untilLoaded, type Server } from "./support/server.js";

/** The query reads every record: tens of milliseconds, so that the round trip does not dominate. */
const KINDS = `SELECT ?kind (COUNT(DISTINCT ?record) AS ?records) { GRAPH ?record { ?record a ?kind } }
    GROUP BY ?kind ORDER BY ?kind`;
const ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p }";

/**
 * SPARQL for any caller: how much slower than the engine itself, and the effect of a query without
 * an end on other callers.
 */
export const sparql: Bench = async ({ sizes, stores, say }) => {
  const { rounds, cartesian, sparqlRecords, warmQueries } = sizes;
  const server = await startRegistry(await stores.copy(sparqlRecords), {
    SPARQL_TIMEOUT: `${cartesian}s`,
    SPARQL_PENALTY: "1ms",
    SPARQL_MAX_ROWS: "10000000",
    SPARQL_MAX_BYTES: "512MiB",
  });
  try {
    await untilLoaded(server);
    const store = await sameQuads(server);
    const here = () =>
      store.query(KINDS, { results_format: "json", use_default_graph_as_union: true }) as string;
    const there = () => ask(server, KINDS, "application/sparql-results+json");
    // The engine's code is compiled for speed while it runs, in each thread anew.
    for (let each = 0; each < warmQueries; each++)
      if (here() !== (await there()).text)
        throw new Error("/sparql and the engine in this process do not agree");
    const measured = await alternating(rounds * 5, {
      here: () => timed(here),
      there: () => timed(there),
    });

    const path = `${server.url}/${arkOf(0)}`;
    const quiet = await reads(path, () => pause(cartesian * 1000));
    const before = resident(server);
    const status: number[] = [];
    const busy = await reads(
      path,
      async () => void status.push((await ask(server, ENDLESS, "text/csv")).status),
    );
    if (status[0] !== 503) throw new Error(`the query without an end was answered ${status[0]}`);
    await pause(500);
    say(
      `resident memory ${before.toFixed(0)} MiB before, ${resident(server).toFixed(0)} MiB after`,
    );
    return [
      {
        name: `a query over ${sparqlRecords} records at /sparql`,
        value: measured.there,
        unit: "ms",
        baseline: { name: "the engine in the same process", value: measured.here },
        wanted: { atMost: 1.5 },
      },
      {
        name: "p99 of reads during a query without an end",
        value: percentile(busy, 0.99),
        unit: "ms",
        baseline: { name: "quiet", value: percentile(quiet, 0.99) },
        wanted: { below: 50 },
        note:
          `median ${median(busy).toFixed(1)} ms, longest ${Math.max(...busy).toFixed(1)} ms ` +
          `of ${busy.length} reads`,
      },
      {
        name: "resident memory after it",
        value: resident(server),
        unit: "MiB",
        baseline: { name: "before", value: before },
      },
    ];
  } finally {
    await server.stop();
  }
};

/** The registry's graphs in an engine of this process. */
async function sameQuads(server: Server): Promise<Store> {
  const { text, truncated } = await ask(
    server,
    "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }",
    "text/tab-separated-values",
  );
  if (truncated !== null)
    throw new Error(`the graphs are more than one answer holds (${truncated})`);
  const store = new Store();
  store.load(
    text
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => {
        const [graph, ...terms] = line.split("\t");
        return `${graph!} { ${terms.join(" ")} }`;
      })
      .join("\n"),
    { format: "application/trig", no_transaction: true },
  );
  return store;
}

async function ask(
  { url }: Server,
  query: string,
  accept: string,
): Promise<{ status: number; text: string; truncated: string | null }> {
  const answer = await fetch(`${url}/sparql`, {
    method: "POST",
    headers: { "Content-Type": "application/sparql-query", Accept: accept },
    body: query,
  });
  return {
    status: answer.status,
    text: await answer.text(),
    truncated: answer.headers.get("x-truncated"),
  };
}

const resident = ({ pid }: Server): number =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1024;
