import { setImmediate as turn } from "node:timers/promises";

/** ms of work after which a pause is due. */
const SLICE = 10;

let begun = 0;
/** The turn that was promised last: those that wait go on one after the other, each in its own. */
let promised: Promise<void> = Promise.resolve();

/** A new turn of the event loop, and with it a new slice, for this caller alone. */
export function nextTurn(): Promise<void> {
  return (promised = promised.then(() => turn()).then(beginSlice));
}

/** To be called where a turn of the event loop begins anyway. */
export function beginSlice(): void {
  begun = performance.now();
}

/** Lets other requests be served if the slice is over. */
export async function pause(): Promise<void> {
  if (isOver()) await nextTurn();
}

/** Whether a pause is due. */
export const isOver = (): boolean => performance.now() - begun > SLICE;
