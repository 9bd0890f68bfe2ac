import { PROVENANCE, type ProvenanceName } from "../../../model/provenance.js";
import { FALLBACK_VOCABULARY } from "../../../rdf/iri.js";
import type { EvidenceGraph, EvidenceNode } from "../types.js";
import { edgesOf } from "./edges.js";

/** Namespace of what no vocabulary has a term for: who states an edge. */
export const ARKGRAPH = FALLBACK_VOCABULARY;

export type ProvClass = "entity" | "activity" | "agent";

/** Relations of PROV-DM, with the roles of what is supported and of what supports it, as PROV-JSON names them. */
export const RELATIONS = {
  used: ["activity", "entity"],
  wasGeneratedBy: ["entity", "activity"],
  wasDerivedFrom: ["generatedEntity", "usedEntity"],
  wasAssociatedWith: ["activity", "agent"],
  wasAttributedTo: ["entity", "agent"],
  wasInformedBy: ["informed", "informant"],
  wasInfluencedBy: ["influencee", "influencer"],
} as const;
export type Relation = keyof typeof RELATIONS;

/** Class that a role asks for; any for an influence. */
const CLASS_OF_ROLE: Readonly<Record<string, ProvClass>> = {
  activity: "activity", entity: "entity", generatedEntity: "entity", usedEntity: "entity", agent: "agent", informed: "activity", informant: "activity",
};

/** `records` and `owners`: who states it. */
export interface ProvRelation { relation: Relation; supported: string; supporting: string; names: ProvenanceName[]; records: Set<string>; owners: Set<string>; thirdParty: boolean }
/** An evidence graph in the terms of PROV-DM. */
export interface ProvModel {
  classes: ReadonlyMap<string, ReadonlySet<ProvClass>>;
  nodes: ReadonlyMap<string, EvidenceNode>;
  relations: ProvRelation[];
}

const ACTIVITY = /^(?:evi:(?:Computation|Experiment)|\w*Action|prov:Activity)$/;
const AGENT = /^(?:Person|Organization|prov:(?:Agent|Person|Organization|SoftwareAgent))$/;

/** What its types say; nothing for a bare Thing, whose part in the evidence then tells. */
function classOf(node: EvidenceNode | undefined): ProvClass | undefined {
  const types = node?.["@type"].filter((type) => type !== "Thing") ?? [];
  if (types.length === 0) return undefined;
  return types.some((type) => ACTIVITY.test(type)) ? "activity" : types.some((type) => AGENT.test(type)) ? "agent" : "entity";
}

function relationOf(name: ProvenanceName): Relation {
  switch (name) {
    case "generated": case "generatedBy": return "wasGeneratedBy";
    case "derivedFrom": case "derivedTo": return "wasDerivedFrom";
    case "associatedWith": return "wasAssociatedWith";
    case "createdBy": return "wasAttributedTo";
    case "informedBy": return "wasInformedBy";
    default: return "used";
  }
}

/**
 * Reads an answer as PROV. Activities are neither entities nor agents there (PROV-CONSTRAINTS, section 5.6): a
 * statement that would make one so is told as `wasInformedBy` between two activities, else as `wasInfluencedBy`.
 */
export function provModel(graph: EvidenceGraph): ProvModel {
  const nodes = new Map(graph["@graph"].map((node) => [node["@id"], node]));
  const edges = edgesOf(graph["@graph"]).map(({ source, name, target, ...said }) => {
    const [supported, supporting] = PROVENANCE[name].support === "object" ? [source, target] : [target, source];
    return { name, supported, supporting, relation: relationOf(name), ...said };
  });
  const settled = new Map<string, ProvClass>();
  for (const [id, node] of nodes) {
    const known = classOf(node);
    if (known) settled.set(id, known);
  }
  // What no type settles is what it is said to do: an activity before all, since that excludes the rest.
  for (const wanted of ["activity", "agent", "entity"] as const) {
    for (const { relation, supported, supporting } of edges) {
      for (const [index, id] of [supported, supporting].entries()) if (!settled.has(id) && CLASS_OF_ROLE[RELATIONS[relation][index]!] === wanted) settled.set(id, wanted);
    }
  }
  const classes = new Map<string, Set<ProvClass>>([...settled].map(([id, known]) => [id, new Set([known])]));
  for (const id of nodes.keys()) if (!classes.has(id)) classes.set(id, new Set(["entity"]));
  const relations = new Map<string, ProvRelation>();
  for (const { name, supported, supporting, relation: said, statedBy, thirdParty } of edges) {
    const ends = [supported, supporting];
    const fits = (relation: Relation): boolean => ends.every((id, index) => (CLASS_OF_ROLE[RELATIONS[relation][index]!] === "activity") === (settled.get(id) === "activity"));
    const relation = fits(said) ? said : fits("wasInformedBy") ? "wasInformedBy" : "wasInfluencedBy";
    for (const [index, id] of ends.entries()) {
      const wanted = CLASS_OF_ROLE[RELATIONS[relation][index]!];
      if (wanted) classes.get(id)!.add(wanted);
    }
    const key = `${relation} ${supported} ${supporting}`;
    const known = relations.get(key) ?? { relation, supported, supporting, names: [], records: new Set(), owners: new Set(), thirdParty: true };
    relations.set(key, known);
    if (!known.names.includes(name)) known.names.push(name);
    for (const { record, owner } of statedBy) {
      if (record !== null) known.records.add(record);
      if (owner !== null) known.owners.add(owner);
    }
    known.thirdParty &&= thirdParty;
  }
  return { classes, nodes, relations: [...relations.values()] };
}
