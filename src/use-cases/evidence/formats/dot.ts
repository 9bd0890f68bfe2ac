import type { EvidenceGraph } from "../types.js";
import { edgesOf, leadingType, leftOut, others } from "./edges.js";
import { provModel } from "./prov-model.js";

const SHAPES = { activity: "box", agent: "house", entity: "ellipse" } as const;

/** A drawing for Graphviz. Nodes are numbered: identifiers and names stand in quoted strings only. */
export function dot(graph: EvidenceGraph): string {
  const edges = edgesOf(graph["@graph"]);
  const { classes } = provModel(graph);
  const numbers = new Map<string, string>();
  const number = (iri: string): string => numbers.get(iri) ?? numbers.set(iri, `n${numbers.size}`).get(iri)!;
  const shape = (iri: string): string => SHAPES[(["activity", "agent"] as const).find((each) => classes.get(iri)?.has(each)) ?? "entity"];
  const lines = ["digraph evidence {", "  rankdir=RL;", "  node [fontname=\"sans-serif\"];", "  edge [fontname=\"sans-serif\", fontsize=10];"];
  const note = leftOut(graph);
  if (note !== "") lines.push(`  label=${quoted(note)};`);
  for (const node of graph["@graph"]) {
    const label = [node.name ?? node["@id"], leadingType(node)].filter((text) => text !== undefined).map(escaped).join("\\n");
    lines.push(`  ${number(node["@id"])} [label="${label}", tooltip=${quoted(node["@id"])}, shape=${shape(node["@id"])}${node.count === undefined ? "" : ", peripheries=2"}];`);
  }
  for (const [iri, why] of others(graph, edges)) lines.push(`  ${number(iri)} [label="${escaped(iri)}\\n(${escaped(why)})", shape=${shape(iri)}, style=dashed];`);
  for (const { source, name, target, thirdParty } of edges) lines.push(`  ${number(source)} -> ${number(target)} [label="${name}"${thirdParty ? ", style=dashed" : ""}];`);
  return `${[...lines, "}"].join("\n")}\n`;
}

const quoted = (text: string): string => `"${escaped(text)}"`;
/** Graphviz reads backslashes (`\N`, `\l`) and entities in a label; control characters draw nothing. */
function escaped(text: string): string {
  // eslint-disable-next-line no-control-regex -- they are what is taken out
  return text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("&", "&amp;");
}
