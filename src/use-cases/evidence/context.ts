import { expandCurie, PREFIXES } from "../../model/field.js";
import { PROVENANCE } from "../../model/provenance.js";

const link = (curie: string): Record<string, string> => ({ "@id": curie, "@type": "@id" });

/** Explains every key of an evidence graph; what is about the answer and not about the records means nothing in RDF. */
export const EVIDENCE_CONTEXT: Readonly<Record<string, unknown>> = {
  "@vocab": PREFIXES.schema, evi: PREFIXES.evi, prov: PREFIXES.prov, rdfs: PREFIXES.rdfs,
  ...Object.fromEntries(Object.entries(PROVENANCE).map(([name, { evi }]) => [name, link(evi)])),
  sameAs: link("sameAs"), outputs: link("evi:outputs"),
  direction: null, statements: null, count: null, group: null, dangling: null, hidden: null, truncated: null, cursor: null, asOf: null,
};

const COMPACT = [["evi:", PREFIXES.evi], ["prov:", PREFIXES.prov], ["", PREFIXES.schema]] as const;

/** Shortest form of a class under {@link EVIDENCE_CONTEXT}: `evi:Dataset`, `Person`, or the IRI. */
export function compactType(iri: string): string {
  for (const [prefix, namespace] of COMPACT) {
    // A colon in a bare word would make it another prefix.
    if (iri.startsWith(namespace) && iri.length > namespace.length && !iri.slice(namespace.length).includes(":")) return prefix + iri.slice(namespace.length);
  }
  return iri;
}

export const IRIS = {
  type: expandCurie("rdf:type"), name: expandCurie("schema:name"), description: expandCurie("schema:description"),
  sameAs: expandCurie("schema:sameAs"), hasPart: expandCurie("schema:hasPart"),
} as const;
