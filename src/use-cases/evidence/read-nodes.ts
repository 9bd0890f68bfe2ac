import type { Asking } from "./asking.js";
import { EVIDENCE_CONTEXT } from "./context.js";
import { dangling } from "./dangling.js";
import { describe, describeRecord } from "./descriptions.js";
import type { EvidenceDeps } from "./evidence-deps.js";
import { supportOf, type Edge } from "./net.js";
import { nodesOf, ofRecord, reference } from "./nodes.js";
import { AT_ONCE, type Known, type Outline } from "./outline.js";
import { inverted } from "./said.js";
import { fieldsOf } from "./statements.js";
import type { Dangling, EvidenceAnswer, EvidenceNode, EvidenceRequest, Reference } from "./types.js";

/** Of more nodes than are read at once, so many at a time: with more the heap grows. */
const LOT = 50;

type Stated = Pick<Known, "edges" | "said">;

/** Reads the nodes of an outline, the first lot at once. `complete`: there are no more. */
export async function readNodes(ask: Asking, outline: Outline, request: EvidenceRequest, deps: EvidenceDeps): Promise<EvidenceAnswer & { complete: boolean }> {
  const { root, page, hidden } = outline;
  const missing: Dangling[] = [];
  const complete = page.nodes.length <= AT_ONCE;
  const lot = complete ? AT_ONCE : LOT;
  const read = async (start: number): Promise<EvidenceNode[]> => {
    const order = page.nodes.slice(start, start + lot);
    const known = outline.known ?? (await know(ask, order, outline, deps, complete ? outline.texts : undefined));
    for (const node of order) if (known.missing.has(node)) missing.push(known.missing.get(node)!);
    const here = new Set(order);
    const where = (shown: (edge: Edge) => boolean): Stated => {
      const places = known.edges.flatMap((edge, index) => (shown(edge) ? [index] : []));
      return { edges: places.map((index) => known.edges[index]!), said: places.map((index) => known.said[index]!) };
    };
    const withFields = async ({ edges, said }: Stated): Promise<Stated> => {
      if (!request.statements) return { edges, said };
      const fields = await fieldsOf(edges, deps.records);
      return { edges, said: said.map((each, index) => ({ ...each, fields: each.record === null ? [null] : fields[index]! })) };
    };
    const own = await withFields(outline.known ? where(({ subject }) => here.has(subject)) : known);
    const made = await withFields(outline.known ? where(({ name, object }) => name === "generated" && here.has(object)) : await madeOf(order, outline));
    const derived = inverted(made.edges, made.said, own.edges);
    return nodesOf(order, known.described, [...own.edges, ...derived.edges], outline, [...own.said, ...derived.said]);
  };
  const first = await read(0);
  return {
    complete,
    head: { "@context": EVIDENCE_CONTEXT, "@id": root, direction: request.direction },
    async *nodes() {
      yield first;
      for (let start = lot; start < page.nodes.length; start += lot) yield await read(start);
    },
    tail() {
      const deleted = missing.reduce((sum, { reason, count = 1 }) => sum + (reason === "deleted" ? count : 0), 0);
      return {
        outputs: outputsOf(outline), dangling: missing,
        hidden: { ...hidden, ...(page.later > 0 && { limit: page.later }), ...(deleted > 0 && { deleted }) },
        truncated: page.cursor !== undefined, ...(page.cursor !== undefined && { cursor: page.cursor }),
        asOf: ask.oldest,
      };
    },
  };
}

/** What is said of how nodes were generated, by those that generated them. */
async function madeOf(order: readonly string[], { net, assertions, near }: Outline): Promise<Stated> {
  const edges = net.edgesInto(order, "generated");
  return { edges, said: edges.length === 0 ? [] : await assertions.of(edges, near) };
}

async function know(ask: Asking, order: readonly string[], { root, record, net, assertions, near }: Outline, deps: EvidenceDeps, texts: Outline["texts"]): Promise<Known> {
  // Before the descriptions are waited for: the engine is still at work.
  const edges = net.edgesOf(order);
  const alone = order.length === 1 && order[0] === root;
  const described = await (alone && !texts ? describeRecord(ask, root, deps.records) : describe(ask, order, texts));
  if (order.includes(root) && !described.has(root)) described.set(root, ofRecord(record));
  const missing = await dangling(order.filter((node) => !described.has(node)), deps.records);
  return { edges, said: await assertions.of(edges, near), described, missing: new Map(missing.map((each) => [each["@id"], each])) };
}

/** What supports nothing else that was found; in a cycle without end, the asked-for record. */
function outputsOf({ page: { nodes }, net, known, root, record }: Outline): Reference[] {
  const supports = known ? supportersIn(known.edges) : net.supporters();
  const ends = nodes.filter((node) => !supports(node) && !(record.kind === "rocrate" && node === root && nodes.length > 1));
  return (ends.length > 0 ? ends : [root]).map(reference);
}

function supportersIn(edges: readonly Edge[]): (node: string) => boolean {
  const supporting = new Set<string>();
  for (const edge of edges) {
    const [a, b] = supportOf(edge);
    if (a !== b) supporting.add(b);
  }
  return (node) => supporting.has(node);
}
