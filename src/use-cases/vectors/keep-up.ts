import { EmbeddingsRefused, type Embedder } from "../../embeddings/port.js";
import type { RecordStore } from "../../stores/records/port.js";
import type { ChangedText, KeptVector } from "../../stores/records/vectors-port.js";
import { digestOf, embeddedText, sameDigest } from "./embedded-text.js";

/** Changes that one step looks at. */
const STEP = 64;
/** Vectors of other models that are removed at a time, so that no write waits for long. */
const FORGOTTEN_AT_ONCE = 500;
/** Shorter than any server's limit: whoever refuses this refuses everything. */
const HARMLESS = "data";

/** What came of it; `refused` names records whose text the server would not take. */
export interface KeptUp { changes: number; embedded: number; refused: { ark: string; message: string }[] }

/**
 * Follows the change log until every record has the vector of what it says now. Each step is kept at once, so whoever goes on after a
 * crash loses one step; a text that has its vector is not sent again.
 *
 * @param report called after each step with the changes looked at so far
 * @throws EmbeddingsRefused when the server refuses everything; Outage while it or a store is away; the signal's reason
 */
export async function keepUp(records: RecordStore, embedder: Embedder, signal: AbortSignal, report: (kept: KeptUp) => void): Promise<KeptUp> {
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
const latest = (texts: readonly ChangedText[]): ChangedText[] => [...new Map(texts.map((text) => [text.ark, text])).values()];

interface Wanted { ark: string; text: string; digest: Uint8Array }

async function embed(embedder: Embedder, texts: readonly ChangedText[], signal: AbortSignal, kept: KeptUp): Promise<KeptVector[]> {
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
async function passages(embedder: Embedder, wanted: readonly Wanted[], signal: AbortSignal, kept: KeptUp): Promise<KeptVector[]> {
  if (wanted.length === 0) return [];
  try {
    const vectors = await embedder.passages(wanted.map(({ text }) => text), signal);
    return wanted.map(({ ark, digest }, index) => ({ ark, digest, vector: vectors[index]! }));
  } catch (error) {
    if (!(error instanceof EmbeddingsRefused)) throw error;
    const [first] = wanted;
    if (wanted.length > 1) {
      const middle = wanted.length >> 1;
      return [...await passages(embedder, wanted.slice(0, middle), signal, kept), ...await passages(embedder, wanted.slice(middle), signal, kept)];
    }
    // Also this refused: it is not the text.
    await embedder.passages([HARMLESS], signal);
    kept.refused.push({ ark: first!.ark, message: error.message });
    return [{ ark: first!.ark, digest: first!.digest, vector: null }];
  }
}
