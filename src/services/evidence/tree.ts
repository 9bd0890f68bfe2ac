import type { EvidenceGraph, EvidenceNode, Reference } from "./types.js";

// Only types are imported here: the command-line tool draws trees and must not load the service.

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

/** `thirdParty`: who states it, when only third parties do. */
interface Branch {
  to: string;
  by: string;
  thirdParty?: string;
}
interface Step {
  id: string;
  label: string;
  indent: string;
  last: boolean;
  top: boolean;
  depth: number;
}

/**
 * The answer as an indented tree of text, one node per line without a line end: the nodes that
 * support the root, or for `downstream` the nodes that depend on it. A node that was drawn before
 * is marked and not drawn again, so cycles and diamonds end.
 * @param root identifier to begin with; default the requested record, or the outputs when that has
 * no evidence of its own (a crate)
 */
export function supportTree(evidence: EvidenceGraph, root?: string): string[] {
  const nodes = new Map(evidence["@graph"].map((node) => [node["@id"], node]));
  const dangling = new Map(evidence.dangling.map(({ "@id": id, reason }) => [id, reason]));
  const branches = branchesOf(evidence);
  const begin =
    root === undefined && !branches.has(evidence["@id"]) && evidence.outputs.length > 0
      ? evidence.outputs.map((end) => end["@id"])
      : [root ?? evidence["@id"]];
  const lines: string[] = [];
  const drawn = new Set<string>();
  const stack: Step[] = begin
    .map((id): Step => ({ id, label: "", indent: "", last: true, top: true, depth: 0 }))
    .toReversed();
  // An explicit stack: chains are longer than the call stack.
  for (let step = stack.pop(); step; step = stack.pop()) {
    const children = branches.get(step.id) ?? [];
    const again = drawn.has(step.id) && children.length > 0;
    drawn.add(step.id);
    const name = caption(step.id, nodes.get(step.id), dangling.get(step.id));
    const text = `${step.label}${name}${again ? " (see above)" : ""}`;
    lines.push(step.top ? text : `${step.indent}${step.last ? "└─ " : "├─ "}${text}`);
    if (again || children.length === 0) continue;
    if (step.depth === DEEPEST) {
      lines.push(`${step.indent}   … continues; ask for ${step.id}`);
      continue;
    }
    const indent = step.top ? "" : `${step.indent}${step.last ? "   " : "│  "}`;
    for (let i = children.length - 1; i >= 0; i--) {
      const { to, by, thirdParty } = children[i]!;
      stack.push({
        id: to,
        label: `${by}${thirdParty === undefined ? "" : ` (third party: ${thirdParty})`}: `,
        indent,
        last: i === children.length - 1,
        top: false,
        depth: step.depth + 1,
      });
    }
  }
  if (evidence.truncated) lines.push("… more nodes follow on the next page");
  return lines;
}

/** A node's next nodes, each once, named by the first property that states it. */
function branchesOf(evidence: EvidenceGraph): Map<string, Branch[]> {
  const branches = new Map<string, Map<string, Omit<Branch, "to">>>();
  const down = evidence.direction === "downstream";
  for (const node of evidence["@graph"]) {
    for (const [name, values] of Object.entries(node)) {
      if (NO_EDGES.has(name)) continue;
      for (const { "@id": other } of values as Reference[]) {
        const [supported, supporting] = SUBJECT_SUPPORTS.has(name)
          ? [other, node["@id"]]
          : [node["@id"], other];
        const [from, to] = down ? [supporting, supported] : [supported, supporting];
        const targets = branches.get(from) ?? branches.set(from, new Map()).get(from)!;
        // `generatedBy` reads better upstream than `generated` seen from the other end.
        const known = targets.get(to);
        const thirdParty = thirdPartyOf(node, name, other);
        // An owner of the record states it too.
        const marked =
          thirdParty !== undefined && (!known || known.thirdParty !== undefined)
            ? { thirdParty }
            : {};
        if (!known || from === node["@id"])
          targets.set(to, { by: from === node["@id"] ? name : `${name} (inverse)`, ...marked });
        else if (thirdParty === undefined) delete known.thirdParty;
      }
    }
  }
  return new Map(
    [...branches].map(([from, targets]) => [
      from,
      [...targets].map(([to, branch]): Branch => ({ to, ...branch })),
    ]),
  );
}

/** Owners who state an edge, when all of them are third parties. */
function thirdPartyOf(node: EvidenceNode, property: string, object: string): string | undefined {
  const claims = (node.statements ?? []).filter(
    (statement) => statement.property === property && statement.object === object,
  );
  if (claims.length === 0 || !claims.every(({ thirdParty }) => thirdParty)) return undefined;
  return [...new Set(claims.map(({ owner }) => owner ?? "nobody"))].join(", ");
}

function caption(id: string, node: EvidenceNode | undefined, missing: string | undefined): string {
  if (missing !== undefined) return `${id} [${missing}]`;
  // The class of the record's kind describes its role in the evidence better than a file's
  // MediaObject.
  const type = node?.["@type"].find((name) => name.startsWith("evi:")) ?? node?.["@type"][0];
  return `${node?.name === undefined ? id : `${node.name} <${id}>`}${type === undefined ? "" : ` [${type}]`}`;
}
