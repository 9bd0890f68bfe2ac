import { storedArk } from "../../identifiers/ark.js";
import { iriTerm } from "../../stores/queries/iri.js";
import { eachCell, iriIn, textIn } from "../../stores/queries/tsv.js";
import type { RecordStore } from "../../stores/records/port.js";
import type { Asking, Question } from "./asking.js";
import { compactType, IRIS } from "./context.js";
import { DESCRIPTION_LENGTH, type GroupMarks } from "./types.js";

/** `types` and `records` hold each once. */
export interface Description { types: string[]; name?: string; description?: string; records: string[]; /** It stands for like siblings. */ group?: GroupMarks }

/** Fragment of the identifiers of objects inside a record. */
const EMBEDDED = "#genid-";

/** The record that a node is part of; `undefined` for the node itself and for what stands outside. */
export function holderOf(node: string): string | undefined {
  const at = node.indexOf(EMBEDDED);
  return at > 0 ? node.slice(0, at) : undefined;
}

/** Which records say of themselves that they stand for these URLs: `[url, record]`. */
export async function recordsOfUrls(ask: Asking, urls: readonly string[]): Promise<[string, string][]> {
  const rows = await ask.each(urls.map((url) => [url]), (values) => `SELECT ?n ?g { VALUES (?n) { ${values} } GRAPH ?g { ?g ${iriTerm(IRIS.sameAs)} ?n } }`);
  return rows.map((row) => [row.n!.value, row.g!.value]);
}

const SHORT = `BIND(IF(STRLEN(STR(?long)) <= ${DESCRIPTION_LENGTH}, ?long, SUBSTR(STR(?long), 1, ${DESCRIPTION_LENGTH + 1})) AS ?description)`;
const [TYPE, NAME, DESCRIPTION] = [`?n ${iriTerm(IRIS.type)} ?type`, `?n ${iriTerm(IRIS.name)} ?name`, `?n ${iriTerm(IRIS.description)} ?long`];

/** A row for each statement. Three variables and no BIND but one, which makes no new text where it need not: twice as quick as naming the property in the row. `graph` is where each node's own statements are. */
const apart = (bound: string, keys: "?n" | "?n ?g", graph: "?n" | "?g"): string =>
  `SELECT ${keys} ?type ?name ?description { ${bound} { { GRAPH ${graph} { ${TYPE} } } UNION { GRAPH ${graph} { ${NAME} } } UNION { GRAPH ${graph} { ${DESCRIPTION} } ${SHORT} } } }`;

/**
 * What records say of themselves, in a row each: half the time of a row for each statement. But what has many types,
 * names and descriptions comes with all their combinations, so there is a most. Every record has a type. Each OPTIONAL
 * names the graph anew: inside one GRAPH the engine would read every graph, and not those of the nodes only.
 */
const together = (bound: string, nodes: number): Question => ({
  query: `SELECT ?n ?type ?name ?description { ${bound} GRAPH ?n { ${TYPE} } OPTIONAL { GRAPH ?n { ${NAME} } } OPTIONAL { GRAPH ?n { ${DESCRIPTION} } } ${SHORT} }`,
  most: COMBINATIONS * nodes,
  otherwise: apart(bound, "?n", "?n"),
});
const COMBINATIONS = 4;

/**
 * What records say about the nodes that are theirs: a record about itself and the objects inside it, a crate's
 * entity about the URL it stands for. What others say about a node is not heard: names cannot be forged.
 * Read from the graph, so that it is the public view, as of the same commit as the edges. A node that no record
 * describes is missing from the answer.
 * @param texts what all records among the nodes say of themselves, and perhaps others too, when it was asked for already
 */
export async function describe(ask: Asking, nodes: readonly string[], texts?: Promise<string>): Promise<Map<string, Description>> {
  const found = new Map<string, Description>();
  let latest = "";
  let node = "";
  let known: Description = { types: [], records: [] };
  const hear = (key: string, second: string, place: number, cell: string): void => {
    if (key !== latest) {
      latest = key;
      node = iriIn(key)!;
      known = found.get(node) ?? { types: [], records: [] };
      found.set(node, known);
    }
    if (second !== "" && !node.includes(EMBEDDED)) addTo(known.records, iriIn(second)!);
    // Of several names the least, so that it is the same one each time.
    if (place === 0) addTo(known.types, compactType(textIn(cell)!));
    else if (place === 1) known.name = least(known.name, textIn(cell)!);
    else known.description = least(known.description, shorten(textIn(cell)!));
  };
  if (texts) eachCell(await texts, 1, hear);
  const selves: string[] = [];
  const homes: [string, string][] = [];
  const urls: string[] = [];
  for (const node of nodes) {
    if (found.has(node)) continue;
    const holder = holderOf(node);
    if (holder !== undefined) {
      homes.push([node, holder]);
      // Only a statement of its record can have led here.
      found.set(node, { types: [], records: [] });
    } else if (storedArk(node) !== node) {
      urls.push(node);
    } else if (!texts) {
      selves.push(node);
    }
  }
  for (const named of await recordsOfUrls(ask, urls)) homes.push(named);
  for await (const tsv of ask.tables(selves, (values, count) => together(`VALUES (?n) { ${values} }`, count))) eachCell(tsv, 1, hear);
  for await (const tsv of ask.tables(homes, (values) => apart(`VALUES (?n ?g) { ${values} }`, "?n ?g", "?g"))) eachCell(tsv, 2, hear);
  return found;
}

/**
 * The same of one record, from the truth: a quarter of the time of a query. Its statements are one a line, and terms
 * are written as in TSV.
 */
export async function describeRecord(ask: Asking, ark: string, records: Pick<RecordStore, "quads" | "sequence">): Promise<Map<string, Description>> {
  ask.note(await records.sequence());
  const quads = await records.quads(ark);
  if (quads === undefined) return new Map();
  const description: Description = { types: [], records: [] };
  const subject = `${iriTerm(ark)} <`;
  const graph = ` ${iriTerm(ark)} .`;
  for (const line of quads.split("\n")) {
    if (!line.startsWith(subject) || !line.endsWith(graph)) continue;
    const end = line.indexOf("> ", subject.length);
    const property = line.slice(subject.length, end);
    const text = (): string => textIn(line.slice(end + 2, -graph.length))!;
    if (property === IRIS.type) addTo(description.types, compactType(text()));
    else if (property === IRIS.name) description.name = least(description.name, text());
    else if (property === IRIS.description) description.description = least(description.description, shorten(text()));
  }
  return new Map(description.types.length > 0 ? [[ark, description]] : []);
}

/**
 * Asks for what records say of themselves, of those that a pattern binds `?n` to; for {@link describe}.
 * @param nodes at most so many
 */
export const textsOf = (ask: Asking, pattern: string, nodes: number): Promise<string> => ask.table(together(pattern, nodes));

/** At most {@link DESCRIPTION_LENGTH} characters. */
export function shorten(text: string): string {
  if (text.length <= DESCRIPTION_LENGTH) return text;
  const characters = [...text];
  return characters.length > DESCRIPTION_LENGTH ? `${characters.slice(0, DESCRIPTION_LENGTH - 1).join("")}…` : text;
}

const addTo = (list: string[], text: string): void => {
  if (!list.includes(text)) list.push(text);
};
const least = (a: string | undefined, b: string): string => (a === undefined || b < a ? b : a);
