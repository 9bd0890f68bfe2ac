import { EmbeddingsRefused } from "../port.js";

/** Longest vectors that are taken. */
export const MOST_DIMENSIONS = 8192;
/** Bytes of one number at the most, as JSON writes it, and of all that is not vectors. */
const NUMBER_BYTES = 32;
const FRAME_BYTES = 64 * 2 ** 10;

/** Bytes that an answer for so many texts can have. */
export const longestAnswer = (texts: number): number => texts * MOST_DIMENSIONS * NUMBER_BYTES + FRAME_BYTES;

/**
 * The vectors in an answer, in the order of the texts that it is for, each of length 1. Numbers in lists are read, and
 * little-endian float32 in base64, which some servers send whatever they are asked for.
 * @throws EmbeddingsRefused that says what is wrong with it, and where
 */
export function vectorsOf(answer: string, texts: number): Float32Array[] {
  const data = member(parsed(answer), "data");
  if (!Array.isArray(data)) throw nonsense("has no list `data`");
  if (data.length !== texts) throw nonsense(`has ${data.length} vectors for ${texts} ${texts === 1 ? "text" : "texts"}`);
  const vectors: (Float32Array | undefined)[] = Array.from({ length: texts });
  let dimensions: number | undefined;
  for (const [at, entry] of data.entries()) {
    const index = member(entry, "index");
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= texts) throw nonsense(`has no index of one of ${texts} texts in data[${at}]`);
    if (vectors[index]) throw nonsense(`has the index ${index} twice, again in data[${at}]`);
    const vector = vectorOf(member(entry, "embedding"), `data[${at}].embedding`);
    dimensions ??= vector.length;
    if (vector.length !== dimensions) throw nonsense(`has ${vector.length} dimensions in data[${at}].embedding, and ${dimensions} in data[0].embedding`);
    vectors[index] = vector;
  }
  return vectors as Float32Array[];
}

function parsed(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    // Python's servers write NaN where a model fails, which is no JSON.
    throw nonsense(/[[,:]\s*-?(?:NaN|Infinity)\b/.test(answer) ? "holds NaN or Infinity, which are no numbers" : "is not JSON");
  }
}

function vectorOf(embedding: unknown, place: string): Float32Array {
  const numbers = typeof embedding === "string" ? floatsOf(embedding, place) : embedding;
  if (!Array.isArray(numbers)) throw nonsense(`has no list of numbers in ${place}`);
  if (numbers.length < 1 || numbers.length > MOST_DIMENSIONS) throw nonsense(`has ${numbers.length} dimensions in ${place}; 1 to ${MOST_DIMENSIONS} are taken`);
  let largest = 0;
  for (const [at, number] of numbers.entries()) {
    if (typeof number !== "number" || !Number.isFinite(number)) throw nonsense(`has no finite number in ${place}[${at}]`);
    largest = Math.max(largest, Math.abs(number));
  }
  if (largest === 0) throw nonsense(`has nothing but zeros in ${place}`);
  return normalised(numbers as number[], largest);
}

/** By the largest first: squares of very large and very small numbers are infinite, or nothing. */
function normalised(numbers: readonly number[], largest: number): Float32Array {
  let sum = 0;
  for (const number of numbers) sum += (number / largest) ** 2;
  const length = Math.sqrt(sum);
  return Float32Array.from(numbers, (number) => number / largest / length);
}

function floatsOf(text: string, place: string): number[] {
  if (text.length > MOST_DIMENSIONS * 6) throw nonsense(`has more than ${MOST_DIMENSIONS} dimensions in ${place}`);
  const bytes = Buffer.from(text, "base64");
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text) || bytes.length % 4 !== 0) throw nonsense(`has text in ${place} that is no float32 in base64`);
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
}

const member = (value: unknown, name: string): unknown => (typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined);

const nonsense = (what: string): EmbeddingsRefused => new EmbeddingsRefused(`the embeddings server answers nonsense: its answer ${what}`);
