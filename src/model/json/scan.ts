/**
 * The structure of a JSON text before it is parsed: values take ten times the memory and time of
 * their text, so a text beyond a limit must not become values. The text need not be JSON; the
 * parser decides that.
 */
const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COMMA, COLON] = [
  0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a,
] as const;
const isOpening = (byte: number | undefined) => byte === OPEN_OBJECT || byte === OPEN_ARRAY;
const isClosing = (byte: number | undefined) => byte === CLOSE_OBJECT || byte === CLOSE_ARRAY;
/** Longest key that is compared. */
const MAX_KEY_BYTES = 16;

/** Finds brackets, commas and colons outside of strings, in a text that may arrive in chunks. */
class JsonScanner {
  /** Arrays and objects that are open, that of a bracket found included. */
  depth = 0;
  /** How the last text directly in the outermost object begins: the key of what follows it. */
  key = "";
  #inString = false;
  #isEscaped = false;

  /** @param visit gets the byte and its offset in the chunk; `false` ends the scan */
  scan(chunk: Uint8Array, visit: (byte: number, at: number) => boolean): void {
    if (chunk.length === 0) return;
    for (let at = this.#inString ? this.#passString(chunk, 0) + 1 : 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (byte === QUOTE) {
        if (this.depth === 1) this.key = "";
        at = this.#passString(chunk, at + 1);
      } else if (isOpening(byte)) {
        this.depth++;
        if (!visit(byte, at)) return;
      } else if (isClosing(byte)) {
        if (!visit(byte, at)) return;
        this.depth--;
      } else if ((byte === COMMA || byte === COLON) && !visit(byte, at)) return;
    }
  }

  /** Offset of the quote that ends a string, or the end of the chunk. */
  #passString(chunk: Uint8Array, from: number): number {
    const begin = from + (this.#isEscaped ? 1 : 0);
    let quote = chunk.indexOf(QUOTE, begin);
    while (quote >= 0 && endsEscaped(chunk, begin, quote)) quote = chunk.indexOf(QUOTE, quote + 1);
    this.#inString = quote < 0;
    this.#isEscaped = this.#inString && endsEscaped(chunk, begin, chunk.length);
    const end = this.#inString ? chunk.length : quote;
    if (this.depth === 1 && this.key.length < MAX_KEY_BYTES)
      this.key += Buffer.from(chunk.subarray(from, Math.min(end, from + MAX_KEY_BYTES))).toString();
    return end;
  }
}

/** Whether an odd number of backslashes stands before `end`. */
function endsEscaped(chunk: Uint8Array, begin: number, end: number): boolean {
  let at = end;
  while (at > begin && chunk[at - 1] === BACKSLASH) at--;
  return (end - at) % 2 === 1;
}

/** Keys and values of a text, and where a bracket is one too many inside each other. */
interface Measured {
  values: number;
  /** Offset of the bracket; what stands behind it was not counted. */ tooDeep?: number;
}

/**
 * Counts the keys and values of a JSON text in one pass, which ends as soon as there are too many,
 * or they nest too deep.
 * @param most where to stop; `values` is `most + 1` or more when there are too many
 */
export function measureJson(bytes: Uint8Array, most: number, maxDepth = Infinity): Measured {
  // A member follows each comma and each bracket, unless the bracket closes at once.
  const found: Measured = { values: 1 };
  const scanner = new JsonScanner();
  scanner.scan(bytes, (byte, at) => {
    if (scanner.depth > maxDepth) found.tooDeep = at;
    else if (!isClosing(byte)) found.values++;
    else if (isEmpty(bytes, at)) found.values--;
    return found.tooDeep === undefined && found.values <= most;
  });
  return found;
}

/** {@link measureJson} where the depth does not matter. */
export const countValues = (bytes: Uint8Array, most: number): number =>
  measureJson(bytes, most).values;

/** Whether nothing but space stands between a closing bracket and an opening one before it. */
function isEmpty(bytes: Uint8Array, close: number): boolean {
  let at = close - 1;
  while ([0x20, 0x0a, 0x0d, 0x09].includes(bytes[at]!)) at--;
  return isOpening(bytes[at]);
}

/** Finds the entities of a metadata file, which may be larger than the memory for it. */
export class GraphScanner {
  readonly #json = new JsonScanner();
  inGraph = false;

  /** Arrays and objects that are open. */
  get depth(): number {
    return this.#json.depth;
  }

  /**
   * @param found gets the offset of a bracket in the chunk: that of `@graph`, or of an entity in it
   * @returns offset of the first bracket that nests too deep, where the scan ends
   */
  scan(
    chunk: Uint8Array,
    found: (mark: "graph" | "entity" | "entityEnd" | "graphEnd", at: number) => void,
    maxDepth = Infinity,
  ): number | undefined {
    let tooDeep: number | undefined;
    this.#json.scan(chunk, (byte, at) => {
      const { depth, key } = this.#json;
      if (depth > maxDepth) tooDeep = at;
      else if (depth === 2 && byte === OPEN_ARRAY && key === "@graph") {
        this.inGraph = true;
        found("graph", at);
      } else if (this.inGraph && depth === 2 && isClosing(byte)) {
        this.inGraph = false;
        found("graphEnd", at);
      } else if (this.inGraph && depth === 3 && isOpening(byte)) found("entity", at);
      else if (this.inGraph && depth === 3 && isClosing(byte)) found("entityEnd", at);
      return tooDeep === undefined;
    });
    return tooDeep;
  }
}
