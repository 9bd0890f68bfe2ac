import { PROVENANCE, type ProvenanceName } from "../../model/provenance.js";
import { iriTerm } from "../../stores/queries/iri.js";
import type { QueryEngine } from "../../stores/queries/port.js";
import type { Asking } from "./asking.js";
import { NAME_OF_IRI, statedAs } from "./edge-names.js";

const known = new WeakMap<QueryEngine, { sequence: number; names: ProvenanceName[] }>();

/** Asks of each property whether anything states it: a look into an index each. */
const QUESTION = `SELECT ?p { ${(Object.keys(PROVENANCE) as ProvenanceName[]).map((name) => `{ SELECT (${iriTerm(statedAs(name))} AS ?p) { ?s ${iriTerm(statedAs(name))} ?o } LIMIT 1 }`).join(" UNION ")} }`;

/** The provenance that anybody states at all: few of the names there are, and each that is asked for takes its time. Kept until the next commit. */
export async function namesInUse(ask: Asking): Promise<readonly ProvenanceName[]> {
  const before = known.get(ask.engine);
  if (before && before.sequence === ask.engine.state().sequence) {
    ask.note(before.sequence);
    return before.names;
  }
  const { rows, sequence } = await ask.answer(QUESTION);
  const names = rows.map((row) => NAME_OF_IRI.get(row.p!.value)!);
  known.set(ask.engine, { sequence, names });
  return names;
}
