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
  /** Steps of each node from the root. */
  distance: ReadonlyMap<string, number>;
}

/** Times that nodes are told apart by what is around them; fan-outs of real workflows take two or three. */
const ROUNDS = 64;

/** A relation of a node, and what is at its other end. */
interface Relation { relation: string; other: string }

/**
 * Groups of nodes of one kind that have the same relations to the same neighbours, or to neighbours that are alike
 * themselves: 500 images that one computation used, eight runs on one input and the result of each. The name of a
 * group follows from its kind and its neighbours, so that it is the same in the next answer.
 */
export function groupsOf(siblings: Siblings, atLeast: number, open: ReadonlySet<string>): Group[] {
  const around = relationsOf(siblings);
  const opened = new Set<string>();
  for (;;) {
    const groups = named(classesOf(siblings, around, atLeast, opened), siblings, around);
    const asked = groups.filter(({ group }) => open.has(group));
    if (asked.length === 0) return groups;
    // What is around the members of an open group is told apart by them.
    for (const { members } of asked) for (const member of members) opened.add(member);
  }
}

function relationsOf({ edges, said }: Siblings): Map<string, Relation[]> {
  const around = new Map<string, Map<string, Relation>>();
  const relate = (node: string, relation: string, other: string): void => {
    const known = around.get(node) ?? around.set(node, new Map()).get(node)!;
    known.set(`${relation} ${other}`, { relation, other });
  };
  for (const [index, { subject, name, object }] of edges.entries()) {
    // What third parties state looks otherwise, and is no likeness to what owners do.
    const by = said[index]!.thirdParty ? ` by ${said[index]!.owner}` : "";
    relate(subject, `> ${name}${by}`, object);
    relate(object, `< ${name}${by}`, subject);
  }
  return new Map([...around].map(([node, relations]) => [node, [...relations.values()]]));
}

/**
 * Classes of at least so many nodes that are alike: nodes that begin as one class when they are of one kind and
 * equally far away, and are told apart by the classes of what is around them until that changes nothing (colour
 * refinement). A class that is too small is none: its nodes stand for themselves.
 */
function classesOf({ root, nodes, described, missing, distance }: Siblings, around: ReadonlyMap<string, Relation[]>, atLeast: number, opened: ReadonlySet<string>): string[][] {
  let classOf = new Map<string, string>();
  const sorted = (keys: ReadonlyMap<string, string>): string[][] => {
    const members = new Map<string, string[]>();
    for (const [node, key] of keys) (members.get(key) ?? members.set(key, []).get(key)!).push(node);
    const large = [...members.values()].filter(({ length }) => length >= atLeast);
    classOf = new Map(large.flatMap((some, index) => some.map((node): [string, string] => [node, `class ${index}`])));
    return large;
  };
  const candidates = nodes.filter((node) => node !== root && !opened.has(node) && around.has(node));
  let classes = sorted(new Map(candidates.map((node) => [node, `${distance.get(node)} ${kindOf(node, described, missing)}`])));
  for (let round = 0; round < ROUNDS; round++) {
    const before = [classes.length, classOf.size];
    const key = (node: string): string => {
      const relations = around.get(node)!.map(({ relation, other }) => `${relation} ${classOf.get(other) ?? other}`);
      // Hashed, since a hub is related to thousands.
      return hash(`${classOf.get(node)!}\n${relations.toSorted().join("\n")}`);
    };
    classes = sorted(new Map([...classOf.keys()].map((node) => [node, key(node)])));
    if (classes.length === before[0] && classOf.size === before[1]) break;
  }
  return classes;
}

function named(classes: readonly string[][], { root, described, missing }: Siblings, around: ReadonlyMap<string, Relation[]>): Group[] {
  const grouped = new Set(classes.flat());
  const seen = new Map<string, number>();
  return classes.map((members) => {
    const kind = kindOf(members[0]!, described, missing);
    const relations = around.get(members[0]!)!.map(({ relation, other }) => `${relation} ${grouped.has(other) ? kindOf(other, described, missing) : other}`);
    const name = hash(`${kind}\n${[...new Set(relations)].toSorted().join("\n")}`);
    // Classes that differ further away only.
    const twins = seen.get(name) ?? 0;
    seen.set(name, twins + 1);
    const group = twins === 0 ? name : hash(`${name} ${twins}`);
    return { iri: `${root}#group-${group}`, group, count: members.length, members };
  });
}

const kindOf = (node: string, described: Siblings["described"], missing: Siblings["missing"]): string =>
  described.has(node) ? described.get(node)!.types.toSorted().join() : `not here: ${missing.get(node)?.reason}`;

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
