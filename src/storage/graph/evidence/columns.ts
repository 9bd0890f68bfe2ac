/** Numbers of four bytes, or of one, in memory that grows by half. */
export class Numbers {
  #values: Int32Array | Uint8Array;
  #length: number;

  /** @param zeros numbers to begin with */
  constructor(
    zeros = 0,
    readonly kind: typeof Int32Array | typeof Uint8Array = Int32Array,
  ) {
    this.#values = new kind(1024);
    this.#length = zeros;
  }

  /** @returns its place */
  push(value: number): number {
    if (this.#length === this.#values.length) {
      const larger = new this.kind(this.#length + (this.#length >> 1));
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    return this.#length++;
  }

  at(place: number): number {
    return this.#values[place]!;
  }

  get length(): number {
    return this.#length;
  }

  /** The numbers so far, in the memory that holds them: those of one column may change later. */
  view(): Int32Array | Uint8Array {
    return this.#values.subarray(0, this.#length);
  }

  /** Makes so many numbers of it, to be filled by the caller, and memory for some more. */
  refill(length: number): Int32Array | Uint8Array {
    this.#values = new this.kind(length + (length >> 4) + 1024);
    this.#length = length;
    return this.view();
  }

  set(place: number, value: number): void {
    this.#values[place] = value;
  }
}

/** Bytes of a block; a longer text is a block by itself. */
const BLOCK = 2 ** 22;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Texts as UTF-8, in blocks: no object for each, and nothing is copied when more come. */
export class Texts {
  readonly #blocks: Uint8Array[] = [];
  /** Bytes used of the last block. */
  #end = BLOCK;
  readonly #block = new Numbers();
  readonly #start = new Numbers();
  readonly #bytes = new Numbers();

  /** @returns its place */
  push(text: string): number {
    const bytes = encoder.encode(text);
    if (this.#end + bytes.length > BLOCK) {
      this.#blocks.push(new Uint8Array(Math.max(BLOCK, bytes.length)));
      this.#end = 0;
    }
    this.#blocks.at(-1)!.set(bytes, this.#end);
    this.#block.push(this.#blocks.length - 1);
    this.#start.push(this.#end);
    this.#end += bytes.length;
    return this.#bytes.push(bytes.length);
  }

  /** Where each text is, and the blocks; texts that come later are in neither. */
  view(): { places: readonly Numbers[]; blocks: Uint8Array[] } {
    return {
      places: [this.#block, this.#start, this.#bytes],
      blocks: this.#blocks.map((block, index) =>
        index === this.#blocks.length - 1 ? block.subarray(0, this.#end) : block,
      ),
    };
  }

  /** Makes blocks of so many bytes, to be filled by the caller, as {@link view} returned them. */
  refill(blocks: readonly number[]): Uint8Array[] {
    for (const length of blocks) this.#blocks.push(new Uint8Array(length));
    this.#end = BLOCK;
    return this.#blocks;
  }

  at(place: number): string {
    return decoder.decode(this.#bytesOf(place));
  }

  /** Overwrites a text that is not needed any more. */
  erase(place: number): void {
    this.#bytesOf(place).fill(0);
  }

  #bytesOf(place: number): Uint8Array {
    const start = this.#start.at(place);
    return this.#blocks[this.#block.at(place)]!.subarray(start, start + this.#bytes.at(place));
  }
}
