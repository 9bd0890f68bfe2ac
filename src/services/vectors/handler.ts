import { createHash, randomUUID } from "node:crypto";
import { type Embedder, EmbeddingsRefused } from "../../adapters/embeddings/port.js";
import type { JobHandler } from "../../jobs/port.js";
import type { Finding } from "../../model/findings.js";
import type { ChangedText, StoredVector, RecordStore } from "../../storage/records/port.js";
import type { Submission } from "../../storage/records/port/submissions.js";
import type { Deps } from "../deps.js";
import { pairs } from "../../pairs.js";

/**
 * Every code of a finding about the computation of vectors; stable, documented in
 * docs/semantic-search.md, never reused.
 */
export const VECTOR_CODES = {
  NO_EMBEDDINGS_SERVER: "The registry has no embeddings server any more.",
  EMBEDDINGS_REFUSED:
    "The embeddings server refuses every request, or returns no vectors: its address, " +
    "its model or its key may be wrong.",
  NOT_EMBEDDED:
    "The embeddings server refuses the text of one record, which is found by its words only " +
    "(a warning).",
} as const;
type VectorCode = keyof typeof VECTOR_CODES;

const vectorFinding = (code: VectorCode, message: string): Finding => ({
  file: null,
  pointer: null,
  message,
  code,
});

/** Bytes of a digest; a collision would need about 2^64 texts. */
const DIGEST_BYTES = 16;

/**
 * The text of a vector: name, keywords and description, because the first words count most in many
 * models; empty when the record has none.
 */
const embeddedText = ({ name, keywords, description }: NonNullable<ChangedText["text"]>): string =>
  [name, keywords, description]
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join("\n");

/** Identifies a text that has its vector already. */
const digestOf = (text: string): Uint8Array =>
  new Uint8Array(createHash("sha256").update(text).digest().subarray(0, DIGEST_BYTES));

const sameDigest = (a: Uint8Array | null, b: Uint8Array): boolean =>
  a !== null && Buffer.compare(a, b) === 0;

/** Changes in one step. */
const CHANGES_PER_STEP = 64;
/** Vectors of other models that are removed at a time, so that no write waits for long. */
const MAX_VECTORS_PER_REMOVAL = 500;
/** Shorter than any server's limit: a server that refuses this text refuses every text. */
const HARMLESS = "data";

/** The result; `refused` names records whose text the server refused. */
interface Embedded {
  changes: number;
  embedded: number;
  refused: { ark: string; message: string }[];
}

/**
 * Follows the change log until every record has the vector of its current text. Each step is stored
 * at once, so that a restart after a crash repeats one step; a text that has its vector is not sent
 * again.
 *
 * @param report called after each step with the number of changes processed so far
 * @throws EmbeddingsRefused when the server refuses everything; Outage while the server or a store
 * is unavailable; the signal's reason
 */
export async function embedChanges(
  records: RecordStore,
  embedder: Embedder,
  signal: AbortSignal,
  report: (kept: Embedded) => void,
): Promise<Embedded> {
  const { model } = embedder;
  const kept: Embedded = { changes: 0, embedded: 0, refused: [] };
  let after = await records.vectorsReach(model);
  for (;;) {
    signal.throwIfAborted();
    const { texts, to } = await records.changedTexts(model, after, CHANGES_PER_STEP);
    if (to === undefined) break;
    const vectors = await embed(embedder, latest(texts), signal, kept);
    const isMine = await records.storeVectors(model, { after, to, vectors });
    // Another node took this node for dead and did this step: continue from there.
    after = isMine ? to : await records.vectorsReach(model);
    kept.changes += texts.length;
    report(kept);
  }
  while ((await records.forgetVectors(model, MAX_VECTORS_PER_REMOVAL)) > 0) signal.throwIfAborted();
  return kept;
}

/** Of several changes of one record the last: each has the current text. */
const latest = (texts: readonly ChangedText[]): ChangedText[] => [
  ...new Map(texts.map((text) => [text.ark, text])).values(),
];

interface Wanted {
  ark: string;
  text: string;
  digest: Uint8Array;
}

async function embed(
  embedder: Embedder,
  texts: readonly ChangedText[],
  signal: AbortSignal,
  kept: Embedded,
): Promise<StoredVector[]> {
  const wanted: Wanted[] = [];
  const vectors: StoredVector[] = [];
  for (const { ark, text, digest: has } of texts) {
    const embedded = text === null ? "" : embeddedText(text);
    const digest = digestOf(embedded);
    if (sameDigest(has, digest)) continue;
    if (embedded === "") vectors.push({ ark, digest, vector: null });
    else wanted.push({ ark, text: embedded, digest });
  }
  const made = await passages(embedder, wanted, signal, kept);
  kept.embedded += made.length;
  return [...vectors, ...made];
}

/** All at once, or one by one when the server refuses one of them. */
async function passages(
  embedder: Embedder,
  wanted: readonly Wanted[],
  signal: AbortSignal,
  kept: Embedded,
): Promise<StoredVector[]> {
  if (wanted.length === 0) return [];
  try {
    const vectors = await embedder.passages(
      wanted.map(({ text }) => text),
      signal,
    );
    return pairs(wanted, vectors).map(([{ ark, digest }, vector]) => ({ ark, digest, vector }));
  } catch (error) {
    if (!(error instanceof EmbeddingsRefused)) throw error;
    const [first, ...others] = wanted;
    if (!first || others.length > 0) {
      const middle = wanted.length >> 1;
      return [
        ...(await passages(embedder, wanted.slice(0, middle), signal, kept)),
        ...(await passages(embedder, wanted.slice(middle), signal, kept)),
      ];
    }
    // If the server refuses this as well, the text is not the cause.
    await embedder.passages([HARMLESS], signal);
    kept.refused.push({ ark: first.ark, message: error.message });
    return [{ ark: first.ark, digest: first.digest, vector: null }];
  }
}

/** The owner of vector jobs: the registry itself, which is not an ARK. */
const BY_ITSELF = "registry";
/** Most records with a refused text that a submission names. */
const MAX_NAMED = 10;

interface VectorsInput {
  model: string;
}

/** Whether records wait for vectors. */
export async function vectorsAreBehind(
  { records }: Pick<Deps, "records">,
  { model }: Embedder,
): Promise<boolean> {
  return (await records.changedTexts(model, await records.vectorsReach(model), 1)).to !== undefined;
}

/**
 * Queues the computation of vectors, unless such a job is queued or running already: at most one on
 * all nodes. Jobs that have ended are deleted.
 */
export async function requestVectors(
  { records, jobs }: Pick<Deps, "records" | "jobs">,
  { model }: Embedder,
): Promise<Submission> {
  const input: VectorsInput = { model };
  // The hash of its model merges two requests for the same job.
  const sha256 = createHash("sha256").update(model).digest("hex");
  const { submission } = await records.submit({
    id: randomUUID(),
    type: "vectors",
    user: BY_ITSELF,
    sha256,
    input: { ...input },
    update: true,
    inPlaceOfEnded: true,
    at: Date.now(),
  });
  await jobs.enqueue(submission.id);
  return submission;
}

/** The handler of submissions of type `vectors`. */
export function vectorsHandler({ records, embedder, log }: Deps): JobHandler {
  return async ({ submission: { id, attempt }, signal, report }) => {
    const fail = async (finding: ReturnType<typeof vectorFinding>): Promise<void> => {
      log.error({ submission: id, code: finding.code }, finding.message);
      await records.closeSubmission(
        { id, attempt, status: "failed", error: [finding] },
        Date.now(),
      );
    };
    if (!embedder)
      return fail(
        vectorFinding(
          "NO_EMBEDDINGS_SERVER",
          "EMBEDDINGS_URL is not set any more: no vectors are computed.",
        ),
      );
    let kept: Embedded;
    try {
      kept = await embedChanges(records, embedder, signal, ({ changes }) =>
        report({ stage: "embedding", done: changes, total: null, unit: "changes" }),
      );
    } catch (error) {
      if (!(error instanceof EmbeddingsRefused)) throw error;
      return fail(vectorFinding("EMBEDDINGS_REFUSED", error.message));
    }
    const warnings = kept.refused
      .slice(0, MAX_NAMED)
      .map(({ ark, message }) => vectorFinding("NOT_EMBEDDED", `${ark}: ${message}`));
    if (kept.refused.length > 0)
      log.warn(
        { submission: id, refused: kept.refused.length },
        "the embeddings server refused the text of records",
      );
    await records.closeSubmission({ id, attempt, status: "finished", warnings }, Date.now());
  };
}
