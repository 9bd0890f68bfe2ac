import type { SelectionPage, StoredRecord } from "../../storage/records/port.js";
import type { RecordFilter } from "../../storage/records/selection-port.js";
import type { Deps } from "../deps.js";
import { withoutForgotten } from "../records/forgotten.js";
import { within } from "../records/select.js";
import type { Datestamps } from "./oai-arguments.js";
import { LEFT_OUT, type SetFilters } from "./oai-sets.js";

/** An item of the repository: a record that is or was open to everyone. */
export interface OaiItem {
  record: StoredRecord;
  /** A tombstone, or a record that became a draft again: only its header is shown. */
  isDeleted: boolean;
}

/**
 * How far a list is read: a position among live records, and one among deleted ones. Both are by
 * the time of the last change, so a record that changes meanwhile moves behind the position, and
 * comes again.
 */
export type ItemPosition = readonly [live: string | null, deleted: string | null];

export interface ItemPage {
  items: OaiItem[];
  position: ItemPosition;
  more: boolean;
}

/** What a record is as an item; `undefined` where it is none. */
export async function itemOf(
  { records }: Pick<Deps, "records">,
  record: StoredRecord,
): Promise<OaiItem | undefined> {
  if (LEFT_OUT.includes(record.kind)) return undefined;
  const isDraft = record.publicationStatus === "DRAFT";
  if (isDraft && !(await wasPublished(records, record.ark))) return undefined;
  return { record, isDeleted: isDraft || record.tombstone !== null };
}

/** Revisions in one read. */
const REVISIONS = 1000;

/** Only an act of publication sets a status. */
async function wasPublished(records: Deps["records"], ark: string): Promise<boolean> {
  for (let before: number | undefined; ;) {
    const page = await records.history(ark, {
      limit: REVISIONS,
      ...(before === undefined ? {} : { before }),
    });
    if (page.some(({ action }) => action === "publish")) return true;
    if (page.length < REVISIONS) return false;
    before = page.at(-1)!.revision;
  }
}

/** A page of items by the time of their last change. */
export async function itemsOf(
  deps: Deps,
  sets: SetFilters | null,
  { since, before }: Datestamps,
  position: ItemPosition,
  limit: number,
): Promise<ItemPage> {
  const times = {
    ...(since === undefined ? {} : { since }),
    ...(before === undefined ? {} : { before }),
  };
  const read = (filter: RecordFilter, after: string | null): Promise<SelectionPage> =>
    within(
      (signal) =>
        deps.records.select(
          {
            filter: { disclosed: true, ...filter },
            without: LEFT_OUT,
            order: { by: "modified", descending: false },
            limit,
            bytes: deps.config.MAX_PAGE_BYTES,
            ...(after === null ? {} : { after }),
          },
          signal,
        ),
      "The list",
      "harvest a shorter time with from and until, or a smaller set",
    );
  const inSet = (filter: RecordFilter | undefined): RecordFilter =>
    filter ? { and: [filter] } : {};
  const [live, gone] = await Promise.all([
    read(
      {
        ...inSet(sets?.live),
        ...(since === undefined && before === undefined ? {} : { modified: times }),
      },
      position[0],
    ),
    read({ ...inSet(sets?.deleted), deleted: times }, position[1]),
  ]);
  return merged(deps, live, gone, position, limit);
}

/** The first of both pages; what does not fit is read again with the next page. */
async function merged(
  deps: Deps,
  live: SelectionPage,
  gone: SelectionPage,
  position: ItemPosition,
  limit: number,
): Promise<ItemPage> {
  const chosen: StoredRecord[] = [];
  let [l, g] = [0, 0];
  while (chosen.length < limit && (l < live.items.length || g < gone.items.length)) {
    const [one, other] = [live.items[l], gone.items[g]];
    if (one && (!other || one.modifiedAt <= other.modifiedAt)) {
      chosen.push(one);
      l++;
    } else {
      chosen.push(other!);
      g++;
    }
  }
  const records = await withoutForgotten(deps, chosen);
  return {
    items: records.map((record) => ({
      record,
      isDeleted: record.tombstone !== null || record.publicationStatus === "DRAFT",
    })),
    position: [
      l === 0 ? position[0] : live.positions[l - 1]!,
      g === 0 ? position[1] : gone.positions[g - 1]!,
    ],
    more: live.more || gone.more || l < live.items.length || g < gone.items.length,
  };
}

/** The first datestamp; `undefined` for an empty repository. */
export async function earliestOf(deps: Deps): Promise<number | undefined> {
  const { items } = await itemsOf(deps, null, {}, [null, null], 1);
  return items[0]?.record.modifiedAt;
}
