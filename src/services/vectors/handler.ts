import { createHash, randomUUID } from "node:crypto";
import { type Embedder, EmbeddingsRefused } from "../../adapters/embeddings/port.js";
import type { JobHandler } from "../../jobs/port.js";
import type { Finding } from "../../model/findings.js";
import type { ChangedText, KeptVector, RecordStore } from "../../storage/records/port.js";
import type { Submission } from "../../storage/records/submissions-port.js";
import type { Deps } from "../deps.js";

/**
 * Every code of what can be said of vectors that are made; stable, documented in
 * docs/semantic-search.md, never reused.
 */
export const VECTOR_CODES = {
  NO_EMBEDDINGS_SERVER: "The registry has no embeddings server any more.",
  EMBEDDINGS_REFUSED:
    "The embeddings server refuses whatever it is asked, or answers no vectors: its " +
    "address, its model or its key may be wrong.",
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

/** Bytes of a digest; 2^64 texts would have to be tried for two that share one. */
const DIGEST_BYTES = 16;

/**
 * What a vector is made of: name, keywords and description, the first words counting most in many
 * models; empty when there is nothing to say.
 */
export const embeddedText = ({
  name,
  keywords,
  description,
}: NonNullable<ChangedText["text"]>): string =>
  [name, keywords, description]
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join("\n");

/** By which a text is known that has its vector already. */
const digestOf = (text: string): Uint8Array =>
  new Uint8Array(createHash("sha256").update(text).digest().subarray(0, DIGEST_BYTES));

const sameDigest = (a: Uint8Array | null, b: Uint8Array): boolean =>
  a !== null && Buffer.compare(a, b) === 0;

/** Changes that one step looks at. */
const STEP = 64;
/** Vectors of other models that are removed at a time, so that no write waits for long. */
const FORGOTTEN_AT_ONCE = 500;
/** Shorter than any server's limit: whoever refuses this refuses everything. */
const HARMLESS = "data";

/** What came of it; `refused` names records whose text the server would not take. */
interface KeptUp {
  changes: number;
  embedded: number;
  refused: { ark: string; message: string }[];
}

/**
 * Follows the change log until every record has the vector of what it says now. Each step is kept
 * at once, so whoever goes on after a crash loses one step; a text that has its vector is not sent
 * again.
 *
 * @param report called after each step with the changes looked at so far
 * @throws EmbeddingsRefused when the server refuses everything; Outage while it or a store is away;
 * the signal's reason
 */
export async function keepUp(
  records: RecordStore,
  embedder: Embedder,
  signal: AbortSignal,
  report: (kept: KeptUp) => void,
): Promise<KeptUp> {
  const { model } = embedder;
  const kept: KeptUp = { changes: 0, embedded: 0, refused: [] };
  let after = await records.vectorsReach(model);
  for (;;) {
    signal.throwIfAborted();
    const { texts, to } = await records.changedTexts(model, after, STEP);
    if (to === undefined) break;
    const vectors = await embed(embedder, latest(texts), signal, kept);
    const isMine = await records.keepVectors(model, { after, to, vectors });
    // Another node did this step, since this one was taken for gone: it goes on from there.
    after = isMine ? to : await records.vectorsReach(model);
    kept.changes += texts.length;
    report(kept);
  }
  while ((await records.forgetVectors(model, FORGOTTEN_AT_ONCE)) > 0) signal.throwIfAborted();
  return kept;
}

/** Of several changes of one record the last: all say what it says now. */
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
  kept: KeptUp,
): Promise<KeptVector[]> {
  const wanted: Wanted[] = [];
  const vectors: KeptVector[] = [];
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
  kept: KeptUp,
): Promise<KeptVector[]> {
  if (wanted.length === 0) return [];
  try {
    const vectors = await embedder.passages(
      wanted.map(({ text }) => text),
      signal,
    );
    return wanted.map(({ ark, digest }, index) => ({ ark, digest, vector: vectors[index]! }));
  } catch (error) {
    if (!(error instanceof EmbeddingsRefused)) throw error;
    const [first] = wanted;
    if (wanted.length > 1) {
      const middle = wanted.length >> 1;
      return [
        ...(await passages(embedder, wanted.slice(0, middle), signal, kept)),
        ...(await passages(embedder, wanted.slice(middle), signal, kept)),
      ];
    }
    // Also this refused: it is not the text.
    await embedder.passages([HARMLESS], signal);
    kept.refused.push({ ark: first!.ark, message: error.message });
    return [{ ark: first!.ark, digest: first!.digest, vector: null }];
  }
}

/** Who asks for vectors: the registry itself, which is nobody's ARK. */
const BY_ITSELF = "registry";
/** Records whose text was refused that a submission names. */
const MOST_NAMED = 10;

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
 * Queues the making of vectors, unless that waits or runs already: on whichever node, there is one
 * at a time. Those that have ended are forgotten.
 */
export async function requestVectors(
  { records, jobs }: Pick<Deps, "records" | "jobs">,
  { model }: Embedder,
): Promise<Submission> {
  const input: VectorsInput = { model };
  // The hash of its model makes two requests for the same work one.
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
          "EMBEDDINGS_URL is not set any more: no vectors are made.",
        ),
      );
    let kept: KeptUp;
    try {
      kept = await keepUp(records, embedder, signal, ({ changes }) =>
        report({ stage: "embedding", done: changes, total: null, unit: "changes" }),
      );
    } catch (error) {
      if (!(error instanceof EmbeddingsRefused)) throw error;
      return fail(vectorFinding("EMBEDDINGS_REFUSED", error.message));
    }
    const warnings = kept.refused
      .slice(0, MOST_NAMED)
      .map(({ ark, message }) => vectorFinding("NOT_EMBEDDED", `${ark}: ${message}`));
    if (kept.refused.length > 0)
      log.warn(
        { submission: id, refused: kept.refused.length },
        "the embeddings server refused the text of records",
      );
    await records.closeSubmission({ id, attempt, status: "finished", warnings }, Date.now());
  };
}
