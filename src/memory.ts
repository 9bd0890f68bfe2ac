import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes between two collections: so much may lie about, dead, for each thread. */
const BYTES_BETWEEN_COLLECTIONS = 4 * 2 ** 20;

/**
 * Without an argument a major collection; V8 11 takes any object for a minor one, whatever it says.
 */
type Collect = (minor?: { type: "minor" }) => void;
let collect: Collect | undefined;
let spent = 0;

/**
 * Counts bytes that streamed through buffers and are dead now. V8 begins a collection by what its
 * own heap holds; a stream makes little there and much beside it, so that tens of MiB of dead
 * buffers gather before one begins, more the larger its young generation. A minor collection takes
 * a millisecond and frees them.
 */
export function spendBuffers(bytes: number): void {
  spent += bytes;
  if (spent < BYTES_BETWEEN_COLLECTIONS) return;
  spent = 0;
  (collect ??= exposed())({ type: "minor" });
}

/**
 * Frees the dead objects in this thread's heap, before a long job that does not change the rest;
 * tens of ms, so not for the serving thread.
 */
export function collectAll(): void {
  (collect ??= exposed())();
}

/**
 * The collector as `--expose-gc` provides it, without requiring the flag at the start of the
 * process. Node warns of flags that change while V8 runs; this one only adds a global to contexts
 * made after it, and is reset at once.
 */
function exposed(): Collect {
  setFlagsFromString("--expose-gc");
  const found = runInNewContext("globalThis.gc") as Collect | undefined;
  setFlagsFromString("--no-expose-gc");
  return found ?? (() => {});
}
