import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Link } from "../../model/kind.js";
import { inOneSpelling } from "../../rdf/terms.js";
import type { RecordState } from "./port.js";
import { storedJson, Undecodable } from "./refusals.js";

/**
 * Coding 2 of stored quads: the text of one record with its terms written short. Canonical N-Quads
 * escape every control character, so those are free as marks. Most lines of a record share their
 * subject and graph, and have a predicate from a few dozen: 2 KB come to about a third, in a third
 * of the time that deflate takes; reading them back takes a fifth.
 *
 *     text  = main END line*         main: IRI of the record's graph
 *     line  = (OWN | INFERRED | OTHER term term) term term
 *             subject and graph (written only in OTHER), predicate, object
 *     term  = KNOWN index | SPACE index rest END | MAIN rest END | NEAR rest END | other END
 *
 * What a released version wrote must be read for ever: only ever add to the end of the two lists.
 */
const KNOWN_TERMS: readonly string[] = [
  ["http://www.w3.org/1999/02/22-rdf-syntax-ns#", "type"],
  ["http://www.w3.org/2000/01/rdf-schema#", "label"],
  [
    "https://schema.org/",
    `name description keywords license owner author dateCreated dateModified datePublished ` +
      `dateFinished version url identifier isPartOf hasPart
    publisher member memberOf sourceOrganization sourceProject includedInDataCatalog ` +
      `distribution container containerId command encodingFormat contentSize contentUrl ` +
      `encodesCreativeWork
    sha256 uploadDate conformsTo sameAs Dataset MediaObject Person Organization`,
  ],
  [
    "https://w3id.org/EVI#",
    `Dataset Software Computation EvidenceGraph DataDownload ROCrate Schema directlySupportedBy ` +
      `generatedBy generated derivedFrom usedDataset usedSoftware usedSample
    usedInstrument usedMLModel usedBy associatedWith createdBy metadataType`,
  ],
  [
    "http://www.w3.org/ns/prov#",
    "used generated wasGeneratedBy wasDerivedFrom wasAssociatedWith wasAttributedTo " +
      "wasInformedBy Entity Activity Agent",
  ],
].flatMap(([space, names]) => names!.split(/\s+/).map((name) => `<${space}${name}>`));
const NAMESPACES: readonly string[] = [
  "https://schema.org/",
  "https://w3id.org/EVI#",
  "http://www.w3.org/ns/prov#",
  "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  "http://www.w3.org/2000/01/rdf-schema#",
  "http://purl.org/dc/terms/",
  "https://bioschemas.org/terms/",
  "https://bioschemas.org/",
];

const END = "\u0001",
  OWN = "\u0002",
  INFERRED = "\u0003",
  OTHER = "\u0004",
  KNOWN = "\u0005",
  SPACE = "\u0006",
  MAIN = "\u0007",
  NEAR = "\u0008";
/** Indexes are one printable ASCII character each. */
const FIRST = 0x20;
const coded = (mark: string, list: readonly string[]): Map<string, string> =>
  new Map(list.map((entry, index) => [entry, mark + String.fromCharCode(FIRST + index)]));
const CODE_OF_TERM = coded(KNOWN, KNOWN_TERMS);
const CODE_OF_SPACE = coded(SPACE, NAMESPACES);

const LESS_THAN = "<".charCodeAt(0);
const INFERRED_SUFFIX = "#inferred>";
// eslint-disable-next-line no-control-regex
const MARKS = /[\u0000-\u0009\u000b-\u001f]/;

/** The text written short; `undefined` when it is not of a form that would come back the same. */
function shortenTerms(nquads: string): string | undefined {
  if (!nquads.endsWith(" .\n") || MARKS.test(nquads)) return undefined;
  let graph = nquads.slice(nquads.lastIndexOf(" ", nquads.length - 4) + 1, -3);
  if (graph.endsWith(INFERRED_SUFFIX)) graph = `${graph.slice(0, -INFERRED_SUFFIX.length)}>`;
  if (!graph.startsWith("<") || !graph.endsWith(">")) return undefined;
  const main = graph.slice(1, -1);
  const inferred = `<${main}${INFERRED_SUFFIX}`;
  const near = `<${main.slice(0, main.indexOf("/") + 1)}`;

  const short = (term: string): string => {
    // Literals are no terms of the lists: they may be long, and looking one up reads all of it.
    if (term.charCodeAt(0) !== LESS_THAN || !term.endsWith(">")) return term + END;
    const known = CODE_OF_TERM.get(term);
    if (known !== undefined) return known;
    if (near.length > 1 && term.startsWith(near))
      return term.startsWith(main, 1)
        ? `${MAIN}${term.slice(main.length + 1, -1)}${END}`
        : `${NEAR}${term.slice(near.length, -1)}${END}`;
    const space = CODE_OF_SPACE.get(
      term.slice(1, Math.max(term.lastIndexOf("/"), term.lastIndexOf("#")) + 1),
    );
    return space === undefined
      ? term + END
      : `${space}${term.slice(NAMESPACES[space.charCodeAt(1) - FIRST]!.length + 1, -1)}${END}`;
  };
  let text = main + END;
  for (let from = 0; from < nquads.length;) {
    const end = nquads.indexOf("\n", from);
    const afterSubject = nquads.indexOf(" ", from);
    const afterPredicate = nquads.indexOf(" ", afterSubject + 1);
    const beforeGraph = nquads.lastIndexOf(" ", end - 3);
    if (
      afterSubject < 0 ||
      afterPredicate <= afterSubject ||
      beforeGraph <= afterPredicate ||
      nquads.slice(end - 2, end) !== " ."
    )
      return undefined;
    // Slices that are compared are quicker than startsWith.
    const subject = nquads.slice(from, afterSubject);
    const about = nquads.slice(beforeGraph + 1, end - 2);
    if (subject === graph && about === graph) text += OWN;
    else if (subject === graph && about === inferred) text += INFERRED;
    else text += OTHER + short(subject) + short(about);
    text +=
      short(nquads.slice(afterSubject + 1, afterPredicate)) +
      short(nquads.slice(afterPredicate + 1, beforeGraph));
    from = end + 1;
  }
  return text;
}

/** Restores the text that {@link shortenTerms} was given. @throws Error when the text is damaged */
function lengthenTerms(text: string): string {
  let at = 0;
  const rest = (): string => {
    const end = text.indexOf(END, at);
    if (end < 0) throw new Error("stored quads are damaged: a term has no end");
    const found = text.slice(at, end);
    at = end + 1;
    return found;
  };
  const listed = (list: readonly string[]): string => {
    const entry = list[text.charCodeAt(at++) - FIRST];
    if (entry === undefined) throw new Error("stored quads are damaged: a term is not known");
    return entry;
  };
  const main = rest();
  const graph = `<${main}>`;
  const inferred = `<${main}${INFERRED_SUFFIX}`;
  const near = `<${main.slice(0, main.indexOf("/") + 1)}`;
  const term = (): string => {
    switch (text[at]) {
      case KNOWN:
        at++;
        return listed(KNOWN_TERMS);
      case SPACE: {
        at++;
        const space = listed(NAMESPACES);
        return `<${space}${rest()}>`;
      }
      case MAIN:
        at++;
        return `<${main}${rest()}>`;
      case NEAR:
        at++;
        return `${near}${rest()}>`;
      default:
        return rest();
    }
  };
  let nquads = "";
  while (at < text.length) {
    const place = text[at++];
    if (place !== OWN && place !== INFERRED && place !== OTHER)
      throw new Error("stored quads are damaged: a line begins with something else");
    const subject = place === OTHER ? term() : graph;
    const about = place === OTHER ? term() : place === OWN ? graph : inferred;
    nquads += `${subject} ${term()} ${term()} ${about} .\n`;
  }
  return nquads;
}

/**
 * Quads of one record repeat its IRI and a few dozen terms, which a fixed dictionary makes short.
 * The first byte names the coding, so that a later one can stand beside these. The text of a
 * dictionary that was ever released must never change: stored quads would be lost.
 */
const DICTIONARY_1 = Buffer.from(
  [
    "https://bioschemas.org/terms/",
    "http://www.w3.org/2001/XMLSchema#integer",
    "http://www.w3.org/2001/XMLSchema#dateTime",
    "http://www.w3.org/2001/XMLSchema#boolean",
    "http://purl.org/dc/terms/",
    "http://www.w3.org/ns/prov#wasAssociatedWith",
    "http://www.w3.org/ns/prov#wasAttributedTo",
    "http://www.w3.org/ns/prov#wasInformedBy",
    "http://www.w3.org/ns/prov#Agent",
    ...(
      "usedSample usedInstrument usedMLModel softwareUsedBy datasetUsedBy associatedWith " +
      "createdBy EvidenceGraph Schema ROCrate"
    )
      .split(" ")
      .map((term) => `<https://w3id.org/EVI#${term}>`),
    ...(
      "members memberOf distribution includedInDataCatalog encodesCreativeWork sameAs version " +
      "sha256 uploadDate encodingFormat contentSize contentUrl sourceOrganization " +
      "sourceProject container containerId command dateFinished dateModified dateCreated " +
      "datePublished author publisher isPartOf hasPart url identifier conformsTo"
    )
      .split(" ")
      .map((term) => `> <https://schema.org/${term}> "`),
    '> <http://www.w3.org/2000/01/rdf-schema#label> "',
    "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://schema.org/MediaObject> <",
    "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://schema.org/Person> <",
    "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://schema.org/Organization> <",
    "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://schema.org/Dataset> <",
    "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://w3id.org/EVI#Software> <",
    "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://w3id.org/EVI#Computation> <",
    "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://w3id.org/EVI#DataDownload> <",
    "> <http://www.w3.org/ns/prov#wasDerivedFrom> <ark:",
    "> <http://www.w3.org/ns/prov#wasGeneratedBy> <ark:",
    "> <http://www.w3.org/ns/prov#generated> <ark:",
    "> <http://www.w3.org/ns/prov#used> <ark:",
    "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/prov#Activity> <",
    "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/prov#Entity> <",
    "> <https://w3id.org/EVI#directlySupportedBy> <ark:",
    "> <https://w3id.org/EVI#usedDataset> <ark:",
    "> <https://w3id.org/EVI#usedSoftware> <ark:",
    "> <https://w3id.org/EVI#generated> <ark:",
    "> <https://w3id.org/EVI#generatedBy> <ark:",
    "> <https://w3id.org/EVI#derivedFrom> <ark:",
    "#inferred> .\n<ark:",
    "> <https://schema.org/license> <https://creativecommons.org/licenses/by/4.0/> <ark:",
    "> <https://schema.org/owner> <ark:99999/user-",
    '> <https://schema.org/keywords> "',
    '> <https://schema.org/description> "',
    '> <https://schema.org/name> "',
    "> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://w3id.org/EVI#Dataset> " +
      "<ark:99999/dataset-",
    '" <ark:99999/',
    "> <ark:99999/",
    "> .\n<ark:99999/dataset-",
  ].join(""),
);

const DEFLATED_1 = 1;
/** Terms written short, UTF-8. */
const TERMS_2 = 2;
/**
 * Longer texts are deflated: they repeat more than their terms. Shorter ones are not worth its
 * time, most of which is the clearing of tables (decision 37).
 */
const LONG_TEXT = 3_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Canonical N-Quads text → stored bytes, in a buffer of their own, which may be handed to another
 * thread. Packed bytes are returned unchanged.
 */
export function packQuads(text: string | Uint8Array): Uint8Array {
  if (typeof text !== "string") return text;
  const short = text.length > LONG_TEXT ? undefined : shortenTerms(text);
  return short === undefined
    ? behind(DEFLATED_1, deflateRawSync(text, { dictionary: DICTIONARY_1 }))
    : encoder.encode(String.fromCharCode(TERMS_2) + short);
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

function unpacked(bytes: Uint8Array): string {
  const [coding] = bytes;
  const { buffer, byteOffset, byteLength } = bytes.subarray(1);
  const packed = Buffer.from(buffer, byteOffset, byteLength);
  if (coding === TERMS_2) return lengthenTerms(decoder.decode(packed));
  if (coding === DEFLATED_1)
    return decoder.decode(inflateRawSync(packed, { dictionary: DICTIONARY_1 }));
  throw new Error(`stored quads have coding ${coding}, which this version does not read`);
}

function behind(coding: number, packed: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(packed.length + 1);
  bytes[0] = coding;
  bytes.set(packed, 1);
  return bytes;
}

/**
 * Links of one record that are copied between threads as objects; more go as bytes, which are
 * handed over.
 */
const FEW = 50;

/**
 * Links as they go from one thread to another: copying a hundred thousand objects takes the serving
 * thread, which only passes them on to the writer, half a second.
 */
export const packLinks = (links: RecordState["links"]): RecordState["links"] =>
  links instanceof Uint8Array || links.length <= FEW
    ? links
    : new TextEncoder().encode(JSON.stringify(links));

export const unpackLinks = (links: RecordState["links"]): readonly Link[] =>
  links instanceof Uint8Array
    ? storedJson<Link[]>(new TextDecoder().decode(links), "a list of links")
    : links;
