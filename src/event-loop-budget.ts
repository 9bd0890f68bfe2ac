/**
 * Shares the event loop between requests: `docs/event-loop-budget.md` explains it. Nothing here
 * knows a transport.
 */
/** ms of work after which a slice is over. */
const SLICE_MS = 10;
/**
 * Entries of lists that begin in one slice. What begins is completed in the same turn, so the clock
 * alone would notice too late.
 */
const MAX_ENTRIES_PER_SLICE = 1_000;
/**
 * ms of writes that begin in one turn of the event loop. A write takes this thread about 0.4 ms until
 * it is in the store's queue, and all that waited for one sync of the disk are answered together: the
 * next ones of as many clients arrive together too.
 */
const MAX_WRITES_MS = 4;

/** Bytes of documents that are parsed or written in one turn: some milliseconds. */
export const MAX_BYTES_PER_TURN = 256 * 2 ** 10;

/**
 * The serving thread serves everybody: long work is done in slices, with turns of the event loop
 * between them in which other requests are served.
 */
class EventLoopBudget {
  #begun = 0;
  #entries = 0;
  /** Those that wait for a turn, in the order in which they came. */
  readonly #turns: (() => void)[] = [];
  /** Rounds of the event loop in which somebody who waited went on. */
  #rounds = 0;
  /** Callers that wait for a turn that they may share: what they read next is read together. */
  readonly #waiting: { resolve: () => void; size: number }[] = [];
  /** When the writes of this turn began; undefined while there are none. */
  #writing: number | undefined;
  /** Writes that wait, in the order in which they came. */
  readonly #writes: (() => void)[] = [];

  /** To be called where a turn of the event loop begins anyway. */
  beginSlice(): void {
    this.#begun = performance.now();
    this.#entries = 0;
  }

  /** Whether this slice has space for so many more entries, which then count. */
  fits(size: number): boolean {
    if (this.#entries >= MAX_ENTRIES_PER_SLICE || performance.now() - this.#begun > SLICE_MS)
      return false;
    this.#entries += size;
    return true;
  }

  /** Lets other requests be served if the slice is over. */
  async pause(): Promise<void> {
    if (!this.fits(1)) await this.nextTurn();
  }

  /** Waits for a turn before work on megabytes; the work itself can't pause. */
  async turnFor(bytes: number): Promise<void> {
    if (bytes > MAX_BYTES_PER_TURN) await this.nextTurn();
  }

  /**
   * Waits for a turn. Those that wait go on one after the other; once they have used up a slice, the
   * others wait until requests that came meanwhile were read. (All that wait for Node's setImmediate
   * go on in the same round of the event loop, however long it takes.)
   */
  nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      this.#turns.push(resolve);
      this.#nextRound();
    });
  }

  #nextRound(): void {
    const round = this.#rounds;
    setImmediate(() => {
      if (round === this.#rounds) {
        this.#rounds++;
        this.beginSlice();
      } else if (performance.now() - this.#begun > SLICE_MS) {
        this.#nextRound();
        return;
      }
      this.#turns.shift()?.();
    });
  }

  /** The same, shared by as many callers as there is space for in a slice. */
  sharedTurn(size: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ resolve, size });
      if (this.#waiting.length === 1) void this.#wake();
    });
  }

  async #wake(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.nextTurn();
      let count = 0;
      for (const { size } of this.#waiting) {
        if (count > 0 && this.#entries >= MAX_ENTRIES_PER_SLICE) break;
        this.#entries += size;
        count++;
      }
      // Together: to remove the first of hundreds of thousands moves all others.
      for (const { resolve } of this.#waiting.splice(0, count)) resolve();
    }
  }

  /**
   * Lets reads be served between the writes of many clients: once the writes of a turn have used up
   * their time, the others wait, each for a turn of its own.
   * @returns undefined where the write may begin at once
   */
  turnOfWrite(): Promise<void> | undefined {
    if (this.#writes.length === 0) {
      const now = performance.now();
      if (this.#writing === undefined) {
        this.#writing = now;
        setImmediate(() => this.#nextWrite());
        return undefined;
      }
      if (now - this.#writing < MAX_WRITES_MS) return undefined;
    }
    return new Promise((resolve) => void this.#writes.push(resolve));
  }

  #nextWrite(): void {
    const resolve = this.#writes.shift();
    this.#writing = resolve && performance.now();
    if (!resolve) return;
    setImmediate(() => this.#nextWrite());
    resolve();
  }
}

/** That of this thread, which has one event loop. */
export const eventLoop = new EventLoopBudget();
