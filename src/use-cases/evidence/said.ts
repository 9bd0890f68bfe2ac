import { PROVENANCE, type ProvenanceName } from "../../model/provenance.js";
import type { Edge } from "./net.js";
import type { Assertion, StatedEdge } from "./types.js";

/** Whose word an edge is; `record` is null where a group's members have each their own. `fields`: which fields of it say so. `derived`: they say the inverse. */
export interface Said extends Omit<Assertion, "record"> { record: string | null; fields?: readonly (string | null)[]; derived?: true }

const PLACES = new Map((Object.keys(PROVENANCE) as ProvenanceName[]).map((name, place) => [name, place]));

/** What a node shows of one edge: a row for each field where fields were asked for. */
export function statedEdges({ name, object }: Edge, { record, owner, ownsSource, ownsTarget, thirdParty, fields, derived }: Said): StatedEdge[] {
  const row = (field?: { field: string | null }): StatedEdge => ({
    property: name, object, record, ...field, owner, ownsSource, ownsTarget, ...(thirdParty && { thirdParty }), ...(derived && { derived }),
  });
  return fields ? fields.map((field) => row({ field })) : [row()];
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/**
 * What actions say of their results, as the results would say it: programs follow `generatedBy` from node to node, and many
 * crates state `result` of the action only. What a result says itself is left out.
 * @param edges `generated`, with `said` in their order
 * @param stated edges of the results
 */
export function inverted(edges: readonly Edge[], said: readonly Said[], stated: readonly Edge[]): { edges: Edge[]; said: Said[] } {
  const known = new Set(stated.flatMap(({ subject, name, object }) => (name === "generatedBy" ? [`${subject} ${object}`] : [])));
  const left = edges.flatMap(({ subject, object }, index) => (subject === object || known.has(`${object} ${subject}`) ? [] : [index]));
  return {
    edges: left.map((index) => ({ subject: edges[index]!.object, name: "generatedBy", object: edges[index]!.subject, graph: edges[index]!.graph })),
    said: left.map((index) => ({ ...said[index]!, ownsSource: said[index]!.ownsTarget, ownsTarget: said[index]!.ownsSource, derived: true })),
  };
}

/** An order that does not depend on how the graph was read, each row once. */
export function inOrder(rows: StatedEdge[]): StatedEdge[] {
  if (rows.length < 2) return rows;
  const sorted = rows.toSorted((a, b) => PLACES.get(a.property)! - PLACES.get(b.property)! || compare(a.object, b.object)
    || compare(a.record ?? "", b.record ?? "") || compare(a.owner ?? "", b.owner ?? "") || compare(a.field ?? "", b.field ?? ""));
  return sorted.filter((each, index) => index === 0 || !isSame(each, sorted[index - 1]!));
}

const isSame = (a: StatedEdge, b: StatedEdge): boolean =>
  a.object === b.object && a.property === b.property && a.record === b.record && a.owner === b.owner && a.derived === b.derived && a.field === b.field && a.thirdParty === b.thirdParty;
