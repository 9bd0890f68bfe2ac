/** Told of the first and the last who watches a submission. */
interface Listening { join(id: string): Promise<void>; leave(id: string): void }

/** Those who wait for changes of a submission. Changes that come faster than they are read become one. */
export class Watchers {
  private readonly byId = new Map<string, Set<Watcher>>();

  constructor(private readonly listening?: Listening) {}

  /** What is watched now. */
  ids(): string[] {
    return [...this.byId.keys()];
  }

  /** Yields once at the start, after every change, and a last time at the end. `return` ends the wait at once. */
  watch(id: string, hasEnded: () => Promise<boolean>): AsyncIterable<void> {
    return {
      [Symbol.asyncIterator]: () => {
        const watcher = new Watcher();
        const changes = this.changes(id, watcher, hasEnded);
        return {
          next: () => changes.next(),
          // A generator answers `return` only after the pending `next`, which may be as far off as the next change.
          return: () => {
            watcher.end();
            return changes.return(undefined);
          },
        };
      },
    };
  }

  private async *changes(id: string, watcher: Watcher, hasEnded: () => Promise<boolean>): AsyncGenerator<void> {
    const set = this.byId.get(id) ?? new Set();
    this.byId.set(id, set.add(watcher));
    try {
      await this.listening?.join(id);
      // Asked after joining, so that an end in between is not missed.
      if (await hasEnded()) watcher.end();
      yield;
      while (await watcher.next()) yield;
    } finally {
      set.delete(watcher);
      if (set.size === 0 && this.byId.get(id) === set) {
        this.byId.delete(id);
        this.listening?.leave(id);
      }
    }
  }

  notify(id: string): void {
    for (const watcher of this.byId.get(id) ?? []) watcher.notify();
  }

  end(id: string): void {
    for (const watcher of this.byId.get(id) ?? []) watcher.end();
  }

  endAll(): void {
    for (const id of this.byId.keys()) this.end(id);
  }
}

class Watcher {
  private changed = false;
  private ended = false;
  private wake: (() => void) | undefined;

  notify(): void {
    this.changed = true;
    this.wake?.();
  }

  end(): void {
    this.ended = true;
    this.wake?.();
  }

  /** False when it has ended and the last change was told. */
  async next(): Promise<boolean> {
    if (!this.changed && !this.ended) await new Promise<void>((resolve) => (this.wake = resolve));
    const tell = this.changed;
    this.changed = false;
    return tell;
  }
}
