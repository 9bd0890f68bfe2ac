import { setImmediate as turn } from "node:timers/promises";

/**
 * The serving thread serves everybody: long work is done in slices, with turns of the event loop
 * between them in which other requests are served.
 */

/** ms of work after which a slice is over. */
const SLICE = 10;
/**
 * Entries of lists that begin in one slice. What begins is completed in the same turn, so the clock
 * alone would notice too late.
 */
const ENTRIES = 1_000;

let begun = 0;
let entries = 0;
/** The turn that was promised last: those that wait go on one after the other, each in its own. */
let promised: Promise<void> = Promise.resolve();
/** Callers that wait for a turn that they may share: what they read next is read together. */
const waiting: { resolve: () => void; size: number }[] = [];

/** To be called where a turn of the event loop begins anyway. */
export function beginSlice(): void {
  begun = performance.now();
  entries = 0;
}

/** A new turn of the event loop, and with it a new slice. */
export function nextTurn(): Promise<void> {
  return (promised = promised.then(() => turn()).then(beginSlice));
}

/** The same, shared by as many callers as there is space for in a slice. */
export function sharedTurn(size: number): Promise<void> {
  return new Promise((resolve) => {
    waiting.push({ resolve, size });
    if (waiting.length === 1) void wake();
  });
}

async function wake(): Promise<void> {
  while (waiting.length > 0) {
    await nextTurn();
    do {
      const { resolve, size } = waiting.shift()!;
      entries += size;
      resolve();
    } while (waiting.length > 0 && entries < ENTRIES);
  }
}

/** Whether this slice has space for so many more entries, which then count. */
export function fits(size: number): boolean {
  if (entries >= ENTRIES || performance.now() - begun > SLICE) return false;
  entries += size;
  return true;
}

/** Lets other requests be served if the slice is over. */
export async function pause(): Promise<void> {
  if (!fits(1)) await nextTurn();
}
