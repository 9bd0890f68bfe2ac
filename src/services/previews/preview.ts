/** The preview of a stored file: who may read it, which bytes, and where they are read. */
import type { Readable } from "node:stream";
import { ServiceError } from "../../errors.js";
import { type Ark, lookupArk } from "../../identifiers/ark.js";
import type { JsonObject } from "../../model/field.js";
import { referencesIn } from "../../model/field.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Caller } from "../access/rules.js";
import { type Job, OutOfMemory } from "../cpu-pool.js";
import type { Deps } from "../deps.js";
import { type Content, contentOf } from "../files/content.js";
import { ByteCache } from "../limits.js";
import { findLive } from "../records/find.js";
import { parseDocument } from "../records/view.js";
import { type Nature, natureOf, readPreview } from "./read-preview.js";
import type { readTableView, TableQuestion, TableView } from "./table-view.js";
import {
  none,
  type NoPreview,
  type PreviewInput,
  type PreviewLimits,
  type ReadPreview,
} from "./types.js";

/** Bytes that are read in the serving thread. */
const MAX_BYTES_ON_SERVING_THREAD = 64 << 10;

/** Whether a preview may be made in the serving thread: it takes milliseconds. */
const isQuick = ({ bytes, schema }: PreviewInput): boolean =>
  bytes.byteLength <= MAX_BYTES_ON_SERVING_THREAD &&
  schema === null &&
  Buffer.from(bytes.buffer, bytes.byteOffset, 4).toString("latin1") !== "PAR1";

/** A preview, and where the bytes can be shown as they are. */
export type Preview = ReadPreview & { address: string };

/**
 * What a stored file looks like: of a record its content, or a file of a crate that has no record.
 * Those who may not read the content get no preview.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, for what is not there
 */
export async function previewOf(deps: Deps, ark: Ark, caller: Caller | null): Promise<Preview> {
  const address = `${deps.baseUrl()}/view/${encodeURI(ark.stored)}`;
  const at = (preview: ReadPreview): Preview => ({ ...preview, address });
  let content: Content;
  try {
    content = await contentOf(deps, ark, caller);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const refused = refusal(error);
    if (refused) return at(refused);
    if (error.code !== "NOT_FOUND") throw error;
    // The record may be there, and its content elsewhere.
    await findLive(deps, ark);
    return at(none("NO_CONTENT", error.message));
  }
  if (content.object.role === "archive")
    return at(none("ARCHIVE", "It is the archive of a crate: see its files."));
  return at(await made(deps, content));
}

function refusal({ code, message }: ServiceError): ReadPreview | undefined {
  switch (code) {
    case "NOT_AUTHENTICATED":
    case "FORBIDDEN":
      return none("NOT_READABLE", message);
    case "CONTENT_DELETED":
      return none("NO_CONTENT", message);
    case "CONTENT_DAMAGED":
      return none("DAMAGED", message);
    default:
      return undefined;
  }
}

/** Bytes that say what a file is. */
const HEAD = 4096;

async function made(deps: Deps, content: Content): Promise<ReadPreview> {
  const { config } = deps;
  const asked = await inputOf(deps, content, {
    text: config.PREVIEW_BYTES,
    rows: config.PREVIEW_ROWS,
    columns: config.PREVIEW_COLUMNS,
    whole: config.PREVIEW_WHOLE_BYTES,
  });
  if ("form" in asked) return asked;
  const { input, key } = asked;
  const before = known.get(key);
  if (before) return before;
  const bytes = await input();
  if (isQuick(bytes)) return readPreview(bytes);
  const preview = await inThread<typeof readPreview>(deps, JOB, bytes);
  if (!("reason" in preview) || !["BUSY", "TIMEOUT"].includes(preview.reason))
    known.set(key, preview);
  return preview;
}

/**
 * The table in a stored file, as a reader asks for it: of large tables the first rows are read.
 * Undefined for what is no table.
 */
export async function tableOf(
  deps: Deps,
  ark: Ark,
  caller: Caller | null,
  question: TableQuestion,
): Promise<TableView | NoPreview | undefined> {
  const { config } = deps;
  const content = await contentOf(deps, ark, caller);
  if (content.object.role === "archive") return undefined;
  const asked = await inputOf(deps, content, {
    text: config.PREVIEW_WHOLE_BYTES,
    rows: config.PREVIEW_TABLE_ROWS,
    columns: config.PREVIEW_COLUMNS,
    whole: config.PREVIEW_WHOLE_BYTES,
  });
  if ("form" in asked || !TABLES.includes(asked.nature)) return undefined;
  const key = JSON.stringify([asked.key, question]);
  const before = knownViews.get(key);
  if (before) return before;
  const input = { ...(await asked.input()), question };
  const view = await inThread<typeof readTableView>(deps, VIEW_JOB, input);
  if (view && !("form" in view)) knownViews.set(key, view);
  return view;
}

/** What a file may be that holds a table. */
const TABLES: readonly Nature[] = ["table", "parquet", "gzip"];

/** What a preview of content is made of, and what the preview is known by. */
async function inputOf(
  deps: Deps,
  { record, object, open }: Content,
  limits: PreviewLimits,
): Promise<NoPreview | { input: () => Promise<PreviewInput>; key: string; nature: Nature }> {
  const { size, name, mediaType } = object;
  if (size === 0) return none("NO_CONTENT", "It is empty.");
  const read = async (bytes: number): Promise<Buffer> =>
    collected(await open({ start: 0, end: Math.min(size, bytes) - 1 }));
  const head = await read(HEAD);
  const nature = natureOf(head, name, mediaType);
  const isWhole = ["parquet", "notebook", "json"].includes(nature) && size <= limits.whole;
  const isSeen = nature === "image" || nature === "document";
  if (nature === "image" && size > limits.whole)
    return none("TOO_LARGE", `Images are shown up to ${limits.whole} bytes.`);
  const most = isWhole ? size : Math.min(size, isSeen ? HEAD * 16 : limits.text);
  const schema = TABLES.includes(nature) ? await schemaOf(deps, record, object) : undefined;
  const by = schema && [schema.ark, schema.revision];
  return {
    nature,
    key: JSON.stringify([object.sha256, name, mediaType, by, limits]),
    input: async () => ({
      bytes: most <= head.length ? head : await read(most),
      size,
      name,
      mediaType,
      schema: schema ? { ark: schema.ark, document: parseDocument(schema.document) } : null,
      limits,
    }),
  };
}

/** Previews that needed a thread, by the bytes and the schema that they were made of. */
const known = new ByteCache<ReadPreview>(16 * 2 ** 20);
const knownViews = new ByteCache<TableView>(16 * 2 ** 20);

/** Parsing of hostile files would block the serving thread. */
const JOB = { module: "src/services/previews/read-preview", name: "readPreview" };
const VIEW_JOB = { module: "src/services/previews/table-view", name: "readTableView" };

/** Runs a job with the time and memory of previews; or why there is no result. */
async function inThread<Run extends (input: never) => unknown>(
  { config, tableLimit, cpu }: Deps,
  job: Job,
  input: Parameters<Run>[0],
): Promise<Awaited<ReturnType<Run>> | NoPreview> {
  try {
    return await tableLimit.run(AbortSignal.timeout(config.PREVIEW_TIMEOUT), (signal) =>
      cpu.run<Run>(job, input, { memory: config.PREVIEW_MEMORY, signal }),
    );
  } catch (error) {
    if (error instanceof OutOfMemory)
      return none("TOO_LARGE", "It needs too much memory to be shown: download it.");
    if (error instanceof DOMException)
      return none("TIMEOUT", `It takes longer than ${config.PREVIEW_TIMEOUT} ms to be shown.`);
    if (error instanceof ServiceError && error.code === "BUSY")
      return none("BUSY", "Too many previews at the moment: try again.");
    throw error;
  }
}

async function collected(stream: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts);
}

/** Members in which records name the schema of their table. */
const SCHEMA_MEMBERS = [
  "schema",
  "evi:Schema",
  "EVI:Schema",
  "https://w3id.org/EVI#Schema",
  "tableSchema",
  "dataSchema",
  "hasSchema",
  "conformsTo",
];
/** References that are looked up. */
const MAX_REFERENCES = 20;

/** The schema that a record names, or for a file the record that the file is of. */
async function schemaOf(
  { records }: Deps,
  record: StoredRecord,
  { role }: Content["object"],
): Promise<StoredRecord | undefined> {
  // A file without a record: the record is its crate.
  if (role === "member") return undefined;
  const document = parseDocument(record.document);
  const own = await schemaIn(records, document);
  if (own || record.kind !== "datadownload") return own;
  const [about] = await found(records, referencesIn(document["encodesCreativeWork"]));
  return about && schemaIn(records, parseDocument(about.document));
}

async function schemaIn(
  records: Deps["records"],
  document: JsonObject,
): Promise<StoredRecord | undefined> {
  const named = SCHEMA_MEMBERS.flatMap((member) => referencesIn(document[member]));
  return (await found(records, named)).find(({ kind }) => kind === "schema");
}

/** Live records with these identifiers, in any spelling. */
async function found(
  records: Deps["records"],
  references: readonly string[],
): Promise<StoredRecord[]> {
  const arks = references.slice(0, MAX_REFERENCES).flatMap((text) => lookupArk(text) ?? []);
  const all: StoredRecord[] = [];
  for (const ark of arks) {
    const answer = await records.find(ark);
    if (answer && "record" in answer && answer.record.tombstone === null) all.push(answer.record);
  }
  return all;
}
