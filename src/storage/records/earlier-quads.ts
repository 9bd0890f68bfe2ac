/**
 * The two codings in which versions up to 0.2 stored quads. They are read until every registry has
 * rewritten them (`rewriteQuads` of the record store).
 */
import { inflateRawSync } from "node:zlib";

/**
 * Coding 2: the text of one record with its terms written short. Canonical N-Quads escape every
 * control character, so those are free as marks.
 *
 *     text  = main END line*         main: IRI of the record's graph
 *     line  = (OWN | INFERRED | OTHER term term) term term
 *             subject and graph (written only in OTHER), predicate, object
 *     term  = KNOWN index | SPACE index rest END | MAIN rest END | NEAR rest END | other END
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

const INFERRED_SUFFIX = "#inferred>";

/** @throws Error when the text is damaged */
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

/** Of coding 1: deflate with a dictionary of what quads of one record repeat. */
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

const [DEFLATED, SHORT_TERMS] = [1, 2];

/** Whether {@link earlierQuads} reads these bytes. */
export const isEarlierCoding = ([coding]: Uint8Array): boolean =>
  coding === DEFLATED || coding === SHORT_TERMS;

/** @throws Error when the bytes are damaged */
export function earlierQuads(bytes: Uint8Array): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const packed = bytes.subarray(1);
  return bytes[0] === SHORT_TERMS
    ? lengthenTerms(decoder.decode(packed))
    : decoder.decode(inflateRawSync(packed, { dictionary: DICTIONARY_1 }));
}
