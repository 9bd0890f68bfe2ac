import { namesIn } from "../../model/agent-names.js";
import { type JsonObject, type JsonValue, listOf } from "../../model/field.js";
import { digestIn, mediaTypeIn } from "../../model/file-facts.js";
import { textOf } from "../../model/texts.js";
import type { FileReference, StoredRecord } from "../../storage/records/port.js";
import { pathInUrl, storedFiles } from "../crates/export/contents.js";
import { crateRecords } from "../records/of-crate.js";
import type { Deps } from "../deps.js";
import { landmarksOf } from "../records/list.js";
import { parseDocument, type RecordView } from "../records/view.js";
import { Fields, isInformative } from "../scoring/facts/fields.js";
import { type Agent, STATED_AUTHORS } from "./agents.js";
import { bibtexOf } from "./citations.js";
import { type Column, columnsOf, schemaArkOf } from "./columns.js";
import { factsOf, lacking, type RecordFacts, sizeOf } from "./facts.js";
import type { RecordFormat } from "./format.js";
import { addressOf, contentAddress } from "./signposting.js";
import { ownValue } from "../../own.js";
import { getOrInsert } from "../../get-or-insert.js";

/** The context of Croissant 1.1 as its documents have it; readers compare it. */
const CONTEXT: JsonObject = {
  "@language": "en",
  "@vocab": "https://schema.org/",
  arrayShape: "cr:arrayShape",
  citeAs: "cr:citeAs",
  column: "cr:column",
  conformsTo: "dct:conformsTo",
  containedIn: "cr:containedIn",
  cr: "http://mlcommons.org/croissant/",
  rai: "http://mlcommons.org/croissant/RAI/",
  data: { "@id": "cr:data", "@type": "@json" },
  dataType: { "@id": "cr:dataType", "@type": "@vocab" },
  dct: "http://purl.org/dc/terms/",
  description: { "@container": "@language" },
  equivalentProperty: "cr:equivalentProperty",
  examples: { "@id": "cr:examples", "@type": "@json" },
  extract: "cr:extract",
  field: "cr:field",
  fileProperty: "cr:fileProperty",
  fileObject: "cr:fileObject",
  fileSet: "cr:fileSet",
  format: "cr:format",
  includes: "cr:includes",
  isArray: "cr:isArray",
  isLiveDataset: "cr:isLiveDataset",
  jsonPath: "cr:jsonPath",
  key: "cr:key",
  md5: "cr:md5",
  name: { "@container": "@language" },
  parentField: "cr:parentField",
  path: "cr:path",
  prov: "http://www.w3.org/ns/prov#",
  recordSet: "cr:recordSet",
  references: "cr:references",
  regex: "cr:regex",
  repeated: "cr:repeated",
  replace: "cr:replace",
  samplingRate: "cr:samplingRate",
  sc: "https://schema.org/",
  separator: "cr:separator",
  source: "cr:source",
  subField: "cr:subField",
  transform: "cr:transform",
};
const PROFILE = "http://mlcommons.org/croissant/1.1";

/** Properties of Croissant RAI; `one`: a single text. */
const RAI: Readonly<Record<string, "one" | "many">> = {
  dataCollection: "one",
  dataCollectionType: "many",
  dataCollectionMissingData: "one",
  dataCollectionRawData: "one",
  dataImputationProtocol: "one",
  dataManipulationProtocol: "one",
  dataPreprocessingProtocol: "many",
  dataAnnotationProtocol: "many",
  dataAnnotationPlatform: "many",
  dataAnnotationAnalysis: "many",
  dataReleaseMaintenancePlan: "one",
  personalSensitiveInformation: "many",
  dataSocialImpact: "one",
  dataBiases: "many",
  dataLimitations: "many",
  dataUseCases: "many",
  annotationsPerItem: "one",
  annotatorDemographics: "many",
  machineAnnotationTools: "many",
};
const TYPES: Readonly<Record<string, string>> = {
  number: "sc:Float",
  integer: "sc:Integer",
  boolean: "sc:Boolean",
};
/** Separators that readers of Croissant know, by media type. */
const TABLES: Readonly<Record<string, string>> = {
  "text/csv": ",",
  "text/tab-separated-values": "\t",
};
/** Files of a crate that are read at a time. */
const PAGE = 1000;
/** Folders with fewer files are no sets. */
const LEAST_FILES = 2;
/** Media types that one set of files names. */
const MAX_TYPES = 5;

type FactDeps = Pick<Deps, "records" | "config" | "baseUrl">;

/** A file with its record. */
interface File extends Pick<FileReference, "name" | "mediaType"> {
  /** Null where a record states none of a file that is elsewhere. */
  size: number | null;
  /** Empty where a record states none of a file that is elsewhere. */
  hash: { sha256?: string; md5?: string };
  /** Whether the file came in the archive of the crate. */
  isInArchive: boolean;
  /** `@id` in the document. */
  id: string;
  address: string;
  record: StoredRecord | undefined;
  fields: Fields | undefined;
}

/**
 * A crate or dataset as Croissant 1.1: files, sets of files, tables by their schemas, RAI and
 * provenance. Croissant requires a hash of each file, unless the dataset is live: it is where the
 * record of a file that is elsewhere states none.
 * @throws ValidationError naming what Croissant requires and the record lacks
 */
export async function croissantText(deps: FactDeps, view: RecordView): Promise<string> {
  const facts = await factsOf(deps, view);
  const { licence } = facts;
  const missing = {
    ...(facts.description === null ? { description: "what the data are" } : {}),
    ...(licence === null ? { license: "the address of a licence" } : {}),
    ...(facts.creators.length === 0 ? { author: "who made the data" } : {}),
  };
  if (Object.keys(missing).length > 0) throw lacking("Croissant", missing);
  const files = facts.record.kind === "rocrate" ? await filesOf(deps, facts) : own(facts);
  const archive = await archiveOf(deps, facts);
  const tables = await tablesOf(deps, files);
  const creator = facts.creators.map(agentOf);
  return JSON.stringify({
    "@context": CONTEXT,
    "@type": "sc:Dataset",
    "@id": facts.url,
    conformsTo: PROFILE,
    name: facts.title,
    description: facts.description,
    url: facts.url,
    license: licence?.url ?? licence?.name,
    creator,
    publisher: agentOf(facts.publisher),
    datePublished: facts.published,
    dateModified: facts.modified,
    ...(facts.created === null ? {} : { dateCreated: facts.created }),
    version: versionOf(facts),
    ...(facts.keywords.length === 0 ? {} : { keywords: facts.keywords }),
    ...(facts.language === null ? {} : { inLanguage: facts.language }),
    citeAs: bibtexOf(facts),
    ...(facts.doi === null ? {} : { sameAs: `https://doi.org/${facts.doi}` }),
    conditionsOfAccess: facts.access.coar,
    ...raiOf(facts.fields),
    ...provenanceOf(deps, facts.fields),
    ...(files.some(({ hash }) => Object.keys(hash).length === 0) ? { isLiveDataset: true } : {}),
    distribution: [
      ...(archive === undefined ? [] : [archive]),
      ...files.map((file) => fileObject(deps, file)),
      ...(archive === undefined ? [] : fileSets(files)),
    ],
    ...(tables.length === 0 ? {} : { recordSet: tables }),
  });
}

/** One to three numbers, and what semantic versioning lets follow the third. */
const VERSION =
  /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9})(-[a-z][0-9a-z-]*(?:\.(?:0|[1-9]\d*|[a-z][0-9a-z-]*))*)?)?$/i;

/**
 * Croissant wants MAJOR.MINOR.PATCH. A stated version that is none is in the citation; here the
 * revision of the record tells versions apart.
 */
function versionOf({ version, record }: RecordFacts): string {
  const [, major, minor = "0", patch = "0", more = ""] = VERSION.exec(version ?? "") ?? [];
  return major === undefined
    ? `0.0.${record.revision}`
    : `${Number(major)}.${Number(minor)}.${Number(patch)}${more}`;
}

/** The stored files of a crate with their records. */
async function filesOf(deps: FactDeps, { record: root }: RecordFacts): Promise<File[]> {
  const documents = new Map<string, { record: StoredRecord; fields: Fields }>();
  for await (const page of crateRecords(deps, root))
    for (const record of page)
      documents.set(record.ark, {
        record,
        fields: new Fields(record.ark, parseDocument(record.document)),
      });
  const found: File[] = [];
  const taken = new Set<string>([ARCHIVE]);
  const held = new Set<string>();
  for await (const files of storedFiles(deps, root))
    for (const { ark, name, size, sha256, mediaType, role } of files) {
      const described = documents.get(ark);
      held.add(ark);
      // A crate within a crate has the files of its own records only.
      if (!described) continue;
      const { record, fields } = described;
      const member = role === "member";
      const path = member ? name : (pathOf(ark, root.ark) ?? name);
      found.push({
        id: freeId(path, taken),
        name: path,
        size,
        hash: { sha256 },
        isInArchive: true,
        mediaType,
        address: member
          ? `${deps.baseUrl()}/${encodeURI(ark)}/${pathInUrl(name)}`
          : contentAddress(deps.baseUrl(), record),
        record: member ? undefined : record,
        fields: member ? undefined : fields,
      });
    }
  for (const [ark, { record, fields }] of documents) {
    const file = ark === root.ark || held.has(ark) ? undefined : elsewhere(record, fields);
    if (file) found.push({ ...file, id: freeId(pathOf(ark, root.ark) ?? file.name, taken) });
  }
  return found;
}

/** A file at another address, as its record states it. */
function elsewhere(record: StoredRecord, fields: Fields): Omit<File, "id"> | undefined {
  const address = textOf(fields.first("contentUrl")?.value);
  if (address === null || !REMOTE.test(address)) return undefined;
  const sha256 = digestIn("sha256", fields.first("sha256")?.value);
  const md5 = sha256 === undefined ? digestIn("md5", fields.first("md5")?.value) : undefined;
  const { content } = landmarksOf(record);
  return {
    name: textOf(fields.first("name")?.value) ?? record.ark,
    size: sizeOf(fields),
    hash: { ...(sha256 === undefined ? {} : { sha256 }), ...(md5 === undefined ? {} : { md5 }) },
    isInArchive: false,
    mediaType: content?.mediaType ?? formatIn(fields) ?? "application/octet-stream",
    address,
    record,
    fields,
  };
}

const formatIn = (fields: Fields): string | undefined =>
  fields.references("encodingFormat").flatMap((text) => mediaTypeIn(text) ?? [])[0];
/** Where content can be fetched from, by any protocol. */
const REMOTE = /^(?:https?|ftps?|sftp|s3|gs|gcs|abfss?|hdfs|rsync|git|ssh):\/\/[^\s<>"]+$/i;

/** Whether a value may name an author: a reference may lead to a name. */
const mayBeNamed = (value: JsonValue): boolean =>
  typeof value === "string"
    ? value.startsWith("ark:") || namesIn(value).length > 0
    : isInformative(value);

/** The path in its crate that the identifier of a file was derived from. */
function pathOf(ark: string, crate: string): string | undefined {
  if (!ark.startsWith(`${crate}/`) || ark.startsWith(`${crate}/entity/`)) return undefined;
  const path = ark.slice(crate.length + 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The file of a dataset. */
function own({ record, fields, content }: RecordFacts): File[] {
  if (content === null) return [];
  const { url, sha256, size, mediaType } = content;
  const type = mediaType ?? "application/octet-stream";
  const name = textOf(fields.first("name")?.value) ?? record.ark;
  return [
    {
      id: "content",
      name,
      size,
      hash: sha256 === null ? {} : { sha256 },
      isInArchive: false,
      mediaType: type,
      address: url,
      record,
      fields,
    },
  ];
}

const ARCHIVE = "archive";
/** A relative identifier for the file at a path; two files may have one path. */
function freeId(path: string, taken: Set<string>): string {
  const id = pathInUrl(path);
  let free = id;
  for (let count = 2; taken.has(free); count++) free = `${id}-${count}`;
  taken.add(free);
  return free;
}

function fileObject(deps: FactDeps, file: File): JsonObject {
  const { id, name, size, hash, mediaType, address, record, fields } = file;
  const description = fields && textOf(fields.first("description")?.value);
  return {
    "@type": "cr:FileObject",
    "@id": id,
    name: name.slice(name.lastIndexOf("/") + 1),
    ...(description ? { description } : {}),
    contentUrl: address,
    ...(size === null ? {} : { contentSize: `${size} B` }),
    encodingFormat: mediaType,
    ...hash,
    ...(record && { sameAs: addressOf(deps.baseUrl(), record.ark) }),
    ...(fields && provenanceOf(deps, fields)),
  };
}

/** The archive of a crate as it was uploaded: sets of files are contained in it. */
async function archiveOf(deps: FactDeps, { record }: RecordFacts): Promise<JsonObject | undefined> {
  if (record.kind !== "rocrate") return undefined;
  const [object] = await deps.records.objectsOf(record.ark, { role: "archive" });
  return (
    object && {
      "@type": "cr:FileObject",
      "@id": ARCHIVE,
      name: object.name.slice(object.name.lastIndexOf("/") + 1),
      description: "The crate as it was uploaded.",
      contentUrl: contentAddress(deps.baseUrl(), record),
      contentSize: `${object.size} B`,
      encodingFormat: "application/zip",
      sha256: object.sha256,
    }
  );
}

/** Folders of the archive. It may have a folder around the crate. */
function fileSets(files: readonly File[]): JsonObject[] {
  const folders = new Map<string, File[]>();
  for (const file of files) {
    if (!file.isInArchive) continue;
    const folder = file.name.slice(0, Math.max(0, file.name.lastIndexOf("/")));
    if (folder === "") continue;
    getOrInsert(folders, folder, (): File[] => []).push(file);
  }
  return [...folders]
    .filter(([, inside]) => inside.length >= LEAST_FILES)
    .map(([folder, inside]) => ({
      "@type": "cr:FileSet",
      "@id": `${pathInUrl(folder)}/`,
      name: folder,
      containedIn: { "@id": ARCHIVE },
      encodingFormat: [...new Set(inside.map(({ mediaType }) => mediaType))].slice(0, MAX_TYPES),
      includes: [`${folder}/*`, `*/${folder}/*`],
    }));
}

/** A set of records for each table whose schema is known and whose columns have names. */
async function tablesOf(deps: FactDeps, files: readonly File[]): Promise<JsonObject[]> {
  const tables = files.flatMap((file) => {
    const schema = file.fields && file.mediaType in TABLES ? schemaArkOf(file.fields) : undefined;
    return schema === undefined ? [] : [{ file, schema }];
  });
  const arks = [...new Set(tables.map(({ schema }) => schema))];
  const schemas = new Map<string, JsonObject>();
  for (let start = 0; start < arks.length; start += PAGE)
    for (const found of await deps.records.findMany(arks.slice(start, start + PAGE)))
      if (found?.kind === "schema" && !found.tombstone)
        schemas.set(found.ark, parseDocument(found.document));
  return tables.flatMap(({ file, schema }) => {
    const document = schemas.get(schema);
    if (document === undefined) return [];
    const set = recordSet(file, document, addressOf(deps.baseUrl(), schema));
    return set === undefined ? [] : [set];
  });
}

function recordSet(file: File, schema: JsonObject, address: string): JsonObject | undefined {
  const separator = schema["separator"] ?? schema["seperator"] ?? ownValue(TABLES, file.mediaType);
  const isKnown = separator === ownValue(TABLES, file.mediaType) || separator === "\\t";
  if (schema["header"] === false || !isKnown) return undefined;
  const id = `${file.id}/records`;
  const fields = columnsOf(schema).filter(
    ({ type, index }) => type !== "array" && (typeof index === "number" || index === undefined),
  );
  if (fields.length === 0) return undefined;
  const description = textOf(schema["description"]);
  return {
    "@type": "cr:RecordSet",
    "@id": id,
    name: textOf(schema["name"]) ?? file.name,
    ...(description === null ? {} : { description }),
    "dct:conformsTo": { "@id": address },
    field: fields.map((column) => fieldOf(column, id, file.id)),
  };
}

const fieldOf = (
  { name, type, description, term }: Column,
  set: string,
  file: string,
): JsonObject => ({
  "@type": "cr:Field",
  "@id": `${set}/${encodeURIComponent(name)}`,
  name,
  ...(description === null ? {} : { description }),
  dataType: ownValue(TYPES, type) ?? "sc:Text",
  ...(term === null ? {} : { equivalentProperty: term }),
  source: { fileObject: { "@id": file }, extract: { column: name } },
});

/** What the record states in the terms of Croissant RAI, by these names in any vocabulary. */
function raiOf(fields: Fields): JsonObject {
  return Object.fromEntries(
    Object.entries(RAI).flatMap(([name, count]): [string, JsonValue][] => {
      const texts = listOf(fields.first(`rai:${name}`)?.value).flatMap(
        (value) => textOf(value) ?? [],
      );
      if (texts.length === 0) return [];
      return [[`rai:${name}`, count === "one" ? texts.join("\n") : texts]];
    }),
  );
}

/** What a record was made from and by, as its own statements say. */
function provenanceOf(deps: FactDeps, fields: Fields): JsonObject {
  const linked = (...names: string[]): JsonObject[] =>
    fields
      .references(...names)
      .flatMap((id) =>
        id.startsWith("ark:")
          ? [{ "@id": addressOf(deps.baseUrl(), id) }]
          : /^https?:/.test(id)
            ? [{ "@id": id }]
            : [],
      );
  const derived = linked("derivedFrom", "wasDerivedFrom", "isBasedOn");
  const generated = linked("generatedBy", "wasGeneratedBy");
  return {
    ...(derived.length === 0 ? {} : { "prov:wasDerivedFrom": derived }),
    ...(generated.length === 0
      ? {}
      : { "prov:wasGeneratedBy": generated.map((one) => ({ "@type": "prov:Activity", ...one })) }),
  };
}

const agentOf = ({ name, url, isOrganization }: Agent): JsonObject => ({
  "@type": isOrganization ? "sc:Organization" : "sc:Person",
  name,
  ...(url === undefined ? {} : { url }),
});

export const croissant: RecordFormat = {
  name: "croissant",
  mediaType: "application/ld+json",
  profile: PROFILE,
  label: "Croissant",
  description:
    "Croissant 1.1 with responsible-AI properties, for machine learning: files with their hashes, " +
    "folders, tables by their schemas, provenance.",
  kinds: ["rocrate", "dataset"],
  relation: "describedby",
  isSignpost: true,
  isDerived: true,
  example: `{"@type":"sc:Dataset","conformsTo":"${PROFILE}","name":"Cells"}`,
  isLinked: ({ document }) =>
    isInformative(document["description"]) &&
    isInformative(document["license"]) &&
    STATED_AUTHORS.some((name) => listOf(document[name]).some(mayBeNamed)),
  write: ({ deps, view }) => croissantText(deps, view),
};
