/**
 * What stored evidence graphs say about records that were deleted since is left out where they are
 * read.
 */
import { createHash } from "node:crypto";
import { eventLoop } from "../../event-loop-budget.js";
import { arkKey, parseArk } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { AssertedBy, Direction } from "../../model/provenance.js";
import type { RecordStore, StoredRecord } from "../../storage/records/port.js";
import { pairs } from "../../pairs.js";

/** The question that a stored evidence graph answers. */
export interface Question {
  /** Stored form of the record's ARK. */
  ark: string;
  direction: Direction;
  /** null: without limit. */
  depth: number | null;
  /** Absent: anyone. */
  assertedBy?: AssertedBy;
}

/**
 * One identifier for a combination of record, direction, depth, `assertedBy` and owner: building
 * again renews the existing graph.
 */
export function identifierOf(
  naan: string,
  { ark, direction, depth, assertedBy }: Question,
  owner: string,
): string {
  const hash = createHash("sha256")
    .update(
      JSON.stringify([
        ark,
        direction,
        depth,
        owner,
        ...(assertedBy === "owner" ? [assertedBy] : []),
      ]),
    )
    .digest("hex")
    .slice(0, 20);
  return `ark:${naan}/evidence-graph-${hash}`;
}

/**
 * The question of a graph that was built here; `undefined` for evidence graphs that clients wrote
 * themselves.
 */
export function questionOf(record: StoredRecord, document: JsonObject): Question | undefined {
  const { about, direction, depth = null, assertedBy } = document;
  if (
    record.kind !== "evidencegraph" ||
    record.owner === null ||
    typeof about !== "string" ||
    (depth !== null && typeof depth !== "number")
  )
    return undefined;
  if (direction !== "upstream" && direction !== "downstream" && direction !== "both")
    return undefined;
  const question: Question = {
    ark: about,
    direction,
    depth,
    ...(assertedBy === "owner" && { assertedBy }),
  };
  const naan = parseArk(record.ark)?.naan;
  return naan !== undefined && identifierOf(naan, question, record.owner) === record.ark
    ? question
    : undefined;
}

type Reads = { records: Pick<RecordStore, "holders"> };

/** Identifiers in one query: few enough not to delay readers. */
const BATCH = 500;
/** Prefix of names that contain the name of the graph's record. */
const NAMED = "Evidence graph of ";
/**
 * For the object inside a record that a node stands for, the part after the record's identifier.
 */
const EMBEDDED = "#genid-";

/** Cache of checked records, and whether something was left out of them. */
const checked = new WeakMap<StoredRecord, boolean>();

/** True where the record returned differs from the stored one. */
export const isShortened = (record: StoredRecord): boolean => checked.get(record) === true;

/**
 * The same records; a stored evidence graph without the names and descriptions of records that were
 * deleted since. Stored data, earlier revisions included, is not changed, since it was true then:
 * the names are removed here, where records are read.
 */
export const withoutForgotten = (
  deps: Reads,
  records: readonly StoredRecord[],
): Promise<StoredRecord[]> =>
  Promise.all(records.map((record) => recordWithoutForgotten(deps, record)));

/** The same for one record. */
export async function recordWithoutForgotten(
  deps: Reads,
  record: StoredRecord,
): Promise<StoredRecord> {
  if (record.kind !== "evidencegraph" || checked.has(record)) return record;
  const document = JSON.parse(Buffer.from(record.document).toString("utf8")) as JsonObject;
  const shown = await forgetIn(deps, record, document);
  const clean =
    shown === document
      ? record
      : {
          ...record,
          name: typeof shown["name"] === "string" ? shown["name"] : record.name,
          document: new TextEncoder().encode(JSON.stringify(shown)),
        };
  checked.set(clean, clean !== record);
  return clean;
}

/** The same for one state of a record; the document itself where nothing is left out. */
export async function forgetIn(
  deps: Reads,
  record: StoredRecord,
  document: JsonObject,
): Promise<JsonObject> {
  const question = questionOf(record, document);
  if (!question) return document;
  const stated = Array.isArray(document["@graph"]) ? document["@graph"] : [];
  const nodes = stated.map(nodeIn);
  const deleted = await deletedAmong(
    deps,
    new Set([question.ark, ...nodes.flatMap((node) => (node ? describers(node) : []))]),
  );
  if (deleted.size === 0) return document;
  const graph = pairs(stated, nodes).map(([value, node]): JsonValue => {
    if (!node || !describers(node).some((ark) => deleted.has(ark))) return value;
    const { name: _name, description: _description, ...rest } = node;
    return rest;
  });
  const { name } = document;
  const isNamed = deleted.has(question.ark) && typeof name === "string" && name.startsWith(NAMED);
  return {
    ...document,
    ...(isNamed ? { name: `${NAMED}${question.ark}` } : {}),
    ...(Array.isArray(document["@graph"]) ? { "@graph": graph } : {}),
  };
}

const nodeIn = (value: JsonValue): JsonObject | undefined =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : undefined;

/**
 * Records that may be the source of a node's name: the record itself, the record that holds the
 * node, or the records that stand for its URL.
 */
function describers(node: JsonObject): string[] {
  const id = node["@id"];
  if (typeof id !== "string") return [];
  const embedded = id.indexOf(EMBEDDED);
  const same = (Array.isArray(node["sameAs"]) ? node["sameAs"] : []).flatMap((value) => {
    const ark = nodeIn(value)?.["@id"];
    return typeof ark === "string" ? [ark] : [];
  });
  return [embedded > 0 ? id.slice(0, embedded) : id, ...same];
}

async function deletedAmong({ records }: Reads, arks: ReadonlySet<string>): Promise<Set<string>> {
  const deleted = new Set<string>();
  const asked = [...arks].filter((ark) => ark.startsWith("ark:"));
  for (let start = 0; start < asked.length; start += BATCH) {
    const keys = asked.slice(start, start + BATCH).map(arkKey);
    for (const holder of await records.holders(keys)) if (holder.deleted) deleted.add(holder.ark);
    await eventLoop.nextTurn();
  }
  return deleted;
}
