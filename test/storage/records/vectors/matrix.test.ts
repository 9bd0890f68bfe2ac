import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BLOCK_ROWS,
  Matrix,
  MatrixFull,
  NEAREST,
  type Near,
} from "../../../../src/storage/records/vectors.js";

const PLENTY = 2 ** 30;
const KINDS = ["dataset", "software", "group"] as const;
interface Row {
  id: number;
  kind: string;
  vector: number[];
}

/**
 * What the matrix answers, in the plainest way. Numbers are small and whole, so that sums are exact
 * in any order.
 */
function naive(
  rows: readonly Row[],
  vector: readonly number[],
  kind: string | undefined,
  most: number,
): Near[] {
  const looked = rows
    .filter((row) => kind === undefined || row.kind === kind)
    .map(({ id, vector: of }) => ({
      id,
      similarity: of.reduce((sum, value, i) => sum + value * vector[i]!, 0),
    }));
  if (looked.length === 0) return [];
  const mean = looked.reduce((sum, { similarity }) => sum + similarity, 0) / looked.length;
  const best = Math.max(...looked.map(({ similarity }) => similarity));
  const shares = looked.map(({ id, similarity }) => ({
    id,
    share: best - mean < 1e-6 ? 1 : (similarity - mean) / (best - mean),
  }));
  return shares
    .filter(({ share }) => share >= 0.5 - 1e-12)
    .toSorted((a, b) => b.share - a.share || a.id - b.id)
    .slice(0, most);
}

const small = fc.integer({ min: -3, max: 3 });
const vectorOf = (dimension: number) =>
  fc.array(small, { minLength: dimension, maxLength: dimension });
const scene = fc.integer({ min: 1, max: 9 }).chain((dimension) =>
  fc.record({
    changes: fc.array(
      fc.oneof(
        {
          weight: 4,
          arbitrary: fc.record({
            id: fc.integer({ min: 1, max: 60 }),
            kind: fc.constantFrom(...KINDS),
            vector: vectorOf(dimension),
          }),
        },
        { weight: 1, arbitrary: fc.record({ removed: fc.integer({ min: 1, max: 60 }) }) },
        // Of another dimension: it takes the row of its record away.
        {
          weight: 1,
          arbitrary: fc.record({
            id: fc.integer({ min: 1, max: 60 }),
            kind: fc.constantFrom(...KINDS),
            vector: vectorOf(dimension + 1),
          }),
        },
      ),
      { maxLength: 120 },
    ),
    first: fc.record({
      id: fc.integer({ min: 1, max: 60 }),
      kind: fc.constantFrom(...KINDS),
      vector: vectorOf(dimension),
    }),
    query: vectorOf(dimension),
    kind: fc.option(fc.constantFrom(...KINDS), { nil: undefined }),
    most: fc.integer({ min: 1, max: 20 }),
  }),
);

const only = (kind: string | undefined) => (kind === undefined ? undefined : { kind });

describe("the matrix of vectors", () => {
  test("answers as a plain scan does, whatever was put, replaced and removed", () => {
    fc.assert(
      fc.property(scene, ({ first, changes, query, kind, most }) => {
        const matrix = new Matrix(PLENTY);
        const rows = new Map<number, Row>();
        for (const change of [first, ...changes]) {
          if ("removed" in change) {
            matrix.remove(change.removed);
            rows.delete(change.removed);
            continue;
          }
          matrix.put(change.id, change.kind, Float32Array.from(change.vector));
          if (change.vector.length === query.length) rows.set(change.id, change);
          else rows.delete(change.id);
        }
        expect(matrix.size).toBe(rows.size);
        const expected = naive([...rows.values()], query, kind, most);
        const ids = new Set([...rows.values()].flatMap((row) => (row.kind === kind ? row.id : [])));
        const answered = matrix.nearest(Float32Array.from(query), only(kind), most);
        if (kind !== undefined)
          expect(matrix.nearest(Float32Array.from(query), { ids }, most)).toEqual(answered);
        expect(answered.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
        for (const [index, { share }] of answered.entries())
          expect(share).toBeCloseTo(expected[index]!.share, 9);
      }),
      { numRuns: 500 },
    );
  });

  test("is the same over several blocks, of which empty ones are dropped", () => {
    const matrix = new Matrix(PLENTY);
    const rows = new Map<number, Row>();
    // Whole numbers that look like none in particular.
    const value = (seed: number): number => (((seed * 2654435761) >>> 16) % 7) - 3;
    for (let id = 1; id <= 3 * BLOCK_ROWS + 5; id++) {
      const row = {
        id,
        kind: KINDS[id % 3]!,
        vector: Array.from({ length: 5 }, (_, i) => value(id * 5 + i)),
      };
      rows.set(id, row);
      matrix.put(id, row.kind, Float32Array.from(row.vector));
    }
    const same = (): void => {
      for (const kind of [undefined, "software"]) {
        const answered = matrix.nearest(Float32Array.of(1, -2, 3, 0, 1), only(kind));
        expect(answered.length).toBeLessThanOrEqual(NEAREST);
        expect(answered.map(({ id }) => id)).toEqual(
          naive([...rows.values()], [1, -2, 3, 0, 1], kind, NEAREST).map(({ id }) => id),
        );
      }
    };
    same();
    for (const id of [...rows.keys()].filter((one) => one % 4 !== 0)) {
      matrix.remove(id);
      rows.delete(id);
    }
    expect(matrix.size).toBe(rows.size);
    same();
    for (const id of rows.keys()) matrix.remove(id);
    expect(matrix.nearest(Float32Array.of(1, -2, 3, 0, 1), undefined)).toEqual([]);
    matrix.put(1, "group", Float32Array.of(0, 0, 1, 0, 0));
    expect(matrix.nearest(Float32Array.of(1, -2, 3, 0, 1), undefined)).toEqual([
      { id: 1, share: 1 },
    ]);
  });

  test(
    "returns a hundred rows at most, also where all are equal, and none for a vector of " +
      "another dimension",
    () => {
      const matrix = new Matrix(PLENTY);
      for (let id = 250; id > 0; id--) matrix.put(id, "dataset", Float32Array.of(0.6, 0.8));
      expect(matrix.nearest(Float32Array.of(0.6, 0.8), undefined)).toEqual(
        Array.from({ length: 100 }, (_, i) => ({ id: i + 1, share: 1 })),
      );
      for (const query of [[1], [1, 0, 0], [], [NaN, 1]])
        expect(matrix.nearest(Float32Array.from(query), undefined)).toEqual([]);
      expect(matrix.nearest(Float32Array.of(1, 0), only("group"))).toEqual([]);
    },
  );

  test("takes at most its memory, and reuses the memory of dropped vectors", () => {
    // Two blocks of one number.
    const matrix = new Matrix(2 * BLOCK_ROWS * (4 + 64));
    for (let id = 1; id <= 2 * BLOCK_ROWS; id++) matrix.put(id, "dataset", Float32Array.of(1));
    expect(() => matrix.put(0, "dataset", Float32Array.of(1))).toThrow(MatrixFull);
    matrix.put(7, "dataset", Float32Array.of(0.5));
    matrix.remove(9);
    matrix.put(0, "dataset", Float32Array.of(1));
    expect(matrix.size).toBe(2 * BLOCK_ROWS);
    matrix.clear();
    expect(matrix.size).toBe(0);
    matrix.put(1, "dataset", Float32Array.of(1, 2));
    expect(matrix.dimension).toBe(2);
  });
});
