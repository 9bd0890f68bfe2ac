import { type JsonObject, type JsonValue } from "../../model/field.js";
import { ownValue } from "../../own.js";
import type { Finding } from "../../model/findings.js";

/**
 * What a finding means for the crate: the crate is refused, or it is ingested and could be
 * improved.
 */
export type Severity = "REQUIRED" | "RECOMMENDED";

interface CodeEntry<S extends Severity> {
  readonly severity: S;
  readonly status: 409 | 413 | 422;
  readonly meaning: string;
  readonly fix: string;
}

const refusal =
  (status: 409 | 413 | 422) =>
  (meaning: string, fix: string): CodeEntry<"REQUIRED"> => ({
    severity: "REQUIRED",
    status,
    meaning,
    fix,
  });
const limit = refusal(413);
const conflict = refusal(409);
const content = refusal(422);
const advice = (meaning: string, fix: string): CodeEntry<"RECOMMENDED"> => ({
  severity: "RECOMMENDED",
  status: 422,
  meaning,
  fix,
});

/**
 * Every code of a finding in a crate; stable, documented in docs/crates.md, never reused. Content
 * that cannot be stored faithfully is refused (REQUIRED); requirements of RO-Crate that records do
 * not depend on are advice.
 */
export const FINDING_CODES = {
  // The archive
  NOT_A_ZIP: content(
    "The upload is not a zip archive, or its end is missing.",
    "Pack the crate as a zip archive and send it whole.",
  ),
  CORRUPT_ARCHIVE: content(
    "The archive's directory contradicts itself or the file.",
    "Pack the crate again.",
  ),
  AMBIGUOUS_ARCHIVE: content(
    "The archive's comment holds the end of another archive: tools differ in what they unpack.",
    "Pack the crate again, without that comment.",
  ),
  CORRUPT_MEMBER: content(
    "A member cannot be inflated, or its checksum is wrong.",
    "Pack the crate again.",
  ),
  MEMBER_SIZE_MISMATCH: content(
    "A member has another size than the archive's directory says.",
    "Pack the crate again.",
  ),
  MEMBER_OVERLAP: content(
    "Two members share bytes of the archive, or one reaches into its directory.",
    "Pack the crate again.",
  ),
  MEMBER_ENCRYPTED: content("A member is encrypted.", "Pack it without a password."),
  UNSUPPORTED_COMPRESSION: content(
    "A member is compressed by another method than deflate.",
    "Pack it with deflate, or without compression.",
  ),
  BAD_MEMBER_NAME: content(
    "A member's name is empty, absolute, or holds `..`, a drive letter, a backslash, a " +
      "control or bidirectional character, or bytes that are not text.",
    "Rename the member to a relative path with `/` between its parts, without invisible " +
      "characters.",
  ),
  SPECIAL_MEMBER: content(
    "A member is a symbolic link or a device.",
    "Pack the file that it points to.",
  ),
  DUPLICATE_NAME: content(
    "Two members have names that common file systems cannot tell apart.",
    "Rename one of the members.",
  ),
  TOO_MANY_ENTRIES: limit(
    "The archive has more members than MAX_CRATE_ENTRIES.",
    "Send fewer files, pack small ones together, or ask the operator to raise the setting.",
  ),
  MEMBER_NAME_TOO_LONG: limit(
    "A member's name is longer than MAX_MEMBER_NAME_BYTES.",
    "Shorten the path.",
  ),
  INFLATED_TOO_LARGE: limit(
    "The members together are larger than MAX_CRATE_INFLATED_BYTES.",
    "Send a smaller crate, or ask the operator to raise the setting.",
  ),
  RATIO_TOO_HIGH: limit(
    "A member inflates to more than MAX_CRATE_RATIO times its compressed size.",
    "Compress the file inside the crate, so that the archive need not, or ask the " +
      "operator to raise the setting.",
  ),
  // The metadata
  NO_METADATA: content(
    "The archive has no ro-crate-metadata.json, and neither a Croissant document nor a " +
      "datapackage.json.",
    "Add a ro-crate-metadata.json that describes the crate, or one of the others.",
  ),
  CROISSANT_INVALID: content(
    "A Croissant document lacks what a crate is made from, or states it twice.",
    "Correct the resource, record set or field that the pointer names.",
  ),
  DATA_PACKAGE_INVALID: content(
    "A Data Package has a resource without path and data, a path that leads out of the " +
      "package, two resources of one name, or a Table Schema that cannot be read.",
    "Correct the resource that the pointer names.",
  ),
  SCHEMA_PART_LEFT_OUT: advice(
    "A part of a Table Schema has no counterpart in a schema of the registry.",
    "Nothing; the document itself stays stored.",
  ),
  AMBIGUOUS_METADATA: content(
    "Several metadata files lie equally deep.",
    "Send one crate at a time, with one metadata file at its top.",
  ),
  METADATA_TOO_LARGE: limit(
    "A metadata file is larger than MAX_METADATA_BYTES.",
    "Describe less in one crate, or ask the operator to raise the setting.",
  ),
  ENTITY_TOO_LARGE: limit(
    "An entity of the metadata is larger than MAX_ENTITY_BYTES.",
    "Put what it holds into a file of the crate, or ask the operator to raise the setting.",
  ),
  TOO_MANY_ENTITIES: limit(
    "The crate has more entities than MAX_CRATE_ENTITIES.",
    "Split the crate, or ask the operator to raise the setting.",
  ),
  TOO_MANY_CONTEXTS: limit(
    "The metadata applies more contexts than MAX_CRATE_CONTEXTS.",
    "Write the terms into one `@context` at the top of the metadata.",
  ),
  TOO_MANY_TERMS: limit(
    "The contexts define more terms than MAX_CRATE_TERMS.",
    "Define the terms that are used.",
  ),
  TOO_MANY_REFERENCES: limit(
    "A property of an entity has more values than MAX_CRATE_REFERENCES.",
    "Name fewer, by way of folders (Dataset) that have parts of their own.",
  ),
  NESTED_ENTITIES: limit(
    "Entities are nested deeper than MAX_CRATE_NESTING.",
    "List the entities in `@graph`, and refer to them by `@id`.",
  ),
  RECORDS_TOO_LARGE: limit(
    "The records of the crate have more bytes than MAX_CRATE_RECORD_BYTES.",
    "Shorten parts that many entities repeat, such as a long inline `@context`.",
  ),
  json_invalid: content(
    "The metadata is not JSON.",
    "Fix the text at the line and column, or write the file with a JSON library.",
  ),
  number_precision: content(
    "A number cannot be represented exactly.",
    "Write the number as a string.",
  ),
  duplicate_key: content(
    "A key occurs twice in one object.",
    "Remove one of the two, or combine their values in a list.",
  ),
  string_unicode: content(
    "A string holds NUL or half of a surrogate pair.",
    "Remove the character.",
  ),
  too_deep: limit(
    "The metadata nests deeper than MAX_JSON_DEPTH.",
    "Reduce the nesting: give inner objects an `@id` and list them in `@graph`.",
  ),
  METADATA_SHAPE: content(
    "The metadata is not an RO-Crate: it is not an object, or has no graph of objects.",
    "Write an object with `@context` and a list of objects as `@graph`.",
  ),
  NO_ROOT: content(
    "No descriptor says which entity is the crate, or the one it names is not there.",
    "Add an entity `ro-crate-metadata.json` whose `about` names the crate, usually `./`, " +
      "and describe that.",
  ),
  ROOT_NOT_DATASET: content(
    "The entity that the descriptor calls the crate is a file.",
    "Let `about` name the crate, a Dataset.",
  ),
  CONTEXT_INVALID: content(
    "A `@context` breaks the rules of JSON-LD, so that the meaning of the terms is unknown.",
    "Write a context of RO-Crate, and terms with an IRI each.",
  ),
  INVALID_ID: content(
    "An `@id` is not text, holds a bidirectional character, leads out of the crate, or is " +
      "an ARK that ends in the name of an operation or would be taken for another one.",
    "Write a text that names something inside the crate, an ARK, or a URL.",
  ),
  NAAN_NOT_ACCEPTED: content(
    "An ARK's authority is not among ACCEPTED_NAANS.",
    "Use identifiers of an accepted authority, or relative ones.",
  ),
  DUPLICATE_ENTITY: advice(
    "Two entities have one identifier and were merged.",
    "Describe each entity in one place.",
  ),
  ID_MISSING: advice(
    "An entity has no `@id`; one was minted for it.",
    "Give the entity an `@id`, such as `#name`.",
  ),
  ARK_MALFORMED: advice(
    "An `@id` begins like an ARK and is not one; an identifier was minted for the entity.",
    "Write `ark:NAAN/name` with a NAAN of five digits.",
  ),
  LOST_TERM: advice(
    "No context explains a term.",
    "Define the term in `@context`, or use one of schema.org.",
  ),
  UNKNOWN_CONTEXT: advice(
    "The metadata names a remote context that is not bundled. Nothing is fetched: terms " +
      "that only it explains are stored without a meaning.",
    "Write those terms into `@context`, each with its IRI.",
  ),
  TERM_INVALID: advice(
    "A definition in a `@context` breaks the rules of JSON-LD. It is left out; its term " +
      "means what the other contexts say, or nothing.",
    "Define the term by an IRI, or leave the definition out.",
  ),
  FIELD_LENGTH: advice(
    "A text is shorter or longer than its kind allows over the API; it is stored in full.",
    "Change the text to a length within the limits.",
  ),
  FIELD_RESERVED: advice(
    "An entity has a `containerDigest`, which only a run in this registry states; it is " +
      "stored in the document, not in the graph.",
    "Leave it out. Do nothing where it describes a run elsewhere.",
  ),
  CRATE_LINKED: advice(
    "A crate within the crate is registered already and is linked. Its own metadata " +
      "describes it; different statements of the outer crate are not stored.",
    "Nothing. To change the nested crate, upload it with `?update=true`, by itself or " +
      "within this one.",
  ),
  NESTED_ELSEWHERE: advice(
    "A metadata file outside the crate's folder is stored as a plain file.",
    "Move the nested crate into the crate's folder.",
  ),
  // Requirements of RO-Crate
  METADATA_TWICE: advice(
    "A folder has ro-crate-metadata.json and the legacy ro-crate-metadata.jsonld; the first " +
      "is read.",
    "Leave the `.jsonld` out.",
  ),
  OLDER_LAYOUT: advice(
    "The crate is one object with its own `@graph` and no descriptor, as tools wrote it " +
      "before RO-Crate 1.0.",
    "Write a flat `@graph` with a descriptor.",
  ),
  DESCRIPTOR_INCOMPLETE: advice(
    "The descriptor is not a CreativeWork, or does not say which RO-Crate it conforms to.",
    "Give it `@type` CreativeWork and a `conformsTo` of https://w3id.org/ro/crate/ and the " +
      "version.",
  ),
  CONTEXT_MISSING: advice(
    "The metadata has no `@context`; its terms are stored under a vocabulary of the registry.",
    "Add the context of RO-Crate, https://w3id.org/ro/crate/1.1/context.",
  ),
  CONTEXT_VERSION: advice(
    "The context is of another version of RO-Crate than the descriptor conforms to.",
    "Name one version in both.",
  ),
  ROOT_ID: advice("The crate's `@id` is neither `./` nor a URL or ARK.", "Call the crate `./`."),
  ROOT_INCOMPLETE: advice(
    "The crate lacks something that RO-Crate asks of it: `@type` Dataset, name, " +
      "description, license, datePublished.",
    "Add what is missing.",
  ),
  DATE_INVALID: advice(
    "A datePublished is not an ISO 8601 date.",
    "Write it like 2024-05-03 or 2024-05-03T08:00:00Z.",
  ),
  TYPE_MISSING: advice("An entity has no `@type`.", "State its type, with a type of schema.org."),
  NOT_FLATTENED: advice(
    "An entity is nested in another one instead of listed in `@graph`; each becomes a record.",
    "List it in `@graph`, and refer to it by its `@id`.",
  ),
  NESTED_WITHOUT_ID: advice(
    "An object without an `@id` is nested in an entity; it is stored there, and no " +
      "record refers to it.",
    "List it in `@graph` with an `@id` such as `#name`, and refer to it.",
  ),
  TEXT_AS_REFERENCE: advice(
    "A property of references has a text, which is read as one where it names an entity or " +
      "is an ARK.",
    'Write references as `{"@id": "…"}`.',
  ),
  CONFORMS_TO_INVALID: advice(
    "A `conformsTo` names neither a profile nor an existing version of RO-Crate.",
    "Refer to the profile by its URI, and to RO-Crate by one such as " +
      "https://w3id.org/ro/crate/1.1.",
  ),
  ABOUT_NOWHERE: advice(
    "An `about` leads to nothing that the crate describes.",
    "Describe what it names in `@graph`, or correct the `@id`.",
  ),
  REFERENCE_NOWHERE: advice(
    "A reference names no entity of the crate (`#x`, `_:x`), or a path neither an entity nor a file.",
    "Describe what it names, or correct the `@id`.",
  ),
  SIGNED_METADATA: advice(
    "A file signs the metadata or lists checksums of it; exports write the metadata anew.",
    "Verify it with the archive as it was uploaded.",
  ),
  ID_NOT_URI: advice(
    "An `@id` holds what a URI does not, such as a blank; it is stored with that percent-encoded.",
    "Percent-encode it, a blank as %20.",
  ),
  AUTHOR_UNNAMED: advice(
    "An author or creator has no name: an identifier alone is no name, and citations leave it out.",
    "Describe the author in `@graph` with a `name`.",
  ),
  DIGEST_INVALID: advice(
    "A digest is none: a placeholder, of another length, several of them, or with the name of its " +
      "algorithm. Formats state digests only.",
    "State the hexadecimal digits of one digest, or leave it out.",
  ),
  SIZE_INVALID: advice(
    "A `contentSize` is not a size.",
    "Write the number of bytes, such as `1024`.",
  ),
  FORMAT_INVALID: advice(
    "An `encodingFormat` is neither a media type nor the name or address of a format.",
    "Write a media type such as `text/csv`.",
  ),
  CROISSANT_VERSION: advice(
    "A Croissant document is of a version before 1.0, or does not say its version.",
    "Write it in Croissant 1.1, with `conformsTo` http://mlcommons.org/croissant/1.1.",
  ),
  NOT_PART: advice(
    "A file or folder cannot be reached from the crate by hasPart.",
    "Name it in the `hasPart` of the crate or of one of its parts.",
  ),
  FOLDER_AS_FILE: advice(
    "An entity has the type File, and a folder has its name.",
    "Give a folder the type Dataset and a `/` at the end of its `@id`.",
  ),
  JSONLD_INVALID: advice(
    "A member of an entity breaks the rules of JSON-LD; it is stored in the document, " +
      "and in the graph as a JSON literal.",
    "Write the member as valid JSON-LD.",
  ),
  // The files
  FILE_MISSING: content(
    "A file that the metadata describes is not in the archive.",
    "Add the file, or give the entity a `contentUrl` that says where it is.",
  ),
  FILE_NOT_IN_ARCHIVE: advice(
    "A `contentUrl` points to a file that is not in the archive; the record has no content.",
    "Add the file, or leave it as it is when it lies elsewhere.",
  ),
  SIZE_MISMATCH: advice(
    "A file has another size than its entity says. The measured size is stored, and the " +
      "stated one is left in the metadata.",
    "Correct `contentSize`, or send the right file.",
  ),
  DIGEST_MISMATCH: content(
    "A file has another digest than its entity says.",
    "Correct the digest, or send the right file.",
  ),
  // The registry
  CRATE_EXISTS: conflict(
    "The crate's identifier exists and belongs to the uploader.",
    "Upload with `?update=true`, or give the crate another `@id`.",
  ),
  IDENTIFIER_TAKEN: conflict(
    "An identifier of the crate belongs to another record.",
    "Give the entity another `@id`, or leave it out and refer to the identifier.",
  ),
  IDENTIFIER_BELOW: conflict(
    "An identifier of the crate lies below a record that the uploader may not change.",
    "Give the entity a relative `@id` or an ARK of your own, or ask the owner of the record above.",
  ),
  TOKEN_BOUND: conflict(
    "The crate would write a record outside of the crate that the uploader's token is bound to.",
    "Upload it with a token that is not bound.",
  ),
  CRATE_MISMATCH: content(
    "The upload names a crate, and the crate's `@id` is the ARK of another one.",
    "Name the same crate, or leave the name out.",
  ),
  CRATE_EMPTIED: conflict(
    "The update would remove every statement of a crate within the crate that is registered by " +
      "itself.",
    "State the nested crate in its metadata file, leave that file out, or, where the removal is " +
      "meant, upload with `emptyLinked=true` (`arkgraph upload --update --empty-linked`).",
  ),
  CHANGED_MEANWHILE: conflict(
    "Somebody else changed a record of the crate while the update was ingested.",
    "Read the record again, and upload the crate with its current version.",
  ),
  ROOT_WITHOUT_ARK: advice(
    "The crate was sent as an update, and neither the upload nor its root names the crate " +
      "to update.",
    "Upload it with `crate=` and the ARK of the crate, or give the root that ARK as its `@id`.",
  ),
  CRATE_ALIKE: advice(
    "The crate gets a new identifier, and the uploader has a crate of the same name.",
    "If it is that crate: upload it with `update=true` and `crate=` with the ARK of that " +
      "crate, and delete this one.",
  ),
  ALREADY_REGISTERED: advice(
    "The same archive was uploaded before; the answer is the result of that upload.",
    "Nothing. `update=true` restores the crate to the content of the archive.",
  ),
  INTAKE_TIMEOUT: limit(
    "Ingesting the crate took longer than INTAKE_TIMEOUT.",
    "Send a smaller crate, or ask the operator to raise the setting.",
  ),
  OUT_OF_MEMORY: limit(
    "Ingesting the crate needed more memory than INTAKE_MEMORY.",
    "Send a smaller crate, or ask the operator to raise the setting.",
  ),
  COMMIT_TOO_LONG: limit(
    "Committing the crate took longer than COMMIT_LIMIT.",
    "Send a smaller crate, or ask the operator to raise the setting.",
  ),
  ARCHIVE_GONE: content("The uploaded archive is no longer stored.", "Send the archive again."),
  CANCELLED: conflict("The submission was cancelled.", "Send the archive again to ingest it."),
  CRASHED_REPEATEDLY: content(
    "The job was started MAX_ATTEMPTS times and never finished.",
    "Report it to the operator; the log has the details.",
  ),
  QUEUE_AWAY: advice(
    "The job queue is unavailable; the submission is stored.",
    "Nothing: the job starts when the queue is available again.",
  ),
  MORE_FINDINGS: advice(
    "There are more findings than are listed.",
    "Fix what is listed, then validate again.",
  ),
} as const satisfies Record<string, CodeEntry<Severity>>;

export type FindingCode = keyof typeof FINDING_CODES;
/** Codes of findings that refuse a crate. */
type RefusalCode = {
  [C in FindingCode]: (typeof FINDING_CODES)[C]["severity"] extends "REQUIRED" ? C : never;
}[FindingCode];
/** Codes of findings that are reported while the crate is ingested. */
type AdviceCode = Exclude<FindingCode, RefusalCode>;

/**
 * Most findings with one code; more would help nobody, fill the submissions table and hide the
 * others.
 */
const MAX_FINDINGS_PER_CODE = 200;

/** A fault of the crate itself: the submission ends failed, and a retry would not help. */
export class CrateError extends Error {
  constructor(
    readonly findings: Finding[],
    readonly warnings: Finding[] = [],
  ) {
    super(findings.map(({ code, message }) => `${code}: ${message}`).join("; "));
    this.name = "CrateError";
  }
}

/** Where in the crate: member of the archive, JSON pointer inside it. */
export interface Place {
  file?: string | null;
  pointer?: string | null;
  /** From 1, for text that is not valid JSON. */ line?: number;
  column?: number;
}

export function finding(
  code: FindingCode,
  message: string,
  { file = null, pointer = null, line, column }: Place = {},
): Finding {
  return {
    file: file && shortened(file),
    pointer: pointer && bounded(pointer),
    message: shortened(message),
    code,
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  };
}

/** Longer names and texts of a hostile crate would fill the screen and the submissions table. */
const MAX_QUOTED_CHARS = 1000;

/** A text of the crate as findings quote it. */
export const quoted = (text: string): string =>
  text.length > 200 ? `${text.slice(0, 200)}…` : text;
const shortened = (text: string): string =>
  text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}…` : text;
/** A pointer to a parent of the place, when the place's own pointer would be too long. */
const bounded = (pointer: string): string =>
  pointer.length > MAX_QUOTED_CHARS
    ? pointer.slice(0, pointer.lastIndexOf("/", MAX_QUOTED_CHARS))
    : pointer;

/** A {@link CrateError} with one finding. */
export function crateError(code: RefusalCode, message: string, place?: Place): CrateError {
  return new CrateError([finding(code, message, place)]);
}

/** Collects errors and warnings, so that a crate's author sees all of them at once. */
export class Findings {
  readonly #errors = new FindingList();
  readonly #warnings = new FindingList();
  readonly #isDryRun: boolean;

  /** @param isDryRun errors end no step: all of them are reported together */
  constructor({ dryRun: isDryRun = false }: { dryRun?: boolean } = {}) {
    this.#isDryRun = isDryRun;
  }

  error(code: RefusalCode, message: string, place?: Place): void {
    this.#errors.add(code, message, place);
  }

  warn(code: AdviceCode, message: string, place?: Place): void {
    this.#warnings.add(code, message, place);
  }

  /** Adds the findings that ended one step, so that the other steps run too. */
  take({ findings, warnings }: CrateError): void {
    this.#errors.append(findings);
    this.#warnings.append(warnings);
  }

  /** True when an error of this code was found. */
  refuses(code: RefusalCode): boolean {
    return this.#errors.has(code);
  }

  /** @throws CrateError with all findings, when an error is among them and this is no dry run */
  endStep(): void {
    if (!this.#isDryRun) this.throwIfErrors();
  }

  /** @throws CrateError with all findings, when an error is among them */
  throwIfErrors(): void {
    const errors = this.allErrors();
    if (errors.length > 0) throw new CrateError(errors, this.allWarnings());
  }

  allErrors(): Finding[] {
    return this.#errors.all();
  }

  allWarnings(): Finding[] {
    return this.#warnings.all();
  }
}

class FindingList {
  readonly #kept: Finding[] = [];
  readonly #counts = new Map<FindingCode, number>();

  has(code: FindingCode): boolean {
    return this.#counts.has(code);
  }

  append(findings: readonly Finding[]): void {
    for (const each of findings) this.#count(each.code as FindingCode, () => each);
  }

  add(code: FindingCode, message: string, place?: Place): void {
    this.#count(code, () => finding(code, message, place));
  }

  #count(code: FindingCode, make: () => Finding): void {
    const count = (this.#counts.get(code) ?? 0) + 1;
    this.#counts.set(code, count);
    if (count <= MAX_FINDINGS_PER_CODE) this.#kept.push(make());
  }

  all(): Finding[] {
    const more = [...this.#counts].filter(([, count]) => count > MAX_FINDINGS_PER_CODE);
    return [
      ...this.#kept,
      ...more.map(([code, count]) =>
        finding(
          "MORE_FINDINGS",
          `${count - MAX_FINDINGS_PER_CODE} more of ${code} are not listed.`,
        ),
      ),
    ];
  }
}

/**
 * HTTP status of a failed intake when a client waits for it: 409 for conflicts, 413 for limits,
 * else 422.
 */
export function statusOfFindings(findings: readonly Finding[]): 409 | 413 | 422 {
  const statuses = findings.map(
    ({ code }) =>
      (FINDING_CODES as Partial<Record<string, { status: 409 | 413 | 422 }>>)[code]?.status ?? 422,
  );
  return statuses.includes(409) ? 409 : statuses.includes(413) ? 413 : 422;
}

/** A copy of an object with changed values; a key `__proto__` stays a key. */
export const objectFrom = (entries: Iterable<readonly [string, JsonValue]>): JsonObject =>
  Object.fromEntries<JsonValue>(entries);

/** The values of an object under some names, in their order. */
export const pick = (value: JsonObject, names: readonly string[]): JsonObject =>
  objectFrom(
    names.flatMap((name): [string, JsonValue][] => {
      const inner = ownValue(value, name);
      return inner === undefined ? [] : [[name, inner]];
    }),
  );
