import {
  inferredGraph,
  PROVENANCE,
  SUPPORTED_BY,
  type ProvenanceName,
  type ProvenanceTerm,
} from "../../src/model/provenance.js";
import { expandCurie } from "../../src/model/field.js";

export const ark = (name: string): string => (name.includes(":") ? name : `ark:99999/${name}`);

const RDF_TYPE = expandCurie("rdf:type");

export interface Sketch {
  type?: string;
  name?: string;
  description?: string;
  /** Further names and descriptions. */
  names?: string[];
  descriptions?: string[];
  /** Provenance by canonical name, to other sketches' names or to IRIs. */
  edges?: Partial<Record<ProvenanceName, string[]>>;
  hasPart?: string[];
  /** IRI the statements are about, when not the ARK. */
  subject?: string;
}

/** Canonical N-Quads of a record, stated and inferred, as the service writes them. */
export function quadsOf(name: string, sketch: Sketch = {}): string {
  const graph = ark(name);
  const subject = sketch.subject ?? graph;
  const lines: string[] = [];
  const state = (predicate: string, object: string): number =>
    lines.push(`<${subject}> <${predicate}> ${object} <${graph}> .`);
  state(RDF_TYPE, `<${expandCurie(sketch.type ?? "evi:Dataset")}>`);
  state(expandCurie("schema:name"), JSON.stringify(sketch.name ?? name));
  if (sketch.description !== undefined)
    state(expandCurie("schema:description"), JSON.stringify(sketch.description));
  for (const also of sketch.names ?? []) state(expandCurie("schema:name"), JSON.stringify(also));
  for (const also of sketch.descriptions ?? [])
    state(expandCurie("schema:description"), JSON.stringify(also));
  for (const part of sketch.hasPart ?? []) state(expandCurie("schema:hasPart"), `<${ark(part)}>`);
  if (sketch.subject)
    lines.push(`<${graph}> <${expandCurie("schema:sameAs")}> <${subject}> <${graph}> .`);
  for (const [property, targets] of Object.entries(sketch.edges ?? {}) as [
    ProvenanceName,
    string[],
  ][]) {
    const term: ProvenanceTerm = PROVENANCE[property];
    for (const target of targets) {
      state(expandCurie(term.evi), `<${ark(target)}>`);
      if (term.prov !== undefined) state(expandCurie(term.prov), `<${ark(target)}>`);
      const [supported, supporting] =
        term.support === "object" ? [subject, ark(target)] : [ark(target), subject];
      lines.push(`<${supported}> <${SUPPORTED_BY}> <${supporting}> <${inferredGraph(graph)}> .`);
    }
  }
  return `${[...new Set(lines)].sort().join("\n")}\n`;
}
