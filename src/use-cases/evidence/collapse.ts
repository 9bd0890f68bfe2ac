import { createHash } from "node:crypto";
import type { Description } from "./descriptions.js";
import type { Edge } from "./net.js";
import type { Said } from "./said.js";
import type { Dangling, GroupMarks } from "./types.js";

/** Like siblings that one node stands in for. */
export interface Group extends GroupMarks { iri: string; members: string[] }

/** What is known of the nodes that may be grouped. */
export interface Siblings {
  root: string;
  nodes: readonly string[];
  edges: readonly Edge[];
  said: readonly Said[];
  described: ReadonlyMap<string, Description>;
  missing: ReadonlyMap<string, Dangling>;
}

/**
 * Groups of nodes of one kind that have the same relations to the same neighbours: 500 images that one
 * computation used. The name of a group follows from its kind and its neighbours, so that it is the same in
 * the next answer.
 */
export function groupsOf({ root, nodes, edges, said, described, missing }: Siblings, atLeast: number, open: ReadonlySet<string>): Group[] {
  const relations = new Map<string, string[]>();
  const relate = (node: string, relation: string): void => void (relations.get(node) ?? relations.set(node, []).get(node)!).push(relation);
  for (const [index, { subject, name, object }] of edges.entries()) {
    // What third parties state looks otherwise, and is no likeness to what owners do.
    const by = said[index]!.thirdParty ? ` by ${said[index]!.owner}` : "";
    relate(subject, `> ${name} ${object}${by}`);
    relate(object, `< ${name} ${subject}${by}`);
  }
  const alike = new Map<string, string[]>();
  for (const node of nodes) {
    const around = relations.get(node);
    if (node === root || !around) continue;
    const kind = described.has(node) ? described.get(node)!.types.toSorted().join() : `not here: ${missing.get(node)?.reason}`;
    // Hashed, since a hub is related to thousands.
    const likeness = createHash("sha256").update(`${kind}\n${[...new Set(around)].toSorted().join("\n")}`).digest("hex").slice(0, 16);
    (alike.get(likeness) ?? alike.set(likeness, []).get(likeness)!).push(node);
  }
  return [...alike].filter(([group, members]) => members.length >= atLeast && !open.has(group))
    .map(([group, members]) => ({ iri: `${root}#group-${group}`, group, count: members.length, members }));
}
