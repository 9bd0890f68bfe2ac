import type { Readable } from "node:stream";

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
   * Removes temporary places older than `age` ms, left by a process that died. Answers how many.
   */
  removeStale(age: number): Promise<number>;
  /** Rejects when the store cannot be written. */
  health(): Promise<void>;
  /**
   * Resolves when all staging has ended: the bytes of abandoned uploads are removed too. Absent
   * where that takes no time.
   */
  idle?(): Promise<void>;
}
