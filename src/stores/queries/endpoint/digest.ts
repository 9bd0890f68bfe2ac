import type { GraphDigest, Row, Term } from "../port.js";
import type { SparqlHttp } from "./http-client.js";
import { jsonRows } from "./json-rows.js";
import { POSITION_GRAPH } from "./position.js";
import { Scratch } from "./scratch.js";

const QUADS = `SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } FILTER(?g != <${POSITION_GRAPH}>) }`;
/** Quads after which a lot ends with its graph, and those after which it ends wherever it is. */
const LOT = 20_000;
const LARGEST_LOT = 500_000;
/** ms in which even a very large endpoint is read to its end. */
const PATIENCE = 3_600_000;

/**
 * Digest of all graphs of an endpoint, read in one stream. Servers rewrite literals, each in its own way: both sides
 * are digested as the engine in the house writes them.
 */
export async function digestEndpoint(http: SparqlHttp, asOf: <T>(ask: () => Promise<T>) => Promise<{ value: T; sequence: number }>): Promise<GraphDigest> {
  // However long the endpoint takes for a lot: those before it are in the thread.
  const scratch = new Scratch(null);
  try {
    const { value, sequence } = await asOf(async () => {
      let lines: string[] = [];
      let adding: Promise<unknown> = scratch.ask({ op: "digest" });
      let graph = "";
      const flush = async (): Promise<void> => {
        await adding;
        adding = scratch.ask({ op: "add", nquads: lines.join("") });
        adding.catch(() => {});
        lines = [];
      };
      for await (const rows of jsonRows(http.query(QUADS, { accept: "application/sparql-results+json", timeout: PATIENCE }))) {
        for (const row of rows) {
          if ((row.g!.value !== graph && lines.length >= LOT) || lines.length >= LARGEST_LOT) await flush();
          graph = row.g!.value;
          lines.push(lineOf(row));
        }
      }
      await flush();
      await adding;
      return scratch.ask({ op: "digest" });
    });
    return { digest: value.digest!, quads: value.quads!, sequence };
  } finally {
    await scratch.close();
  }
}

const lineOf = ({ g, s, p, o }: Row): string => `${termOf(s!)} ${termOf(p!)} ${termOf(o!)} ${termOf(g!)} .\n`;

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r" };

function termOf(term: Term): string {
  if (term.type === "uri") return `<${term.value}>`;
  if (term.type === "bnode") return `_:${term.value}`;
  const text = `"${term.value.replaceAll(/["\\\n\r]/g, (character) => ESCAPES[character]!)}"`;
  if (term["xml:lang"] !== undefined) return `${text}@${term["xml:lang"]}`;
  return term.datatype === undefined ? text : `${text}^^<${term.datatype}>`;
}
