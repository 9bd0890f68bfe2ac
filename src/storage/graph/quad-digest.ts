import { createHash } from "node:crypto";

const WORDS = 8;

/**
 * Digest of a set of quads that does not depend on their order: the sum modulo 2^256 of the SHA-256
 * of each canonical line. Sums of disjoint sets add up, so one graph can be taken out and put in
 * again.
 */
export class QuadDigest {
  /** 32-bit words of the sum, the least significant first. */
  readonly words: Uint32Array;
  quads: number;

  constructor(words: Uint32Array = new Uint32Array(WORDS), quads = 0) {
    this.words = words;
    this.quads = quads;
  }

  addLine(line: string): void {
    const hash = createHash("sha256").update(line).digest();
    let carry = 0;
    for (let word = 0; word < WORDS; word++) {
      const total = this.words[word]! + hash.readUInt32LE(word * 4) + carry;
      this.words[word] = total;
      carry = total > 0xffff_ffff ? 1 : 0;
    }
    this.quads++;
  }

  /** Adds all that `other` holds; the two must not share quads. */
  add(other: QuadDigest): void {
    let carry = 0;
    for (let word = 0; word < WORDS; word++) {
      const total = this.words[word]! + other.words[word]! + carry;
      this.words[word] = total;
      carry = total > 0xffff_ffff ? 1 : 0;
    }
    this.quads += other.quads;
  }

  /** 64 hexadecimal digits. */
  get digest(): string {
    return [...this.words]
      .toReversed()
      .map((word) => word.toString(16).padStart(8, "0"))
      .join("");
  }
}
