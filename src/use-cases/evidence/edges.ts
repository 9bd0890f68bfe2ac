import { PROVENANCE, type ProvenanceName } from "../../model/provenance.js";
import { iriTerm } from "../../stores/queries/iri.js";
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
