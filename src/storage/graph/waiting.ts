import { LRUCache } from "lru-cache";
import { ServiceError } from "../../errors.js";
import type { Asker, IndexState, OpenAnswer, OpenQuestion } from "./port.js";

interface FairLineOptions {
  /** SPARQL_QUEUE, and SPARQL_CALLER_QUEUE: most queries that wait, in all and of one caller. */
  queue: number;
  callerQueue: number;
  /** SPARQL_QUEUE_WAIT, ms. */
  queueWait: number;
  /** SPARQL_SLICE, ms. */
  slice: number;
  /** Queries that run at a time. */
  slots: number;
}

/** A query that may run now. */
export interface Slot<Question = OpenQuestion, Answer = OpenAnswer> {
  question: Question;
  asker: Asker;
  resolve(answer: Answer): void;
  reject(error: Error): void;
  /** It runs from now on. @param end ends it with this answer; false when it cannot be ended yet */
  runs(end: (error: Error) => boolean): void;
  /** It does not run any more. */
  finish(): void;
}

interface Waiting<Question, Answer> extends Pick<
  Slot<Question, Answer>,
  "question" | "asker" | "resolve" | "reject"
> {
  settle(): void;
}
interface Running {
  asker: Asker;
  since: number;
  end?: (error: Error) => boolean;
  clock?: NodeJS.Timeout;
}

const MOST_CALLERS = 10_000;
const nameOf = ({ caller = "" }: Asker): string => caller;
/** A caller without a name may be any caller. */
const isShared = ({ caller, shared = false }: Asker): boolean => shared || caller === undefined;
const isOther = (one: Asker, another: Asker): boolean =>
  nameOf(one) !== nameOf(another) || isShared(one);

/**
 * Fair scheduling of the engine among callers. The caller served last is served again after the
 * others; no caller has all places where there are several; and a query that has run for a slice is
 * ended when other queries wait and no place is free.
 */
export class FairLine<Question = OpenQuestion, Answer = OpenAnswer> {
  readonly #waiting = new Set<Waiting<Question, Answer>>();
  readonly #running = new Set<Running>();
  /** The number of the round in which each caller was served last, oldest first. */
  readonly #served = new LRUCache<string, number>({ max: MOST_CALLERS });
  #count = 0;

  readonly #options: FairLineOptions;
  readonly #what: string;
  readonly #late: () => ServiceError;
  readonly #due: () => void;

  /**
   * @param what callers wait for, in words of an error: a thread, a connection
   * @param late the error of a query that waited too long
   * @param due called when a query has run for a slice: {@link relieve} then may end it
   */
  constructor(options: FairLineOptions, what: string, late: () => ServiceError, due: () => void) {
    this.#options = options;
    this.#what = what;
    this.#late = late;
    this.#due = due;
  }

  get length(): number {
    return this.#waiting.size;
  }

  /** How many of the waiting queries could run if there were a place. */
  get ready(): number {
    let count = 0;
    for (const { asker } of this.#waiting) if (this.#mayRun(asker)) count++;
    return count;
  }

  /**
   * Waits until the query may run.
   * @param joined called once it waits
   * @throws ServiceError `SPARQL_BUSY`, the error of `late`; the reason of the signal
   */
  join(question: Question, asker: Asker, joined: () => void): Promise<Answer> {
    const { signal } = asker;
    return new Promise((resolve, reject) => {
      const drop = (error: Error): void => {
        waiting.settle();
        reject(error);
      };
      const abort = (): void => drop(signal!.reason as Error);
      const clock = setTimeout(() => drop(this.#late()), this.#options.queueWait);
      const waiting: Waiting<Question, Answer> = {
        question,
        asker,
        resolve,
        reject: drop,
        settle: () => {
          clearTimeout(clock);
          signal?.removeEventListener("abort", abort);
          this.#waiting.delete(waiting);
        },
      };
      if (signal?.aborted) return abort();
      const full = this.#makeRoom(asker);
      if (full) return drop(full);
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiting.add(waiting);
      joined();
      this.#due();
    });
  }

  /**
   * The longest waiting query that may be answered now, of the caller who was served longest ago.
   */
  next(): Slot<Question, Answer> | undefined {
    for (;;) {
      let next: Waiting<Question, Answer> | undefined;
      const slotOf = ({ asker }: Waiting<Question, Answer>): number =>
        this.#served.peek(nameOf(asker)) ?? 0;
      for (const waiting of this.#waiting) {
        if (this.#mayRun(waiting.asker) && (!next || slotOf(waiting) < slotOf(next)))
          next = waiting;
      }
      if (!next) return undefined;
      try {
        next.asker.admit?.();
      } catch (error) {
        next.reject(error as Error);
        continue;
      }
      next.settle();
      this.#note(nameOf(next.asker));
      return this.#slot(next);
    }
  }

  /**
   * Ends the query that has run for longest, if that was a slice and another caller could have its
   * place.
   */
  relieve(): void {
    if (this.#running.size < this.#options.slots) return;
    const now = performance.now();
    let longest: Running | undefined;
    for (const running of this.#running)
      if (running.end && (!longest || running.since < longest.since)) longest = running;
    if (!longest || now - longest.since < this.#options.slice) return;
    const { asker } = longest;
    if (![...this.#waiting].some((waiting) => isOther(waiting.asker, asker))) return;
    const message =
      `The query ran longer than ${this.#options.slice} ms (SPARQL_SLICE) while others waited, ` +
      "and was ended; ask for less at a time, or again later.";
    if (longest.end!(new ServiceError("QUERY_TIMEOUT", message, {}, { "Retry-After": "5" })))
      delete longest.end;
    else this.#watch(longest);
  }

  /** Ends the waiting of all. */
  dismiss(error: ServiceError): void {
    for (const { reject } of this.#waiting) reject(error);
  }

  #slot({ question, asker, resolve, reject }: Waiting<Question, Answer>): Slot<Question, Answer> {
    const running: Running = { asker, since: performance.now() };
    this.#running.add(running);
    return {
      question,
      asker,
      resolve,
      reject,
      runs: (end) => {
        running.since = performance.now();
        running.end = end;
        this.#watch(running);
      },
      finish: () => {
        clearTimeout(running.clock);
        this.#running.delete(running);
      },
    };
  }

  #watch(running: Running): void {
    clearTimeout(running.clock);
    running.clock = setTimeout(this.#due, this.#options.slice + 1).unref();
  }

  /**
   * Of several places one stays free of each caller, so that a short query of another need not wait
   * for a long one.
   */
  #mayRun(asker: Asker): boolean {
    if (isShared(asker)) return true;
    let own = 0;
    for (const running of this.#running) if (nameOf(running.asker) === nameOf(asker)) own++;
    return own < Math.max(1, this.#options.slots - 1);
  }

  /** The caller with the most waiting queries gives way to a caller with fewer. */
  #makeRoom(asker: Asker): ServiceError | undefined {
    const { queue, callerQueue } = this.#options;
    const byCaller = new Map<string, Waiting<Question, Answer>[]>();
    for (const waiting of this.#waiting) {
      const name = nameOf(waiting.asker);
      byCaller.set(name, [...(byCaller.get(name) ?? []), waiting]);
    }
    const own = byCaller.get(nameOf(asker))?.length ?? 0;
    const busy = (most: number, setting: string): ServiceError =>
      new ServiceError(
        "SPARQL_BUSY",
        `More than ${most} queries wait for a ${this.#what} (${setting}); try again shortly.`,
        {},
        { "Retry-After": "5" },
      );
    if (!isShared(asker) && own >= callerQueue) return busy(callerQueue, "SPARQL_CALLER_QUEUE");
    if (this.#waiting.size < queue) return undefined;
    let most: Waiting<Question, Answer>[] = [];
    for (const waiting of byCaller.values()) if (waiting.length > most.length) most = waiting;
    if (most.length <= own + 1) return busy(queue, "SPARQL_QUEUE");
    most.at(-1)!.reject(busy(queue, "SPARQL_QUEUE"));
    return undefined;
  }

  #note(caller: string): void {
    this.#served.set(caller, ++this.#count);
  }
}

interface WaitingForSequence {
  sequence: number;
  resolve(): void;
  reject(error: Error): void;
  clock: NodeJS.Timeout;
}

/** The callers that wait for the index to reach a sequence. */
export class Arrivals {
  readonly #waiting = new Set<WaitingForSequence>();

  readonly #state: () => IndexState;

  constructor(state: () => IndexState) {
    this.#state = state;
  }

  /**
   * @param wait ms
   * @param unavailable the error when the index is not even loaded by then
   * @throws {ServiceError} `INDEX_BEHIND` when a loaded index has not reached it in time
   */
  wait(sequence: number, wait: number, unavailable: () => ServiceError): Promise<void> {
    return new Promise((resolve, reject) => {
      const clock = setTimeout(() => {
        this.#waiting.delete(entry);
        const { state, sequence: reached } = this.#state();
        reject(
          state !== "ready"
            ? unavailable()
            : new ServiceError(
                "INDEX_BEHIND",
                `The graph index has reached commit ${reached} and not yet ${sequence} ` +
                  `(INDEX_WAIT=${wait} ms); try again shortly.`,
                { sequence: reached },
                { "Retry-After": "1" },
              ),
        );
      }, wait);
      const entry: WaitingForSequence = { sequence, resolve, reject, clock };
      this.#waiting.add(entry);
    });
  }

  arrived(sequence: number): void {
    for (const entry of this.#waiting) {
      if (entry.sequence > sequence) continue;
      this.#settle(entry).resolve();
    }
  }

  close(error: ServiceError): void {
    for (const entry of this.#waiting) this.#settle(entry).reject(error);
  }

  #settle(entry: WaitingForSequence): WaitingForSequence {
    clearTimeout(entry.clock);
    this.#waiting.delete(entry);
    return entry;
  }
}
