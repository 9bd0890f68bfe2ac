/** Names of records, and the members of their documents in order. */
import { ServiceError, ValidationError } from "../errors.js";
import type { Field, JsonObject } from "../model/field.js";
import type { KindName } from "../model/kind.js";
import { constantOf, KINDS } from "../model/kinds.js";
import { NamesOfDocument, type RecordKind } from "./documents.js";
import type { PageRequest } from "./page.js";
import { labelOf } from "./words.js";

/** The kind that GraphQL names. */
export const kindOf = (kind: string): KindName =>
  kind.toLowerCase().replaceAll("_", "") as KindName;
/** A kind as GraphQL names it. */
export const kindConstant = (kind: KindName): RecordKind =>
  constantOf(KINDS[kind].typeName) as RecordKind;

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

/** Name and kind of each record that could be read. */
export type Names = ReadonlyMap<string, { name: string | null; kind: string | null }>;

/**
 * Names and kinds of records by identifier. A record that cannot be read, because it was deleted
 * or is not stored, has none: each is asked for by itself, so that one does not hide the others.
 */
export async function namesOf(ask: PageRequest["ask"], ids: readonly string[]): Promise<Names> {
  const names = new Map<string, { name: string | null; kind: string | null }>();
  await Promise.all(
    [...new Set(ids)].map(async (id) => {
      try {
        const [node] = (await ask(NamesOfDocument, { ids: [id] })).nodes;
        if (node && "name" in node) names.set(id, { name: node.name, kind: node.kind });
      } catch (error) {
        if (!(error instanceof ServiceError || error instanceof ValidationError)) throw error;
      }
    }),
  );
  return names;
}
