/** What the record store holds of the uploader's that concerns a crate. */
import { eventLoop } from "../../../event-loop-budget.js";
import { arkKey } from "../../../identifiers/ark.js";
import type { Finding } from "../../../model/findings.js";
import type { RecordStore, StoredRecord } from "../../../storage/records/port.js";
import { finding, quoted } from "../findings.js";
import type { RegisteredCrate } from "../identifiers/identify.js";
import type { CrateRecord } from "../steps.js";

/** Records in one read: few enough not to delay other requests, which are served between reads. */
export const MAX_RECORDS_PER_READ = 200;

/**
 * Items with the records that are stored under their identifiers, in batches.
 * @param isWanted whether the record of an item is read; of all by default
 */
export async function* inStore<T extends { ark: string }>(
  records: Pick<RecordStore, "findMany">,
  items: readonly T[],
  isWanted: (item: T) => boolean = () => true,
): AsyncGenerator<[T, StoredRecord | undefined][]> {
  for (let start = 0; start < items.length; start += MAX_RECORDS_PER_READ) {
    const batch = items.slice(start, start + MAX_RECORDS_PER_READ);
    const wanted = batch.filter(isWanted);
    const found = wanted.length === 0 ? [] : await records.findMany(wanted.map(({ ark }) => ark));
    const stored = new Map(wanted.map((item, index) => [item, found[index]]));
    yield batch.map((item) => [item, stored.get(item)]);
    await eventLoop.nextTurn();
  }
}

/**
 * Crates of the user's that were registered apart from the crate `root`: a crate that contains them
 * links to them. Crates that came with `root` itself belong to it.
 */
export async function registeredCrates(
  records: Pick<RecordStore, "findMany">,
  arks: readonly string[],
  root: string | undefined,
  user: string,
): Promise<RegisteredCrate[]> {
  const registered: RegisteredCrate[] = [];
  const isApart = ({ ark, kind, owner, crate, tombstone }: StoredRecord): boolean =>
    kind === "rocrate" && owner === user && tombstone === null && ark !== root && crate !== root;
  for await (const batch of inStore(
    records,
    arks.map((ark) => ({ ark })),
  ))
    for (const [{ ark }, record] of batch)
      if (record?.ark === ark && isApart(record))
        registered.push({ ark, alone: record.crate === null });
  return registered;
}

/** Most crates with the same name that are compared, newest first. */
const MAX_ALIKE = 20;

/**
 * A warning for a crate that gets a new identifier although its uploader has a crate of the same
 * name: most likely the upload was meant as an update of that crate.
 */
export async function alike(
  records: Pick<RecordStore, "select">,
  { ark, name }: Pick<CrateRecord, "ark" | "name">,
  user: string,
): Promise<Finding | undefined> {
  if (name === null || name.trim() === "") return undefined;
  const { items } = await records.select({
    filter: { kinds: ["rocrate"], nameIs: name, owners: [arkKey(user)] },
    order: { by: "created", descending: true },
    limit: MAX_ALIKE,
  });
  const other = items.find(
    (record) => record.name === name && record.crate === null && record.ark !== ark,
  );
  return (
    other &&
    finding(
      "CRATE_ALIKE",
      `You have a crate named ${JSON.stringify(quoted(name))} already, ${other.ark}; this ` +
        "is another one. To make it the next revision of that crate, upload it with " +
        `?update=true&crate=${other.ark} (arkgraph upload --update ${other.ark}).`,
    )
  );
}
