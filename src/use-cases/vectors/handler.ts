import { randomUUID, createHash } from "node:crypto";
import { EmbeddingsRefused, type Embedder } from "../../embeddings/port.js";
import type { JobHandler } from "../../jobs/port.js";
import type { Submission } from "../../stores/records/submissions-port.js";
import type { Deps } from "../deps.js";
import { vectorFinding } from "./findings.js";
import { keepUp, type KeptUp } from "./keep-up.js";

/** Who asks for vectors: the registry itself, which is nobody's ARK. */
const BY_ITSELF = "registry";
/** Records whose text was refused that a submission names. */
const MOST_NAMED = 10;

interface VectorsInput { model: string }

/** Whether records wait for vectors. */
export async function vectorsAreBehind({ records }: Pick<Deps, "records">, { model }: Embedder): Promise<boolean> {
  return (await records.changedTexts(model, await records.vectorsReach(model), 1)).to !== undefined;
}

/** Queues the making of vectors, unless that waits or runs already: on whichever node, there is one at a time. Those that have ended are forgotten. */
export async function requestVectors({ records, jobs }: Pick<Deps, "records" | "jobs">, { model }: Embedder): Promise<Submission> {
  const input: VectorsInput = { model };
  // The hash of its model makes two requests for the same work one.
  const sha256 = createHash("sha256").update(model).digest("hex");
  const { submission } = await records.submit({ id: randomUUID(), type: "vectors", user: BY_ITSELF, sha256, input: { ...input }, update: true, inPlaceOfEnded: true, at: Date.now() });
  await jobs.enqueue(submission.id);
  return submission;
}

/** The handler of submissions of type `vectors`. */
export function vectorsHandler({ records, embedder, log }: Deps): JobHandler {
  return async ({ submission: { id, attempt }, signal, report }) => {
    const fail = async (finding: ReturnType<typeof vectorFinding>): Promise<void> => {
      log.error({ submission: id, code: finding.code }, finding.message);
      await records.closeSubmission({ id, attempt, status: "failed", error: [finding] }, Date.now());
    };
    if (!embedder) return fail(vectorFinding("NO_EMBEDDINGS_SERVER", "EMBEDDINGS_URL is not set any more: no vectors are made."));
    let kept: KeptUp;
    try {
      kept = await keepUp(records, embedder, signal, ({ changes }) => report({ stage: "embedding", done: changes, total: null, unit: "changes" }));
    } catch (error) {
      if (!(error instanceof EmbeddingsRefused)) throw error;
      return fail(vectorFinding("EMBEDDINGS_REFUSED", error.message));
    }
    const warnings = kept.refused.slice(0, MOST_NAMED).map(({ ark, message }) => vectorFinding("NOT_EMBEDDED", `${ark}: ${message}`));
    if (kept.refused.length > 0) log.warn({ submission: id, refused: kept.refused.length }, "the embeddings server refused the text of records");
    await records.closeSubmission({ id, attempt, status: "finished", warnings }, Date.now());
  };
}
