import { deflateRawSync, inflateRawSync } from "node:zlib";
import { Undecodable } from "./unavailable.js";
import { lengthenTerms, shortenTerms } from "./quads-terms.js";

/**
 * Quads of one record repeat its IRI and a few dozen terms, which a fixed dictionary makes short.
 * The first byte names the coding, so that a later one can stand beside these. The text of a
 * dictionary that was ever released must never change: stored quads would be lost.
 */
const DICTIONARY_1 = Buffer.from([
  "https://bioschemas.org/terms/", "http://www.w3.org/2001/XMLSchema#integer", "http://www.w3.org/2001/XMLSchema#dateTime",
  "http://www.w3.org/2001/XMLSchema#boolean", "http://purl.org/dc/terms/", "http://www.w3.org/ns/prov#wasAssociatedWith",
  "http://www.w3.org/ns/prov#wasAttributedTo", "http://www.w3.org/ns/prov#wasInformedBy", "http://www.w3.org/ns/prov#Agent",
  ..."usedSample usedInstrument usedMLModel softwareUsedBy datasetUsedBy associatedWith createdBy EvidenceGraph Schema ROCrate"
    .split(" ").map((term) => `<https://w3id.org/EVI#${term}>`),
  ..."members memberOf distribution includedInDataCatalog encodesCreativeWork sameAs version sha256 uploadDate encodingFormat contentSize contentUrl sourceOrganization sourceProject container containerId command dateFinished dateModified dateCreated datePublished author publisher isPartOf hasPart url identifier conformsTo"
    .split(" ").map((term) => `> <https://schema.org/${term}> "`),
  '> <http://www.w3.org/2000/01/rdf-schema#label> "', "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://schema.org/MediaObject> <",
  "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://schema.org/Person> <", "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://schema.org/Organization> <",
  "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://schema.org/Dataset> <", "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://w3id.org/EVI#Software> <",
  "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://w3id.org/EVI#Computation> <", "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://w3id.org/EVI#DataDownload> <",
  "> <http://www.w3.org/ns/prov#wasDerivedFrom> <ark:", "> <http://www.w3.org/ns/prov#wasGeneratedBy> <ark:", "> <http://www.w3.org/ns/prov#generated> <ark:", "> <http://www.w3.org/ns/prov#used> <ark:",
  "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/prov#Activity> <", "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/prov#Entity> <",
  "> <https://w3id.org/EVI#directlySupportedBy> <ark:", "> <https://w3id.org/EVI#usedDataset> <ark:", "> <https://w3id.org/EVI#usedSoftware> <ark:", "> <https://w3id.org/EVI#generated> <ark:",
  "> <https://w3id.org/EVI#generatedBy> <ark:", "> <https://w3id.org/EVI#derivedFrom> <ark:", "#inferred> .\n<ark:",
  '> <https://schema.org/license> <https://creativecommons.org/licenses/by/4.0/> <ark:', '> <https://schema.org/owner> <ark:99999/user-',
  '> <https://schema.org/keywords> "', '> <https://schema.org/description> "', '> <https://schema.org/name> "', "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://w3id.org/EVI#Dataset> <ark:99999/dataset-",
  '" <ark:99999/', "> <ark:99999/", "> .\n<ark:99999/dataset-",
].join(""));

const DEFLATED_1 = 1;
/** Terms written short, UTF-8. */
const TERMS_2 = 2;
/** Longer texts are deflated: they repeat more than their terms. Shorter ones are not worth its time, most of which is the clearing of tables (decision 37). */
const LONG_TEXT = 3_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Canonical N-Quads text → stored bytes, in a buffer of their own, which may be handed to another thread. What is packed already stays as it is. */
export function packQuads(text: string | Uint8Array): Uint8Array {
  if (typeof text !== "string") return text;
  const short = text.length > LONG_TEXT ? undefined : shortenTerms(text);
  return short === undefined ? behind(DEFLATED_1, deflateRawSync(text, { dictionary: DICTIONARY_1 })) : encoder.encode(String.fromCharCode(TERMS_2) + short);
}

/** @throws Undecodable when the bytes are of a coding this version does not know, or damaged */
export function unpackQuads(bytes: Uint8Array): string {
  try {
    return unpacked(bytes);
  } catch (error) {
    throw new Undecodable(`quads cannot be decoded (${(error as Error).message})`, { cause: error });
  }
}

function unpacked(bytes: Uint8Array): string {
  const [coding] = bytes;
  const { buffer, byteOffset, byteLength } = bytes.subarray(1);
  const packed = Buffer.from(buffer, byteOffset, byteLength);
  if (coding === TERMS_2) return lengthenTerms(decoder.decode(packed));
  if (coding === DEFLATED_1) return decoder.decode(inflateRawSync(packed, { dictionary: DICTIONARY_1 }));
  throw new Error(`stored quads have coding ${coding}, which this version does not read`);
}

function behind(coding: number, packed: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(packed.length + 1);
  bytes[0] = coding;
  bytes.set(packed, 1);
  return bytes;
}
