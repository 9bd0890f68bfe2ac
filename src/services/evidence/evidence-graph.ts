/**
 * The evidence graph of a record: how its nodes are read and described, and its written form,
 * which is kept.
 */
import { eventLoop } from "../../event-loop-budget.js";
import { getOrInsert } from "../../get-or-insert.js";
import { type Ark, arkKey, looksLikeArk } from "../../identifiers/ark.js";
import type { JsonObject } from "../../model/field.js";
import { publicView } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { pairs } from "../../pairs.js";
import { graphOf, graphsOf } from "../../rdf/graph.js";
import type { RecordStore, StoredRecord } from "../../storage/records/port.js";
import { privateViewerOf, wholeStoreOf } from "../access/seen.js";
import { ByteCache } from "../limits.js";
import { findLive } from "../records/find.js";
import { GraphReader, describe, describeRecord } from "./descriptions.js";
import { type Edge, NAME_OF_IRI, supportersIn } from "./edges.js";
import { type ClaimedEdge, dangling, inverted, nodesOf, ofRecord, reference } from "./nodes.js";
import { MAX_NODES_READ_AT_ONCE, type Known, type Outline, outlineOf } from "./outline.js";
import {
  checkRange,
  type Dangling,
  EVIDENCE_CONTEXT,
  expandedIn,
  type EvidenceAnswer,
  type EvidenceDeps,
  type EvidenceGraph,
  type EvidenceNode,
  type EvidenceRequest,
  type Reference,
} from "./types.js";
import { PrivateGraphs } from "./private-graphs.js";

/** Documents parsed at a time: other requests may run between two batches. */
const DOCUMENTS_PER_BATCH = 25;
const STATEMENT = /^<([^>]*)> <([^>]*)> <([^>]*)> <[^>]*> \.$/;

/**
 * The fields that state an edge, of the record that states it: found by normalising its document
 * again, field by field, so that they follow exactly the rules that produced the edges.
 * @param arks the records whose edges the result knows
 * @returns by edge; null where the document no longer states the edge literally
 */
export async function fieldsStatedBy(
  arks: readonly string[],
  deps: { records: Pick<RecordStore, "findMany"> },
): Promise<(edge: Edge) => (string | null)[]> {
  const claims = await statedIn([...new Set(arks)], deps.records);
  return ({ subject, name, object, graph }) => {
    const fields = claims.get(graph)?.get(`${name} ${comparable(object)}`) ?? [];
    const exact = fields.filter(
      (field) => field.subject === comparable(subject) || field.subject === comparable(graph),
    );
    const names = [...new Set((exact.length > 0 ? exact : fields).map(({ field }) => field))];
    return names.length > 0 ? names : [null];
  };
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
  for (let start = 0; start < arks.length; start += DOCUMENTS_PER_BATCH) {
    for (const record of await records.findMany(arks.slice(start, start + DOCUMENTS_PER_BATCH))) {
      if (record && !record.tombstone) found.set(record.ark, await fieldsIn(record));
    }
    await eventLoop.nextTurn();
  }
  return found;
}

/** The statements of each field of a document, by name of the relation and its target. */
async function fieldsIn(record: StoredRecord): Promise<Fields> {
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
  for (const [[field], { quads }] of pairs(fields, graphs)) {
    for (const line of quads.split("\n")) {
      const [, subject, property, object] = STATEMENT.exec(line) ?? [];
      if (subject === undefined || property === undefined || object === undefined) continue;
      const name = line.includes("#inferred> .") ? undefined : NAME_OF_IRI.get(property);
      if (!name) continue;
      getOrInsert(claims, `${name} ${comparable(object)}`, (): StatedField[] => []).push({
        field,
        subject: comparable(subject),
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

/** Batch size for nodes beyond the first read: with more the heap grows. */
const BATCH = 50;

/** Reads the nodes of an outline, the first batch at once. `complete`: there are no more. */
async function readNodes(
  ask: GraphReader,
  outline: Outline,
  request: EvidenceRequest,
  deps: EvidenceDeps,
): Promise<EvidenceAnswer & { complete: boolean }> {
  const { root, page, hidden } = outline;
  const missing: Dangling[] = [];
  const complete = page.nodes.length <= MAX_NODES_READ_AT_ONCE;
  const batch = complete ? MAX_NODES_READ_AT_ONCE : BATCH;
  const read = async (start: number): Promise<EvidenceNode[]> => {
    const order = page.nodes.slice(start, start + batch);
    const known =
      outline.known ??
      (await know(ask, order, outline, deps, complete ? outline.texts : undefined));
    for (const node of order) {
      const absent = known.missing.get(node);
      if (absent) missing.push(absent);
    }
    const here = new Set(order);
    const withFields = async (claimed: readonly ClaimedEdge[]): Promise<readonly ClaimedEdge[]> => {
      if (!request.statements) return claimed;
      const fieldsOf = await fieldsStatedBy(
        claimed.map(({ edge }) => edge.graph),
        deps,
      );
      return claimed.map(({ edge, claim }) => ({
        edge,
        claim: { ...claim, fields: claim.record === null ? [null] : fieldsOf(edge) },
      }));
    };
    const own = await withFields(
      outline.known ? known.claimed.filter(({ edge }) => here.has(edge.subject)) : known.claimed,
    );
    const made = await withFields(
      outline.known
        ? known.claimed.filter(({ edge }) => edge.name === "generated" && here.has(edge.object))
        : await madeOf(order, outline),
    );
    return nodesOf(order, known.described, [...own, ...inverted(made, own)], outline);
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
      const missingFor = (asked: Dangling["reason"]): number =>
        missing.reduce((sum, { reason, count = 1 }) => sum + (reason === asked ? count : 0), 0);
      const [deleted, unknown] = [missingFor("deleted"), missingFor("unknown")];
      return {
        outputs: outputsOf(outline),
        dangling: missing,
        hidden: {
          ...hidden,
          ...(page.later > 0 && { limit: page.later }),
          ...(deleted > 0 && { deleted }),
          ...(unknown > 0 && { unknown }),
        },
        truncated: page.cursor !== undefined,
        ...(page.cursor !== undefined && { cursor: page.cursor }),
        asOf: ask.oldest,
        ...(outline.further && { further: outline.further }),
      };
    },
  };
}

/** The statements about how nodes were generated, by the activities that generated them. */
const madeOf = (
  order: readonly string[],
  { edgeList, assertions, near }: Outline,
): Promise<ClaimedEdge[]> => assertions.of(edgeList.edgesInto(order, "generated"), near);

async function know(
  ask: GraphReader,
  order: readonly string[],
  { root, record, edgeList, assertions, near }: Outline,
  deps: EvidenceDeps,
  texts: Outline["texts"],
): Promise<Known> {
  // Before waiting for the descriptions: the engine is still computing them.
  const edges = edgeList.edgesOf(order);
  const alone = order.length === 1 && order[0] === root;
  const described = await (alone && !texts
    ? describeRecord(ask, root, deps.records)
    : describe(ask, order, assertions, texts));
  if (order.includes(root) && !described.has(root)) described.set(root, ofRecord(record));
  const missing = await dangling(
    order.filter((node) => !described.has(node)),
    deps.records,
  );
  return {
    claimed: await assertions.of(edges, near),
    described,
    missing: new Map(missing.map((each) => [each["@id"], each])),
  };
}

/** Nodes that support no other node found; in a cycle without end, the requested record. */
function outputsOf({ page: { nodes }, edgeList, known, root, record }: Outline): Reference[] {
  const supporting = supportersIn(known ? known.claimed.map(({ edge }) => edge) : edgeList);
  const ends = nodes.filter(
    (node) =>
      !supporting.has(node) && !(record.kind === "rocrate" && node === root && nodes.length > 1),
  );
  return (ends.length > 0 ? ends : [root]).map(reference);
}

const INDEX_WAIT = 2_000;
/** Attempts to read a graph when a commit came between its queries. */
const READINGS = 3;

/**
 * The evidence graph of one record, never older than the request. After three attempts disturbed by
 * commits the graph is answered nevertheless, with `asOf` the oldest commit that it includes; so is
 * a graph with too many nodes to hold until all are read.
 *
 * @throws {ServiceError} `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `VALIDATION`, `INDEX_LOADING`,
 * `INDEX_BEHIND`, `QUERY_TIMEOUT`
 */
async function openEvidence(request: EvidenceRequest, deps: EvidenceDeps): Promise<EvidenceAnswer> {
  checkRanges(request);
  return openEvidenceOf(await upToDate(request.ark, deps), request, deps);
}

/** @throws {ServiceError} `VALIDATION` */
function checkRanges({ limit, depth, collapse, expand }: EvidenceRequest): void {
  checkRange("limit", limit);
  if (depth !== undefined) checkRange("depth", depth);
  if (collapse !== undefined) checkRange("collapse", collapse, 2);
  expandedIn(expand);
}

/** The same as {@link openEvidence} for a record that was found, and an index that is up to date. */
async function openEvidenceOf(
  record: StoredRecord,
  request: EvidenceRequest,
  deps: EvidenceDeps,
): Promise<EvidenceAnswer> {
  for (let reading = 1; ; reading++) {
    const ask = graphReaderOf(deps);
    const answer = await readNodes(ask, await outlineOf(ask, record, request, deps), request, deps);
    if (!answer.complete || ask.consistent || reading === READINGS) return answer;
  }
}

/** The same, all at once. */
export async function evidenceGraph(
  request: EvidenceRequest,
  deps: EvidenceDeps,
): Promise<EvidenceGraph> {
  const { head, nodes, tail } = await openEvidence(request, deps);
  const graph: EvidenceNode[] = [];
  for await (const some of nodes()) for (const node of some) graph.push(node);
  return { ...head, "@graph": graph, ...tail() };
}

export const graphReaderOf = ({ queries, records, timeout }: EvidenceDeps): GraphReader =>
  new GraphReader(queries, timeout === undefined ? {} : { timeout }, new PrivateGraphs(records));

/** The requested record, after the index has applied all commits before the request. */
export async function upToDate(ark: Ark, deps: EvidenceDeps): Promise<StoredRecord> {
  const sequence = await deps.records.sequence();
  const record = await findLive(deps, ark);
  await reached(sequence, deps);
  return record;
}

/** Waits until the index has applied all commits up to this one. */
const reached = (sequence: number, { queries, wait }: EvidenceDeps): Promise<void> =>
  queries.reach(sequence, wait ?? INDEX_WAIT);

/** Every answer begins with it: serialized once, not for each answer. */
const CONTEXT = JSON.stringify(EVIDENCE_CONTEXT);
/** Nodes in one chunk of text. */
const CHUNK = 500;
/** An answer that needs more than this part of the cache is not stored in it. */
const LARGEST_SHARE = 16;

/**
 * Written answers, each as of one commit. One cache for each record store: of one viewer an answer
 * cannot change without a commit.
 */
class WrittenAnswers {
  readonly #answers: ByteCache<Buffer>;
  #sequence = 0;

  constructor(readonly bytes: number) {
    this.#answers = new ByteCache<Buffer>(bytes, {
      sizeOf: ({ length }) => length,
      share: LARGEST_SHARE,
    });
  }

  /** The most bytes of an answer. */
  get largest(): number {
    return this.#answers.largest;
  }

  get(sequence: number, key: string): Buffer | undefined {
    return sequence === this.#sequence ? this.#answers.get(key) : undefined;
  }

  put(sequence: number, key: string, answer: Buffer): void {
    if (sequence < this.#sequence) return;
    if (sequence > this.#sequence) this.#answers.clear();
    this.#sequence = sequence;
    this.#answers.set(key, answer);
  }
}

const caches = new WeakMap<object, WrittenAnswers>();

function cacheOf(store: object, bytes: number): WrittenAnswers {
  const records = wholeStoreOf(store);
  const known = caches.get(records);
  if (known?.bytes === bytes) return known;
  const cache = new WrittenAnswers(bytes);
  caches.set(records, cache);
  return cache;
}

/**
 * The evidence graph of one record as JSON, written while its nodes are read: the largest answer is
 * never in memory as a whole. A repeated question gets the bytes of the answer before, until the
 * next commit.
 *
 * @param cached bytes of answers that may be stored (EVIDENCE_CACHE)
 * @throws {ServiceError} as {@link import("./evidence-graph.js").openEvidence}
 */
export async function* writeEvidence(
  request: EvidenceRequest,
  deps: EvidenceDeps,
  cached: number,
): AsyncGenerator<Buffer, void, undefined> {
  checkRanges(request);
  // Before the record is read: it is at least as new, and so is an answer of this commit.
  const sequence = await deps.records.sequence();
  const record = await findLive(deps, request.ark);
  const cache = cacheOf(deps.records, cached);
  const key = JSON.stringify({
    ...request,
    ark: record.ark,
    viewer: await privateViewerOf(deps.records),
  });
  const known = cache.get(sequence, key);
  if (known) {
    yield known;
    return;
  }
  await reached(sequence, deps);
  const answer = await openEvidenceOf(record, request, deps);
  let parts: Buffer[] | undefined = [];
  let bytes = 0;
  let asOf = 0;
  for await (const part of partsOf(answer, (commit) => (asOf = commit))) {
    bytes += part.length;
    if (bytes > cache.largest) parts = undefined;
    parts?.push(part);
    yield part;
  }
  // Owners are read from the record store, so the answer is as of one commit only where none came
  // until the end.
  if (parts && asOf === sequence && (await deps.records.sequence()) === sequence)
    cache.put(sequence, key, Buffer.concat(parts));
}

async function* partsOf(
  { head, nodes, tail }: EvidenceAnswer,
  onEnd: (asOf: number) => void,
): AsyncGenerator<Buffer> {
  const { "@context": _context, ...rest } = head;
  let before = `{"@context":${CONTEXT},${JSON.stringify(rest).slice(1, -1)},"@graph":[`;
  for await (const some of nodes()) {
    for (let start = 0; start < some.length; start += CHUNK) {
      const text = JSON.stringify(some.slice(start, start + CHUNK));
      yield Buffer.from(before + text.slice(1, -1));
      before = ",";
    }
  }
  const last = tail();
  onEnd(last.asOf);
  yield Buffer.from(`],${JSON.stringify(last).slice(1)}`);
}
