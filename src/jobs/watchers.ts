/**
 * The callers that wait for changes of a submission. Changes that come faster than they are read
 * become one.
 */
export class Watchers {
  readonly #byId = new Map<string, Set<Watcher>>();

  /** How many callers wait now. */
  get size(): number {
    return [...this.#byId.values()].reduce((sum, { size }) => sum + size, 0);
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** The submissions that somebody watches. */
  ids(): string[] {
    return [...this.#byId.keys()];
  }

  /**
   * Yields once at the start, after every change, and a last time at the end. `return` ends the
   * wait at once.
   */
  watch(id: string, hasEnded: () => Promise<boolean>): AsyncIterable<void> {
    return {
      [Symbol.asyncIterator]: () => {
        const watcher = new Watcher();
        const changes = this.#changes(id, watcher, hasEnded);
        return {
          next: () => changes.next(),
          // A generator answers `return` only after the pending `next`: end that one first.
          return: () => {
            watcher.end();
            return changes.return(undefined);
          },
        };
      },
    };
  }

  async *#changes(
    id: string,
    watcher: Watcher,
    hasEnded: () => Promise<boolean>,
  ): AsyncGenerator<void> {
    const set = this.#byId.get(id) ?? new Set();
    this.#byId.set(id, set.add(watcher));
    try {
      // Asked after joining, so that an end in between is not missed.
      if (await hasEnded()) watcher.end();
      yield;
      while (await watcher.next()) yield;
    } finally {
      set.delete(watcher);
      if (set.size === 0 && this.#byId.get(id) === set) this.#byId.delete(id);
    }
  }

  notify(id: string): void {
    for (const watcher of this.#byId.get(id) ?? []) watcher.notify();
  }

  end(id: string): void {
    for (const watcher of this.#byId.get(id) ?? []) watcher.end();
  }

  endAll(): void {
    for (const id of this.#byId.keys()) this.end(id);
  }
}

class Watcher {
  #changed = false;
  #ended = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#changed = true;
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** False when it has ended and the last change was reported. */
  async next(): Promise<boolean> {
    if (!this.#changed && !this.#ended)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    const report = this.#changed;
    this.#changed = false;
    return report;
  }
}
