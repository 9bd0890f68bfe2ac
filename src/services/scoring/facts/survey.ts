import { arkKey, lookupArk } from "../../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, listOf, referencesIn } from "../../../model/field.js";
import { DIGESTS, type DigestName, digestIn, isFormat } from "../../../model/file-facts.js";
import { step } from "../../../model/json/pointer.js";
import { type KindName, typeNames } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds.js";
import { ANY_SUBJECT } from "../../../model/provenance.js";
import { eachUnknownContext } from "../../../rdf/contexts.js";
import { FALLBACK_VOCABULARY } from "../../../rdf/terms.js";
import type { ObjectReference, StoredRecord } from "../../../storage/records/port.js";
import { entityUrl, TermMeanings, termsOf } from "../../crates/export/metadata.js";
import { type CrateFacts, Fields, isInformative, MAX_EVIDENCE } from "./fields.js";

/** Names under which crates state the format of a file. */
const NAMES = ["encodingFormat", "format", "fileFormat"];
/** Open formats, which anybody may read and write: media types, file name extensions, and names. */
const OPEN = new RegExp(
  "^(?:text/[\\w.+-]+|[\\w.+-]+/[\\w.-]+\\+(?:json|xml|yaml|zip)|application/(?:json|xml|" +
    "yaml|pdf|zip|gzip|x-tar|zlib|sql|n-triples|n-quads|trig|cbor|fits|geopackage\\+sqlite3|" +
    "vnd\\.(?:apache\\.(?:parquet|arrow\\.\\w+|avro.*)|sqlite3|oasis\\.opendocument.*)|" +
    "x-(?:hdf5?|netcdf|ipynb\\+json))|image/(?:png|jpeg|tiff|svg\\+xml|webp|gif|avif|fits)|" +
    "audio/(?:flac|ogg|wav|opus)|video/(?:ogg|webm|av1)|" +
    "csv|tsv|txt|json|jsonl|ndjson|jsonld|xml|yaml|yml|html?|md|ttl|nt|nq|rdf|owl|parquet|" +
    "arrow|feather|avro|h5|hdf5|h5ad|h5mu|zarr|nc|netcdf|fits|npy|npz|mtx|mzml|mgf|fasta|fa|" +
    "fastq|fq|sam|bam|cram|vcf|bcf|bed|gff3?|gtf|pdb|cif|dicom|dcm|nii|nwb|ome-tiff|png|" +
    "jpe?g|tiff?|svg|gif|pdf|zip|gz|gzip|tar|bz2|py|r|sh|bash|ipynb|cwl|nf|wdl|sql|sqlite|" +
    "gml|graphml|cx2?|obo" +
    ")$",
  "i",
);
/** Registries of formats other than that of media types. */
const REGISTERED_ELSEWHERE = new RegExp(
  String.raw`^https?:\/\/(?:www\.)?(?:nationalarchives\.gov\.uk\/pronom\/|edamontology\.org\/format_|` +
    String.raw`iana\.org\/assignments\/media-types\/|wikidata\.org\/(?:wiki|entity)\/Q)`,
  "i",
);

interface FormatFacts {
  place: string;
  isRegistered: boolean;
  isOpen: boolean;
}

/** Distinguishes media types that IANA has registered from others. */
export class Formats {
  readonly #registered: ReadonlySet<string>;

  private constructor(registered: ReadonlySet<string>) {
    this.#registered = registered;
  }

  /** The list is large and seldom needed: it is loaded with the first score. */
  static async load(): Promise<Formats> {
    const { default: types } = await import("mime-db");
    return new Formats(
      new Set(
        Object.entries(types).flatMap(([type, { source }]) => (source === "iana" ? [type] : [])),
      ),
    );
  }

  /** The format that a record states; `undefined` where it states none. */
  of(fields: Fields): FormatFacts | undefined {
    const field = fields.first(...NAMES);
    const claimed = fields
      .references(...NAMES)
      .map((text) => text.trim())
      .filter(isFormat);
    if (!field || claimed.length === 0) return undefined;
    return {
      place: field.place,
      isRegistered: claimed.some((text) => this.#isRegistered(text)),
      isOpen: claimed.some((text) => OPEN.test(mediaType(text).replace(/^\./, ""))),
    };
  }

  #isRegistered(text: string): boolean {
    return this.#registered.has(mediaType(text)) || REGISTERED_ELSEWHERE.test(text);
  }
}

const DIGEST_NAMES = Object.keys(DIGESTS) as DigestName[];

/** Without parameters. */
const mediaType = (text: string): string => text.replace(/;.*/s, "").trim().toLowerCase();

const TABLE_FORMAT = new RegExp(
  String.raw`^(?:\.?(?:csv|tsv|tab|parquet|xlsx?|ods)|text\/(?:csv|tab-separated-values)|application` +
    String.raw`\/(?:csv|vnd\.apache\.parquet|vnd\.ms-excel.*|vnd\.openxmlformats-officedocument\.spread` +
    String.raw`sheetml.*|vnd\.oasis\.opendocument\.spreadsheet))$`,
  "i",
);
const TABLE_NAME = /\.(?:csv|tsv|tab|parquet|xlsx?|ods)(?:\.gz)?$/i;

/** True for a table of rows and columns: by its format, or by the name of its file. */
function isTable(fields: Fields): boolean {
  const claimed = fields.references(...NAMES).map(mediaType);
  if (claimed.length > 0) return claimed.some((text) => TABLE_FORMAT.test(text));
  return [fields.ark, ...fields.references("sourceContentUrl", "contentUrl", "name")].some((text) =>
    TABLE_NAME.test(text),
  );
}

/** Stored data about a record while the others are read. */
export interface Member {
  /** Identity key. */
  key: string;
  ark: string;
  kind: KindName;
  /** Data that states its own source, or that a computation states to have generated. */
  sourced: boolean;
  /** Where a computation, or software, names its container or environment. */
  environment?: string;
  /** A dataset or file that is neither folder nor software. */
  isData: boolean;
  /** Whether the crate's lists of parts should include it: data, and files of software. */
  isPart: boolean;
  /** A run that needs inputs and outputs; a run that only arranges other runs does not. */
  run?: "computation" | "experiment";
  /** The location that software states; `null`: none. */
  location?: string | null;
  /** For a table. */
  table?: TableFacts;
}

/**
 * The schema that a table names: the identity key of an ARK, or true for an address elsewhere;
 * `undefined` for none.
 */
interface TableFacts {
  schema: string | true | undefined;
  /** That ARK as it was written. */ ark?: string;
  place: string;
}

/** Names by which crates state the source of data, besides the statements of provenance. */
const SOURCES = [
  "isBasedOn",
  "isBasedOnUrl",
  "source",
  "sourceUrl",
  "sourceOrganization",
  "hadPrimarySource",
  "wasDerivedFrom",
  "wasGeneratedBy",
  "wasAttributedTo",
  "provider",
  "provenance",
];
const ENVIRONMENT = [
  "container",
  "containerImage",
  "containerId",
  "environment",
  "runtimePlatform",
  "softwareRequirements",
  "dependencies",
  "operatingSystem",
  "processorRequirements",
  "availableOnDevice",
  "dockerImage",
  "conda",
  "buildInstructions",
];
const LOCATION = [
  "contentUrl",
  "sourceContentUrl",
  "url",
  "codeRepository",
  "downloadUrl",
  "installUrl",
  "distribution",
  "sameAs",
  "identifier",
];
/** Names by which a table states its schema. */
export const SCHEMAS = ["schema", "tableSchema", "dataSchema", "hasSchema"];

type Role = "file" | "data" | "other";

/**
 * The role of a record in the crate: a dataset or model with facts about bytes is a file; a folder,
 * which only lists its parts, has no role.
 */
function roleOf({ kind }: Pick<StoredRecord, "kind">, fields: Fields, hasContent: boolean): Role {
  if (kind === "datadownload" || (kind === "software" && hasContent)) return "file";
  if (kind !== "dataset" && kind !== "mlmodel") return "other";
  if (hasContent || fields.has("contentUrl", "sourceContentUrl", "md5", "sha256")) return "file";
  if (fields.has("hasPart")) return "other";
  return fields.has("contentSize", "format", "encodingFormat", "fileFormat") ? "file" : "data";
}

/** Types of runs, of the registry's vocabulary and of the run profiles of RO-Crate. */
function runOf(types: readonly string[]): Member["run"] {
  if (types.includes("Experiment")) return "experiment";
  return types.some(
    (type) => type === "Computation" || type === "CreateAction" || type === "UpdateAction",
  )
    ? "computation"
    : undefined;
}

/** A retrievable address of a file or of software. */
function addressOf(
  fields: Fields,
  names: readonly string[] = [
    "contentUrl",
    "sourceContentUrl",
    "url",
    "distribution",
    "downloadUrl",
  ],
): string | undefined {
  return (
    fields
      // oxlint-disable-next-line arkgraph/spread-into-call -- names of a few fields
      .references(...names)
      .find((text) =>
        /^(?:https?|s?ftps?|s3|gs|doi|ark|git|git\+https?|globus|ipfs|swh):/i.test(text.trim()),
      )
  );
}

const hasSource = (fields: Fields): boolean =>
  fields.has(...SOURCES) || addressOf(fields, ["sourceContentUrl"]) !== undefined;
const hasEnvironment = (fields: Fields): boolean => fields.has(...ENVIRONMENT);
const environmentPlace = (fields: Fields): string => fields.place(...ENVIRONMENT);
/** Where software is available: here, or at an address. */
const locationOf = (fields: Fields, hasContent: boolean): string | null =>
  hasContent || addressOf(fields, LOCATION) !== undefined ? fields.place(...LOCATION) : null;

/** The schema that a table names; `undefined` for a file that is not a table. */
function tableOf(fields: Fields): TableFacts | undefined {
  const field = fields.first(...SCHEMAS);
  const [named] = referencesIn(field?.value);
  if (!field && !isTable(fields)) return undefined;
  const ark = named === undefined ? undefined : lookupArk(named);
  return {
    schema: ark?.key ?? (named !== undefined && /^https?:\/\//i.test(named) ? true : undefined),
    ...(ark === undefined ? {} : { ark: ark.stored }),
    place: fields.place(...SCHEMAS),
  };
}

/** Fields that hold JSON in a record of their kind, not statements. */
const JSON_MEMBERS: readonly string[] = ["properties", "examples"];

/** Dependencies of a survey of records. */
export interface SurveyTools {
  formats: Formats;
  terms: Terms;
}

/** Stored data about a record, and the URL that its crate uses for it, if any. */
interface Surveyed {
  member: Member;
  url?: string;
}

/**
 * Adds the facts that one record of the crate states by itself; returns the data to store about it.
 */
export function survey(
  facts: CrateFacts,
  record: StoredRecord,
  document: JsonObject,
  content: ObjectReference | undefined,
  tools: SurveyTools,
): Surveyed {
  const fields = new Fields(record.ark, document);
  const whole = `${record.ark}#`;
  const isRoot = record.ark === facts.root.fields.ark;
  const role =
    isRoot || record.kind === "rocrate" ? "other" : roleOf(record, fields, content !== undefined);
  const types = typeNames(document, document["@context"]);
  const url = entityUrl(record, document);
  const run = KINDS[record.kind].activity ? runOf(types) : undefined;
  const member: Member = {
    key: arkKey(record.ark),
    ark: record.ark,
    kind: record.kind,
    sourced: false,
    isData: role !== "other" && record.kind !== "software",
    isPart: role !== "other",
    ...(run ? { run } : {}),
    ...(hasEnvironment(fields) ? { environment: environmentPlace(fields) } : {}),
  };
  facts.entities++;
  surveyTerms(facts, record, document, tools.terms);
  // A preview or a descriptor is about the crate: it states nothing about the meaning of the data.
  if (
    types.includes("DefinedTerm") ||
    fields.references("about").some((subject) => subject !== facts.root.fields.ark)
  )
    facts.subjects.add(true, fields.place("about"));
  if (record.publicationStatus === "EMBARGOED") surveyEmbargo(facts, record, fields);
  remember(facts, record, fields, isRoot);

  if (member.isPart) {
    facts.parts.add(
      content !== undefined || url !== undefined || addressOf(fields) !== undefined,
      fields.place("contentUrl", "url", "distribution", ...(url === undefined ? [] : ["sameAs"])),
    );
    facts.unarchived.add(record.publicationStatus !== "ARCHIVED", whole);
    member.sourced = url !== undefined || hasSource(fields);
  }
  if (role === "file") surveyFile(facts, record, fields, content, tools.formats);
  if (record.kind === "software") member.location = locationOf(fields, content !== undefined);
  if (record.kind === "schema") surveyColumns(facts, record.ark, document);
  if (member.isData) surveyTable(facts, fields, member);
  return { member, ...(url === undefined ? {} : { url }) };
}

const SUMMARY_FIELDS = ["hasSummaryStatistics", "summaryStatistics", "variableMeasured"] as const;

function surveyTable(facts: CrateFacts, fields: Fields, member: Member): void {
  const table = tableOf(fields);
  if (!table) return;
  facts.summarised.add(fields.has(...SUMMARY_FIELDS), fields.place(...SUMMARY_FIELDS));
  member.table = table;
}

const ACCESS_CONDITIONS = ["conditionsOfAccess", "accessRights", "usageInfo"] as const;

/** Whether the record or its crate says when an embargo ends, or on what conditions it is lifted. */
function surveyEmbargo(facts: CrateFacts, record: StoredRecord, fields: Fields): void {
  const states = (of: Fields): boolean => of.has(...ACCESS_CONDITIONS, "embargoedUntil");
  facts.embargoed.add(
    record.embargoedUntil !== null || states(fields) || states(facts.root.fields),
    fields.place(...ACCESS_CONDITIONS),
  );
}

/** Fields that the old rules test for any entity. */
function remember(
  { any }: CrateFacts,
  { kind }: StoredRecord,
  fields: Fields,
  isRoot: boolean,
): void {
  any.dataset ||= !isRoot && (kind === "dataset" || kind === "datadownload");
  any.computation ||= KINDS[kind].activity === true;
  any.software ||= kind === "software";
  any.schema ||= kind === "schema";
  any.checksum ||=
    fields.has("hash") ||
    DIGEST_NAMES.some((name) => digestIn(name, fields.first(name)?.value) !== undefined);
  any.format ||= fields.has("format", "encodingFormat", "fileFormat");
  any.statistics ||= fields.has("hasSummaryStatistics");
}

function surveyTerms(
  facts: CrateFacts,
  { ark, kind }: StoredRecord,
  document: JsonObject,
  terms: Terms,
): void {
  const claimed =
    kind === "schema"
      ? Object.fromEntries(Object.entries(document).filter(([key]) => !JSON_MEMBERS.includes(key)))
      : document;
  const lost = terms.lostIn(claimed);
  for (const term of lost ?? [])
    if (facts.lostTerms.size < MAX_EVIDENCE) facts.lostTerms.add(term.slice(0, 100).toWellFormed());
  const first = lost?.[0];
  facts.explained.add(
    lost?.length === 0,
    first !== undefined && Object.hasOwn(document, first)
      ? `${ark}#${step(first)}`
      : lost?.length === 0
        ? `${ark}#`
        : `${ark}#/@context`,
  );
}

function surveyFile(
  facts: CrateFacts,
  record: StoredRecord,
  fields: Fields,
  content: ObjectReference | undefined,
  formats: Formats,
): void {
  const format = formats.of(fields);
  facts.formatted.add(format !== undefined, format?.place ?? `${record.ark}#`);
  if (format) facts.registered.add(format.isRegistered, format.place);
  if (format) facts.open.add(format.isOpen, format.place);
  facts.sized.add(
    content !== undefined || fields.has("contentSize", "size", "fileSize"),
    fields.place("contentSize", "size", "fileSize"),
  );
  const stated = fields.first("sha256");
  // A placeholder does not agree with the content either.
  const disagrees = stated !== undefined && digestIn("sha256", stated.value) !== content?.sha256;
  facts.verified.add(content !== undefined && !disagrees, fields.place("sha256", "md5", "sha512"));
  facts.retrievable.add(
    content !== undefined && record.publicationStatus === "PUBLISHED",
    `${record.ark}#`,
  );
}

/** Columns with the term for their contents, in any spelling of `valueURL`. */
function surveyColumns(facts: CrateFacts, ark: string, document: JsonObject): void {
  const key = Object.hasOwn(document, "properties")
    ? "properties"
    : Object.keys(document).find((name) => /(?:^|[:/#])properties$/.test(name));
  if (key === undefined) return;
  const columns = document[key];
  for (const [name, column] of isObject(columns)
    ? Object.entries(columns)
    : listOf(columns).map((each, index): [string, JsonValue] => [String(index), each])) {
    if (!isObject(column)) continue;
    const term = Object.keys(column).find(
      (each) =>
        /^(?:.*[:/#])?(?:value-?url|propertyid)$/i.test(each) && isInformative(column[each]),
    );
    facts.columns.add(
      term !== undefined,
      `${ark}#${step(key)}${step(name)}${term === undefined ? "" : step(term)}`,
    );
  }
}

/**
 * Schemes at the beginning of a term's meaning; anything else before a colon is a prefix that no
 * context declares.
 */
const SCHEME = /^(?:https?|urn|tag|did|info|ark|doi|arcp|mailto):/i;
/** Another name of a keyword. */
const ALIAS = /@[a-z]+$/i;
/** Most cached contexts: records of one crate share one or two. */
const MAX_CONTEXTS = 50;

/** Finds terms of records that no context explains. */
export class Terms {
  readonly #meanings = new Map<string, TermMeanings | null>();

  /**
   * Terms of the document that its own context gives no meaning to; `undefined` when that context
   * is not known here.
   */
  lostIn(document: JsonObject): string[] | undefined {
    const meanings = this.#of(document);
    if (!meanings) return undefined;
    return [...termsOf(document)].filter((term) => {
      const meaning = meanings.of(term).replace(/ .*/s, "");
      if (ALIAS.test(meaning)) return false;
      return meaning.startsWith(FALLBACK_VOCABULARY)
        ? !ANY_SUBJECT.has(`https://schema.org/${term}`)
        : !SCHEME.test(meaning);
    });
  }

  #of(document: JsonObject): TermMeanings | null {
    const context = document["@context"];
    const key = JSON.stringify(context) ?? "";
    let meanings = this.#meanings.get(key);
    if (meanings === undefined) {
      if (this.#meanings.size >= MAX_CONTEXTS) this.#meanings.clear();
      this.#meanings.set(key, (meanings = meaningsOf(context)));
    }
    return meanings;
  }
}

function meaningsOf(context: JsonObject[string] | undefined): TermMeanings | null {
  let isKnown = true;
  eachUnknownContext({ "@context": context ?? null }, () => {
    isKnown = false;
  });
  return isKnown ? new TermMeanings(context ?? null) : null;
}
