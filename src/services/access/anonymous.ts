/** Records without what names people, for readers of an anonymous review link. */
import { isObject, type JsonObject, type JsonValue, listOf } from "../../model/field.js";

/**
 * Properties that name people, what they belong to, or an earlier version that names them. Compared
 * without prefix, case and separators. Provenance (`generatedBy`, `usedDataset`, …) is none of them.
 */
const HIDDEN_PROPERTIES: ReadonlySet<string> = new Set(
  `acquiredby actedonbehalfof actor additionalname address agent alumniof analysedby analyzedby
   annotatedby approvedby associatedpublication associatedwith attributedto authoredby citation
   coderepository collectedby compiledby copyrightholder copyrightnotice createdby createdbyuser
   curatedby depositedby director employees ethicalreview executedby familyname faxnumber fundedby
   funding givenname hasversion homepage isversionof lab labname laboratory laboratoryname leader
   legalname mbox measuredby member memberof members modifiedby operatedby participant participants
   performedby phone pi predecessor preparedby processedby publisher qualifiedassociation
   qualifiedattribution recordedby reviewedby revisionof rightsholder runby sdpublisher subjectof
   submittedby telephone uploadedby url username wasassociatedwith wasattributedto wasrevisionof
   website worksfor writtenby`.split(/\s+/),
);

/** Words, and their plurals, that say the same wherever they stand: `firstAuthor`, `contact_emails`. */
const HIDDEN_WORDS: ReadonlySet<string> = new Set(
  `acknowledgement acknowledgment affiliation annotator attendee author authorship award
   collaborator collector committee company compiler consortium contact contributor coordinator
   creator credit curator department depositor developer editor email employee employer
   experimenter founder funder grant institute institution investigator maintainer maker operator
   orcid organisation organization organizer owner people performer person producer project
   provider researcher scientist sender sponsor submitter supervisor team technician translator
   university uploader`.split(/\s+/),
);

/** Types of entities that are people, or what people belong to. */
const HIDDEN_TYPES =
  "Person Agent Airline CollegeOrUniversity Consortium ContactPoint Cooperative Corporation " +
  "FundingAgency FundingScheme Grant Group Hospital LibrarySystem LocalBusiness MonetaryGrant " +
  "PostalAddress Project ResearchGroup ResearchProject Role School SportsTeam Team User WorkersUnion";
const HIDDEN_TYPE = new RegExp(
  `(?:^|[/#:])(?:${HIDDEN_TYPES.replaceAll(" ", "|")}|\\w*Organi[sz]ation)$`,
);

const localName = (name: string): string => name.replace(/^.*[/#:]/s, "");

export function isHiddenProperty(name: string): boolean {
  const words = localName(name)
    .replace(/([a-z\d])(?=[A-Z])/g, "$1 ")
    .toLowerCase()
    .split(/[-_ ]+/);
  return (
    HIDDEN_PROPERTIES.has(words.join("")) ||
    words.some((word) => HIDDEN_WORDS.has(word) || HIDDEN_WORDS.has(word.replace(/s$/, "")))
  );
}

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

/** The entity is a person, something that people belong to, or a property with such a value. */
export const namesPeople = (document: JsonObject): boolean =>
  listOf(document["@type"]).some((type) => typeof type === "string" && HIDDEN_TYPE.test(type)) ||
  (document["value"] !== undefined &&
    [document["name"], document["propertyID"]].some(
      (name) => typeof name === "string" && isHiddenProperty(name),
    )) ||
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
    // A property that is an entity, `name` "First author" and `value`.
    const isName = /^(?:name|propertyID)$/.test(localName(predicate));
    const name = isName && subject.includes("#genid-") ? object : "";
    if (isHiddenProperty(/^"(.*)"/.exec(name)?.[1] ?? "")) gone.add(subject);
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
