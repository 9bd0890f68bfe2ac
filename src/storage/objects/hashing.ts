import { createHash, type Hash } from "node:crypto";
import { pipeline, type Readable, Transform } from "node:stream";
import { ServiceError } from "../../errors.js";
import { spendBuffers } from "../../memory.js";
import type { ObjectStore, StagedObject } from "./port.js";

export type StageOptions = NonNullable<Parameters<ObjectStore["stage"]>[1]>;

/** The complete bytes that were received. */
interface Received {
  size: number;
  sha256: string;
  digests: StagedObject["digests"];
}

/**
 * Hands a source to `write`, chunk by chunk, while hashing and counting.
 * @throws ServiceError `TOO_LARGE`; the failure of the source, `write` or the signal
 */
export async function receive(
  source: AsyncIterable<Uint8Array | string>,
  options: StageOptions,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<Received> {
  const { limit = Infinity, limitName = "the limit", signal } = options;
  const hashes: Record<string, Hash> = { sha256: createHash("sha256") };
  for (const name of options.digests ?? []) hashes[name] = createHash(name);
  let size = 0;
  signal?.throwIfAborted();
  for await (const chunk of abortable(source, signal)) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    size += bytes.byteLength;
    if (size > limit)
      throw new ServiceError(
        "TOO_LARGE",
        `The content is larger than ${limitName}=${limit} bytes; send less, or ask the ` +
          "operator to raise the setting.",
        { limit, setting: limitName },
      );
    for (const hash of Object.values(hashes)) hash.update(bytes);
    await write(bytes);
    spendBuffers(bytes.byteLength);
  }
  const { sha256, ...digests } = Object.fromEntries(
    Object.entries(hashes).map(([name, hash]) => [name, hash.digest("hex")]),
  ) as { sha256: string } & StagedObject["digests"];
  return { size, sha256, digests };
}

/** Closes a source that was not read to its end: its sender learns that the reader has stopped. */
export function giveUp(source: object): void {
  if ("destroy" in source && typeof source.destroy === "function") source.destroy();
}

/** Ends at once when the signal aborts, also while the source is silent. */
async function* abortable<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncIterable<T> {
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
    // Not awaited: a silent source would answer only with its next bytes.
    if (!done) void Promise.resolve(items.return?.()).catch(() => {});
  }
}

/** The expected properties of a stream of stored bytes. */
interface Promised {
  /** Bytes that must come. */ length: number;
  /** Their digest, where the whole object is read and its bytes are to be hashed. */ sha256?:
    string | undefined;
}

/** @param what the fault, as a part of a sentence */
export function contentDamaged(sha256: string, what: string): ServiceError {
  return new ServiceError(
    "CONTENT_DAMAGED",
    `The stored object with the SHA-256 ${sha256} is damaged: ${what}. It is not served; ` +
      "uploading the same file again repairs it.",
    { sha256 },
  );
}

/**
 * @throws ServiceError `CONTENT_DAMAGED` when the number of stored bytes is not the expected one
 */
export function assertSize(sha256: string, found: number, expected: number | undefined): void {
  if (expected !== undefined && found !== expected)
    throw contentDamaged(
      sha256,
      `the object store has ${found} bytes of it instead of ${expected}`,
    );
}

/**
 * The same bytes, failing with `CONTENT_DAMAGED` where they differ from the stored ones. The last
 * chunk is handed on only after all were hashed: a reader never has the whole of a damaged object,
 * and a client sees a transfer that was cut, not a file.
 * @param name SHA-256 of the object, for the error
 */
export function verified(source: Readable, name: string, { length, sha256 }: Promised): Readable {
  const hash = sha256 === undefined ? undefined : createHash("sha256");
  let held: Buffer | undefined;
  let seen = 0;
  const checked = new Transform({
    readableHighWaterMark: source.readableHighWaterMark,
    writableHighWaterMark: source.readableHighWaterMark,
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.byteLength;
      hash?.update(chunk);
      if (held) this.push(held);
      held = chunk;
      done();
    },
    flush(done) {
      if (seen !== length)
        return done(contentDamaged(name, `reading it ended after ${seen} of ${length} bytes`));
      if (hash && hash.digest("hex") !== sha256)
        return done(contentDamaged(name, "its bytes have another hash"));
      if (held) this.push(held);
      done();
    },
  });
  // When either end fails or is abandoned, the other one is closed.
  pipeline(source, checked, () => {});
  return checked;
}
