/** Records without what names people, for readers of an anonymous review link. */
import { isObject, type JsonObject, type JsonValue, listOf } from "../../model/field.js";

/**
 * Properties that name people, what they belong to, or an earlier version that names them. Compared
 * without prefix, case and separators. Provenance (`generatedBy`, `usedDataset`, …) is none of them.
 */
const HIDDEN_PROPERTIES: ReadonlySet<string> = new Set(
  `accountableperson acknowledgement acknowledgements acknowledgment acknowledgments
   actedonbehalfof additionalname affiliation affiliations agent alumniof annotatedby annotator
   associatedpublication associatedwith attributedto author authors citation contact contactpoint
   contacts contributor contributors copyrightholder copyrightnotice createdby creator creators
   credittext curatedby curator datacollector editor email emails employee familyname faxnumber
   founder funder funding givenname grant hasversion isversionof maintainer mbox member memberof
   members modifiedby operator orcid owner owners participant performedby predecessor
   principalinvestigator producer provider publisher qualifiedassociation qualifiedattribution
   recordedby revisionof sdpublisher sender sourceorganization sponsor telephone translator
   wasassociatedwith wasattributedto wasrevisionof worksfor`.split(/\s+/),
);

/** Types of entities that are people, or what people belong to. */
const HIDDEN_TYPES =
  "Person Agent ContactPoint PostalAddress Grant MonetaryGrant FundingAgency FundingScheme " +
  "CollegeOrUniversity Corporation Group Project ResearchProject User";
const HIDDEN_TYPE = new RegExp(
  `(?:^|[/#:])(?:${HIDDEN_TYPES.replaceAll(" ", "|")}|\\w*Organization)$`,
);

const localName = (name: string): string => name.replace(/^.*[/#:]/s, "");

export const isHiddenProperty = (name: string): boolean =>
  HIDDEN_PROPERTIES.has(localName(name).toLowerCase().replace(/[-_ ]/g, ""));

const ORCID = /(?:https?:\/\/)?(?:www\.)?(?:orcid\.org\/)?\b\d{4}-\d{4}-\d{4}-\d{3}[\dX]\b/gi;
/**
 * Also of letters outside of ASCII (RFC 6531). It begins where no character of it precedes: else each
 * character of a long word would be a beginning that is tried.
 */
const EMAIL =
  /(?<![\p{L}\p{M}\p{N}._%+'-])(?:mailto:)?[\p{L}\p{M}\p{N}._%+'-]+@[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+/giu;
/** In place of an ORCID iD or an e-mail address within a text. */
const HIDDEN = "[hidden]";

export const withoutContacts = (text: string): string =>
  text.replace(ORCID, HIDDEN).replace(EMAIL, HIDDEN);

/** The entity is a person, or something that people belong to. */
export const namesPeople = (document: JsonObject): boolean =>
  listOf(document["@type"]).some((type) => typeof type === "string" && HIDDEN_TYPE.test(type)) ||
  (typeof document["@id"] === "string" && withoutContacts(document["@id"]) !== document["@id"]);

/** ARKs that a document refers to. */
export function arksIn(value: JsonValue | undefined, found = new Set<string>()): Set<string> {
  if (typeof value === "string" && value.startsWith("ark:")) found.add(value);
  else if (Array.isArray(value)) for (const each of value) arksIn(each, found);
  else if (isObject(value)) for (const each of Object.values(value)) arksIn(each, found);
  return found;
}

/**
 * The document without what names people, and without references to hidden records.
 * @param isHidden whether the record of an ARK is hidden
 */
export function withoutPeople(
  document: JsonObject,
  isHidden: (ark: string) => boolean,
): JsonObject {
  const left = (value: JsonValue): JsonValue | undefined => {
    if (typeof value === "string")
      return value.startsWith("ark:") && isHidden(value) ? undefined : withoutContacts(value);
    if (Array.isArray(value)) return value.flatMap((each) => left(each) ?? []);
    if (!isObject(value)) return value;
    const id = value["@id"];
    if (namesPeople(value) || (typeof id === "string" && isHidden(id))) return undefined;
    return members(value);
  };
  const members = (object: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(object).flatMap(([name, value]): [string, JsonValue][] => {
        if (value === undefined || isHiddenProperty(name)) return [];
        const shown = name === "@id" || name === "@context" ? value : left(value);
        return shown === undefined ? [] : [[name, shown]];
      }),
    );
  return members(document);
}

const STATEMENT = /^(\S+) <([^>]*)> (.*) (<[^>]*>) \.$/;

/** Canonical N-Quads without what names people; what only hidden statements lead to goes too. */
export function quadsWithoutPeople(quads: string, isHidden: (ark: string) => boolean): string {
  const lines = quads.split("\n").flatMap((line) => {
    const [, subject, predicate, object, graph] = STATEMENT.exec(line) ?? [];
    return subject === undefined || predicate === undefined || object === undefined
      ? []
      : [{ subject, predicate, object, graph: graph! }];
  });
  const gone = new Set<string>();
  const iri = (term: string): string => (term.startsWith("<") ? term.slice(1, -1) : "");
  for (const { subject, predicate, object } of lines) {
    if (isHiddenProperty(predicate) && object.includes("#genid-")) gone.add(object);
    if (predicate.endsWith("#type") && HIDDEN_TYPE.test(iri(object))) gone.add(subject);
  }
  for (let before = -1; before !== gone.size;) {
    before = gone.size;
    for (const { subject, object } of lines)
      if (gone.has(subject) && object.includes("#genid-")) gone.add(object);
  }
  const isShown = (term: string): boolean =>
    !gone.has(term) && !isHidden(iri(term)) && withoutContacts(iri(term)) === iri(term);
  return lines
    .filter(
      ({ subject, predicate, object }) =>
        !isHiddenProperty(predicate) && isShown(subject) && isShown(object),
    )
    .map(
      ({ subject, predicate, object, graph }) =>
        `${subject} <${predicate}> ${withoutContacts(object)} ${graph} .\n`,
    )
    .join("");
}

/** Files that an RO-Crate tool wrote: they name the authors. */
export const isCrateFile = (name: string): boolean =>
  /(?:^|\/)(?:ro-crate-metadata\.json(?:ld)?|ro-crate-preview\.html)$/i.test(name);
