import { getOrInsert } from "../../get-or-insert.js";
import { plainLine } from "../../model/texts.js";
import type { Dangling, EvidenceGraph, EvidenceNode, Reference, StatedEdge } from "./types.js";

// Of services only types are imported here: the command-line tool draws trees and must not load the
// service.

/**
 * Names of properties whose object depends on the subject; all other provenance has the opposite
 * direction.
 */
const SUBJECT_SUPPORTS = new Set([
  "generated",
  "usedBy",
  "datasetUsedBy",
  "softwareUsedBy",
  "sampleUsedBy",
  "instrumentUsedBy",
  "reagentUsedBy",
  "mlModelUsedBy",
  "serviceUsedBy",
  "derivedTo",
]);
const NO_EDGES = new Set([
  "@id",
  "@type",
  "name",
  "description",
  "sameAs",
  "statements",
  "count",
  "group",
]);

/** Steps drawn below each other; a terminal is not wide enough for more. */
const DEEPEST = 100;

/** How a node supports the one above it, or depends on it. */
interface Branch {
  to: string;
  /** The property that states it; `inverse`: of the lower node, about the upper. */
  by: string;
  inverse: boolean;
  /** Owners of the records that state it. */
  owners: (string | null)[];
  /** Only third parties state it. */
  thirdParty: boolean;
}

/** One line of a tree. */
export interface TreeRow {
  id: string;
  /** Steps from the beginning. */
  depth: number;
  node?: EvidenceNode;
  missing?: Dangling;
  /** Absent at the beginning. */
  branch?: Branch;
  /** Drawn before, with what follows it. */
  again: boolean;
  /** What follows is left out: the tree is deep enough. */
  cut: boolean;
}

interface Step {
  id: string;
  branch?: Branch;
  indent: string;
  last: boolean;
  depth: number;
}

/**
 * The nodes that support the root, each below what it supports; or for `downstream` the nodes that
 * depend on it. A node that was drawn before is marked and not drawn again, so cycles and diamonds
 * end.
 * @param root identifier to begin with; default the requested record, or the outputs when that has
 * no evidence of its own (a crate)
 */
export function* treeRows(
  evidence: EvidenceGraph,
  { root, downstream = evidence.direction === "downstream" }: TreeOptions = {},
): Generator<TreeRow & Pick<Step, "indent" | "last">> {
  const nodes = new Map(evidence["@graph"].map((node) => [node["@id"], node]));
  const dangling = new Map(evidence.dangling.map((each) => [each["@id"], each]));
  const branches = branchesOf(evidence, downstream);
  const begin =
    root === undefined && !branches.has(evidence["@id"]) && evidence.outputs.length > 0
      ? evidence.outputs.map((end) => end["@id"])
      : [root ?? evidence["@id"]];
  const drawn = new Set<string>();
  const stack: Step[] = begin
    .map((id): Step => ({ id, indent: "", last: true, depth: 0 }))
    .toReversed();
  // An explicit stack: chains are longer than the call stack.
  for (let step = stack.pop(); step; step = stack.pop()) {
    const { id, depth } = step;
    const children = branches.get(id) ?? [];
    const again = drawn.has(id) && children.length > 0;
    drawn.add(id);
    const [node, missing] = [nodes.get(id), dangling.get(id)];
    const cut = !again && children.length > 0 && depth === DEEPEST;
    yield { ...step, ...(node && { node }), ...(missing && { missing }), again, cut };
    if (again || cut) continue;
    const indent = depth === 0 ? "" : `${step.indent}${step.last ? "   " : "│  "}`;
    const steps = children.map((branch) => ({
      id: branch.to,
      branch,
      indent,
      last: branch === children.at(-1),
      depth: depth + 1,
    }));
    for (const next of steps.toReversed()) stack.push(next);
  }
}

interface TreeOptions {
  root?: string | undefined;
  /** Default: the direction of the answer; upstream for both. */
  downstream?: boolean;
}

/** The same as text, one node per line without a line end. */
export function supportTree(evidence: EvidenceGraph, root?: string): string[] {
  const lines: string[] = [];
  for (const row of treeRows(evidence, { root })) {
    const { id, depth, branch, node, missing, again, cut, indent, last } = row;
    const label = branch === undefined ? "" : `${labelOf(branch)}: `;
    const text = `${label}${caption(id, node, missing?.reason)}${again ? " (see above)" : ""}`;
    lines.push(depth === 0 ? text : `${indent}${last ? "└─ " : "├─ "}${text}`);
    if (cut) lines.push(`${indent}   … continues; ask for ${id}`);
  }
  if (evidence.truncated) lines.push("… more nodes follow on the next page");
  return lines;
}

function labelOf({ by, inverse, thirdParty, owners }: Branch): string {
  const stating = thirdParty
    ? ` (third party: ${owners.map((owner) => owner ?? "nobody").join(", ")})`
    : "";
  return `${by}${inverse ? " (inverse)" : ""}${stating}`;
}

/** A node's next nodes, each once, named by the first property that states it. */
function branchesOf(evidence: EvidenceGraph, down: boolean): Map<string, Branch[]> {
  const branches = new Map<string, Map<string, Branch>>();
  for (const node of evidence["@graph"]) {
    const claims = new Map<string, StatedEdge[]>();
    for (const claim of node.statements ?? []) {
      const key = `${claim.property} ${claim.object}`;
      getOrInsert(claims, key, (): StatedEdge[] => []).push(claim);
    }
    for (const [name, values] of Object.entries(node)) {
      if (NO_EDGES.has(name)) continue;
      for (const { "@id": other } of values as Reference[]) {
        const [supported, supporting] = SUBJECT_SUPPORTS.has(name)
          ? [other, node["@id"]]
          : [node["@id"], other];
        const [from, to] = down ? [supporting, supported] : [supported, supporting];
        const targets = getOrInsert(branches, from, () => new Map<string, Branch>());
        const stated = claims.get(`${name} ${other}`) ?? [];
        const thirdParty = stated.length > 0 && stated.every((claim) => claim.thirdParty);
        const known = targets.get(to);
        // `generatedBy` reads better upstream than `generated` seen from the other end.
        const named =
          !known || from === node["@id"]
            ? { by: name, inverse: from !== node["@id"] }
            : { by: known.by, inverse: known.inverse };
        targets.set(to, {
          to,
          ...named,
          owners: [...new Set([...(known?.owners ?? []), ...stated.map(({ owner }) => owner)])],
          // An owner of the record may state it too.
          thirdParty: thirdParty && (known?.thirdParty ?? true),
        });
      }
    }
  }
  return new Map([...branches].map(([from, targets]) => [from, [...targets.values()]]));
}

function caption(id: string, node: EvidenceNode | undefined, missing: string | undefined): string {
  if (missing !== undefined) return `${id} (${missing})`;
  // The class of the record's kind describes its role in the evidence better than a file's
  // MediaObject.
  const type = node?.["@type"].find((name) => name.startsWith("evi:")) ?? node?.["@type"][0];
  const name = plainLine(node?.name ?? "");
  const kind = type === undefined ? "" : ` (${type.replace(/^.*[#/:]/, "")})`;
  return name === "" ? `${id}${kind}` : `${name}${kind} ${id}`;
}
