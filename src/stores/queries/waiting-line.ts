import type { ServiceError } from "../../errors.js";
import type { Asker, OpenAnswer, OpenQuestion } from "./open-port.js";

/** A query whose turn it is, or may be. */
export interface Waiting { question: OpenQuestion; asker: Asker; resolve(answer: OpenAnswer): void; reject(error: Error): void }

const MOST_CALLERS = 10_000;

/** Queries of strangers that wait for their turn: who was served last is served again after others. */
export class WaitingLine {
  readonly #waiting = new Set<Waiting & { settle(): void }>();
  /** The turn at which each caller was served last, oldest first. */
  readonly #served = new Map<string, number>();
  #turns = 0;

  /**
   * @param wait ms after which a query is sent away
   * @param late what it is told then
   */
  constructor(private readonly wait: number, private readonly late: () => ServiceError) {}

  get length(): number {
    return this.#waiting.size;
  }

  /** @param joined told once it waits */
  join(question: OpenQuestion, asker: Asker, joined: () => void): Promise<OpenAnswer> {
    const { signal } = asker;
    return new Promise((resolve, reject) => {
      const drop = (error: Error): void => {
        waiting.settle();
        reject(error);
      };
      const abort = (): void => drop(signal!.reason as Error);
      const clock = setTimeout(() => drop(this.late()), this.wait);
      const waiting = {
        question, asker, resolve, reject: drop,
        settle: () => {
          clearTimeout(clock);
          signal?.removeEventListener("abort", abort);
          this.#waiting.delete(waiting);
        },
      };
      if (signal?.aborted) return abort();
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiting.add(waiting);
      joined();
    });
  }

  /** Of the caller who was served longest ago, the longest waiting query that may still be answered. */
  next(): Waiting | undefined {
    for (;;) {
      let next: (Waiting & { settle(): void }) | undefined;
      const turnOf = ({ asker }: Waiting): number => this.#served.get(asker.caller ?? "") ?? 0;
      for (const waiting of this.#waiting) if (!next || turnOf(waiting) < turnOf(next)) next = waiting;
      if (!next) return undefined;
      try {
        next.asker.admit?.();
      } catch (error) {
        next.reject(error as Error);
        continue;
      }
      next.settle();
      const { caller = "" } = next.asker;
      this.#served.delete(caller);
      if (this.#served.size >= MOST_CALLERS) this.#served.delete(this.#served.keys().next().value!);
      this.#served.set(caller, ++this.#turns);
      return next;
    }
  }

  /** Tells all who wait. */
  dismiss(error: ServiceError): void {
    for (const { reject } of this.#waiting) reject(error);
  }
}
