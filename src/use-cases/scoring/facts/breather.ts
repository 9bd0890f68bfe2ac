import { setImmediate } from "node:timers/promises";

/** Longest stretch of work between two turns of the event loop, in ms. */
const STRETCH = 10;

/** Lets others have their turn while much is looked at. */
export class Breather {
  private since = performance.now();

  constructor(private readonly signal: AbortSignal) {}

  /** @throws the signal's reason */
  async pause(): Promise<void> {
    if (performance.now() - this.since < STRETCH) return;
    await setImmediate();
    this.signal.throwIfAborted();
    this.since = performance.now();
  }
}
