import { endianness } from "node:os";
import { type KeptVector, MOST_DIMENSIONS } from "../vectors-port.js";

/** A vector as it is stored: float32, the lowest byte first. */
export interface PackedVector { ark: string; digest: Uint8Array; vector: Uint8Array | null }

/** How far from 1 the length of a vector may be: models and float32 round. */
const SLACK = 0.01;
const BIG_ENDIAN = endianness() === "BE";

/** Vectors as they are stored, in bytes of their own, one for each record. @throws Error for one that is not of length 1 */
export function packVectors(vectors: readonly KeptVector[]): PackedVector[] {
  const last = new Map(vectors.map((kept) => [kept.ark, kept]));
  return [...last.values()].map(({ ark, digest, vector }) => ({ ark, digest: new Uint8Array(digest), vector: vector && packed(ark, vector) }));
}

function packed(ark: string, vector: Float32Array): Uint8Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  // Also where a value is no number.
  if (!(Math.abs(Math.sqrt(squares) - 1) <= SLACK)) throw new Error(`The vector of ${ark} is not of length 1: divide each of its numbers by its length.`);
  if (vector.length > MOST_DIMENSIONS) throw new Error(`The vector of ${ark} has ${vector.length} numbers, and at most ${MOST_DIMENSIONS} are kept.`);
  const bytes = new Uint8Array(vector.slice().buffer);
  if (BIG_ENDIAN) Buffer.from(bytes.buffer).swap32();
  return bytes;
}

export function unpackVector(bytes: Uint8Array): Float32Array {
  // A copy: bytes of a database may begin where no float32 can.
  const own = new Uint8Array(bytes);
  if (BIG_ENDIAN) Buffer.from(own.buffer).swap32();
  return new Float32Array(own.buffer, 0, own.byteLength >> 2);
}

/** A vector in memory of its own: a message between threads carries all of the buffer that it is in. */
export const exactVector = (vector: Float32Array): Float32Array => (vector.byteLength === vector.buffer.byteLength ? vector : vector.slice());
