import { ServiceError } from "../../errors.js";
import type { SharedMemory } from "../../stores/shared/port.js";

/** Time in which a second query that ran into a limit counts as a repetition. */
const MEMORY = 600_000;
/** Queries of that kind that are let pass. */
const LENIENCE = 1;
const LONGEST = 3_600_000;
const MOST_CALLERS = 10_000;

interface Record { strikes: number; last: number; until: number }

/** Who must wait because their queries ran into a limit again and again, on whichever node. */
export class Penalties {
  readonly #callers = new Map<string, Record>();

  /** @param penalty SPARQL_PENALTY, ms */
  constructor(private readonly penalty: number, private readonly memory: SharedMemory) {}

  /** Learns what other nodes know of a caller; {@link check} goes by what is known here. */
  async learn(caller: string): Promise<void> {
    const note = await this.memory.recall(`penalty ${caller}`);
    const theirs = note === null ? undefined : (JSON.parse(note) as Record);
    if (theirs && theirs.last > (this.#callers.get(caller)?.last ?? Number.NEGATIVE_INFINITY)) this.#keep(caller, theirs);
  }

  /** @throws ServiceError `TOO_MANY_REQUESTS` with Retry-After */
  check(caller: string, now = Date.now()): void {
    const until = this.#callers.get(caller)?.until ?? 0;
    if (until <= now) return;
    const seconds = Math.ceil((until - now) / 1000);
    throw new ServiceError("TOO_MANY_REQUESTS", `Your queries ran into a limit more than once (SPARQL_PENALTY): try again in ${seconds} s, and ask for less at a time.`, {}, { "Retry-After": String(seconds) });
  }

  /** A query of the caller ran into a limit. @param weight 1, or less where the caller may not be to blame */
  strike(caller: string, weight = 1, now = Date.now()): void {
    const known = this.#callers.get(caller);
    const strikes = known && now - known.last < MEMORY + this.penalty ? known.strikes + weight : weight;
    const until = strikes <= LENIENCE ? 0 : now + Math.min(this.penalty * 2 ** (Math.ceil(strikes) - LENIENCE - 1), LONGEST);
    this.#keep(caller, { strikes, last: now, until });
    void this.memory.remember(`penalty ${caller}`, JSON.stringify({ strikes, last: now, until } satisfies Record), Math.max(until - now, 0) + MEMORY + this.penalty);
  }

  #keep(caller: string, record: Record): void {
    this.#callers.delete(caller);
    // The one that was good for longest is forgotten: a flood of addresses must not free one that waits.
    if (this.#callers.size >= MOST_CALLERS) this.#callers.delete(this.#callers.keys().next().value!);
    this.#callers.set(caller, record);
  }
}
