/** Links between records: both ways, in numbers, as RDF, and those that lead nowhere. */
import { arkKey } from "../../identifiers/ark.js";
import type { Connection } from "../../model/connections.js";
import { isObject, type JsonObject, type JsonValue } from "../../model/field.js";
import { step } from "../../model/json/pointer.js";
import type { FoundLink, Page, RecordStore, StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { withoutForgotten } from "./forgotten.js";
import { within } from "./select.js";

type Reads = Pick<Deps, "records">;
type LinksFrom = NonNullable<Parameters<RecordStore["linksFrom"]>[1]>;
type LinksTo = NonNullable<Parameters<RecordStore["linksTo"]>[1]>;

/**
 * The live records of many identifiers in one read, in the requested order; `undefined` for
 * tombstones and for identifiers without a record.
 */
export async function liveRecords(
  deps: Reads,
  arks: readonly string[],
): Promise<(StoredRecord | undefined)[]> {
  const found = await deps.records.findMany(arks);
  const live = found.filter((record) => record !== undefined && !record.tombstone);
  const shown = new Map(
    (await withoutForgotten(deps, live as StoredRecord[])).map((record) => [record.ark, record]),
  );
  return found.map((record) => record && shown.get(record.ark));
}

/** A page of the statements of each record. With several predicates each target counts once. */
export const linksFrom = (
  { records }: Reads,
  arks: readonly string[],
  options: LinksFrom,
): Promise<Page<FoundLink>[]> => records.linksFrom(arks, once(options));

/** A page of the statements about each key. With several predicates each source counts once. */
export const linksTo = (
  { records }: Reads,
  keys: readonly string[],
  options: LinksTo,
): Promise<Page<FoundLink>[]> => records.linksTo(keys, once(options));

const once = <T extends { predicates?: readonly string[] }>(
  options: T,
): T & { distinct: boolean } => ({
  ...options,
  distinct: (options.predicates?.length ?? 0) > 1,
});

/**
 * How many links a record states, or are stated of it, by any predicate.
 * @throws ServiceError `QUERY_TIMEOUT`
 */
export async function countAllLinks(
  { records }: Reads,
  ark: string,
  direction: "from" | "to",
): Promise<number> {
  const none = { predicates: [] };
  const query = { arks: [ark], from: none, to: none, [direction]: {} };
  const [count] = await within(
    (signal) => records.countLinks(query, signal),
    "Counting the links",
    "leave totalCount out",
  );
  return count!;
}

/**
 * How many records a connection leads to from each record, as its pages list them.
 * @throws ServiceError `QUERY_TIMEOUT`
 */
export const countLinks = (
  { records }: Reads,
  arks: readonly string[],
  { out, in: back, inKinds }: Connection,
): Promise<number[]> =>
  within(
    (signal) =>
      records.countLinks(
        {
          arks,
          from: once({ predicates: out }),
          to: once({
            predicates: back,
            unlessBack: out,
            ...(inKinds === undefined ? {} : { kinds: inKinds }),
          }),
        },
        signal,
      ),
    "Counting the links",
    "ask for totalCount of fewer records at a time",
  );

/** Deepest value that is searched for a reference. */
const DEEPEST = 20;

/** JSON pointer to the first place where a document refers to an identifier, however it is spelled. */
export function referencePointer(document: JsonObject, target: string): string | undefined {
  const key = arkKey(target);
  const refers = (text: string): boolean =>
    text === target || (text.includes("ark:") && arkKey(text.slice(text.indexOf("ark:"))) === key);
  return pointerTo(document, refers, 0);
}

function pointerTo(
  value: JsonValue | JsonObject,
  refers: (text: string) => boolean,
  depth: number,
): string | undefined {
  if (typeof value === "string") return refers(value) ? "" : undefined;
  if (depth > DEEPEST || (!Array.isArray(value) && !isObject(value))) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    if (depth === 0 && (key === "@id" || key === "@context")) continue;
    const found = pointerTo(inner, refers, depth + 1);
    if (found !== undefined) return step(key) + found;
  }
  return undefined;
}
