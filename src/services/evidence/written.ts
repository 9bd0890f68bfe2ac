import type { RecordStore } from "../../storage/records/port.js";
import { ByteCache } from "../byte-cache.js";
import { findLive } from "../records/find.js";
import { checkRanges, openEvidenceOf, reached } from "./evidence-graph.js";
import {
  EVIDENCE_CONTEXT,
  type EvidenceAnswer,
  type EvidenceDeps,
  type EvidenceRequest,
} from "./types.js";

/** Every answer begins with it: serialized once, not for each answer. */
const CONTEXT = JSON.stringify(EVIDENCE_CONTEXT);
/** Nodes in one chunk of text. */
const CHUNK = 500;
/** An answer that needs more than this part of the cache is not stored in it. */
const LARGEST_SHARE = 16;

/**
 * Written answers, each as of one commit. One cache for each record store: an answer does not depend
 * on the caller, since everybody may read every record, and it cannot change without a commit.
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

const caches = new WeakMap<Pick<RecordStore, "sequence">, WrittenAnswers>();

function cacheOf(records: Pick<RecordStore, "sequence">, bytes: number): WrittenAnswers {
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
  const key = JSON.stringify({ ...request, ark: record.ark });
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
