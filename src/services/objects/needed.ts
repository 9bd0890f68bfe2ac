import type { NeededObject, RecordsTransfer } from "../../storage/records/transfer-port.js";

/** Hashes in one query. */
const PAGE = 1000;

/** Does something with each object that a record store needs, for several at a time. */
export async function eachNeeded(
  transfer: Pick<RecordsTransfer, "neededObjects">,
  atOnce: number,
  one: (object: NeededObject) => Promise<void>,
): Promise<void> {
  for (let after: string | undefined; ;) {
    const page: { items: NeededObject[]; next?: string } = await transfer.neededObjects({
      limit: PAGE,
      ...(after !== undefined && { after }),
    });
    const waiting = page.items.values();
    const outcomes = await Promise.allSettled(
      Array.from({ length: atOnce }, async () => {
        for (const object of waiting) await one(object);
      }),
    );
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    if (page.next === undefined) return;
    after = page.next;
  }
}
