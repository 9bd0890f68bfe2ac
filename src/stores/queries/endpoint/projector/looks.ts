import type { SparqlHttp } from "../http-client.js";
import { LOOK, POSITION_GRAPH, sightIn, type Sight } from "../position.js";
import { iriTerm } from "../../iri.js";

const JSON_RESULTS = "application/sparql-results+json";
/** IRIs of one question. */
const CHUNK = 500;

interface Rows { boolean?: boolean; results?: { bindings: { g: { value: string } }[] } }

async function rows(http: SparqlHttp, query: string, timeout: number): Promise<Rows> {
  return JSON.parse(await http.text(query, { accept: JSON_RESULTS, timeout, setting: "PROJECTION_TIMEOUT" })) as Rows;
}

export const look = async (http: SparqlHttp, timeout: number): Promise<Sight> => sightIn(await http.text(LOOK, { accept: JSON_RESULTS, timeout }));

/** True when any named graph holds anything. */
export const holdsAnything = async (http: SparqlHttp, timeout: number): Promise<boolean> => (await rows(http, "ASK { GRAPH ?g { ?s ?p ?o } }", timeout)).boolean === true;

/** Those of the graphs that hold something. */
export async function graphsAmong(http: SparqlHttp, graphs: readonly string[], timeout: number): Promise<Set<string>> {
  const found = new Set<string>();
  for (let start = 0; start < graphs.length; start += CHUNK) {
    const values = graphs.slice(start, start + CHUNK).map(iriTerm).join(" ");
    const { results } = await rows(http, `SELECT ?g { VALUES ?g { ${values} } FILTER EXISTS { GRAPH ?g { ?s ?p ?o } } }`, timeout);
    for (const { g } of results?.bindings ?? []) found.add(g.value);
  }
  return found;
}

/** Some of the graphs that hold something, the projection's own left out. */
export async function someGraphs(http: SparqlHttp, limit: number, timeout: number): Promise<string[]> {
  const { results } = await rows(http, `SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } FILTER(?g != <${POSITION_GRAPH}>) } LIMIT ${limit}`, timeout);
  return (results?.bindings ?? []).map(({ g }) => g.value);
}
