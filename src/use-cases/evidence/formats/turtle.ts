import { DataFactory, Writer } from "n3";
import { PREFIXES, expandCurie } from "../../../model/field.js";
import { PROVENANCE } from "../../../model/provenance.js";
import type { EvidenceGraph } from "../types.js";
import { edgesOf, leftOut } from "./edges.js";
import { ARKGRAPH, provModel, type ProvClass, type Relation } from "./prov-model.js";

const { namedNode, literal } = DataFactory;
/** Property, class and role by which PROV-O qualifies each relation. */
const QUALIFIED: Readonly<Record<Relation, readonly [string, string, string]>> = {
  used: ["qualifiedUsage", "Usage", "entity"], wasGeneratedBy: ["qualifiedGeneration", "Generation", "activity"], wasDerivedFrom: ["qualifiedDerivation", "Derivation", "entity"],
  wasAssociatedWith: ["qualifiedAssociation", "Association", "agent"], wasAttributedTo: ["qualifiedAttribution", "Attribution", "agent"],
  wasInformedBy: ["qualifiedCommunication", "Communication", "activity"], wasInfluencedBy: ["qualifiedInfluence", "Influence", "influencer"],
};
const CLASSES: Readonly<Record<ProvClass, string>> = { entity: "prov:Entity", activity: "prov:Activity", agent: "prov:Agent" };

/** PROV-O in Turtle, with the EVI edges that it was read from. */
export async function turtle(graph: EvidenceGraph): Promise<string> {
  const { classes, nodes, relations } = provModel(graph);
  const writer = new Writer({ prefixes: { arkgraph: ARKGRAPH, evi: PREFIXES.evi, prov: PREFIXES.prov, rdfs: PREFIXES.rdfs, schema: PREFIXES.schema } });
  const state = (subject: string, property: string, object: string): void => writer.addQuad(namedNode(subject), namedNode(property), namedNode(object));
  for (const [iri, isA] of classes) {
    const node = nodes.get(iri);
    for (const type of node?.["@type"] ?? []) state(iri, expandCurie("rdf:type"), expandType(type));
    for (const each of isA) state(iri, expandCurie("rdf:type"), expandCurie(CLASSES[each]));
    if (node?.name !== undefined) writer.addQuad(namedNode(iri), namedNode(expandCurie("rdfs:label")), literal(node.name));
    if (node?.description !== undefined) writer.addQuad(namedNode(iri), namedNode(expandCurie("schema:description")), literal(node.description));
    for (const other of node?.sameAs ?? []) state(iri, expandCurie("schema:sameAs"), other["@id"]);
  }
  for (const { source, name, target } of edgesOf(graph["@graph"])) state(source, expandCurie(PROVENANCE[name].evi), target);
  for (const { relation, supported, supporting, records, owners, thirdParty } of relations) {
    state(supported, PREFIXES.prov + relation, supporting);
    if (records.size + owners.size === 0) continue;
    const [property, type, role] = QUALIFIED[relation];
    writer.addQuad(namedNode(supported), namedNode(PREFIXES.prov + property), writer.blank([
      { predicate: namedNode(expandCurie("rdf:type")), object: namedNode(PREFIXES.prov + type) }, { predicate: namedNode(PREFIXES.prov + role), object: namedNode(supporting) },
      ...[...records].map((record) => ({ predicate: namedNode(`${ARKGRAPH}assertedBy`), object: namedNode(record) })),
      ...[...owners].map((owner) => ({ predicate: namedNode(`${ARKGRAPH}assertedByOwner`), object: namedNode(owner) })),
      ...(thirdParty ? [{ predicate: namedNode(`${ARKGRAPH}thirdParty`), object: literal("true", namedNode(expandCurie("xsd:boolean"))) }] : []),
    ]));
  }
  const note = leftOut(graph);
  const text = await new Promise<string>((resolve, reject) => writer.end((error, result: string) => (error ? reject(error) : resolve(result))));
  return note === "" ? text : `# ${note}\n${text}`;
}

const expandType = (type: string): string => (/^(?:evi|prov):/.test(type) ? expandCurie(type) : type.includes(":") ? type : PREFIXES.schema + type);
