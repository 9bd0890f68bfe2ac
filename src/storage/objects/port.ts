/** The interface of the object store, and the hashes that its implementations share. */
import { createHash, type Hash } from "node:crypto";
import { pipeline, type Readable, Transform } from "node:stream";
import { ServiceError } from "../../errors.js";
import { spendBuffers } from "../../memory.js";

/**
 * Bytes received and hashed, not yet under their key. Either {@link publish} or {@link discard}
 * ends it.
 */
export interface StagedObject {
  readonly sha256: string;
  readonly size: number;
  /** Further requested digests, lower-case hex. */
  readonly digests: Readonly<Partial<Record<"md5" | "sha512", string>>>;
  /** Names the bytes while they are staged, for {@link ObjectStore.readStaged} in any thread. */
  readonly place: string;
  /**
   * Puts the object under its key, durably; putting the same bytes twice is one object. Record an
   * intent before.
   */
  publish(): Promise<void>;
  discard(): Promise<void>;
}

/** Random access to one object, for archives. */
export interface ObjectReader {
  readonly size: number;
  read(buffer: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** The object's size in bytes, where the caller knows it. */
  size?: number;
  /**
   * False: only lengths are checked; for objects that the operator wants served without the time of
   * hashing.
   */
  hash?: boolean;
}

/** The response headers under which the sender of the bytes offers an object. */
export interface ContentHeaders {
  type: string;
  disposition: string;
}

/**
 * Content-addressed bytes: the key of an object is its SHA-256. Callable from any thread; several
 * processes may share one store.
 */
export interface ObjectStore {
  /** How many small objects are best stored at a time; absent for a local store. */
  readonly parallel?: number;
  /**
   * Streams to a temporary place while hashing. Ends with `TOO_LARGE` past `limit` bytes.
   * When the source fails or ends early nothing stays behind.
   */
  stage(
    source: Readable | AsyncIterable<Uint8Array>,
    options?: {
      limit?: number;
      limitName?: string;
      digests?: ("md5" | "sha512")[];
      signal?: AbortSignal;
    },
  ): Promise<StagedObject>;
  /** Size in bytes, or `undefined` when not stored. */
  size(sha256: string): Promise<number | undefined>;
  /**
   * Streams bytes `start` to `end` (inclusive, as in HTTP). A whole object is hashed on its way:
   * the stream fails with `CONTENT_DAMAGED` before the last chunk when the bytes do not match the
   * key, or when there are too few.
   * @throws ServiceError `NOT_FOUND`, `RANGE_NOT_SATISFIABLE`; `CONTENT_DAMAGED` when its size is
   * not the expected one
   */
  open(
    sha256: string,
    range?: { start: number; end: number },
    options?: OpenOptions,
  ): Promise<Readable>;
  /**
   * Changes whenever the bytes under a key are written again; `undefined` when not stored. It does
   * not identify the bytes.
   */
  version(sha256: string): Promise<string | undefined>;
  /**
   * Where a client may read the object without the service, for a while; absent or `undefined`
   * where it may not.
   */
  address?(sha256: string, headers: ContentHeaders): Promise<string | undefined>;
  reader(sha256: string): Promise<ObjectReader>;
  /**
   * The same for bytes that are staged and neither published nor discarded yet.
   * @throws ServiceError `NOT_FOUND`
   */
  readStaged(place: string): Promise<ObjectReader>;
  remove(sha256: string): Promise<void>;
  /** Every key, in any order. */
  list(): AsyncIterable<string>;
  /**
   * Removes temporary files of this node older than `age` ms, left by a process that died. Answers
   * how many.
   */
  removeStale(age: number): Promise<number>;
  /**
   * Aborts uploads of any node to the store that began more than `age` ms ago and were not
   * completed. Answers how many; absent for a local store.
   */
  abortUploads?(age: number): Promise<number>;
  /** Rejects when the store cannot be written. */
  health(): Promise<void>;
}

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
 * Where a range of an object of this size begins, and how many bytes it has; without one, all.
 * @throws ServiceError `RANGE_NOT_SATISFIABLE`
 */
export function bytesOf(
  size: number,
  range: { start: number; end: number } | undefined,
): { start: number; length: number } {
  if (!range) return { start: 0, length: size };
  const { start, end } = range;
  if (start >= 0 && start <= end && start < size)
    return { start, length: Math.min(end, size - 1) - start + 1 };
  throw new ServiceError(
    "RANGE_NOT_SATISFIABLE",
    `The content has ${size} bytes; ask for a range inside it.`,
    { size },
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
