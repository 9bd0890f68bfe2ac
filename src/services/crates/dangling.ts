/** References of a crate's records that lead to no record. */
import type { Ark } from "../../identifiers/ark.js";
import type { JsonObject } from "../../model/field.js";
import type { DanglingLink, StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { findLive } from "../records/find.js";
import { referencePointer } from "../records/links.js";
import { within } from "../records/select.js";
import { parseDocument } from "../records/view.js";
import { heldPages } from "../records/of-crate.js";
import { getOrInsert } from "../../get-or-insert.js";

/** Links that are examined in one read: few enough not to delay other readers. */
const EXAMINED = 1000;

/** A reference of a crate's record that leads to nothing. */
export interface DanglingReference {
  /** The record that states it. */
  source: StoredRecord;
  /** CURIE or IRI of the property. */
  predicate: string;
  /** JSON pointer (RFC 6901) to the reference in the record's document; null where it is elsewhere. */
  pointer: string | null;
  /** The identifier, as the record states it. */
  target: string;
  /** The target was deleted; otherwise no record has the identifier. */
  deleted: boolean;
  /** The record to use in place of a deleted one, where its tombstone names one. */
  successor: string | null;
  position: string;
}

/**
 * References of a crate and of its records that lead to no live record, in order of the records.
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `WRONG_KIND`; `BAD_REQUEST` for another
 * list's cursor; `QUERY_TIMEOUT`
 */
export async function danglingReferences(
  deps: Deps,
  ark: Ark,
  { limit, after }: { limit: number; after?: string },
): Promise<{ items: DanglingReference[]; next?: string }> {
  const root = await findLive(deps, ark, "rocrate");
  const links = await within(
    (signal) => linksOf(deps, root, { after, most: limit + 1, signal }),
    "Looking for references that lead nowhere",
    "ask for fewer with first",
  );
  const shown = links.slice(0, limit);
  const items = await described(deps, shown);
  const last = links.length > limit ? shown.at(-1) : undefined;
  return last ? { items, next: last.position } : { items };
}

/** How many there are in all. @throws as {@link danglingReferences} */
export async function countDangling(deps: Deps, ark: Ark): Promise<number> {
  const root = await findLive(deps, ark, "rocrate");
  const links = await within(
    (signal) => linksOf(deps, root, { after: undefined, most: Infinity, signal }),
    "Counting the references that lead nowhere",
    "leave totalCount out",
  );
  return links.length;
}

async function linksOf(
  deps: Deps,
  root: StoredRecord,
  { after, most, signal }: { after: string | undefined; most: number; signal: AbortSignal },
): Promise<DanglingLink[]> {
  const found: DanglingLink[] = [];
  const pages = heldPages<DanglingLink>(
    deps,
    root,
    { after, recordOf: ({ source }) => source },
    (holder, next) =>
      deps.records.danglingLinks(holder, {
        limit: EXAMINED,
        ...(next === undefined ? {} : { after: next }),
      }),
  );
  for await (const links of pages) {
    for (const link of links) found.push(link);
    if (found.length >= most) break;
    signal.throwIfAborted();
  }
  return found.slice(0, most);
}

async function described(
  { records }: Pick<Deps, "records">,
  links: readonly DanglingLink[],
): Promise<DanglingReference[]> {
  const sources = await records.findMany(links.map(({ source }) => source));
  const targets = await records.findMany(links.map(({ target }) => target));
  const documents = new Map<string, JsonObject>();
  return links.flatMap(({ predicate, target, deleted, position }, index) => {
    const source = sources[index];
    // Deleted between the reads.
    if (!source || source.tombstone) return [];
    const document = getOrInsert(documents, source.ark, () => parseDocument(source.document));
    return {
      source,
      predicate,
      pointer: referencePointer(document, target) ?? null,
      target,
      deleted,
      successor: targets[index]?.tombstone?.successor ?? null,
      position,
    };
  });
}
