/** The records that belong to a crate: those that were minted for it, and those that it uses. */
import { eventLoop } from "../../event-loop-budget.js";
import type { Page, RecordStore, StoredRecord } from "../../storage/records/port.js";
import { pagesOf } from "./pages.js";

type Reads = {
  records: Pick<RecordStore, "select" | "findMany" | "usesOf" | "linksFrom" | "stateOfCrate">;
};

/** Records in one read. */
const PAGE = 200;
/** Links of one record that are followed into a crate within a crate. */
const MAX_PARTS = 100_000;

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
    await eventLoop.nextTurn();
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
    const held = { filter: { crates: [holder] } };
    for await (const page of pagesOf(deps.records, held, { limit: PAGE })) {
      const items =
        holder === root.ark
          ? page
          : page.filter((record) => record.ark !== root.ark && isPart(record));
      if (items.length > 0) yield items;
    }
  }
}

/** Begins positions in the list of a crate that came within another and was uploaded by itself. */
const OWN = "own.";

/**
 * A list that the store has for each crate, such as its files, for all of {@link holdersOf}, one
 * after the other. An item whose record came with the crate around this one is listed there only.
 * @param options.after position to go on after; `recordOf` is the ARK of an item's record
 * @param read a page of the list of one crate
 */
export async function* heldPages<T extends { position: string }>(
  deps: Reads,
  root: StoredRecord,
  { after, recordOf }: { after?: string | undefined; recordOf: (item: T) => string },
  read: (holder: string, after: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T[]> {
  if (root.crate === null) return yield* pages(after, (next) => read(root.ark, next));
  const isPart = await partTest(deps, root);
  const isOwn = after?.startsWith(OWN) === true;
  const around = root.crate;
  if (!isOwn)
    for await (const items of pages(after, (next) => read(around, next)))
      yield items.filter((item) => isPart({ ark: recordOf(item) }));
  const start = isOwn ? after.slice(OWN.length) : undefined;
  for await (const items of pages(start, (next) => read(root.ark, next))) {
    const records = await deps.records.findMany(items.map(recordOf));
    yield items.flatMap((item, index) => {
      const record = records[index];
      return record?.crate === around && isPart(record)
        ? []
        : [{ ...item, position: OWN + item.position }];
    });
  }
}

async function* pages<T>(
  after: string | undefined,
  read: (after: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T[]> {
  do {
    const page = await read(after);
    yield page.items;
    after = page.next;
    await eventLoop.nextTurn();
  } while (after !== undefined);
}

/** Whether a record of the crate around this one belongs to it. */
async function partTest(
  deps: Reads,
  root: StoredRecord,
): Promise<(record: Pick<StoredRecord, "ark">) => boolean> {
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
      limit: MAX_PARTS,
    });
    for (const { items } of pages) {
      for (const { target } of items) {
        if (parts.has(target)) continue;
        parts.add(target);
        asked.push(target);
      }
    }
    await eventLoop.nextTurn();
  }
  return parts;
}
