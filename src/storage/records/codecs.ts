import { deflateSync, inflateSync } from "node:zlib";
import type { Link } from "../../model/kind.js";
import { inOneSpelling } from "../../rdf/terms.js";
import { earlierQuads, isEarlierCoding } from "./earlier-quads.js";
import type { RecordState } from "./port.js";
import { storedJson, Undecodable } from "./refusals.js";

/** Bytes of quads from which they are compressed: shorter ones fit into a page of a database. */
const MIN_COMPRESSED = 4096;
/** First byte of a zlib stream with the usual window (RFC 1950, section 2.2). */
const ZLIB = 0x78;
/** First characters of a line of N-Quads: of an IRI, or of a blank node. */
const LINE_STARTS: readonly (number | undefined)[] = ["<", "_"].map((text) => text.charCodeAt(0));

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Canonical N-Quads → stored bytes: the text in UTF-8, a long one as a zlib stream. They are in a
 * buffer of their own, which may be handed to another thread. Packed bytes are returned unchanged.
 */
export function packQuads(quads: string | Uint8Array): Uint8Array {
  if (typeof quads !== "string") return quads;
  const text = encoder.encode(quads);
  return text.length < MIN_COMPRESSED ? text : new Uint8Array(deflateSync(text));
}

/**
 * Stored bytes → canonical N-Quads, with terms as the graph has them now.
 * @throws Undecodable when the bytes are of a coding this version does not know, or damaged
 */
export function unpackQuads(bytes: Uint8Array): string {
  try {
    return inOneSpelling(unpacked(bytes));
  } catch (error) {
    throw new Undecodable(`quads cannot be decoded (${(error as Error).message})`, {
      cause: error,
    });
  }
}

/** The same quads in the coding of this version; `undefined` for bytes that have it. */
export const repacked = (bytes: Uint8Array): Uint8Array | undefined =>
  isEarlierCoding(bytes) ? packQuads(earlierQuads(bytes)) : undefined;

function unpacked(bytes: Uint8Array): string {
  const [first] = bytes;
  if (first === ZLIB) return decoder.decode(inflateSync(bytes));
  if (bytes.length === 0 || LINE_STARTS.includes(first)) return decoder.decode(bytes);
  if (isEarlierCoding(bytes)) return earlierQuads(bytes);
  throw new Error(`stored quads begin with byte ${first}, which this version does not read`);
}

/**
 * Links of one record that are copied between threads as objects; more go as bytes, which are
 * handed over.
 */
const MAX_LINKS_AS_OBJECTS = 50;

/**
 * Links as they go from one thread to another: copying a hundred thousand objects takes the serving
 * thread, which only passes them on to the writer, half a second.
 */
export const packLinks = (links: RecordState["links"]): RecordState["links"] =>
  links instanceof Uint8Array || links.length <= MAX_LINKS_AS_OBJECTS
    ? links
    : new TextEncoder().encode(JSON.stringify(links));

export const unpackLinks = (links: RecordState["links"]): readonly Link[] =>
  links instanceof Uint8Array
    ? storedJson<Link[]>(new TextDecoder().decode(links), "a list of links")
    : links;
