import { arkOf } from "./documents.js";

const PREFIXES = `PREFIX schema: <https://schema.org/>
PREFIX evi: <https://w3id.org/EVI#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
`;

/** Five each of eight sorts, with another record, class, limit or word in each. */
const SORTS: Readonly<Record<string, (index: number) => string>> = {
  "about one record": (index) => `SELECT ?p ?o { <${arkOf(index * 10 + 3)}> ?p ?o } ORDER BY ?p ?o`,
  join: (index) =>
    `SELECT ?made ?tool { ?made evi:generatedBy ?run . ?run evi:usedSoftware ?tool .
      ?tool schema:name ?name } ORDER BY ?made LIMIT ${100 * (index + 1)}`,
  path: (index) =>
    `SELECT DISTINCT ?n { <${arkOf(index * 10 + 3)}> (evi:generatedBy|evi:usedDataset|evi:usedSoftware)+ ?n }
      ORDER BY ?n`,
  "path from all": (index) =>
    `SELECT (COUNT(?made) AS ?count) { ?made evi:generatedBy/evi:usedDataset ?input .
      ?input schema:keywords "${["microscopy", "cells", "time series", "none", "counts"][index]}" }`,
  aggregate: (index) =>
    `SELECT ?${["type", "owner", "version", "author", "keyword"][index]} (COUNT(?s) AS ?count) {
      ?s ${["rdf:type", "schema:author", "schema:version", "schema:author", "schema:keywords"][index]}
      ?${["type", "owner", "version", "author", "keyword"][index]} }
      GROUP BY ?${["type", "owner", "version", "author", "keyword"][index]} ORDER BY ?count`,
  filter: (index) =>
    `SELECT (COUNT(?s) AS ?count) { ?s schema:name ?name FILTER(?name > "${["A", "Ce", "Co", "L", "s"][index]}") }`,
  text: (index) =>
    `SELECT (COUNT(?s) AS ?count) { ?s schema:name ?name
      FILTER(CONTAINS(LCASE(?name), "${["cell", "run", "0001", "segment", "nothing"][index]}")) }`,
  "the first of many": (index) =>
    `SELECT ?s ?name { ?s schema:name ?name } ORDER BY ${index % 2 === 0 ? "?name" : "DESC(?name)"}
      LIMIT ${20 * (index + 1)}`,
};

/** The same for every engine; the default graph is the union of all. */
export const PEER_QUERIES: readonly { sort: string; query: string }[] = Object.entries(
  SORTS,
).flatMap(([sort, make]) =>
  Array.from({ length: 5 }, (_, index) => ({ sort, query: PREFIXES + make(index) })),
);
