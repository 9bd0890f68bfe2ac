import { JobAborted } from "./attempt.js";

/** How long a handler has to stop after it was asked to, ms. */
const LAST_WORDS = 2000;

/** The submissions that this process runs now. */
export class Running {
  readonly #jobs = new Map<string, { abort: AbortController; done: Promise<unknown> }>();

  get size(): number {
    return this.#jobs.size;
  }

  has(id: string): boolean {
    return this.#jobs.has(id);
  }

  /** The result of {@link track} for a job that is not done yet. */
  done<T>(id: string): Promise<T> | undefined {
    return this.#jobs.get(id)?.done as Promise<T> | undefined;
  }

  ids(): string[] {
    return [...this.#jobs.keys()];
  }

  /** Runs `work`, which must not reject, and tracks it until it is done. */
  track<T>(id: string, work: (abort: AbortController) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    const done = work(abort).finally(() => {
      if (this.#jobs.get(id)?.abort === abort) this.#jobs.delete(id);
    });
    this.#jobs.set(id, { abort, done });
    return done;
  }

  /** False when it does not run here. */
  abort(id: string, reason: JobAborted["reason"]): boolean {
    const job = this.#jobs.get(id);
    job?.abort.abort(new JobAborted(reason));
    return job !== undefined;
  }

  /**
   * Waits up to `grace` ms for running jobs, then asks the rest to stop; returns the jobs that did
   * not stop.
   */
  async end(grace: number): Promise<string[]> {
    await this.#settledWithin(grace);
    for (const id of this.ids()) this.abort(id, "stopping");
    // A handler that obeys its signal ends at once; one that does not must not delay the stop.
    await this.#settledWithin(LAST_WORDS);
    return this.ids();
  }

  async #settledWithin(ms: number): Promise<void> {
    if (this.#jobs.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      Promise.all([...this.#jobs.values()].map(({ done }) => done)),
      new Promise((resolve) => (timer = setTimeout(resolve, ms))),
    ]);
    clearTimeout(timer);
  }
}

/** Notified of the first and the last watcher of a submission. */
interface Listening {
  join(id: string): Promise<void>;
  leave(id: string): void;
}

/**
 * The callers that wait for changes of a submission. Changes that come faster than they are read
 * become one.
 */
export class Watchers {
  readonly #byId = new Map<string, Set<Watcher>>();

  readonly #listening: Listening | undefined;

  constructor(listening?: Listening) {
    this.#listening = listening;
  }

  /** How many callers wait now. */
  get size(): number {
    return [...this.#byId.values()].reduce((sum, watchers) => sum + watchers.size, 0);
  }

  /** The submissions that are watched now. */
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
          // A generator answers `return` only after the pending `next`, which may be as far off as
          // the next change.
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
      await this.#listening?.join(id);
      // Asked after joining, so that an end in between is not missed.
      if (await hasEnded()) watcher.end();
      yield;
      while (await watcher.next()) yield;
    } finally {
      set.delete(watcher);
      if (set.size === 0 && this.#byId.get(id) === set) {
        this.#byId.delete(id);
        this.#listening?.leave(id);
      }
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
