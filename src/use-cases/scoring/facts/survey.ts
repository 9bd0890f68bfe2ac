import type { JsonObject, JsonValue } from "../../../model/field.js";
import { arkKey } from "../../../identifiers/ark.js";
import type { ObjectReference } from "../../../stores/records/objects-port.js";
import type { StoredRecord } from "../../../stores/records/port.js";
import { entityUrl } from "../../crates/export/crate-entity.js";
import { isObject, listOf, step } from "../../crates/json-path.js";
import { typeNames } from "../../crates/kinds.js";
import type { CrateFacts } from "./crate-facts.js";
import { Fields, isTelling } from "./fields.js";
import type { Formats } from "./formats.js";
import { addressOf, environmentPlace, hasEnvironment, hasSource, locationOf, roleOf, runOf, tableOf, type Member } from "./member.js";
import { MOST_EVIDENCE } from "./share.js";
import type { Terms } from "./terms.js";

/** Documents that are JSON in a record of their kind, not statements. */
const JSON_MEMBERS: readonly string[] = ["properties", "examples"];
const SHA256 = /^[0-9a-f]{64}$/i;

/** What looking at records needs. */
export interface SurveyTools { formats: Formats; terms: Terms }

/** What is kept of a record, and the URL that its crate knows it by, if any. */
export interface Surveyed { member: Member; url?: string }

/** Adds what one record of the crate tells by itself; answers what is kept of it. */
export function survey(facts: CrateFacts, record: StoredRecord, document: JsonObject, content: ObjectReference | undefined, tools: SurveyTools): Surveyed {
  const fields = new Fields(record.ark, document);
  const whole = `${record.ark}#`;
  const isRoot = record.ark === facts.root.fields.ark;
  const role = isRoot || record.kind === "rocrate" ? "other" : roleOf(record, fields, content !== undefined);
  const types = typeNames(document, document["@context"]);
  const url = entityUrl(record, document);
  const run = record.kind === "computation" ? runOf(types) : undefined;
  const member: Member = { key: arkKey(record.ark), ark: record.ark, kind: record.kind, sourced: false, isData: role !== "other" && record.kind !== "software", isPart: role !== "other", ...(run ? { run } : {}), ...(hasEnvironment(fields) ? { environment: environmentPlace(fields) } : {}) };
  facts.entities++;
  surveyTerms(facts, record, document, tools.terms);
  // A preview or a descriptor is about the crate: that tells nothing of what the data mean.
  if (types.includes("DefinedTerm") || fields.references("about").some((subject) => subject !== facts.root.fields.ark)) facts.subjects.add(true, fields.place("about"));
  if (record.publicationStatus === "EMBARGOED")
    facts.embargoed.add(record.embargoedUntil !== null || fields.has("conditionsOfAccess", "accessRights", "usageInfo", "embargoedUntil") || facts.root.fields.has("conditionsOfAccess", "accessRights", "usageInfo", "embargoedUntil"), fields.place("conditionsOfAccess", "accessRights", "usageInfo"));
  remember(facts, record, fields, isRoot);

  if (member.isPart) {
    facts.parts.add(content !== undefined || url !== undefined || addressOf(fields) !== undefined, fields.place("contentUrl", "url", "distribution", ...(url === undefined ? [] : ["sameAs"])));
    facts.unarchived.add(record.publicationStatus !== "ARCHIVED", whole);
    member.sourced = url !== undefined || hasSource(fields);
  }
  if (role === "file") surveyFile(facts, record, fields, content, tools.formats);
  if (record.kind === "software") member.location = locationOf(fields, content !== undefined);
  if (record.kind === "schema") surveyColumns(facts, record.ark, document);
  const table = member.isData ? tableOf(fields) : undefined;
  if (table) {
    facts.summarised.add(fields.has("hasSummaryStatistics", "summaryStatistics", "variableMeasured"), fields.place("hasSummaryStatistics", "summaryStatistics", "variableMeasured"));
    member.table = table;
  }
  return { member, ...(url === undefined ? {} : { url }) };
}

/** What the old rules ask of any entity. */
function remember({ any }: CrateFacts, { kind }: StoredRecord, fields: Fields, isRoot: boolean): void {
  any.dataset ||= !isRoot && (kind === "dataset" || kind === "datadownload");
  any.computation ||= kind === "computation";
  any.software ||= kind === "software";
  any.schema ||= kind === "schema";
  any.checksum ||= fields.has("md5", "sha256", "sha512", "hash");
  any.format ||= fields.has("format", "encodingFormat", "fileFormat");
  any.statistics ||= fields.has("hasSummaryStatistics");
}

function surveyTerms(facts: CrateFacts, { ark, kind }: StoredRecord, document: JsonObject, terms: Terms): void {
  const said = kind === "schema" ? Object.fromEntries(Object.entries(document).filter(([key]) => !JSON_MEMBERS.includes(key))) : document;
  const lost = terms.lostIn(said);
  for (const term of lost ?? []) if (facts.lostTerms.size < MOST_EVIDENCE) facts.lostTerms.add(term.slice(0, 100).toWellFormed());
  const first = lost?.[0];
  facts.explained.add(lost?.length === 0, first !== undefined && Object.hasOwn(document, first) ? `${ark}#${step(first)}` : lost?.length === 0 ? `${ark}#` : `${ark}#/@context`);
}

function surveyFile(facts: CrateFacts, record: StoredRecord, fields: Fields, content: ObjectReference | undefined, formats: Formats): void {
  const format = formats.of(fields);
  facts.formatted.add(format !== undefined, format?.place ?? `${record.ark}#`);
  if (format) facts.registered.add(format.isRegistered, format.place);
  if (format) facts.open.add(format.isOpen, format.place);
  facts.sized.add(content !== undefined || fields.has("contentSize", "size", "fileSize"), fields.place("contentSize", "size", "fileSize"));
  const stated = fields.first("sha256");
  const disagrees = typeof stated?.value === "string" && SHA256.test(stated.value.trim()) && content !== undefined && stated.value.trim().toLowerCase() !== content.sha256;
  facts.verified.add(content !== undefined && !disagrees, fields.place("sha256", "md5", "sha512"));
  facts.retrievable.add(content !== undefined && record.publicationStatus === "PUBLISHED", `${record.ark}#`);
}

/** Columns with the term that tells what they hold, in any spelling of `valueURL`. */
function surveyColumns(facts: CrateFacts, ark: string, document: JsonObject): void {
  const key = Object.hasOwn(document, "properties") ? "properties" : Object.keys(document).find((name) => /(?:^|[:/#])properties$/.test(name));
  const columns: JsonValue | undefined = key === undefined ? undefined : document[key];
  for (const [name, column] of isObject(columns) ? Object.entries(columns) : listOf(columns).map((each, index): [string, JsonValue] => [String(index), each])) {
    if (!isObject(column)) continue;
    const term = Object.keys(column).find((each) => /^(?:.*[:/#])?(?:value-?url|propertyid)$/i.test(each) && isTelling(column[each]));
    facts.columns.add(term !== undefined, `${ark}#${step(key!)}${step(name)}${term === undefined ? "" : step(term)}`);
  }
}
