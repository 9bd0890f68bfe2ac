import type { JsonObject } from "../../model/field.js";
import { BODY_REFUSALS, html, type Content, type Operation } from "./operation.js";
import { query } from "./parameters.js";

const NAMES = "SELECT ?name WHERE { ?record <https://schema.org/name> ?name } LIMIT 10";
const GRAPH = "ark:99999/dataset-cells";
const RESULTS: JsonObject = {
  type: "object", required: ["head"],
  properties: { head: { type: "object" }, results: { type: "object", required: ["bindings"], properties: { bindings: { type: "array", items: { type: "object" } } } }, boolean: { type: "boolean" } },
};
const EXAMPLE: JsonObject = { head: { vars: ["name"] }, results: { bindings: [{ name: { type: "literal", value: "Cell counts" } }] } };
const text = (example: string): Content => ({ schema: { type: "string" }, example });

const ANSWERS: Readonly<Record<string, Content>> = {
  "application/sparql-results+json": { schema: RESULTS, example: EXAMPLE },
  "application/sparql-results+xml": text('<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="name"/></head><results><result><binding name="name"><literal>Cell counts</literal></binding></result></results></sparql>'),
  "text/csv": text("name\r\nCell counts\r\n"),
  "text/tab-separated-values": text('?name\n"Cell counts"\n'),
  "text/turtle": text('<ark:99999/dataset-cells> <https://schema.org/name> "Cell counts" .\n'),
  "application/n-triples": text('<ark:99999/dataset-cells> <https://schema.org/name> "Cell counts" .\n'),
  "application/n-quads": text('<ark:99999/dataset-cells> <https://schema.org/name> "Cell counts" .\n'),
  "application/ld+json": { schema: { type: ["array", "object"] }, example: [{ "@id": "ark:99999/dataset-cells", "https://schema.org/name": [{ "@value": "Cell counts" }] }] },
  // Results of SELECT and ASK, or JSON-LD: as the query has it.
  "application/json": { schema: { type: ["array", "object"] }, example: EXAMPLE },
  "application/rdf+xml": text('<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'),
};

const DATASET: readonly JsonObject[] = [
  query("default-graph-uri", "A graph of the default graph, in the place of FROM; the parameter may be repeated. The graph of a record is its ARK.", { type: "string" }, GRAPH),
  query("named-graph-uri", "A graph that GRAPH may name, in the place of FROM NAMED; the parameter may be repeated.", { type: "string" }, GRAPH),
];
const DESCRIPTION = [
  "SPARQL 1.1 Protocol, queries only, open to everyone. The default graph is the union of all records' graphs; the graph of a record is named by its ARK.",
  "A statement that several graphs hold may come several times: say DISTINCT where that matters. SERVICE and updates are refused. Limits are settings, and an answer that was cut carries `X-Truncated`.",
].join("\n\n");
const REFUSALS = ["QUERY_SYNTAX", "QUERY_REFUSED", "UPDATE_REFUSED", "NOT_ACCEPTABLE", "TOO_LARGE", "TOO_MANY_REQUESTS", "QUERY_TIMEOUT", "QUERY_MEMORY", "QUERY_FAILED", "SPARQL_BUSY", "SPARQL_NEEDS_ENDPOINT", "INDEX_LOADING", "INDEX_BEHIND"] as const;

export const SPARQL: readonly Operation[] = [
  {
    method: "get", path: "/sparql", operationId: "sparql_get", tag: "sparql", summary: "A SPARQL query, or the description of the endpoint",
    description: `${DESCRIPTION}\n\nWithout \`query\`: the service description as RDF, or a page to write queries in for browsers.`,
    parameters: [query("query", "The query. Without it: the description of the endpoint.", { type: "string" }, NAMES), ...DATASET],
    answer: { description: "The answer in the form that `Accept` prefers; results for SELECT and ASK, a graph for CONSTRUCT and DESCRIBE.", headers: ["X-Truncated", "X-As-Of"], content: { ...ANSWERS, "text/html": html("<!doctype html><title>Arkgraph SPARQL</title>") } },
    refusals: REFUSALS,
  },
  {
    method: "post", path: "/sparql", operationId: "sparql_post", tag: "sparql", summary: "A SPARQL query as a form or a body", description: DESCRIPTION,
    parameters: DATASET,
    body: {
      "application/x-www-form-urlencoded": {
        schema: {
          type: "object", required: ["query"],
          properties: { query: { type: "string" }, "default-graph-uri": { type: ["string", "array"], items: { type: "string" } }, "named-graph-uri": { type: ["string", "array"], items: { type: "string" } } },
        },
        example: { query: NAMES },
      },
      "application/sparql-query": text(NAMES),
    },
    answer: { description: "The answer, as for GET.", headers: ["X-Truncated", "X-As-Of"], content: ANSWERS },
    refusals: [...REFUSALS, ...BODY_REFUSALS],
  },
];
