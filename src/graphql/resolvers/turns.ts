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

/**
 * ms of writes that begin in one turn of the event loop. A write takes this thread about 0.4 ms until
 * it is in the store's queue, and all that waited for one sync of the disk are answered together: the
 * next ones of as many clients arrive together too.
 */
const WRITES = 4;

/** When the writes of this turn began; undefined while there are none. */
let writing: number | undefined;
/** Writes that wait, in the order in which they came. */
const writes: (() => void)[] = [];

/**
 * Lets reads be served between the writes of many clients: once the writes of a turn have used up
 * their time, the others wait, each for a turn of its own.
 * @returns undefined where the write may begin at once
 */
export function turnOfWrite(): Promise<void> | undefined {
  if (writes.length === 0) {
    const now = performance.now();
    if (writing === undefined) {
      writing = now;
      setImmediate(nextWrite);
      return undefined;
    }
    if (now - writing < WRITES) return undefined;
  }
  return new Promise((resolve) => void writes.push(resolve));
}

function nextWrite(): void {
  const resolve = writes.shift();
  writing = resolve && performance.now();
  if (!resolve) return;
  setImmediate(nextWrite);
  resolve();
}
