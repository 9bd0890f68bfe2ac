import type { JsonObject, JsonValue } from "../../model/field.js";
import type { RecordStore, RecordWrite } from "../../storage/records/port.js";
import { withoutForgotten } from "../evidence/stored/document.js";
import { type Difference, differencesAt } from "../records/read.js";
import { parseDocument } from "../records/view.js";

/** Differences of one record, and characters of one value, in a plan. */
const [MOST, LONGEST] = [20, 1000];
/** Records in one read. */
const BATCH = 100;

/** A property of a record that an update would change. */
export interface PlannedDifference {
  /** JSON pointer (RFC 6901) of the property. */
  pointer: string;
  kind: Difference["kind"];
  /** As it is stored; null where it would be added. */
  before: JsonValue;
  /** As the upload states it; null where it would be removed. */
  after: JsonValue;
  /**
   * A value is long: of two lists only the entries that differ are here, and other values are text
   * that is cut.
   */
  shortened: boolean;
}

/** What an update would change in a record. */
export interface PlannedDifferences {
  /** Name of the record, as the upload states it. */
  name: string | null;
  differences: PlannedDifference[];
  /** Further properties that would change. */
  furtherDifferences: number;
}

type Replacing = Extract<RecordWrite, { op: "replace" }>;

/** What these writes would change, by identifier of the record. */
export async function plannedDifferences(
  { records }: { records: Pick<RecordStore, "findMany" | "holders"> },
  writes: readonly Replacing[],
): Promise<Map<string, PlannedDifferences>> {
  const planned = new Map<string, PlannedDifferences>();
  for (let start = 0; start < writes.length; start += BATCH) {
    const batch = writes.slice(start, start + BATCH);
    const found = (await records.findMany(batch.map(({ ark }) => ark))).flatMap(
      (record) => record ?? [],
    );
    const stored = new Map(
      (await withoutForgotten({ records }, found)).map((record) => [record.ark, record]),
    );
    for (const { ark, changed, name, document } of batch) {
      const before = stored.get(ark);
      if (!before) continue;
      planned.set(ark, {
        name,
        ...between(changed, parseDocument(before.document), parseDocument(document)),
      });
    }
  }
  return planned;
}

function between(
  pointers: readonly string[],
  before: JsonObject,
  after: JsonObject,
): Omit<PlannedDifferences, "name"> {
  return {
    differences: differencesAt(pointers.slice(0, MOST), before, after).map(
      ({ pointer, kind, before: old = null, after: current = null }) => ({
        pointer,
        kind,
        ...shortenedPair(old, current),
      }),
    ),
    furtherDifferences: Math.max(0, pointers.length - MOST),
  };
}

function shortenedPair(
  before: JsonValue,
  after: JsonValue,
): Pick<PlannedDifference, "before" | "after" | "shortened"> {
  if (lengthOf(before) <= LONGEST && lengthOf(after) <= LONGEST)
    return { before, after, shortened: false };
  if (!Array.isArray(before) || !Array.isArray(after))
    return { before: cut(before), after: cut(after), shortened: true };
  const [old, current] = [textsOf(before), textsOf(after)];
  return {
    before: fitting(before.filter((item) => !current.has(JSON.stringify(item)))),
    after: fitting(after.filter((item) => !old.has(JSON.stringify(item)))),
    shortened: true,
  };
}

const lengthOf = (value: JsonValue): number =>
  typeof value === "string" ? value.length : JSON.stringify(value).length;
const textsOf = (list: readonly JsonValue[]): Set<string> =>
  new Set(list.map((item) => JSON.stringify(item)));

function cut(value: JsonValue): JsonValue {
  if (lengthOf(value) <= LONGEST) return value;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return `${text.slice(0, LONGEST).toWellFormed()}…`;
}

/** The first entries, as many as a value may have characters. */
function fitting(list: readonly JsonValue[]): JsonValue[] {
  const fit: JsonValue[] = [];
  let space = LONGEST;
  for (const item of list) {
    const short = cut(item);
    if ((space -= lengthOf(short)) < 0 && fit.length > 0) break;
    fit.push(short);
  }
  return fit;
}
