import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { ServiceError } from "../../../errors.js";
import type { StagedObject } from "../port.js";
import { giveUp, receive, type StageOptions } from "../receive.js";
import { EMPTY, Upload } from "./upload.js";
import type { Part, S3Calls } from "./calls.js";
import type { Keys } from "./keys.js";

/** S3's own limit of one copy; more is copied in parts. */
const COPY_LIMIT = 5 * 2 ** 30;

/** Streams a source to a key of its own under the staging prefix, while hashing. */
export async function stageS3(calls: S3Calls, keys: Keys, source: Readable | AsyncIterable<Uint8Array>, options: StageOptions): Promise<StagedObject> {
  const place = randomUUID();
  const key = keys.staged(place)!;
  const upload = new Upload(calls, keys, place, key, options.signal);
  try {
    const { sha256, size, digests } = await receive(source, options, (bytes) => upload.write(bytes));
    const etag = await upload.finish(sha256);
    return {
      sha256, size, digests, place,
      publish: () => publish(calls, keys, { place, sha256, size, etag }),
      discard: () => calls.remove(key),
    };
  } catch (error) {
    giveUp(source);
    await upload.abandon();
    throw error;
  }
}

interface Uploaded { place: string; sha256: string; size: number; etag: string | undefined }

/** Copies the staged bytes to their key, inside the server, looks at what arrived, and removes them. */
async function publish(calls: S3Calls, keys: Keys, { place, sha256, size, etag }: Uploaded): Promise<void> {
  const from = keys.staged(place)!;
  const to = keys.object(sha256)!;
  // Also over an equal object: a damaged one is healed.
  const copied = size <= (calls.location.copyPart ?? COPY_LIMIT) ? await calls.copy(from, to, size) : await copyInParts(calls, keys, place, to, size);
  // The same ETag on both sides says more than the size; not every server gives it, and of parts none does.
  const arrived = copied !== undefined && copied !== "" && copied === etag ? size : await calls.head(to);
  if (arrived !== size) {
    if (copied !== undefined) await calls.remove(to);
    throw new ServiceError("STORE_UNAVAILABLE", `The object store did not keep ${sha256}: ${copied === undefined ? "what was staged is gone" : `${arrived ?? "none"} of its ${size} bytes arrived`}; send it again.`);
  }
  await calls.remove(from);
}

async function copyInParts(calls: S3Calls, keys: Keys, place: string, to: string, size: number): Promise<string | undefined> {
  const from = keys.staged(place)!;
  if ((await calls.head(from)) === undefined) return undefined;
  const step = calls.location.copyPart ?? COPY_LIMIT;
  const uploadId = await calls.startUpload(to);
  const marker = keys.marker(place, to, uploadId);
  try {
    await calls.put(marker, Buffer.alloc(0), EMPTY);
    const parts: Part[] = [];
    for (let start = 0; start < size; start += step) parts.push(await calls.copyPart(from, to, uploadId, parts.length + 1, start, Math.min(start + step, size) - 1));
    await calls.complete(to, uploadId, parts, size);
  } catch (error) {
    // Where that fails too the marker tells the sweep.
    await calls.abort(to, uploadId).then(() => calls.remove(marker)).catch(() => {});
    throw error;
  }
  await calls.remove(marker).catch(() => {});
  return "";
}
