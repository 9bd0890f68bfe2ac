import { ServiceError } from "../../../errors.js";
import { type Compared, Matrix, MatrixFull, type Near, unpackVector } from "./matrix.js";

/** Default of the setting of this name: most bytes of the vectors of a model. */
export const VECTORS_MEMORY = 2 ** 30;
/** Bytes of vectors that are read at a time. */
const PAGE_BYTES = 4 * 2 ** 20;
/**
 * Rows of a page while the length of the vectors is unknown, and at most: short ones, and removed
 * ones, take memory too.
 */
const [FEW_ROWS, MOST_ROWS] = [16, 10_000];
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
      ? FEW_ROWS
      : Math.max(
          1,
          Math.min(
            MOST_ROWS,
            Math.floor(PAGE_BYTES / (dimension * Float32Array.BYTES_PER_ELEMENT)),
          ),
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
