import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  firstHalf,
  longestAnswer,
  MAX_DIMENSIONS,
  nameOf,
  prepared,
  vectorsOf,
} from "../../../src/adapters/embeddings/endpoint.js";
import { EmbeddingsRefused } from "../../../src/adapters/embeddings/port.js";
import { lengthOf } from "./embedder.js";

const answerOf = (...embeddings: unknown[]): string =>
  JSON.stringify({ data: embeddings.map((embedding, index) => ({ index, embedding })) });
const base64 = (...numbers: number[]): string =>
  Buffer.from(Float32Array.from(numbers).buffer).toString("base64");
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });

describe("An answer of an embeddings server", () => {
  it("gives vectors of length 1 in the order of the texts, whatever numbers it contains", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }).chain((dimensions) =>
          fc.array(
            fc
              .array(finite, { minLength: dimensions, maxLength: dimensions })
              .filter((numbers) => numbers.some((number) => number !== 0)),
            { minLength: 1, maxLength: 8 },
          ),
        ),
        fc.infiniteStream(fc.nat()),
        (embeddings, order) => {
          const entries = embeddings
            .map((embedding, index) => ({
              at: order.next().value as number,
              entry: { index, embedding },
            }))
            .sort((one, other) => one.at - other.at);
          const vectors = vectorsOf(
            JSON.stringify({ data: entries.map(({ entry }) => entry) }),
            embeddings.length,
          );
          expect(vectors).toHaveLength(embeddings.length);
          for (const [at, vector] of vectors.entries()) {
            expect(lengthOf(vector)).toBeCloseTo(1, 5);
            const largest = Math.max(...embeddings[at]!.map(Math.abs));
            for (const [place, number] of embeddings[at]!.entries())
              expect(
                Math.sign(vector[place]!) * Math.sign(number),
                `${number}`,
              ).toBeGreaterThanOrEqual(Math.abs(number / largest) > 1e-30 ? 1 : 0);
          }
        },
      ),
    );
  });

  it("is read alike as base64 and as numbers", () => {
    fc.assert(
      fc.property(
        fc
          .array(
            fc.float({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
            { minLength: 1, maxLength: 50 },
          )
          .filter((numbers) => numbers.some((number) => number !== 0)),
        (numbers) => {
          expect(vectorsOf(answerOf(base64(...numbers)), 1)).toEqual(
            vectorsOf(answerOf(numbers), 1),
          );
        },
      ),
    );
  });

  it.each([
    ["a number as text", answerOf(["1", 2]), /no finite number in data\[0\]\.embedding\[0\]$/],
    [
      "null among the numbers",
      answerOf([1, null]),
      /no finite number in data\[0\]\.embedding\[1\]$/,
    ],
    [
      "a number too large for a computer",
      '{"data":[{"index":0,"embedding":[1e999]}]}',
      /no finite number/,
    ],
    ["lists in the list", answerOf([[1, 2]]), /no finite number/],
    ["no numbers", answerOf([]), /0 dimensions in data\[0\]\.embedding; 1 to 8192 are accepted$/],
    [
      "too many numbers",
      answerOf(Array.from({ length: MAX_DIMENSIONS + 1 }, () => 1)),
      /8193 dimensions/,
    ],
    ["nothing but zeros", answerOf([0, -0, 0]), /has only zeros in data\[0\]\.embedding$/],
    ["no vector", answerOf(null), /no list of numbers in data\[0\]\.embedding$/],
    [
      "an inherited vector",
      '{"data":[{"index":0,"__proto__":{"embedding":[1]}}]}',
      /no list of numbers/,
    ],
    ["base64 of something else", answerOf("AAAA"), /no float32 in base64$/],
    ["text that is no base64", answerOf("hello wörld!"), /no float32 in base64$/],
    ["NaN in base64", answerOf(base64(1, NaN)), /no finite number in data\[0\]\.embedding\[1\]$/],
    ["nothing in base64", answerOf(""), /0 dimensions/],
    [
      "too much base64",
      answerOf(Buffer.alloc(4 * (MAX_DIMENSIONS + 1), 1).toString("base64")),
      /8193 dimensions/,
    ],
    ["far too much base64", answerOf("AAAA".repeat(20_000)), /more than 8192 dimensions/],
    ["no index", '{"data":[{"embedding":[1]}]}', /no index of one of 1 texts in data\[0\]$/],
    ["an index as text", '{"data":[{"index":"0","embedding":[1]}]}', /no index/],
    ["an index beyond", '{"data":[{"index":1,"embedding":[1]}]}', /no index/],
    ["half an index", '{"data":[{"index":0.5,"embedding":[1]}]}', /no index/],
    ["more vectors than texts", answerOf([1], [1]), /2 vectors for 1 text$/],
    ["an entry that is none", '{"data":[null]}', /no index/],
    ["the error of a server that answers 200", '{"error":{"message":"no"}}', /no list `data`$/],
  ])("with %s is refused", (_, answer, message) => {
    const read = (): unknown => vectorsOf(answer, 1);
    expect(read).toThrow(EmbeddingsRefused);
    expect(read).toThrow(message);
    expect(read).toThrow(/^the embeddings server sent an invalid answer: its answer /);
  });

  it("with the same index twice is refused", () =>
    expect(() =>
      vectorsOf('{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[2]}]}', 2),
    ).toThrow(/the index 1 twice, again in data\[1\]$/));

  it("is read as vectors or refused, whatever it contains", () => {
    const entry = fc.oneof(
      fc.jsonValue(),
      fc.record({
        index: fc.oneof(fc.integer({ min: -1, max: 3 }), fc.jsonValue()),
        embedding: fc.oneof(
          fc.array(fc.oneof(fc.double(), fc.integer()), { maxLength: 3 }),
          fc.base64String(),
          fc.jsonValue(),
        ),
      }),
    );
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({ data: fc.oneof(fc.array(entry, { maxLength: 3 }), fc.jsonValue()) })
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 3 }), (answer, texts) => {
        try {
          const vectors = vectorsOf(answer, texts);
          expect(vectors).toHaveLength(texts);
          for (const vector of vectors)
            expect([vector.length, lengthOf(vector)]).toEqual([
              vectors[0]!.length,
              expect.closeTo(1, 5),
            ]);
        } catch (error) {
          if (!(error instanceof EmbeddingsRefused)) throw error;
          expect(error.message).not.toContain("\n");
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("may contain the longest vectors that are accepted", () => {
    const longest = Array.from(
      { length: MAX_DIMENSIONS },
      (_, at) => -(1 + at / MAX_DIMENSIONS + 2 ** -52) * 1.1e-300,
    );
    expect(answerOf(longest, longest).length).toBeLessThan(longestAnswer(2));
    expect(vectorsOf(answerOf(longest, longest), 2)).toHaveLength(2);
  });
});

describe("A text for an embeddings server", () => {
  it("is well-formed, within its length limit, and never blank", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.string({ maxLength: 5 }),
        fc.integer({ min: 1, max: 40 }),
        (text, tail, most) => {
          let sent: string;
          try {
            sent = prepared(`${text}\ud800${tail}`, most);
          } catch (error) {
            expect(error).toBeInstanceOf(EmbeddingsRefused);
            return;
          }
          expect(sent.isWellFormed()).toBe(true);
          expect([...sent].length).toBeLessThanOrEqual(most);
          expect(sent).toBe(sent.trim());
          expect(sent).not.toBe("");
          expect(sent).not.toMatch(/\p{Cc}/u);
        },
      ),
    );
  });
  it("is unchanged where it is valid", () => {
    expect(prepared("Plate 7, 🧬", 100)).toBe("Plate 7, 🧬");
    expect(prepared("  ab🧬🧬cd", 3)).toBe("ab🧬");
    expect(prepared("a b", 2)).toBe("a");
    expect(() => prepared(" \u0000\u2003", 10)).toThrow(EmbeddingsRefused);
  });
  it("is halved at half its length", () => {
    expect(firstHalf("🧬".repeat(1_001))).toBe("🧬".repeat(500));
    expect(firstHalf("a".repeat(400))).toBe("a".repeat(200));
    expect(firstHalf("a".repeat(399))).toBeUndefined();
  });
  it("has vectors whose name contains everything that they depend on", () => {
    const name = nameOf("e5-passage", "passage: ", 4_000);
    expect(name).toMatch(/^e5-passage#[0-9a-f]{8}$/);
    expect(nameOf("e5-passage", "passage: ", 4_000)).toBe(name);
    for (const other of [
      nameOf("e5", "passage: ", 4_000),
      nameOf("e5-passage", "passage:", 4_000),
      nameOf("e5-passage", "passage: ", 4_001),
    ])
      expect(other).not.toBe(name);
  });
});
