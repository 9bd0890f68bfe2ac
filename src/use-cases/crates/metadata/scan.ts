import { crateError } from "../findings.js";
import type { CrateLimits } from "../limits.js";

/** Below this, reading the text costs little whatever it says. */
const SMALL = 2 ** 20;
const [QUOTE, BACKSLASH, OPEN_OBJECT, OPEN_ARRAY, CLOSE_OBJECT, CLOSE_ARRAY] = [0x22, 0x5c, 0x7b, 0x5b, 0x7d, 0x5d];
const GRAPH = Buffer.from('"@graph"');

/**
 * Looks at the brackets of large metadata before it is parsed: values take ten times the memory of their text,
 * so what breaks a limit must not become values. The text need not be JSON; what it is, its parser says.
 * @returns offset of the first bracket that nests too deep
 * @throws CrateError `TOO_MANY_ENTITIES`, `ENTITY_TOO_LARGE`
 */
export function scanMetadata(bytes: Uint8Array, file: string, limits: CrateLimits): { tooDeep?: number } {
  if (bytes.byteLength <= SMALL) return {};
  let depth = 0;
  let key = 0;
  let inGraph = false;
  let entities = 0;
  let began = 0;
  let graphBytes = 0;
  let graphBegan = 0;
  for (let at = 0; at < bytes.byteLength; at++) {
    const char = bytes[at];
    if (char === QUOTE) {
      if (depth === 1) key = at;
      at = closingQuote(bytes, at);
    } else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      if (++depth > limits.MAX_JSON_DEPTH) return { tooDeep: at };
      if (depth === 2 && char === OPEN_ARRAY && GRAPH.equals(bytes.subarray(key, key + GRAPH.length))) [inGraph, graphBegan] = [true, at];
      else if (depth === 3 && inGraph) {
        began = at;
        if (++entities > limits.MAX_CRATE_ENTITIES + 1)
          throw crateError("TOO_MANY_ENTITIES", `The crate describes more than MAX_CRATE_ENTITIES=${limits.MAX_CRATE_ENTITIES} entities.`, { file });
      }
    } else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
      if (depth === 3 && inGraph && at - began >= limits.MAX_ENTITY_BYTES) throw tooLarge(at + 1 - began, file, `/@graph/${entities - 1}`, limits);
      if (depth === 2 && inGraph) {
        inGraph = false;
        graphBytes += at - graphBegan;
      }
      depth--;
    }
  }
  // The older layout: the crate itself is what stands around the graph.
  const around = bytes.byteLength - graphBytes;
  if (depth === 0 && around > limits.MAX_ENTITY_BYTES) throw tooLarge(around, file, "", limits);
  return {};
}

/** Offset of the quote that ends a string, or the end of the text. */
function closingQuote(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return bytes.byteLength;
}

const tooLarge = (size: number, file: string, pointer: string, { MAX_ENTITY_BYTES }: CrateLimits) =>
  crateError("ENTITY_TOO_LARGE", `The entity has ${size} bytes; MAX_ENTITY_BYTES=${MAX_ENTITY_BYTES}. Put what it holds into a file of the crate.`, { file, pointer });
