import type { EvidenceGraph } from "../types.js";
import { edgesOf, leadingType, leftOut, others } from "./edges.js";
import { provJson, provModel, turtle } from "./prov.js";

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
  { type: string; write: (graph: EvidenceGraph) => string | Promise<string> }
>;
export type EvidenceFormat = keyof typeof EVIDENCE_FORMATS;

const SHAPES = { activity: "box", agent: "house", entity: "ellipse" } as const;

/**
 * A drawing for Graphviz. Nodes are numbered: identifiers and names occur in quoted strings only.
 */
export function dot(graph: EvidenceGraph): string {
  const edges = edgesOf(graph["@graph"]);
  const { classes } = provModel(graph);
  const numbers = new Map<string, string>();
  const number = (iri: string): string =>
    numbers.get(iri) ?? numbers.set(iri, `n${numbers.size}`).get(iri)!;
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
  for (const node of graph["@graph"]) {
    const label = [node.name ?? node["@id"], leadingType(node)]
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
  for (const { source, name, target, thirdParty } of edges)
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
export function mermaid(graph: EvidenceGraph): string {
  const edges = edgesOf(graph["@graph"]);
  const { classes } = provModel(graph);
  const numbers = new Map<string, string>();
  const number = (iri: string): string =>
    numbers.get(iri) ?? numbers.set(iri, `n${numbers.size}`).get(iri)!;
  const drawn = (iri: string, label: string): string => {
    const [open, close] =
      BRACKETS[
        (["activity", "agent"] as const).find((each) => classes.get(iri)?.has(each)) ?? "entity"
      ];
    return `  ${number(iri)}${open}"${label}"${close}`;
  };
  const lines = ["flowchart RL"];
  for (const node of graph["@graph"]) {
    lines.push(
      drawn(
        node["@id"],
        [node.name ?? node["@id"], leadingType(node)]
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
  for (const { source, name, target, thirdParty } of edges)
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
