import { arkKey, referencedArk } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { Kind, KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds/index.js";
import { publicView } from "../../model/view.js";
import type { StoredRecord } from "../../stores/records/port.js";
import type { Caller } from "../access/caller.js";
import type { Deps } from "../deps.js";

/** A record as one caller sees it. */
export interface RecordView {
  record: StoredRecord;
  /** The document with derived entries, UTF-8 JSON. */
  bytes: Uint8Array;
  /** Revision and newest back-link, in quotes. */
  etag: string;
}

const decoder = new TextDecoder();
export const parseDocument = (bytes: Uint8Array): JsonObject => JSON.parse(decoder.decode(bytes)) as JsonObject;
export const documentBytes = (document: JsonObject): Uint8Array => Buffer.from(JSON.stringify(document));

const derivedFields = new Map<KindName, string[]>(
  Object.values(KINDS).map((kind) => [kind.name, Object.keys(kind.fields).filter((name) => kind.fields[name]!.backlink)]),
);

/** The user itself and administrators see account fields. */
export const seesPrivate = (record: StoredRecord, caller: Caller | null): boolean => caller !== null && (caller.admin || arkKey(caller.user) === record.key);

/** One record; the stored bytes themselves where nothing is derived or hidden. */
export async function viewOf(deps: Deps, record: StoredRecord, caller: Caller | null): Promise<RecordView> {
  if (isPlain(record)) return { record, bytes: record.document, etag: etagOf(record) };
  return (await viewsOf(deps, [record], caller))[0]!;
}

/** True when the stored bytes are the answer, for everyone. */
export function isPlain(record: StoredRecord): boolean {
  return !KINDS[record.kind].closed && (record.newestBacklink === 0 || derivedFields.get(record.kind)!.length === 0);
}

export function etagOf(record: StoredRecord, variant = ""): string {
  return `"${record.revision}-${record.newestBacklink}${variant}"`;
}

/** A page of records: back-links of all of them in one read per derived field. */
export async function viewsOf(deps: Deps, records: readonly StoredRecord[], caller: Caller | null): Promise<RecordView[]> {
  const views: (RecordView | undefined)[] = records.map((record) => (isPlain(record) ? { record, bytes: record.document, etag: etagOf(record) } : undefined));
  for (const name of new Set(records.filter((record) => !isPlain(record)).map((record) => record.kind))) {
    const kind = KINDS[name];
    const indexes = records.flatMap((record, index) => (record.kind === name && !views[index] ? [index] : []));
    const documents = indexes.map((index) => parseDocument(records[index]!.document));
    await addBacklinks(deps, kind, indexes.map((index) => records[index]!), documents);
    for (const [at, index] of indexes.entries()) {
      const record = records[index]!;
      const whole = kind.closed && seesPrivate(record, caller);
      const document = whole ? documents[at]! : publicView(kind, documents[at]!);
      views[index] = { record, bytes: documentBytes(document), etag: etagOf(record, whole ? "p" : "") };
    }
  }
  return views as RecordView[];
}

/** Adds what is derived after what the client stated, without duplicates. */
async function addBacklinks(deps: Deps, kind: Kind, records: readonly StoredRecord[], documents: readonly JsonObject[]): Promise<void> {
  const keys = records.map((record) => record.key);
  for (const name of derivedFields.get(kind.name)!) {
    const backlink = kind.fields[name]!.backlink!;
    const kinds = (typeof backlink.kind === "string" ? [backlink.kind] : backlink.kind) as KindName[];
    const pages = await deps.records.linksTo(keys, { predicates: backlink.via, kinds, limit: deps.config.BACKLINK_LIMIT });
    for (const [index, page] of pages.entries()) {
      const document = documents[index]!;
      const stated = document[name] ?? [];
      if (!Array.isArray(stated)) continue;
      const seen = new Set(stated.map((entry) => (typeof entry === "string" ? keyOf(entry) : entry)));
      const derived: JsonValue[] = [];
      for (const link of page.items) {
        const key = arkKey(link.source);
        if (seen.has(key)) continue;
        seen.add(key);
        derived.push(link.source);
      }
      if (derived.length > 0) document[name] = [...stated, ...derived];
    }
  }
}

function keyOf(text: string): string {
  const ark = referencedArk(text);
  return ark === undefined ? text : arkKey(ark);
}
