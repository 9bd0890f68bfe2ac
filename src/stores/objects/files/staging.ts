import { createHash, randomUUID, type Hash } from "node:crypto";
import { mkdir, open, rename, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { ServiceError } from "../../../errors.js";
import { spendBuffers } from "../../../memory.js";
import type { ObjectStore, StagedObject } from "../port.js";
import { STAGING, asStoreError, codeOf, fanOut } from "./layout.js";

type StageOptions = NonNullable<Parameters<ObjectStore["stage"]>[1]>;

/** Streams a source into a temporary file while hashing; durable when it resolves. */
export async function stageFile(folder: string, source: Readable | AsyncIterable<Uint8Array>, options: StageOptions): Promise<StagedObject> {
  const place = randomUUID();
  const path = join(folder, STAGING, place);
  let file: FileHandle | undefined;
  try {
    file = await open(path, "wx", 0o600).catch((error: unknown) => {
      throw asStoreError(error);
    });
    const { size, digests } = await write(file, source, options);
    await file.sync();
    await file.close();
    const { sha256, ...further } = digests;
    return {
      sha256, size, digests: further, place,
      publish: () => publish(folder, path, sha256),
      discard: () => removeFile(path),
    };
  } catch (error) {
    // The source is left neither open nor half read: its sender learns that nobody listens.
    if ("destroy" in source && typeof source.destroy === "function") source.destroy();
    await file?.close().catch(() => {});
    await removeFile(path);
    throw asStoreError(error);
  }
}

async function write(file: FileHandle, source: AsyncIterable<Uint8Array | string>, options: StageOptions) {
  const { limit = Infinity, limitName = "the limit", signal } = options;
  const hashes: Record<string, Hash> = { sha256: createHash("sha256") };
  for (const name of options.digests ?? []) hashes[name] = createHash(name);
  let size = 0;
  signal?.throwIfAborted();
  for await (const chunk of abortable(source, signal)) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    size += bytes.byteLength;
    if (size > limit)
      throw new ServiceError("TOO_LARGE", `The content is larger than ${limitName}=${limit} bytes; send less, or ask for the setting to be raised.`, { limit, setting: limitName });
    for (const hash of Object.values(hashes)) hash.update(bytes);
    for (let done = 0; done < bytes.byteLength; ) done += (await file.write(bytes, done)).bytesWritten;
    spendBuffers(bytes.byteLength);
  }
  const digests = Object.fromEntries(Object.entries(hashes).map(([name, hash]) => [name, hash.digest("hex")]));
  return { size, digests: digests as { sha256: string } & StagedObject["digests"] };
}

/** Ends at once when the signal aborts, also while the source is silent. */
async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncIterable<T> {
  if (!signal) return yield* source;
  const items = source[Symbol.asyncIterator]();
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
  });
  aborted.catch(() => {});
  let done = false;
  try {
    while (!done) {
      const item = await Promise.race([items.next(), aborted]);
      done = item.done === true;
      if (!item.done) yield item.value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    // Not awaited: a silent source would answer only when it has something to say.
    if (!done) void Promise.resolve(items.return?.()).catch(() => {});
  }
}

async function publish(folder: string, path: string, sha256: string): Promise<void> {
  const { outer, inner, file } = fanOut(folder, sha256);
  try {
    // Over an equal object: same bytes, and a damaged one is healed.
    await rename(path, file).catch(async (error: unknown) => {
      if (codeOf(error) !== "ENOENT") throw error;
      await mkdir(inner, { recursive: true });
      await syncFolder(folder);
      await syncFolder(outer);
      await rename(path, file);
    });
    await syncFolder(inner);
  } catch (error) {
    throw asStoreError(error);
  }
}

/** Makes names in a folder durable; where a folder cannot be opened for that (Windows) the system does it. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw asStoreError(error);
  });
}
