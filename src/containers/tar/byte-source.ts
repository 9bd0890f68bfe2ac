/** Bytes that arrive in pieces, taken in the pieces that are wanted. */
export class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array(0);

  /** @param early makes the error for a source that ends while more is wanted */
  constructor(source: AsyncIterable<Uint8Array>, private readonly early: () => Error) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** Exactly so many, as one piece. */
  async take(count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(count);
    for (let at = 0; at < count; ) {
      const part = await this.some(count - at);
      bytes.set(part, at);
      at += part.byteLength;
    }
    return bytes;
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0; ) left -= (await this.some(left)).byteLength;
  }

  /** The next bytes, so many at most, handed out as they come; `remaining` is what nobody took. */
  limited(count: number): { readonly remaining: number; chunks(): AsyncIterable<Uint8Array> } {
    let remaining = count;
    const some = (most: number) => this.some(most);
    return {
      get remaining() {
        return remaining;
      },
      async *chunks() {
        while (remaining > 0) {
          const part = await some(remaining);
          remaining -= part.byteLength;
          yield part;
        }
      },
    };
  }

  /** Tells whoever sends them that nobody listens any more. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  private async some(most: number): Promise<Uint8Array> {
    while (this.#held.byteLength === 0) {
      const next = await this.#chunks.next();
      if (next.done) throw this.early();
      this.#held = next.value;
    }
    const part = this.#held.subarray(0, most);
    this.#held = this.#held.subarray(part.byteLength);
    return part;
  }
}
