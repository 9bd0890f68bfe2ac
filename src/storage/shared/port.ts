/** How often something was counted, the last time included, and the ms until its window ends. */
export interface Count {
  count: number;
  left: number;
}

/**
 * Small state that the nodes of an installation share: counts for limits, and callers that must
 * wait. All of it may be forgotten at any time, and no method fails: a node that cannot ask the
 * others uses its own counts.
 */
export interface SharedMemory {
  /** Counts one under a key, in a window of so many ms that begins with the first. */
  count(key: string, window: number): Promise<Count>;
  /** The value that another node, or this one, stored; null when that is not known. */
  recall(key: string): Promise<string | null>;
  /** @param lifetime ms */
  remember(key: string, value: string, lifetime: number): Promise<void>;
}

const MAX_KEYS = 100_000;

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
      const [oldest] = this.#windows.keys();
      if (oldest !== undefined && this.#windows.size >= MAX_KEYS) this.#windows.delete(oldest);
      this.#windows.set(key, (window = { until: now + length, count: 0 }));
    }
    return { count: ++window.count, left: window.until - now };
  }

  async recall(): Promise<string | null> {
    return null;
  }

  async remember(): Promise<void> {}
}
