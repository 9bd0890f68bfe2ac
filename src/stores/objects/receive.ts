import { createHash, type Hash } from "node:crypto";
import { ServiceError } from "../../errors.js";
import { spendBuffers } from "../../memory.js";
import type { ObjectStore, StagedObject } from "./port.js";

export type StageOptions = NonNullable<Parameters<ObjectStore["stage"]>[1]>;

/** What was received, in whole. */
export interface Received { size: number; sha256: string; digests: StagedObject["digests"] }

/**
 * Hands a source to `write`, piece by piece, while hashing and counting.
 * @throws ServiceError `TOO_LARGE`; what the source, `write` or the signal fails with
 */
export async function receive(source: AsyncIterable<Uint8Array | string>, options: StageOptions, write: (bytes: Uint8Array) => Promise<void>): Promise<Received> {
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
    await write(bytes);
    spendBuffers(bytes.byteLength);
  }
  const { sha256, ...digests } = Object.fromEntries(Object.entries(hashes).map(([name, hash]) => [name, hash.digest("hex")])) as { sha256: string } & StagedObject["digests"];
  return { size, sha256, digests };
}

/** Leaves a source neither open nor half read: its sender learns that nobody listens. */
export function giveUp(source: object): void {
  if ("destroy" in source && typeof source.destroy === "function") source.destroy();
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
