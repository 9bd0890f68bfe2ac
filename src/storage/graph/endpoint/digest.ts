import { jsonRows } from "../answers.js";
import { GraphStore } from "../oxigraph/graph-store.js";
import type { GraphDigest, Term } from "../port.js";
import { QuadDigest } from "../quad-digest.js";
import { POSITION_GRAPH, type SparqlHttp } from "./client.js";

const QUADS = `SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } FILTER(?g != <${POSITION_GRAPH}>) }`;
/** Quads after which a batch ends with its graph, and quads after which it ends within a graph. */
const BATCH = 20_000;
const LARGEST_LOT = 500_000;
/** ms in which even a very large endpoint is read to its end. */
const PATIENCE = 3_600_000;

/**
 * Digest of all graphs of an endpoint, read in one stream. Servers rewrite literals, each in its
 * own way: both sides are digested as the service's own engine writes them. For commands: nothing
 * else is served meanwhile.
 */
export async function digestEndpoint(
  http: SparqlHttp,
  asOf: <T>(ask: () => Promise<T>) => Promise<{ value: T; sequence: number }>,
): Promise<GraphDigest> {
  const { value, sequence } = await asOf(async () => {
    const sum = new QuadDigest();
    let lines: string[] = [];
    let graph = "";
    const flush = (): void => {
      addGraphs(lines.join(""), sum);
      lines = [];
    };
    for await (const rows of jsonRows<Quad>(
      http.query(QUADS, { accept: "application/sparql-results+json", timeout: PATIENCE }),
    )) {
      for (const row of rows) {
        if ((row.g.value !== graph && lines.length >= BATCH) || lines.length >= LARGEST_LOT)
          flush();
        graph = row.g.value;
        lines.push(lineOf(row));
      }
    }
    flush();
    return sum;
  });
  return { digest: value.digest, quads: value.quads, sequence };
}

/** Adds whole graphs, in N-Quads. */
function addGraphs(nquads: string, sum: QuadDigest): void {
  const store = new GraphStore(() => {});
  store.apply([{ ark: "urn:scratch", nquads }]);
  for (const graph of store.graphs()) store.digestGraph(graph, sum);
  store.free();
}

/** A row of {@link QUADS}. */
type Quad = Record<"g" | "s" | "p" | "o", Term>;

const lineOf = ({ g, s, p, o }: Quad): string =>
  `${termOf(s)} ${termOf(p)} ${termOf(o)} ${termOf(g)} .\n`;

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
};

function termOf(term: Term): string {
  if (term.type === "uri") return `<${term.value}>`;
  if (term.type === "bnode") return `_:${term.value}`;
  const text = `"${term.value.replaceAll(/["\\\n\r]/g, (character) => ESCAPES[character] ?? character)}"`;
  if (term["xml:lang"] !== undefined) return `${text}@${term["xml:lang"]}`;
  return term.datatype === undefined ? text : `${text}^^<${term.datatype}>`;
}
