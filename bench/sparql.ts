import { Store } from "oxigraph";
import type { Bench } from "./bench.js";
import { alternating, timed } from "./support/measure.js";
import { startRegistry, untilLoaded, type Server } from "./support/server.js";

/** The query reads every record: tens of milliseconds, so that the round trip does not dominate. */
const KINDS = `SELECT ?kind (COUNT(DISTINCT ?record) AS ?records) { GRAPH ?record { ?record a ?kind } }
    GROUP BY ?kind ORDER BY ?kind`;

/** SPARQL for any caller: how much slower than the engine itself. */
export const sparql: Bench = async ({ sizes, stores }) => {
  const { rounds, sparqlRecords, warmQueries } = sizes;
  const server = await startRegistry(await stores.copy(sparqlRecords), {
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
    return [
      {
        name: `a query over ${sparqlRecords} records at /sparql`,
        value: measured.there,
        unit: "ms",
        baseline: { name: "the engine in the same process", value: measured.here },
        wanted: { atMost: 1.5 },
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
