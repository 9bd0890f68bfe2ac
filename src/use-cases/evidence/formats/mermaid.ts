import type { EvidenceGraph } from "../types.js";
import { edgesOf, leadingType, leftOut, others } from "./edges.js";
import { provModel } from "./prov-model.js";

/** Brackets that draw the shape of a class. */
const BRACKETS = { activity: ["[", "]"], agent: ["[/", "\\]"], entity: ["([", "])"] } as const;

/** A flowchart for Mermaid, which forges draw in Markdown. Nodes are numbered: what clients wrote stands in quoted labels only. */
export function mermaid(graph: EvidenceGraph): string {
  const edges = edgesOf(graph["@graph"]);
  const { classes } = provModel(graph);
  const numbers = new Map<string, string>();
  const number = (iri: string): string => numbers.get(iri) ?? numbers.set(iri, `n${numbers.size}`).get(iri)!;
  const drawn = (iri: string, label: string): string => {
    const [open, close] = BRACKETS[(["activity", "agent"] as const).find((each) => classes.get(iri)?.has(each)) ?? "entity"];
    return `  ${number(iri)}${open}"${label}"${close}`;
  };
  const lines = ["flowchart RL"];
  for (const node of graph["@graph"]) {
    lines.push(drawn(node["@id"], [node.name ?? node["@id"], leadingType(node)].filter((text) => text !== undefined).map(escaped).join("<br/>")));
  }
  for (const [iri, why] of others(graph, edges)) lines.push(`${drawn(iri, `${escaped(iri)}<br/>${escaped(`(${why})`)}`)}`, `  style ${number(iri)} stroke-dasharray: 5 5`);
  for (const { source, name, target, thirdParty } of edges) lines.push(`  ${number(source)} ${thirdParty ? `-. ${name} .->` : `-- ${name} -->`} ${number(target)}`);
  const note = leftOut(graph);
  if (note !== "") lines.push(`  note["${escaped(note)}"]`, "  style note stroke-dasharray: 5 5");
  return `${lines.join("\n")}\n`;
}

/**
 * All but letters, digits and harmless marks as Mermaid's character codes: nothing can end the label, begin
 * Markdown or HTML, or be taken for a directive.
 */
function escaped(text: string): string {
  return text.toWellFormed().replace(/[\p{C}\p{Z}]+/gu, " ").replace(/[^\p{L}\p{M}\p{N} .,/:_-]/gu, (character) => `#${character.codePointAt(0)};`);
}
