import type { Count, SharedMemory } from "./port.js";

const MOST_KEYS = 100_000;

/** Memory of a single node. Callers store their own values, so there is nothing to recall. */
export class LocalMemory implements SharedMemory {
  readonly #windows = new Map<string, { until: number; count: number }>();

  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  async count(key: string, length: number): Promise<Count> {
    const now = this.#now();
    let window = this.#windows.get(key);
    if (!window || now >= window.until) {
      // Only the oldest window is dropped: a flood of names must not reset the limit of a name that
      // is blocked.
      this.#windows.delete(key);
      if (this.#windows.size >= MOST_KEYS) this.#windows.delete(this.#windows.keys().next().value!);
      this.#windows.set(key, (window = { until: now + length, count: 0 }));
    }
    return { count: ++window.count, left: window.until - now };
  }

  async recall(): Promise<string | null> {
    return null;
  }

  async remember(): Promise<void> {}
}
