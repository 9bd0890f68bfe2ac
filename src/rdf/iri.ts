import { parseArk } from "../identifiers/ark.js";
import { Known } from "./known.js";

const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:/;
/** Characters an IRI never holds (RFC 3987), and `%` that begins no escape. */
// eslint-disable-next-line no-control-regex
const NOT_IN_IRI = /[\u0000-\u0020\u007f-\u009f<>"{}|\\^`\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufff0-\uffff]|[\u{1fffe}\u{1ffff}\u{2fffe}\u{2ffff}\u{3fffe}\u{3ffff}\u{4fffe}\u{4ffff}\u{5fffe}\u{5ffff}\u{6fffe}\u{6ffff}\u{7fffe}\u{7ffff}\u{8fffe}\u{8ffff}\u{9fffe}\u{9ffff}\u{afffe}\u{affff}\u{bfffe}\u{bffff}\u{cfffe}\u{cffff}\u{dfffe}\u{dffff}\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]|%(?![0-9A-Fa-f]{2})/gu;
/** `scheme://authority/path?query#fragment` with an authority that every RDF parser reads. */
const HIERARCHICAL = /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/(?:[^/?#[\]@:]*(?::[^/?#[\]@]*)?@)?(?:\[[0-9a-fA-F:.]+\]|[^/?#[\]@:]*)(?::[0-9]*)?(?:[/?#]|$)/;

/** Namespace of terms that no context explains, so that nothing a crate says is dropped. */
export const FALLBACK_VOCABULARY = "urn:arkgraph:term:";

function encode(character: string): string {
  return character === "%" ? "%25" : character.isWellFormed() ? encodeURIComponent(character) : "%EF%BF%BD";
}

/**
 * Vocabularies that crates and queries write in two ways, in the one that the graph has: schema.org with https
 * (RO-Crate's contexts have http), EVI in capitals with https, PROV with http (EVI's own file has https).
 */
export function oneSpelling(iri: string): string {
  if (iri.startsWith("http://schema.org/")) return `https${iri.slice(4)}`;
  if (iri.startsWith("https://www.w3.org/ns/prov#")) return `http${iri.slice(5)}`;
  return iri.replace(/^https?:\/\/w3id\.org\/evi#/i, "https://w3id.org/EVI#");
}

/** True when the text begins with a scheme. */
export function isAbsoluteIri(text: string): boolean {
  return SCHEME.test(text);
}

/**
 * An IRI that every RDF parser accepts, for any absolute text: what an IRI cannot hold is percent-encoded;
 * what cannot be repaired so is wrapped as `urn:arkgraph:iri:…`. Vocabularies with two spellings get one.
 */
export function safeIri(text: string): string {
  let iri = oneSpelling(text);
  if (/^evi:/i.test(iri) && !iri.startsWith("evi:/")) iri = `https://w3id.org/EVI#${iri.slice(4)}`;
  iri = iri.replace(NOT_IN_IRI, encode);
  if (!SCHEME.test(iri)) return `urn:arkgraph:iri:${encodeURIComponent(iri)}`;
  const hash = iri.indexOf("#");
  if (hash >= 0 && iri.indexOf("#", hash + 1) >= 0) iri = iri.slice(0, hash + 1) + iri.slice(hash + 1).replaceAll("#", "%23");
  if (!/[[\]]/.test(iri) && !iri.includes("//")) return iri;
  const colon = iri.indexOf(":");
  if (!iri.startsWith("//", colon + 1)) return iri.replace(/[[\]]/g, encodeURIComponent);
  if (!HIERARCHICAL.test(iri)) return `urn:arkgraph:iri:${encodeURIComponent(iri)}`;
  const end = iri.slice(colon + 3).search(/[/?#]/);
  if (end < 0) return iri;
  const path = colon + 3 + end;
  return iri.slice(0, path) + iri.slice(path).replace(/[[\]]/g, encodeURIComponent);
}

const terms = new Known(safeIri);
/** {@link safeIri} of terms of vocabularies. */
export const safeTerm = (iri: string): string => terms.of(iri);

/** IRI of a node: the stored form of an ARK in any spelling, else {@link safeIri}; relative ids are below `base`. */
export function nodeIri(id: string, base: string): string {
  const ark = parseArk(id);
  if (ark) return ark.stored;
  return isAbsoluteIri(id) ? safeIri(id) : safeIri(`${base}/${id.replace(/^(?:\.?\/)+/, "")}`);
}
