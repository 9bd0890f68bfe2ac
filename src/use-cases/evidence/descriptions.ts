import { storedArk } from "../../identifiers/ark.js";
import { iriTerm } from "../../stores/queries/iri.js";
import { iriIn, textIn } from "../../stores/queries/tsv.js";
import type { Asking } from "./asking.js";
import { compactType, IRIS } from "./context.js";
import { DESCRIPTION_LENGTH, type GroupMarks } from "./types.js";

export interface Description { types: Set<string>; name?: string; description?: string; records: Set<string>; /** It stands for like siblings. */ group?: GroupMarks }

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

/** Three variables and no BIND but one: twice as quick as naming the property in the row. `graph` is where each node's own statements are. */
const said = (bound: string, keys: "?n" | "?n ?g", graph: "?n" | "?g"): string => `SELECT ${keys} ?type ?name ?description { ${bound} {
  { GRAPH ${graph} { ?n ${iriTerm(IRIS.type)} ?type } } UNION
  { GRAPH ${graph} { ?n ${iriTerm(IRIS.name)} ?name } } UNION
  { GRAPH ${graph} { ?n ${iriTerm(IRIS.description)} ?long } BIND(SUBSTR(STR(?long), 1, ${DESCRIPTION_LENGTH + 1}) AS ?description) } } }`;

/**
 * What records say about the nodes that are theirs: a record about itself and the objects inside it, a crate's
 * entity about the URL it stands for. What others say about a node is not heard: names cannot be forged.
 * Read from the graph, so that it is the public view, as of the same commit as the edges. A node that no record
 * describes is missing from the answer.
 */
export async function describe(ask: Asking, nodes: readonly string[]): Promise<Map<string, Description>> {
  const selves: [string][] = [];
  const homes: [string, string][] = [];
  const urls: string[] = [];
  const found = new Map<string, Description>();
  for (const node of nodes) {
    const holder = holderOf(node);
    if (holder !== undefined) {
      homes.push([node, holder]);
      // Only a statement of its record can have led here.
      found.set(node, { types: new Set(), records: new Set() });
    } else if (storedArk(node) === node) {
      selves.push([node]);
    } else {
      urls.push(node);
    }
  }
  for (const named of await recordsOfUrls(ask, urls)) homes.push(named);
  const hear = (node: string, home: string, [type, name, description]: readonly (string | undefined)[]): void => {
    let known = found.get(node);
    if (!known) found.set(node, (known = { types: new Set(), records: new Set() }));
    if (home !== node && !node.includes(EMBEDDED)) known.records.add(home);
    // Of several names the least, so that it is the same one each time.
    if (type) known.types.add(compactType(textIn(type)!));
    else if (name) known.name = least(known.name, textIn(name)!);
    else if (description) known.description = least(known.description, shorten(textIn(description)!));
  };
  for await (const rows of ask.tables(selves, (values) => said(`VALUES (?n) { ${values} }`, "?n", "?n"))) {
    for (const [node, ...rest] of rows) hear(iriIn(node)!, iriIn(node)!, rest);
  }
  for await (const rows of ask.tables(homes, (values) => said(`VALUES (?n ?g) { ${values} }`, "?n ?g", "?g"))) {
    for (const [node, home, ...rest] of rows) hear(iriIn(node)!, iriIn(home)!, rest);
  }
  return found;
}

/** At most {@link DESCRIPTION_LENGTH} characters. */
export function shorten(text: string): string {
  if (text.length <= DESCRIPTION_LENGTH) return text;
  const characters = [...text];
  return characters.length > DESCRIPTION_LENGTH ? `${characters.slice(0, DESCRIPTION_LENGTH - 1).join("")}…` : text;
}

const least = (a: string | undefined, b: string): string => (a === undefined || b < a ? b : a);
