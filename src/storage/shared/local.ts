import type { Count, SharedMemory } from "./port.js";

const MOST_KEYS = 100_000;

/** Memory of a node that is alone. What it would recall its users keep themselves. */
export class LocalMemory implements SharedMemory {
  private readonly windows = new Map<string, { until: number; count: number }>();

  constructor(private readonly now: () => number = Date.now) {}

  async count(key: string, length: number): Promise<Count> {
    const now = this.now();
    let window = this.windows.get(key);
    if (!window || now >= window.until) {
      // The oldest window goes, not all of them: a flood of names must not open the door to one
      // that is locked.
      this.windows.delete(key);
      if (this.windows.size >= MOST_KEYS) this.windows.delete(this.windows.keys().next().value!);
      this.windows.set(key, (window = { until: now + length, count: 0 }));
    }
    return { count: ++window.count, left: window.until - now };
  }

  async recall(): Promise<string | null> {
    return null;
  }

  async remember(): Promise<void> {}
}
