import { PROVENANCE, type ProvenanceName } from "../../model/provenance.js";
import { iriTerm } from "../../stores/queries/iri.js";
import type { Row } from "../../stores/queries/port.js";
import type { Support } from "./discover.js";
import type { Asking } from "./asking.js";
import { NAME_OF_IRI, statedAs } from "./edge-names.js";
import { namesInUse } from "./names-in-use.js";

export interface Edge { subject: string; name: ProvenanceName; object: string }

/** What was stated, in any record, to make these support relations; only statements of the given subjects. */
export async function statedEdges(ask: Asking, supports: readonly Support[], subjects: ReadonlySet<string>): Promise<Edge[]> {
  if (supports.length === 0) return [];
  const names = await namesInUse(ask);
  const supported = supports.filter(([subject]) => subjects.has(subject));
  const supporting = supports.filter(([, subject]) => subjects.has(subject)).map(([object, subject]): Support => [subject, object]);
  const edges: Edge[] = [];
  for (const [pairs, support] of [[supported, "object"], [supporting, "subject"]] as const) {
    const properties = names.filter((name) => PROVENANCE[name].support === support).map((name) => iriTerm(statedAs(name)));
    if (properties.length === 0) continue;
    // As a FILTER: bound by VALUES, the engine would read every statement of each property.
    const rows = await ask.each(pairs, (values) => `SELECT ?s ?p ?o { VALUES (?s ?o) { ${values} } ?s ?p ?o FILTER(?p IN (${properties.join(", ")})) }`);
    for (const row of rows) edges.push({ subject: row.s!.value, name: NAME_OF_IRI.get(row.p!.value)!, object: row.o!.value });
  }
  return edges;
}

/**
 * All edges that nodes state.
 * @param nodes a pattern that binds `?s`
 */
export async function edgesFrom(ask: Asking, nodes: string): Promise<Edge[]> {
  const names = await namesInUse(ask);
  if (names.length === 0) return [];
  // A variable for each property: a sixth of the time of `?s ?p ?o` with a filter on `?p`.
  const patterns = names.map((name, index) => `{ ?s ${iriTerm(statedAs(name))} ?o${index} }`);
  const rows = await ask.rows(`SELECT ?s ${names.map((_, index) => `?o${index}`).join(" ")} { ${nodes} { ${patterns.join(" UNION ")} } }`);
  return rows.map((row) => edgeOf(row, names));
}

function edgeOf({ s, ...object }: Row, names: readonly ProvenanceName[]): Edge {
  for (const variable in object) return { subject: s!.value, name: names[Number(variable.slice(1))]!, object: object[variable]!.value };
  throw new Error("a row without an object");
}
