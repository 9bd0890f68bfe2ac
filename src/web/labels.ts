import type { Field, JsonObject } from "../model/field.js";
import type { KindName } from "../model/kind.js";
import { KINDS } from "../model/kinds.js";

/** Where the words of a name do not say enough. */
const LABELS: Readonly<Record<string, string>> = {
  "@type": "Type",
  EVISchema: "Schema",
  codeRepository: "Source code",
  conformsTo: "Follows the specification",
  contentSize: "Stated size",
  contentUrl: "Address of the content",
  containerId: "Container of the run",
  containerDigest: "Image that ran here",
  encodesCreativeWork: "File of",
  encodingFormat: "Media type",
  format: "Format",
  hasPart: "Parts",
  identifier: "Other identifiers",
  isPartOf: "Part of",
  license: "Licence",
  md5: "MD5",
  metadataType: "Type",
  sameAs: "Same as",
  sdDatePublished: "Metadata published",
  sdPublisher: "Metadata publisher",
  seperator: "Separator",
  sha256: "SHA-256",
  url: "Web page",
  usedBy: "Used by",
};

/** Terms of schema.org, RO-Crate and data sheets that crates state beside the declared fields. */
const USUAL = new Set(
  `
    about abstract additionalType affiliation alternateName citation codeRepository
    conditionsOfAccess conformsTo contactPoint contributor copyrightHolder copyrightNotice
    copyrightYear creator creditText editor email familyName funder funding givenName
    identifier image input instrument isBasedOn jobTitle mainEntity maintainer
    measurementTechnique mentions object operatingSystem output potentialAction
    programmingLanguage provider publisher result sameAs sdDatePublished sdPublisher agent
    softwareRequirements softwareVersion spatialCoverage subjectOf startTime endTime
    temporalCoverage thumbnail usageInfo variableMeasured version datePublished dateCreated
    dateModified format md5 inLanguage address EVI:Schema evi:Schema schema runtimePlatform
    memoryRequirements`.split(/\s+/),
);

/** The part of a name or an address that people read: behind its prefix or path. */
const localName = (term: string): string => /([^:#/]+)[:#/]*$/.exec(term)?.[1] ?? term;

/** A term as people read it: `dateCreated` is `Date created`. */
export function labelOf(term: string): string {
  const name = localName(term);
  const known = LABELS[term] ?? LABELS[name];
  if (known !== undefined) return known;
  const words = name
    .replace(/[_-]+/g, " ")
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .replace(/ ([A-Z])(?=[a-z])/g, (_, letter: string) => ` ${letter.toLowerCase()}`)
    .trim();
  return words === "" ? term : words[0]!.toUpperCase() + words.slice(1);
}

export interface Term {
  name: string;
  label: string;
  /** What the model says of it. */
  description: string | null;
}

/** The members of a document in the order of the model, and those that the model does not know. */
export function termsOf(kind: KindName, document: JsonObject): { known: Term[]; other: Term[] } {
  const { fields, alsoShown = {} } = KINDS[kind];
  const known: Term[] = [];
  const other: Term[] = [];
  const declared = Object.keys(fields).filter((name) => Object.hasOwn(document, name));
  const rest = Object.keys(document).filter((name) => !Object.hasOwn(fields, name));
  for (const name of [...declared, ...rest]) {
    if (name === "@id" || name === "@context") continue;
    const field: Field | undefined = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const also = Object.hasOwn(alsoShown, name) ? alsoShown[name]! : null;
    const term = { name, label: labelOf(name), description: field?.description ?? also };
    const usual = field !== undefined || also !== null || USUAL.has(name) || name === "@type";
    (usual || name.startsWith("rai:") ? known : other).push(term);
  }
  return { known, other };
}
