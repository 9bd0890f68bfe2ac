import { LRUCache } from "lru-cache";

/** Bytes of a value as JSON: about what it takes in memory, where it is text for the most part. */
export const jsonSize = (value: object): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Values by text, up to a number of bytes in all, keys included. Those not used for longest are
 * dropped first, and one that needs more than a share of all is not stored.
 */
export class ByteCache<Value extends object> {
  /** The most bytes of a value with its key. */
  readonly largest: number;
  readonly #values: LRUCache<string, Value> | undefined;

  /**
   * @param bytes 0 stores nothing
   * @param share one value may take so small a part of it: 8 is an eighth
   */
  constructor(
    bytes: number,
    { sizeOf = jsonSize, share = 8 }: { sizeOf?: (value: Value) => number; share?: number } = {},
  ) {
    this.largest = Math.floor(bytes / share);
    // Without limits the package would store everything.
    if (this.largest === 0) return;
    this.#values = new LRUCache({
      maxSize: bytes,
      maxEntrySize: this.largest,
      sizeCalculation: (value, key) => sizeOf(value) + Buffer.byteLength(key),
    });
  }

  get(key: string): Value | undefined {
    return this.#values?.get(key);
  }

  set(key: string, value: Value): void {
    this.#values?.set(key, value);
  }

  clear(): void {
    this.#values?.clear();
  }
}
