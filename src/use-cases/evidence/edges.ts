import { expandCurie } from "../../model/field.js";
import { PROVENANCE, type ProvenanceName } from "../../model/provenance.js";
import { iriTerm } from "../../stores/queries/iri.js";
import type { Asking } from "./asking.js";
import type { Row } from "../../stores/queries/port.js";
import type { Support } from "./discover.js";

export interface Edge { subject: string; name: ProvenanceName; object: string }

/** Property IRI that a statement is told by. `evi:directlySupportedBy` is inferred as well, so PROV-O's twin speaks for it. */
export const statedAs = (name: ProvenanceName): string => expandCurie(name === "informedBy" ? "prov:wasInformedBy" : PROVENANCE[name].evi);

const NAMES = Object.keys(PROVENANCE) as ProvenanceName[];
/** Property IRI as the graph states it → name. */
export const NAME_OF_IRI: ReadonlyMap<string, ProvenanceName> = new Map(NAMES.map((name) => [statedAs(name), name]));
/** As a FILTER: bound by VALUES, the engine would read every statement of each property. */
const oneOf = (support: "object" | "subject"): string =>
  NAMES.filter((name) => PROVENANCE[name].support === support).map((name) => iriTerm(statedAs(name))).join(", ");
const SUBJECT_IS_SUPPORTED = oneOf("object");
const SUBJECT_SUPPORTS = oneOf("subject");
/** Every property that states an edge, for the same use. */
export const ANY_EDGE = `${SUBJECT_IS_SUPPORTED}, ${SUBJECT_SUPPORTS}`;

/** The edge in a row of `?s ?p ?o`. */
export const edgeOf = (row: Row): Edge => ({ subject: row.s!.value, name: NAME_OF_IRI.get(row.p!.value)!, object: row.o!.value });

/** What was stated, in any record, to make these support relations; only statements of the given subjects. */
export async function statedEdges(ask: Asking, supports: readonly Support[], subjects: ReadonlySet<string>): Promise<Edge[]> {
  const supported = supports.filter(([subject]) => subjects.has(subject));
  const supporting = supports.filter(([, subject]) => subjects.has(subject)).map(([object, subject]): Support => [subject, object]);
  const edges: Edge[] = [];
  for (const [pairs, properties] of [[supported, SUBJECT_IS_SUPPORTED], [supporting, SUBJECT_SUPPORTS]] as const) {
    const rows = await ask.each(pairs, (values) => `SELECT ?s ?p ?o { VALUES (?s ?o) { ${values} } ?s ?p ?o FILTER(?p IN (${properties})) }`);
    for (const row of rows) edges.push(edgeOf(row));
  }
  return edges;
}
