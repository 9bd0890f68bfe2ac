import { eventLoop } from "../../event-loop-budget.js";
import type {
  RecordStore,
  Selection,
  SelectionQuery,
  StoredRecord,
} from "../../storage/records/port.js";

/** The order in which the registry stored the records. */
export const AS_CREATED = { by: "created", descending: false } as const;

/** All records of a selection, in pages: other requests are served between two of them. */
export async function* pagesOf(
  records: Pick<RecordStore, "select">,
  selection: Selection,
  page: Pick<SelectionQuery, "limit" | "bytes"> & { order?: SelectionQuery["order"] },
): AsyncGenerator<StoredRecord[]> {
  const query = { ...selection, order: AS_CREATED, ...page };
  for (let after: string | undefined; ;) {
    const { items, positions, more } = await records.select({
      ...query,
      ...(after === undefined ? {} : { after }),
    });
    if (items.length > 0) yield items;
    after = positions.at(-1);
    if (!more || after === undefined) return;
    await eventLoop.nextTurn();
  }
}
