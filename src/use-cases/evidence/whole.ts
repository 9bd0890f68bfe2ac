import { iriTerm } from "../../stores/queries/iri.js";
import type { Row } from "../../stores/queries/port.js";
import type { ProvenanceName } from "../../model/provenance.js";
import type { Asking } from "./asking.js";
import { compactType, IRIS } from "./context.js";
import { shorten, type Description } from "./descriptions.js";
import { statedAs } from "./edge-names.js";
import type { Edge } from "./edges.js";
import { namesInUse } from "./names-in-use.js";
import { DESCRIPTION_LENGTH } from "./types.js";

/** Of more nodes the texts are read as they are sent: they would not fit all at once. */
const MOST = 10_000;

/** Sorts behind every other text. */
const LAST = "\u{10FFFF}";

/** A pattern that binds a variable to nodes, to each once. */
export type Nodes = (variable: string) => string;
/** `described`: what records say of themselves, when there are not too many. */
export interface Whole { edges: Edge[]; described?: Map<string, Description> }

/**
 * All edges that nodes state, and what they say of themselves: one row a node, in a third of the time of a row a
 * statement.
 */
export async function readWhole(ask: Asking, nodes: Nodes): Promise<Whole> {
  const names = await namesInUse(ask);
  const edges = names.length === 0 ? [] : edgesIn(await ask.rows(edgesQuestion(nodes("?n"), names)), names);
  if (new Set(edges.flatMap(({ subject, object }) => [subject, object])).size > MOST) return { edges };
  return { edges, described: descriptionsIn(await ask.rows(textsQuestion(nodes("?n")))) };
}

/** No identifier holds a space, so that several stand in one text. Text where an identifier belongs is no edge. */
function edgesQuestion(nodes: string, names: readonly ProvenanceName[]): string {
  const arms = names.map((name, index) => `{ ?n ${iriTerm(statedAs(name))} ?o${index} FILTER(ISIRI(?o${index})) }`);
  return `SELECT ?n ${names.map((_, index) => joined(`o${index}`, `x${index}`)).join(" ")} { ${nodes} { ${arms.join(" UNION ")} } } GROUP BY ?n`;
}

function textsQuestion(nodes: string): string {
  const arms = [["type", IRIS.type], ["called", IRIS.name], ["long", IRIS.description]].map(([variable, iri]) => `{ GRAPH ?n { ?n ${iriTerm(iri!)} ?${variable} } }`);
  const short = `SUBSTR(STR(?long), 1, ${DESCRIPTION_LENGTH + 1})`;
  return `SELECT ?n ${joined("type", "types")} ${least("STR(?called)", "name")} ${least(short, "description")} { ${nodes} { ${arms.join(" UNION ")} } } GROUP BY ?n`;
}

// One row of a group that does not bind the variable would spoil the aggregate: it is given a value that says nothing.
const joined = (variable: string, as: string): string => `(GROUP_CONCAT(COALESCE(STR(?${variable}), ""); separator=" ") AS ?${as})`;
const least = (text: string, as: string): string => `(MIN(COALESCE(${text}, "${LAST}")) AS ?${as})`;
const textOf = (row: Row, variable: string): string | undefined => (row[variable]?.value === LAST ? undefined : row[variable]?.value);

const several = (row: Row, variable: string): string[] => [...new Set(row[variable]?.value.split(" "))].filter((text) => text !== "");

function edgesIn(rows: readonly Row[], names: readonly ProvenanceName[]): Edge[] {
  const edges: Edge[] = [];
  for (const row of rows) for (const [index, name] of names.entries()) for (const object of several(row, `x${index}`)) edges.push({ subject: row["n"]!.value, name, object });
  return edges;
}

function descriptionsIn(rows: readonly Row[]): Map<string, Description> {
  const found = new Map<string, Description>();
  for (const row of rows) {
    const types = several(row, "types");
    const name = textOf(row, "name");
    const description = textOf(row, "description");
    if (types.length === 0) continue;
    found.set(row["n"]!.value, { types: new Set(types.map(compactType)), records: new Set(), ...(name !== undefined && { name }), ...(description !== undefined && { description: shorten(description) }) });
  }
  return found;
}
