/** Evidence graphs in other formats: PROV-JSON, PROV-O as RDF, DOT and Mermaid. */
import { DataFactory, Writer } from "n3";
import { getOrInsert } from "../../get-or-insert.js";
import { expandCurie, PREFIXES } from "../../model/field.js";
import { nameText } from "../../model/labels.js";
import { PROVENANCE, type ProvenanceName } from "../../model/provenance.js";
import { FALLBACK_VOCABULARY } from "../../rdf/terms.js";
import { inParts } from "../in-parts.js";
import type { EvidenceGraph, EvidenceNode, Reference, StatedEdge } from "./types.js";

/** An edge as it was stated. */
export interface ShownEdge {
  source: string;
  name: ProvenanceName;
  target: string;
  /** Only third parties state it. */
  thirdParty: boolean;
  statedBy: readonly StatedEdge[];
}

/** Every edge of an answer as it was stated, each once. */
export function edgesOf(nodes: readonly EvidenceNode[]): ShownEdge[] {
  return nodes.flatMap((node) => {
    const claims = new Map<string, StatedEdge[]>();
    const derived = new Set<string>();
    for (const statement of node.statements ?? []) {
      const key = `${statement.property} ${statement.object}`;
      if (statement.derived) {
        derived.add(key);
        continue;
      }
      getOrInsert(claims, key, (): StatedEdge[] => []).push(statement);
    }
    return Object.entries(node).flatMap(([name, values]) =>
      Object.hasOwn(PROVENANCE, name)
        ? (values as Reference[])
            .filter((value) => !derived.has(`${name} ${value["@id"]}`))
            .map((value): ShownEdge => {
              const statedBy = claims.get(`${name} ${value["@id"]}`) ?? [];
              const thirdParty =
                statedBy.length > 0 && statedBy.every((each) => each.thirdParty === true);
              return {
                source: node["@id"],
                name: name as ProvenanceName,
                target: value["@id"],
                thirdParty,
                statedBy,
              };
            })
        : [],
    );
  });
}

/** The same of a long answer, with turns for other requests. */
async function edgesInParts(nodes: readonly EvidenceNode[]): Promise<ShownEdge[]> {
  const edges: ShownEdge[] = [];
  for await (const some of inParts(nodes)) for (const edge of edgesOf(some)) edges.push(edge);
  return edges;
}

/** Label in a drawing for a target that is not a node of the answer. */
export function others(graph: EvidenceGraph, edges: readonly ShownEdge[]): Map<string, string> {
  const shown = new Set(graph["@graph"].map((node) => node["@id"]));
  const why = new Map(
    graph.dangling.map(({ "@id": id, reason, count }) => [
      id,
      count === undefined ? reason : `${count} alike, ${reason}`,
    ]),
  );
  const found = new Map<string, string>();
  for (const { source, target } of edges)
    for (const end of [source, target])
      if (!shown.has(end)) found.set(end, why.get(end) ?? "on another page");
  return found;
}

const REASONS = {
  depth: "beyond the depth",
  limit: "on later pages",
  kind: "of other kinds",
  collapsed: "in groups",
  thirdParty: "edges of third parties",
} as const;

/** One line about the omissions of an answer; empty when the answer is complete. */
function leftOut({ hidden, truncated }: EvidenceGraph): string {
  // Deleted records are drawn like missing ones.
  const reasons = (Object.keys(REASONS) as (keyof typeof REASONS)[])
    .filter((reason) => hidden[reason] !== undefined)
    .map((reason) => `${hidden[reason]} ${REASONS[reason]}`);
  return reasons.length === 0 && !truncated ? "" : `Not shown: ${reasons.join(", ")}`;
}

/** What a drawing calls a node. */
const nameOf = ({ "@id": id, name }: EvidenceNode): string => nameText({ id, name: name ?? null });

/**
 * The class that describes a node's role best: that of the record's kind before a file's
 * MediaObject.
 */
const leadingType = (node: EvidenceNode): string | undefined =>
  node["@type"].find((type) => type.startsWith("evi:")) ?? node["@type"][0];

/** Namespace for a term that no vocabulary has: who states an edge. */
const ARKGRAPH = FALLBACK_VOCABULARY;

type ProvClass = "entity" | "activity" | "agent";

/**
 * Relations of PROV-DM, with the roles of the supported and of the supporting end, as PROV-JSON
 * names them.
 */
const RELATIONS = {
  used: ["activity", "entity"],
  wasGeneratedBy: ["entity", "activity"],
  wasDerivedFrom: ["generatedEntity", "usedEntity"],
  wasAssociatedWith: ["activity", "agent"],
  wasAttributedTo: ["entity", "agent"],
  wasInformedBy: ["informed", "informant"],
  wasInfluencedBy: ["influencee", "influencer"],
} as const;
type Relation = keyof typeof RELATIONS;

/** Class that a role requires; any for an influence. */
const CLASS_OF_ROLE: Readonly<Record<string, ProvClass>> = {
  activity: "activity",
  entity: "entity",
  generatedEntity: "entity",
  usedEntity: "entity",
  agent: "agent",
  informed: "activity",
  informant: "activity",
};

/** The ends of a relation, and the class that it requires of each. */
function endsOf(
  { supported, supporting }: Pick<ProvRelation, "supported" | "supporting">,
  relation: Relation,
): { id: string; required: ProvClass | undefined }[] {
  const [role, other] = RELATIONS[relation];
  return [
    { id: supported, required: CLASS_OF_ROLE[role] },
    { id: supporting, required: CLASS_OF_ROLE[other] },
  ];
}

/** `records` and `owners`: who states it. */
interface ProvRelation {
  relation: Relation;
  supported: string;
  supporting: string;
  names: ProvenanceName[];
  records: Set<string>;
  owners: Set<string>;
  thirdParty: boolean;
}
/** An evidence graph in the terms of PROV-DM. */
interface ProvModel {
  classes: ReadonlyMap<string, ReadonlySet<ProvClass>>;
  nodes: ReadonlyMap<string, EvidenceNode>;
  relations: ProvRelation[];
}

const ACTIVITY = /^(?:evi:(?:Computation|Experiment)|\w*Action|prov:Activity)$/;
const AGENT = /^(?:Person|Organization|prov:(?:Agent|Person|Organization|SoftwareAgent))$/;

/**
 * The class by the node's types; undefined for a bare Thing, whose role in the evidence decides
 * then.
 */
function classOf(node: EvidenceNode | undefined): ProvClass | undefined {
  const types = node?.["@type"].filter((type) => type !== "Thing") ?? [];
  if (types.length === 0) return undefined;
  return types.some((type) => ACTIVITY.test(type))
    ? "activity"
    : types.some((type) => AGENT.test(type))
      ? "agent"
      : "entity";
}

function relationOf(name: ProvenanceName): Relation {
  switch (name) {
    case "generated":
    case "generatedBy":
      return "wasGeneratedBy";
    case "derivedFrom":
    case "derivedTo":
      return "wasDerivedFrom";
    case "associatedWith":
      return "wasAssociatedWith";
    case "createdBy":
      return "wasAttributedTo";
    case "informedBy":
      return "wasInformedBy";
    default:
      return "used";
  }
}

/**
 * Reads an answer as PROV. Activities are neither entities nor agents there (PROV-CONSTRAINTS,
 * section 5.6): a statement that would imply so becomes `wasInformedBy` between two activities,
 * else `wasInfluencedBy`.
 */
async function provModel(graph: EvidenceGraph, shown: readonly ShownEdge[]): Promise<ProvModel> {
  const nodes = new Map(graph["@graph"].map((node) => [node["@id"], node]));
  const edges = shown.map(({ source, name, target, ...claims }) => {
    const [supported, supporting] =
      PROVENANCE[name].support === "object" ? [source, target] : [target, source];
    return { name, supported, supporting, relation: relationOf(name), ...claims };
  });
  const settled = new Map<string, ProvClass>();
  for (const [id, node] of nodes) {
    const known = classOf(node);
    if (known) settled.set(id, known);
  }
  // Where no type decides, the node's roles do: an activity first, since it excludes the others.
  for (const wanted of ["activity", "agent", "entity"] as const) {
    for await (const some of inParts(edges))
      for (const edge of some)
        for (const { id, required } of endsOf(edge, edge.relation))
          if (!settled.has(id) && required === wanted) settled.set(id, wanted);
  }
  const classes = new Map<string, Set<ProvClass>>(
    [...settled].map(([id, known]) => [id, new Set([known])]),
  );
  for (const id of nodes.keys()) if (!classes.has(id)) classes.set(id, new Set(["entity"]));
  const relations = new Map<string, ProvRelation>();
  const add = ({
    name,
    supported,
    supporting,
    relation: claims,
    statedBy,
    thirdParty,
  }: (typeof edges)[number]): void => {
    const fits = (relation: Relation): boolean =>
      endsOf({ supported, supporting }, relation).every(
        ({ id, required }) => (required === "activity") === (settled.get(id) === "activity"),
      );
    const relation = fits(claims)
      ? claims
      : fits("wasInformedBy")
        ? "wasInformedBy"
        : "wasInfluencedBy";
    for (const { id, required } of endsOf({ supported, supporting }, relation))
      if (required) getOrInsert(classes, id, () => new Set<ProvClass>()).add(required);
    const key = `${relation} ${supported} ${supporting}`;
    const known = relations.get(key) ?? {
      relation,
      supported,
      supporting,
      names: [],
      records: new Set(),
      owners: new Set(),
      thirdParty: true,
    };
    relations.set(key, known);
    if (!known.names.includes(name)) known.names.push(name);
    for (const { record, owner } of statedBy) {
      if (record !== null) known.records.add(record);
      if (owner !== null) known.owners.add(owner);
    }
    known.thirdParty &&= thirdParty;
  };
  for await (const some of inParts(edges)) for (const edge of some) add(edge);
  return { classes, nodes, relations: [...relations.values()] };
}

type Attributes = Record<string, unknown>;

/**
 * PROV-JSON (W3C Member Submission, 24 April 2013): identifiers are qualified names, an ARK with
 * the prefix `ark`.
 */
async function provJson(graph: EvidenceGraph): Promise<string> {
  const { classes, nodes, relations } = await provModel(graph, await edgesInParts(graph["@graph"]));
  const names = new Names();
  const document: Record<string, Record<string, Attributes>> = {};
  const put = (section: string, id: string, attributes: Attributes): unknown =>
    ((document[section] ??= {})[id] = attributes);
  for await (const some of inParts(classes))
    for (const [iri, isA] of some) {
      const node = nodes.get(iri);
      const attributes: Attributes = {
        ...(node?.name !== undefined && { "prov:label": node.name }),
        ...(node &&
          node["@type"].length > 0 && {
            "prov:type": node["@type"].map((type) => qualified(names.of(expand(type)))),
          }),
      };
      for (const section of isA) put(section satisfies ProvClass, names.of(iri), attributes);
    }
  for await (const some of inParts(relations.entries()))
    for (const [
      index,
      { relation, supported, supporting, names: claims, records, owners, thirdParty },
    ] of some) {
      const [a, b] = RELATIONS[relation];
      put(relation, `_:r${index}`, {
        [`prov:${a}`]: names.of(supported),
        [`prov:${b}`]: names.of(supporting),
        "prov:type": claims.map((name) => qualified(PROVENANCE[name].evi)),
        ...(records.size > 0 && {
          "arkgraph:assertedBy": [...records].map((record) => qualified(names.of(record))),
        }),
        ...(owners.size > 0 && {
          "arkgraph:assertedByOwner": [...owners].map((owner) => qualified(names.of(owner))),
        }),
        ...(thirdParty && { "arkgraph:thirdParty": true }),
      });
    }
  let text = `{"prefix":${JSON.stringify(names.prefixes)}`;
  for (const [section, members] of Object.entries(document)) {
    let before = `,"${section}":{`;
    for await (const some of inParts(Object.entries(members))) {
      text += before + JSON.stringify(Object.fromEntries(some)).slice(1, -1);
      before = ",";
    }
    text += "}";
  }
  return `${text}}`;
}

const qualified = (name: string): Attributes => ({ $: name, type: "xsd:QName" });
const expand = (type: string): string =>
  type.includes(":")
    ? type.replace(/^(evi|prov):/, (_, prefix: "evi" | "prov") => PREFIXES[prefix])
    : PREFIXES.schema + type;

/** Prefixes as they are needed. Every reader knows `prov` and `xsd`, so they are not declared. */
class Names {
  readonly prefixes: Record<string, string> = {
    ark: "ark:",
    arkgraph: ARKGRAPH,
    evi: PREFIXES.evi,
    schema: PREFIXES.schema,
  };
  readonly #byNamespace = new Map<string, string>([
    [PREFIXES.evi, "evi"],
    [PREFIXES.schema, "schema"],
    [PREFIXES.prov, "prov"],
  ]);

  of(iri: string): string {
    if (iri.startsWith("ark:")) return iri;
    const cut = Math.max(iri.lastIndexOf("/"), iri.lastIndexOf("#"), iri.indexOf(":")) + 1;
    const namespace = iri.slice(0, cut);
    let prefix = this.#byNamespace.get(namespace);
    if (prefix === undefined) {
      this.#byNamespace.set(namespace, (prefix = `ns${this.#byNamespace.size - 2}`));
      this.prefixes[prefix] = namespace;
    }
    return `${prefix}:${iri.slice(cut)}`;
  }
}

const { namedNode, literal } = DataFactory;
/** Property, class and role by which PROV-O qualifies each relation. */
const QUALIFIED: Readonly<Record<Relation, readonly [string, string, string]>> = {
  used: ["qualifiedUsage", "Usage", "entity"],
  wasGeneratedBy: ["qualifiedGeneration", "Generation", "activity"],
  wasDerivedFrom: ["qualifiedDerivation", "Derivation", "entity"],
  wasAssociatedWith: ["qualifiedAssociation", "Association", "agent"],
  wasAttributedTo: ["qualifiedAttribution", "Attribution", "agent"],
  wasInformedBy: ["qualifiedCommunication", "Communication", "activity"],
  wasInfluencedBy: ["qualifiedInfluence", "Influence", "influencer"],
};
const CLASSES: Readonly<Record<ProvClass, string>> = {
  entity: "prov:Entity",
  activity: "prov:Activity",
  agent: "prov:Agent",
};

/** PROV-O in Turtle, with the EVI edges that it was derived from. */
async function turtle(graph: EvidenceGraph): Promise<string> {
  const edges = await edgesInParts(graph["@graph"]);
  const { classes, nodes, relations } = await provModel(graph, edges);
  const writer = new Writer({
    prefixes: {
      arkgraph: ARKGRAPH,
      evi: PREFIXES.evi,
      prov: PREFIXES.prov,
      rdfs: PREFIXES.rdfs,
      schema: PREFIXES.schema,
    },
  });
  const state = (subject: string, property: string, object: string): void =>
    writer.addQuad(namedNode(subject), namedNode(property), namedNode(object));
  for await (const some of inParts(classes))
    for (const [iri, isA] of some) {
      const { "@type": types = [], name, description, sameAs = [] } = nodes.get(iri) ?? {};
      for (const type of types) state(iri, expandCurie("rdf:type"), expandType(type));
      for (const each of isA) state(iri, expandCurie("rdf:type"), expandCurie(CLASSES[each]));
      if (name !== undefined)
        writer.addQuad(namedNode(iri), namedNode(expandCurie("rdfs:label")), literal(name));
      if (description !== undefined)
        writer.addQuad(
          namedNode(iri),
          namedNode(expandCurie("schema:description")),
          literal(description),
        );
      for (const other of sameAs) state(iri, expandCurie("schema:sameAs"), other["@id"]);
    }
  for await (const some of inParts(edges))
    for (const { source, name, target } of some)
      state(source, expandCurie(PROVENANCE[name].evi), target);
  for await (const some of inParts(relations))
    for (const { relation, supported, supporting, records, owners, thirdParty } of some) {
      state(supported, PREFIXES.prov + relation, supporting);
      if (records.size + owners.size === 0) continue;
      const [property, type, role] = QUALIFIED[relation];
      writer.addQuad(
        namedNode(supported),
        namedNode(PREFIXES.prov + property),
        writer.blank([
          {
            predicate: namedNode(expandCurie("rdf:type")),
            object: namedNode(PREFIXES.prov + type),
          },
          { predicate: namedNode(PREFIXES.prov + role), object: namedNode(supporting) },
          ...[...records].map((record) => ({
            predicate: namedNode(`${ARKGRAPH}assertedBy`),
            object: namedNode(record),
          })),
          ...[...owners].map((owner) => ({
            predicate: namedNode(`${ARKGRAPH}assertedByOwner`),
            object: namedNode(owner),
          })),
          ...(thirdParty
            ? [
                {
                  predicate: namedNode(`${ARKGRAPH}thirdParty`),
                  object: literal("true", namedNode(expandCurie("xsd:boolean"))),
                },
              ]
            : []),
        ]),
      );
    }
  const note = leftOut(graph);
  const text = await new Promise<string>((resolve, reject) =>
    writer.end((error, result: string) => (error ? reject(error) : resolve(result))),
  );
  return note === "" ? text : `# ${note}\n${text}`;
}

const expandType = (type: string): string =>
  /^(?:evi|prov):/.test(type)
    ? expandCurie(type)
    : type.includes(":")
      ? type
      : PREFIXES.schema + type;

/**
 * Forms of an evidence graph besides JSON-LD. PROV-JSON has no media type of its own: clients
 * request it by name.
 */
export const EVIDENCE_FORMATS = {
  "prov-json": { type: "application/json", write: provJson },
  turtle: { type: "text/turtle", write: turtle },
  dot: { type: "text/vnd.graphviz", write: dot },
  mermaid: { type: "text/vnd.mermaid", write: mermaid },
} as const satisfies Record<
  string,
  { type: string; write: (graph: EvidenceGraph) => Promise<string> }
>;
export type EvidenceFormat = keyof typeof EVIDENCE_FORMATS;

const SHAPES = { activity: "box", agent: "house", entity: "ellipse" } as const;

/**
 * A drawing for Graphviz. Nodes are numbered: identifiers and names occur in quoted strings only.
 */
export async function dot(graph: EvidenceGraph): Promise<string> {
  const edges = await edgesInParts(graph["@graph"]);
  const { classes } = await provModel(graph, edges);
  const numbers = new Map<string, string>();
  const number = (iri: string): string => getOrInsert(numbers, iri, () => `n${numbers.size}`);
  const shape = (iri: string): string =>
    SHAPES[
      (["activity", "agent"] as const).find((each) => classes.get(iri)?.has(each)) ?? "entity"
    ];
  const lines = [
    "digraph evidence {",
    "  rankdir=RL;",
    '  node [fontname="sans-serif"];',
    '  edge [fontname="sans-serif", fontsize=10];',
  ];
  const note = leftOut(graph);
  if (note !== "") lines.push(`  label=${quoted(note)};`);
  for await (const some of inParts(graph["@graph"]))
    for (const node of some) {
      const label = [nameOf(node), leadingType(node)]
        .filter((text) => text !== undefined)
        .map(escapedForDot)
        .join("\\n");
      lines.push(
        `  ${number(node["@id"])} [label="${label}", tooltip=${quoted(node["@id"])}, ` +
          `shape=${shape(node["@id"])}${node.count === undefined ? "" : ", peripheries=2"}];`,
      );
    }
  for (const [iri, why] of others(graph, edges))
    lines.push(
      `  ${number(iri)} [label="${escapedForDot(iri)}\\n(${escapedForDot(why)})", ` +
        `shape=${shape(iri)}, style=dashed];`,
    );
  for await (const some of inParts(edges))
    for (const { source, name, target, thirdParty } of some)
      lines.push(
        `  ${number(source)} -> ${number(target)} ` +
          `[label="${name}"${thirdParty ? ", style=dashed" : ""}];`,
      );
  return `${[...lines, "}"].join("\n")}\n`;
}

const quoted = (text: string): string => `"${escapedForDot(text)}"`;
/**
 * Graphviz interprets backslashes (`\N`, `\l`) and entities in a label; control characters are not
 * visible.
 */
function escapedForDot(text: string): string {
  return (
    text
      .toWellFormed()
      // eslint-disable-next-line no-control-regex -- they are what is taken out
      .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ")
      .replaceAll("\\", "\\\\")
      .replaceAll('"', '\\"')
      .replaceAll("&", "&amp;")
  );
}

/** Brackets that select the shape of a class. */
const BRACKETS = { activity: ["[", "]"], agent: ["[/", "\\]"], entity: ["([", "])"] } as const;

/**
 * A flowchart for Mermaid, which forges draw in Markdown. Nodes are numbered: text of clients
 * occurs in quoted labels only.
 */
export async function mermaid(graph: EvidenceGraph): Promise<string> {
  const edges = await edgesInParts(graph["@graph"]);
  const { classes } = await provModel(graph, edges);
  const numbers = new Map<string, string>();
  const number = (iri: string): string => getOrInsert(numbers, iri, () => `n${numbers.size}`);
  const drawn = (iri: string, label: string): string => {
    const [open, close] =
      BRACKETS[
        (["activity", "agent"] as const).find((each) => classes.get(iri)?.has(each)) ?? "entity"
      ];
    return `  ${number(iri)}${open}"${label}"${close}`;
  };
  const lines = ["flowchart RL"];
  for await (const some of inParts(graph["@graph"]))
    for (const node of some) {
      lines.push(
        drawn(
          node["@id"],
          [nameOf(node), leadingType(node)]
            .filter((text) => text !== undefined)
            .map(escapedForMermaid)
            .join("<br/>"),
        ),
      );
    }
  for (const [iri, why] of others(graph, edges))
    lines.push(
      drawn(iri, `${escapedForMermaid(iri)}<br/>${escapedForMermaid(`(${why})`)}`),
      `  style ${number(iri)} stroke-dasharray: 5 5`,
    );
  for await (const some of inParts(edges))
    for (const { source, name, target, thirdParty } of some)
      lines.push(
        `  ${number(source)} ${thirdParty ? `-. ${name} .->` : `-- ${name} -->`} ${number(target)}`,
      );
  const note = leftOut(graph);
  if (note !== "")
    lines.push(`  note["${escapedForMermaid(note)}"]`, "  style note stroke-dasharray: 5 5");
  return `${lines.join("\n")}\n`;
}

/**
 * All but letters, digits and harmless marks as Mermaid's character codes: no character can end the
 * label, begin Markdown or HTML, or form a directive.
 */
function escapedForMermaid(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{C}\p{Z}]+/gu, " ")
    .replace(/[^\p{L}\p{M}\p{N} .,/:_-]/gu, (character) => `#${character.codePointAt(0)};`);
}
