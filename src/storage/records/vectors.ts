/** Vectors of records: what is stored, the nearest of them, and places in the change log. */
import { ServiceError } from "../../errors.js";
import { MAX_STORED_DIMENSIONS, type StoredVector } from "./port.js";

/** Most records that are the nearest ones. */
const NEAREST = 100;
/** Similarities that differ by less are the same: numbers of four bytes are not more precise. */
const SAME = 1e-6;

/**
 * A record that stands out, and how much: 1 is the nearest of all, 0.5 half-way between that and
 * the mean of all.
 */
export interface Near {
  id: number;
  share: number;
}

/**
 * SELECT of the live records nearest to a vector, of several as near those with the lowest number
 * first: at most {@link NEAREST}, and only those at least half-way from the mean of all compared
 * records to the best one.
 * @param similarity SQL of the cosine of a vector of `embedding AS e` and the requested one
 * @param compared conditions on `embedding AS e` and `record AS r`
 */
export const nearestSql = (similarity: string, compared: string): string =>
  `WITH near AS MATERIALIZED (SELECT r.id, ${similarity} AS similarity FROM embedding AS e
      JOIN record AS r ON r.id = e.record WHERE r.deleted_at IS NULL AND ${compared}),
    span AS (SELECT avg(similarity) AS mean, max(similarity) AS best FROM near)
    SELECT n.id, CASE WHEN s.best - s.mean < ${SAME} THEN 1
      ELSE (n.similarity - s.mean) / (s.best - s.mean) END AS share
    FROM near AS n CROSS JOIN span AS s
    WHERE s.best - s.mean < ${SAME} OR n.similarity >= (s.mean + s.best) / 2
    ORDER BY n.similarity DESC, n.id LIMIT ${NEAREST}`;

/** How far from 1 the length of a vector may be: models and float32 round. */
const SLACK = 0.01;

/**
 * The last of the vectors of each record.
 * @throws Error for one that is not of length 1
 */
export function checkedVectors(vectors: readonly StoredVector[]): StoredVector[] {
  const last = new Map(vectors.map((stored) => [stored.ark, stored]));
  for (const { ark, vector } of last.values()) if (vector) checkVector(ark, vector);
  return [...last.values()];
}

function checkVector(ark: string, vector: Float32Array): void {
  let squares = 0;
  for (const value of vector) squares += value * value;
  // Also where a value is no number.
  if (!(Math.abs(Math.sqrt(squares) - 1) <= SLACK))
    throw new Error(
      `The vector of ${ark} is not of length 1: divide each of its numbers by its length.`,
    );
  if (vector.length > MAX_STORED_DIMENSIONS)
    throw new Error(
      `The vector of ${ark} has ${vector.length} numbers, and at most ${MAX_STORED_DIMENSIONS} are stored.`,
    );
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
