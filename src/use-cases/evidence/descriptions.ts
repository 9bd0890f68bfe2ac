import { storedArk } from "../../identifiers/ark.js";
import { iriTerm } from "../../stores/queries/iri.js";
import type { Asking } from "./asking.js";
import { compactType, IRIS } from "./context.js";
import { DESCRIPTION_LENGTH } from "./types.js";

export interface Description { types: Set<string>; name?: string; description?: string; records: Set<string> }

/** Fragment of the identifiers of objects inside a record. */
const EMBEDDED = "#genid-";

const QUERY = (values: string): string => `SELECT ?n ?g ?p ?v { VALUES (?n ?g) { ${values} } {
  { GRAPH ?g { ?n ${iriTerm(IRIS.type)} ?o } BIND("type" AS ?p) BIND(STR(?o) AS ?v) } UNION
  { GRAPH ?g { ?n ${iriTerm(IRIS.name)} ?o } BIND("name" AS ?p) BIND(STR(?o) AS ?v) } UNION
  { GRAPH ?g { ?n ${iriTerm(IRIS.description)} ?o } BIND("description" AS ?p) BIND(SUBSTR(STR(?o), 1, ${DESCRIPTION_LENGTH + 1}) AS ?v) } } }`;

/**
 * What records say about the nodes that are theirs: a record about itself and the objects inside it, a crate's
 * entity about the URL it stands for. What others say about a node is not heard: names cannot be forged.
 * Read from the graph, so that it is the public view, as of the same commit as the edges. A node that no record
 * describes is missing from the answer.
 */
export async function describe(ask: Asking, nodes: readonly string[]): Promise<Map<string, Description>> {
  const homes: [string, string][] = [];
  const urls: string[] = [];
  const found = new Map<string, Description>();
  for (const node of nodes) {
    const embedded = node.indexOf(EMBEDDED);
    if (embedded > 0) {
      homes.push([node, node.slice(0, embedded)]);
      // Only a statement of its record can have led here.
      found.set(node, { types: new Set(), records: new Set() });
    } else if (storedArk(node) === node) {
      homes.push([node, node]);
    } else {
      urls.push(node);
    }
  }
  const named = await ask.each(urls.map((url) => [url]), (values) => `SELECT ?n ?g { VALUES (?n) { ${values} } GRAPH ?g { ?g ${iriTerm(IRIS.sameAs)} ?n } }`);
  for (const row of named) homes.push([row.n!.value, row.g!.value]);
  // In a fixed order, so that of several names the same one is shown each time.
  const rows = (await ask.each(homes, QUERY)).map((row) => ({ node: row.n!.value, record: row.g!.value, key: row.p!.value, value: row.v!.value }))
    .sort((a, b) => (a.value < b.value ? -1 : 1));
  for (const { node, record, key, value } of rows) {
    let known = found.get(node);
    if (!known) found.set(node, (known = { types: new Set(), records: new Set() }));
    if (record !== node && !node.includes(EMBEDDED)) known.records.add(record);
    if (key === "type") known.types.add(compactType(value));
    else if (key === "name") known.name ??= value;
    else known.description ??= shorten(value);
  }
  return found;
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length > DESCRIPTION_LENGTH ? `${characters.slice(0, DESCRIPTION_LENGTH - 1).join("")}…` : text;
}
