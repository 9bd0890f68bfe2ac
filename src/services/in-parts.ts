import { eventLoop } from "../event-loop-budget.js";

/** Items that are processed before other requests may run: some milliseconds. */
const ITEMS_PER_PART = 500;

/** Parts of a long list, with a turn of the event loop for other requests between them. */
export async function* inParts<T>(items: Iterable<T>): AsyncGenerator<T[], void, undefined> {
  let part: T[] = [];
  for (const item of items) {
    if (part.push(item) < ITEMS_PER_PART) continue;
    yield part;
    part = [];
    await eventLoop.nextTurn();
  }
  if (part.length > 0) yield part;
}
