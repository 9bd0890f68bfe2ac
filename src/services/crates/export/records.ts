import { setImmediate } from "node:timers/promises";
import type { RecordStore, StoredRecord } from "../../../storage/records/port.js";

type Reads = {
  records: Pick<RecordStore, "list" | "findMany" | "usesOf" | "linksFrom" | "stateOfCrate">;
};

/** Records in one read. */
const PAGE = 200;
/** Links of one record that are followed into a crate within a crate. */
const MOST_PARTS = 100_000;

/**
 * The crate whose records include the records of this one: itself, unless it came within another.
 */
export const holderOf = (root: StoredRecord): string => root.crate ?? root.ark;

/** Text that differs after every change of the records that {@link crateRecords} returns. */
export const stateOf = (deps: Reads, root: StoredRecord): Promise<string> =>
  deps.records.stateOfCrate(holderOf(root));

/**
 * All current records of a crate, in pages: the root, the records minted for it, other records that
 * it uses. For a crate that came within another: the records below it, and its parts.
 */
export async function* crateRecords(
  deps: Reads,
  root: StoredRecord,
): AsyncGenerator<StoredRecord[]> {
  yield [root];
  const parts = root.crate === null ? undefined : await partsOf(deps, root);
  let after: string | undefined;
  do {
    const page = await deps.records.list({
      crate: holderOf(root),
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    const items = parts
      ? page.items.filter(
          ({ ark }) => ark !== root.ark && (parts.has(ark) || ark.startsWith(`${root.ark}/`)),
        )
      : page.items;
    if (items.length > 0) yield items;
    after = page.next;
    await setImmediate();
  } while (after !== undefined);
  const used = await deps.records.usesOf(root.ark);
  for (let start = 0; start < used.length; start += PAGE) {
    const found = await deps.records.findMany(used.slice(start, start + PAGE));
    yield found.filter(
      (record): record is StoredRecord => record !== undefined && record.tombstone === null,
    );
    await setImmediate();
  }
}

/** Parts of a crate, and their parts. */
export async function partsOf({ records }: Reads, root: StoredRecord): Promise<Set<string>> {
  const parts = new Set([root.ark]);
  const asked = [root.ark];
  while (asked.length > 0) {
    const pages = await records.linksFrom(asked.splice(0, PAGE), {
      predicates: ["schema:hasPart"],
      distinct: true,
      limit: MOST_PARTS,
    });
    for (const { items } of pages) {
      for (const { target } of items) {
        if (parts.has(target)) continue;
        parts.add(target);
        asked.push(target);
      }
    }
    await setImmediate();
  }
  return parts;
}
