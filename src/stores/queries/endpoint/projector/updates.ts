import { iriTerm } from "../../iri.js";
import { positionBlock, type Position } from "../position.js";
import type { Piece } from "./pieces.js";

/**
 * The update that takes the projection from one position to the next: nothing happens where it is at another. One
 * request, so that servers with transactions do all of it or nothing; where there are none the position moves last.
 */
export function stepUpdate(from: Position, to: Position, lot: readonly Piece[]): string {
  const guard = positionBlock(from);
  const parts: string[] = [];
  for (const graph of lot.flatMap(({ emptied }) => emptied)) parts.push(emptying(graph, guard));
  // In one operation with the position: Oxigraph takes twice as long for the second one of a request.
  parts.push(`DELETE { ${guard} } INSERT {\n${blocksOf(lot)}\n${positionBlock(to)} } WHERE { ${guard} }`);
  return parts.join(";\n");
}

/** What is added, graph by graph. */
export function blocksOf(lot: readonly Piece[]): string {
  const added: string[] = [];
  let open = "";
  for (const { statements } of lot) {
    for (const { graph, triple } of statements) {
      if (graph !== open) added.push(`${open === "" ? "" : "}\n"}GRAPH ${iriTerm(graph)} {`);
      open = graph;
      added.push(triple);
    }
  }
  if (open !== "") added.push("}");
  return added.join("\n");
}

const emptying = (graph: string, guard: string): string => `DELETE { GRAPH ${iriTerm(graph)} { ?s ?p ?o } } WHERE { ${guard} GRAPH ${iriTerm(graph)} { ?s ?p ?o } }`;

/** The first position of an endpoint that has none. */
export const beginUpdate = (to: Position): string => `INSERT { ${positionBlock(to)} } WHERE { FILTER NOT EXISTS { ${positionBlock("?any")} } }`;

/** Puts the projection to a position, wherever it is. */
export const resetUpdate = (to: Position): string => `DELETE { ${positionBlock("?any")} } WHERE { ${positionBlock("?any")} };\nINSERT DATA { ${positionBlock(to)} }`;

/** Has whoever projects begin anew with an endpoint that is emptied first. Fence 0 is nobody's. */
export const rebuildUpdate = (truth: string): string => resetUpdate({ truth, fence: 0, phase: "clear", sequence: 0, after: 0, part: 0 });
