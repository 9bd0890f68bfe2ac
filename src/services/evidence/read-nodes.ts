import { arkKey, looksLikeArk } from "../../identifiers/ark.js";
import type { JsonObject } from "../../model/field.js";
import { publicView } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { graphOf, graphsOf } from "../../rdf/graph.js";
import type { RecordStore, StoredRecord } from "../../storage/records/port.js";
import { type Asking, describe, describeRecord } from "./descriptions.js";
import { type Edge, supportOf } from "./net.js";
import { dangling, inverted, nodesOf, ofRecord, reference } from "./nodes.js";
import { AT_ONCE, type Known, type Outline } from "./outline.js";
import {
  type Dangling,
  EVIDENCE_CONTEXT,
  type EvidenceAnswer,
  type EvidenceDeps,
  type EvidenceNode,
  type EvidenceRequest,
  type Reference,
} from "./types.js";
import { NAME_OF_IRI } from "./walk.js";

/** Documents parsed at a time: other requests may run between two batches. */
const STATEMENTS_AT_ONCE = 100;
const STATEMENT = /^<([^>]*)> <([^>]*)> <([^>]*)> <[^>]*> \.$/;

/**
 * The fields, of the record that states an edge, that state it: found by normalising its document
 * again, field by field, so that they follow exactly the rules that produced the edges.
 * @returns in the order of the edges; null where the document no longer states the edge literally
 */
export async function fieldsOf(
  edges: readonly Edge[],
  records: Pick<RecordStore, "findMany">,
): Promise<(string | null)[][]> {
  const claims = await statedIn([...new Set(edges.map(({ graph }) => graph))], records);
  return edges.map(({ subject, name, object, graph }) => {
    const fields = claims.get(graph)?.get(`${name} ${comparable(object)}`) ?? [];
    const exact = fields.filter(
      (field) => field.subject === comparable(subject) || field.subject === comparable(graph),
    );
    const names = [...new Set((exact.length > 0 ? exact : fields).map(({ field }) => field))];
    return names.length > 0 ? names : [null];
  });
}

interface StatedField {
  field: string;
  subject: string;
}
type Fields = ReadonlyMap<string, StatedField[]>;

async function statedIn(
  arks: readonly string[],
  records: Pick<RecordStore, "findMany">,
): Promise<Map<string, Fields>> {
  const found = new Map<string, Fields>();
  for (let start = 0; start < arks.length; start += STATEMENTS_AT_ONCE) {
    for (const record of await records.findMany(arks.slice(start, start + STATEMENTS_AT_ONCE))) {
      if (record && !record.tombstone) found.set(record.ark, await fieldsStatedBy(record));
    }
  }
  return found;
}

/** The statements of each field of a document, by name of the relation and its target. */
async function fieldsStatedBy(record: StoredRecord): Promise<Fields> {
  const {
    "@context": context,
    "@type": type,
    ...body
  } = publicView(
    KINDS[record.kind],
    JSON.parse(Buffer.from(record.document).toString()) as JsonObject,
  );
  const fields = Object.entries(body).filter(
    ([name, value]) =>
      (name === "@reverse" || !name.startsWith("@")) &&
      value !== null &&
      ["string", "object"].includes(typeof value),
  );
  const fromCrate = record.crate !== null || KINDS[record.kind].loose === true;
  const inputs = fields.map(([name, value]) => ({
    ark: record.ark,
    kind: record.kind,
    fromCrate,
    document: { ...(type === undefined ? {} : { "@type": type }), [name]: value } as JsonObject,
  }));
  // Records of a crate share its context; records from the API are mostly plain and need no JSON-LD
  // processor.
  const graphs = fromCrate
    ? await graphsOf(context, inputs)
    : await Promise.all(
        inputs.map((input) =>
          graphOf({
            ...input,
            document: {
              ...(context === undefined ? {} : { "@context": context }),
              ...input.document,
            },
          }),
        ),
      );
  const claims = new Map<string, StatedField[]>();
  for (const [index, { quads }] of graphs.entries()) {
    const field = fields[index]![0];
    for (const line of quads.split("\n")) {
      const [, subject, property, object] = STATEMENT.exec(line) ?? [];
      const name =
        property === undefined || line.includes("#inferred> .")
          ? undefined
          : NAME_OF_IRI.get(property);
      if (!name) continue;
      const key = `${name} ${comparable(object!)}`;
      (claims.get(key) ?? claims.set(key, []).get(key)!).push({
        field,
        subject: comparable(subject!),
      });
    }
  }
  return claims;
}

/**
 * Different spellings of a record's identifier count as one; objects inside records are numbered
 * again field by field.
 */
function comparable(iri: string): string {
  const bare = iri.replace(/#genid-\d+$/, "#genid");
  return looksLikeArk(bare) ? arkKey(bare) : bare;
}

/** The same for edges of an answer, by the record that states each. */
export const fieldsStated = (
  edges: readonly { source: string; name: Edge["name"]; target: string; record: string }[],
  { records }: { records: Pick<RecordStore, "findMany"> },
): Promise<(string | null)[][]> =>
  fieldsOf(
    edges.map(({ source, name, target, record }) => ({
      subject: source,
      name,
      object: target,
      graph: record,
    })),
    records,
  );

/** Batch size for nodes beyond the first read: with more the heap grows. */
const BATCH = 50;

type Stated = Pick<Known, "edges" | "claims">;

/** Reads the nodes of an outline, the first batch at once. `complete`: there are no more. */
export async function readNodes(
  ask: Asking,
  outline: Outline,
  request: EvidenceRequest,
  deps: EvidenceDeps,
): Promise<EvidenceAnswer & { complete: boolean }> {
  const { root, page, hidden } = outline;
  const missing: Dangling[] = [];
  const complete = page.nodes.length <= AT_ONCE;
  const batch = complete ? AT_ONCE : BATCH;
  const read = async (start: number): Promise<EvidenceNode[]> => {
    const order = page.nodes.slice(start, start + batch);
    const known =
      outline.known ??
      (await know(ask, order, outline, deps, complete ? outline.texts : undefined));
    for (const node of order) if (known.missing.has(node)) missing.push(known.missing.get(node)!);
    const here = new Set(order);
    const where = (shown: (edge: Edge) => boolean): Stated => {
      const places = known.edges.flatMap((edge, index) => (shown(edge) ? [index] : []));
      return {
        edges: places.map((index) => known.edges[index]!),
        claims: places.map((index) => known.claims[index]!),
      };
    };
    const withFields = async ({ edges, claims }: Stated): Promise<Stated> => {
      if (!request.statements) return { edges, claims };
      const fields = await fieldsOf(edges, deps.records);
      return {
        edges,
        claims: claims.map((each, index) => ({
          ...each,
          fields: each.record === null ? [null] : fields[index]!,
        })),
      };
    };
    const own = await withFields(outline.known ? where(({ subject }) => here.has(subject)) : known);
    const made = await withFields(
      outline.known
        ? where(({ name, object }) => name === "generated" && here.has(object))
        : await madeOf(order, outline),
    );
    const derived = inverted(made.edges, made.claims, own.edges);
    return nodesOf(order, known.described, [...own.edges, ...derived.edges], outline, [
      ...own.claims,
      ...derived.claims,
    ]);
  };
  const first = await read(0);
  return {
    complete,
    head: { "@context": EVIDENCE_CONTEXT, "@id": root, direction: request.direction },
    async *nodes() {
      yield first;
      for (let start = batch; start < page.nodes.length; start += batch) yield await read(start);
    },
    tail() {
      const deleted = missing.reduce(
        (sum, { reason, count = 1 }) => sum + (reason === "deleted" ? count : 0),
        0,
      );
      return {
        outputs: outputsOf(outline),
        dangling: missing,
        hidden: {
          ...hidden,
          ...(page.later > 0 && { limit: page.later }),
          ...(deleted > 0 && { deleted }),
        },
        truncated: page.cursor !== undefined,
        ...(page.cursor !== undefined && { cursor: page.cursor }),
        asOf: ask.oldest,
      };
    },
  };
}

/** The statements about how nodes were generated, by the activities that generated them. */
async function madeOf(
  order: readonly string[],
  { net, assertions, near }: Outline,
): Promise<Stated> {
  const edges = net.edgesInto(order, "generated");
  return { edges, claims: edges.length === 0 ? [] : await assertions.of(edges, near) };
}

async function know(
  ask: Asking,
  order: readonly string[],
  { root, record, net, assertions, near }: Outline,
  deps: EvidenceDeps,
  texts: Outline["texts"],
): Promise<Known> {
  // Before waiting for the descriptions: the engine is still computing them.
  const edges = net.edgesOf(order);
  const alone = order.length === 1 && order[0] === root;
  const described = await (alone && !texts
    ? describeRecord(ask, root, deps.records)
    : describe(ask, order, texts));
  if (order.includes(root) && !described.has(root)) described.set(root, ofRecord(record));
  const missing = await dangling(
    order.filter((node) => !described.has(node)),
    deps.records,
  );
  return {
    edges,
    claims: await assertions.of(edges, near),
    described,
    missing: new Map(missing.map((each) => [each["@id"], each])),
  };
}

/** Nodes that support no other node found; in a cycle without end, the requested record. */
function outputsOf({ page: { nodes }, net, known, root, record }: Outline): Reference[] {
  const supports = known ? supportersIn(known.edges) : net.supporters();
  const ends = nodes.filter(
    (node) => !supports(node) && !(record.kind === "rocrate" && node === root && nodes.length > 1),
  );
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
