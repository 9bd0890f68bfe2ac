/** Vectors of records in memory, and the nearest of them. */
import { endianness } from "node:os";
import { ServiceError } from "../../errors.js";
import { MAX_STORED_DIMENSIONS, type StoredVector } from "./port.js";

/** Most rows that are answered as the nearest ones. */
export const NEAREST = 100;
/**
 * Rows of one block. Blocks are added and dropped; their content is never copied to a larger place.
 */
export const BLOCK_ROWS = 1024;
/**
 * Bytes of a row beside its numbers: its identifier, kind and similarity, and its entry in the map
 * of rows.
 */
const ROW_BYTES = 8 + 1 + 8 + 47;
/** Similarities that differ by less are the same: float32 is not more precise. */
const SAME = 1e-6;

/**
 * A row that stands out, and how much: 1 is the nearest of all, 0.5 half-way between that and the
 * mean of all.
 */
export interface Near {
  id: number;
  share: number;
}

/** Which rows are compared with each other: those of a kind, or of records. */
export type Compared = { kind: string } | { ids: ReadonlySet<number> };

interface Block {
  values: Float32Array;
  ids: Float64Array;
  kinds: Uint8Array;
  similarities: Float64Array;
}

/** More rows, or a vector of more numbers, than the memory it may have. */
export class MatrixFull extends Error {}

/** Vectors of one dimension by record; a search for the nearest compares all of them. */
export class Matrix {
  #dimension = 0;
  #size = 0;
  #blocks: Block[] = [];
  #kinds: string[] = [];
  #rowOf = new Map<number, number>();

  readonly #memory: number;

  /** @param memory bytes that it may have */
  constructor(memory: number) {
    this.#memory = memory;
  }

  /** Rows. */
  get size(): number {
    return this.#size;
  }

  /** Numbers of a vector, from the first one on; 0 before. */
  get dimension(): number {
    return this.#dimension;
  }

  clear(): void {
    [this.#dimension, this.#size, this.#blocks, this.#kinds, this.#rowOf] = [
      0,
      0,
      [],
      [],
      new Map(),
    ];
  }

  /**
   * Replaces the record's earlier row. A vector of another dimension than the first ever put is no
   * row.
   * @throws MatrixFull
   */
  put(id: number, kind: string, vector: Float32Array): void {
    if (this.#dimension === 0) this.#dimension = vector.length;
    if (vector.length !== this.#dimension || vector.length === 0) return this.remove(id);
    let row = this.#rowOf.get(id);
    if (row === undefined) {
      row = this.#size;
      if (row === this.#blocks.length * BLOCK_ROWS) this.#blocks.push(this.#newBlock());
      this.#size++;
      this.#rowOf.set(id, row);
    }
    const { values, ids, kinds } = this.#blocks[Math.floor(row / BLOCK_ROWS)]!;
    const at = row % BLOCK_ROWS;
    values.set(vector, at * this.#dimension);
    ids[at] = id;
    kinds[at] = this.#codeOf(kind);
  }

  /** The last row takes its place. */
  remove(id: number): void {
    const row = this.#rowOf.get(id);
    if (row === undefined) return;
    this.#rowOf.delete(id);
    const last = --this.#size;
    const [to, from] = [
      this.#blocks[Math.floor(row / BLOCK_ROWS)]!,
      this.#blocks[Math.floor(last / BLOCK_ROWS)]!,
    ];
    if (row !== last) {
      const [at, of] = [row % BLOCK_ROWS, last % BLOCK_ROWS];
      to.values.set(
        from.values.subarray(of * this.#dimension, (of + 1) * this.#dimension),
        at * this.#dimension,
      );
      to.ids[at] = from.ids[of]!;
      to.kinds[at] = from.kinds[of]!;
      this.#rowOf.set(to.ids[at], row);
    }
    if (last % BLOCK_ROWS === 0) this.#blocks.pop();
  }

  /**
   * The rows nearest to a vector, the nearest first, of several as near the lowest identifier: at
   * most `most`, and only those at least half-way from the mean of all compared rows to the best
   * one. Similarity is the product of both vectors.
   * @param only other rows are skipped
   */
  nearest(vector: Float32Array, only: Compared | undefined, most = NEAREST): Near[] {
    if (vector.length !== this.#dimension || this.#size === 0) return [];
    const masks = only && this.#masksOf(only);
    const { looked, sum, best } = this.#compare(vector, masks);
    if (looked === 0) return [];
    const [mean, span] = [sum / looked, best - sum / looked];
    // The requested vector holds NaN: nothing is near it.
    if (Number.isNaN(span)) return [];
    if (span < SAME)
      return this.#atLeast(-Infinity, masks, most).map(({ id }) => ({ id, share: 1 }));
    return this.#atLeast(mean + span / 2, masks, most).map(({ id, similarity }) => ({
      id,
      share: Math.min(1, Math.max(0.5, (similarity - mean) / span)),
    }));
  }

  /** For each block a 1 for each row that is compared. */
  #masksOf(only: Compared): Uint8Array[] {
    const code = "kind" in only ? this.#kinds.indexOf(only.kind) : -1;
    return this.#blocks.map(({ kinds, ids }) =>
      "kind" in only
        ? kinds.map((kind) => (kind === code ? 1 : 0))
        : kinds.map((_, row) => (only.ids.has(ids[row]!) ? 1 : 0)),
    );
  }

  /** Computes the similarity of each row, or of those of the masks. */
  #compare(
    vector: Float32Array,
    masks: readonly Uint8Array[] | undefined,
  ): { looked: number; sum: number; best: number } {
    let [looked, sum, best] = [0, 0, -Infinity];
    for (const [index, { values, similarities }] of this.#blocks.entries()) {
      const rows = Math.min(BLOCK_ROWS, this.#size - index * BLOCK_ROWS);
      const mask = masks?.[index];
      compareBlock(values, vector, rows, mask, similarities);
      for (let row = 0; row < rows; row++) {
        if (mask && mask[row] === 0) continue;
        const similarity = similarities[row]!;
        looked++;
        sum += similarity;
        if (similarity > best) best = similarity;
      }
    }
    return { looked, sum, best };
  }

  /** Of the rows just compared the best, in their order. */
  #atLeast(
    least: number,
    masks: readonly Uint8Array[] | undefined,
    most: number,
  ): { id: number; similarity: number }[] {
    let found: { id: number; similarity: number }[] = [];
    let floor = least;
    const cut = (): void => {
      found = found.sort((a, b) => b.similarity - a.similarity || a.id - b.id).slice(0, most);
      if (found.length === most && most > 0) floor = found[most - 1]!.similarity;
    };
    for (const [index, { ids, similarities }] of this.#blocks.entries()) {
      const rows = Math.min(BLOCK_ROWS, this.#size - index * BLOCK_ROWS);
      const mask = masks?.[index];
      for (let row = 0; row < rows; row++) {
        if (similarities[row]! < floor || (mask && mask[row] === 0)) continue;
        found.push({ id: ids[row]!, similarity: similarities[row]! });
        if (found.length >= 4 * most + BLOCK_ROWS) cut();
      }
    }
    cut();
    return found;
  }

  #codeOf(kind: string): number {
    const known = this.#kinds.indexOf(kind);
    return known >= 0 ? known : this.#kinds.push(kind) - 1;
  }

  #newBlock(): Block {
    const bytes =
      (this.#blocks.length + 1) *
      BLOCK_ROWS *
      (this.#dimension * Float32Array.BYTES_PER_ELEMENT + ROW_BYTES);
    if (bytes > this.#memory)
      throw new MatrixFull(
        `${this.#size + 1} vectors of ${this.#dimension} numbers need ${bytes} bytes of memory`,
      );
    return {
      values: new Float32Array(BLOCK_ROWS * this.#dimension),
      ids: new Float64Array(BLOCK_ROWS),
      kinds: new Uint8Array(BLOCK_ROWS),
      similarities: new Float64Array(BLOCK_ROWS),
    };
  }
}

/**
 * Four sums at a time: additions then do not wait for each other. 100,000 rows of 384 numbers take
 * 60 to 120 ms of a core.
 */
function compareBlock(
  values: Float32Array,
  vector: Float32Array,
  rows: number,
  mask: Uint8Array | undefined,
  similarities: Float64Array,
): void {
  const length = vector.length;
  const fours = length & ~3;
  for (let row = 0, at = 0; row < rows; row++, at += length) {
    if (mask && mask[row] === 0) continue;
    let a = 0,
      b = 0,
      c = 0,
      d = 0,
      i = 0;
    for (; i < fours; i += 4) {
      const k = at + i;
      a += values[k]! * vector[i]!;
      b += values[k + 1]! * vector[i + 1]!;
      c += values[k + 2]! * vector[i + 2]!;
      d += values[k + 3]! * vector[i + 3]!;
    }
    for (; i < length; i++) a += values[at + i]! * vector[i]!;
    similarities[row] = a + b + c + d;
  }
}

/** A vector as it is stored: float32, the lowest byte first. */
export interface PackedVector {
  ark: string;
  digest: Uint8Array;
  vector: Uint8Array | null;
}

/** How far from 1 the length of a vector may be: models and float32 round. */
const SLACK = 0.01;
const BIG_ENDIAN = endianness() === "BE";

/**
 * Vectors as they are stored, in bytes of their own, one for each record.
 * @throws Error for one that is not of length 1
 */
export function packVectors(vectors: readonly StoredVector[]): PackedVector[] {
  const last = new Map(vectors.map((kept) => [kept.ark, kept]));
  return [...last.values()].map(({ ark, digest, vector }) => ({
    ark,
    digest: new Uint8Array(digest),
    vector: vector && packed(ark, vector),
  }));
}

function packed(ark: string, vector: Float32Array): Uint8Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  // Also where a value is no number.
  if (!(Math.abs(Math.sqrt(squares) - 1) <= SLACK))
    throw new Error(
      `The vector of ${ark} is not of length 1: divide each of its numbers by its length.`,
    );
  if (vector.length > MAX_STORED_DIMENSIONS)
    throw new Error(
      `The vector of ${ark} has ${vector.length} numbers, and at most ${MAX_STORED_DIMENSIONS} are kept.`,
    );
  const bytes = new Uint8Array(vector.slice().buffer);
  if (BIG_ENDIAN) Buffer.from(bytes.buffer).swap32();
  return bytes;
}

function unpackVector(bytes: Uint8Array): Float32Array {
  // A copy: bytes of a database may begin where no float32 can.
  const own = new Uint8Array(bytes);
  if (BIG_ENDIAN) Buffer.from(own.buffer).swap32();
  return new Float32Array(own.buffer, 0, own.byteLength >> 2);
}

/**
 * A vector in memory of its own: a message between threads carries all of the buffer that it is in.
 */
export const exactVector = (vector: Float32Array): Float32Array =>
  vector.byteLength === vector.buffer.byteLength ? vector : vector.slice();

/** Default of the setting of this name: most bytes of the vectors of a model. */
export const VECTORS_MEMORY = 2 ** 30;
/** Bytes of vectors that are read at a time. */
const PAGE_BYTES = 4 * 2 ** 20;
/**
 * Rows of a page while the length of the vectors is unknown, and at most: short ones, and removed
 * ones, take memory too.
 */
const [FIRST_PAGE_ROWS, MAX_ROWS] = [16, 10_000];
/** ms before another attempt to hold vectors that were too many: meanwhile none is read in vain. */
const REFUSED_FOR = 600_000;

/**
 * Which run of a model's vectors it is, and the number of its last step; a run that was forgotten
 * is followed by one of another name.
 */
interface Run {
  era: string;
  step: number;
}
/**
 * The stored columns of a vector, in the order in which they are read; `null` where the vector was
 * removed.
 */
export type VectorRow = readonly [
  step: number,
  record: number,
  kind: string,
  vector: Uint8Array | null,
];

/** The vectors of one model in memory, and how far the stored rows were read. */
export class VectorsInMemory {
  readonly #matrix: Matrix;
  #of: { model: string; era: string } | undefined;
  #step = 0;
  #record = 0;
  /** The last step of which all was read. */
  #done = 0;
  #refused: { error: ServiceError; until: number } | undefined;

  readonly #memory: number;

  /** @param memory bytes that they may have */
  constructor(memory: number) {
    this.#memory = memory;

    this.#matrix = new Matrix(memory);
  }

  /**
   * Begins an update: returns the step and record behind which to read on; `undefined` when there
   * is nothing to read.
   * @throws ServiceError `QUERY_MEMORY` while they are too many
   */
  begin(model: string, run: Run | undefined): { step: number; record: number } | undefined {
    if (this.#of?.model !== model || this.#of.era !== run?.era)
      this.#reset(run && { model, era: run.era });
    if (this.#refused && performance.now() < this.#refused.until) throw this.#refused.error;
    this.#refused = undefined;
    return run === undefined || run.step <= this.#done
      ? undefined
      : { step: this.#step, record: this.#record };
  }

  /** Rows to read at a time. */
  get pageRows(): number {
    const { dimension } = this.#matrix;
    return dimension === 0
      ? FIRST_PAGE_ROWS
      : Math.max(
          1,
          Math.min(MAX_ROWS, Math.floor(PAGE_BYTES / (dimension * Float32Array.BYTES_PER_ELEMENT))),
        );
  }

  /**
   * Adds the requested page behind the last one; a page that is not full was the last.
   * @throws ServiceError `QUERY_MEMORY`
   */
  take(rows: readonly VectorRow[]): void {
    try {
      for (const [step, record, kind, vector] of rows) {
        if (vector === null) this.#matrix.remove(record);
        else this.#matrix.put(record, kind, unpackVector(vector));
        [this.#step, this.#record] = [step, record];
      }
    } catch (error) {
      if (!(error instanceof MatrixFull)) throw error;
      this.#reset(this.#of);
      const refused = new ServiceError(
        "QUERY_MEMORY",
        `Search by vectors needs more memory than the ${this.#memory} bytes that ` +
          `VECTORS_MEMORY allows: ${error.message}. Raise VECTORS_MEMORY, or take a model ` +
          "with shorter vectors.",
      );
      this.#refused = { error: refused, until: performance.now() + REFUSED_FOR };
      throw refused;
    }
  }

  /** All that there was of the run was read, in one view with the run itself. */
  done(run: Run): void {
    [this.#step, this.#record, this.#done] = [run.step, Number.MAX_SAFE_INTEGER, run.step];
  }

  nearest(vector: Float32Array, only: Compared | undefined): Near[] {
    return this.#matrix.nearest(vector, only);
  }

  #reset(of: { model: string; era: string } | undefined): void {
    this.#matrix.clear();
    [this.#of, this.#step, this.#record, this.#done, this.#refused] = [of, 0, 0, 0, undefined];
  }
}

/** A place in the change log: behind the change of this record in the commit of this number. */
interface Place {
  sequence: number;
  record: number;
}

const PLACE = /^(\d{1,15})\/(\d{1,15})$/;

export const writePlace = ({ sequence, record }: Place): string =>
  sequence === 0 && record === 0 ? "" : `${sequence}/${record}`;

/** @throws ServiceError `BAD_REQUEST` for text that {@link writePlace} does not write */
export function readPlace(text: string): Place {
  if (text === "") return { sequence: 0, record: 0 };
  const [, sequence, record] = PLACE.exec(text) ?? [];
  if (sequence === undefined)
    throw new ServiceError(
      "BAD_REQUEST",
      "The position in the change log is not from this store; continue from the position " +
        "that the vectors have reached.",
    );
  return { sequence: Number(sequence), record: Number(record) };
}

/** Both ends of a step. @throws ServiceError `BAD_REQUEST` also where it does not lead on */
export function readStep(step: { after: string; to: string }): { after: Place; to: Place } {
  const [after, to] = [readPlace(step.after), readPlace(step.to)];
  if (
    to.sequence < after.sequence ||
    (to.sequence === after.sequence && to.record <= after.record)
  ) {
    throw new ServiceError(
      "BAD_REQUEST",
      "Positions in the change log only grow: a batch of vectors must end after the " +
        "position where it begins.",
    );
  }
  return { after, to };
}
