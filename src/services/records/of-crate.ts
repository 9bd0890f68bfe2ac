/** The records that belong to a crate: those that were minted for it, and those that it uses. */
import { setImmediate } from "node:timers/promises";
import type { RecordStore, StoredRecord } from "../../storage/records/port.js";

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

/**
 * The crates that the records of this one were minted for: a crate that came within another may have
 * been uploaded by itself since.
 */
export const holdersOf = (root: StoredRecord): string[] =>
  root.crate === null ? [root.ark] : [root.crate, root.ark];

/** Text that differs after every change of the records that {@link crateRecords} returns. */
export async function stateOf({ records }: Reads, root: StoredRecord): Promise<string> {
  const states: string[] = [];
  for (const holder of holdersOf(root)) states.push(await records.stateOfCrate(holder));
  return states.join(" ");
}

/**
 * All current records of a crate, in pages: the root, the records minted for it, other records that
 * it uses. For a crate that came within another also the records of that one that are below it or
 * its parts.
 */
export async function* crateRecords(
  deps: Reads,
  root: StoredRecord,
): AsyncGenerator<StoredRecord[]> {
  yield [root];
  const isPart = await partTest(deps, root);
  yield* heldRecords(deps, root, isPart);
  const used = await deps.records.usesOf(root.ark);
  for (let start = 0; start < used.length; start += PAGE) {
    const found = await deps.records.findMany(used.slice(start, start + PAGE));
    yield found.filter(
      (record): record is StoredRecord =>
        record !== undefined &&
        record.tombstone === null &&
        !(record.crate !== null && record.crate === root.crate && isPart(record)),
    );
    await setImmediate();
  }
}

/** Of these records those that came with the crate, without its root. */
export async function* ownRecords(deps: Reads, root: StoredRecord): AsyncGenerator<StoredRecord[]> {
  yield* heldRecords(deps, root, await partTest(deps, root));
}

async function* heldRecords(
  deps: Reads,
  root: StoredRecord,
  isPart: (record: StoredRecord) => boolean,
): AsyncGenerator<StoredRecord[]> {
  for (const holder of holdersOf(root)) {
    let after: string | undefined;
    do {
      const page = await deps.records.list({
        crate: holder,
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
      });
      const items =
        holder === root.ark
          ? page.items
          : page.items.filter((record) => record.ark !== root.ark && isPart(record));
      if (items.length > 0) yield items;
      after = page.next;
      await setImmediate();
    } while (after !== undefined);
  }
}

/** Whether a record of the crate around this one belongs to it. */
async function partTest(
  deps: Reads,
  root: StoredRecord,
): Promise<(record: StoredRecord) => boolean> {
  const parts = root.crate === null ? undefined : await partsOf(deps, root);
  return ({ ark }) => parts?.has(ark) === true || ark.startsWith(`${root.ark}/`);
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
