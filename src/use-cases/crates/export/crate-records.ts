import { setImmediate } from "node:timers/promises";
import type { StoredRecord } from "../../../stores/records/port.js";
import type { Deps } from "../../deps.js";

/** Records read at a time. */
const PAGE = 200;

/** All records of a crate as they are now, in pages: the root, what was minted for it, what it uses beside that. */
export async function* crateRecords(deps: Pick<Deps, "records">, root: StoredRecord): AsyncGenerator<StoredRecord[]> {
  yield [root];
  let after: string | undefined;
  do {
    const page = await deps.records.list({ crate: root.ark, limit: PAGE, ...(after === undefined ? {} : { after }) });
    if (page.items.length > 0) yield page.items;
    after = page.next;
    await setImmediate();
  } while (after !== undefined);
  const used = await deps.records.usesOf(root.ark);
  for (let start = 0; start < used.length; start += PAGE) {
    const found = await deps.records.findMany(used.slice(start, start + PAGE));
    yield found.filter((record) => record !== undefined && record.tombstone === null) as StoredRecord[];
    await setImmediate();
  }
}
