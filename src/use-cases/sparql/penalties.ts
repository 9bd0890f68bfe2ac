import { isIPv6 } from "node:net";
import { ServiceError } from "../../errors.js";

/** Time in which a second query that ran into a limit counts as a repetition. */
const MEMORY = 600_000;
/** Queries of that kind that are let pass. */
const LENIENCE = 1;
const LONGEST = 3_600_000;
const MOST_CALLERS = 10_000;

interface Record { strikes: number; last: number; until: number }

/** Who must wait because their queries ran into a limit again and again. */
export class Penalties {
  readonly #callers = new Map<string, Record>();

  /** @param penalty SPARQL_PENALTY, ms */
  constructor(private readonly penalty: number) {}

  /** @throws ServiceError `TOO_MANY_REQUESTS` with Retry-After */
  check(caller: string, now = Date.now()): void {
    const until = this.#callers.get(caller)?.until ?? 0;
    if (until <= now) return;
    const seconds = Math.ceil((until - now) / 1000);
    throw new ServiceError("TOO_MANY_REQUESTS", `Your queries ran into a limit more than once (SPARQL_PENALTY): try again in ${seconds} s, and ask for less at a time.`, {}, { "Retry-After": String(seconds) });
  }

  /** A query of the caller ran into a limit. */
  strike(caller: string, now = Date.now()): void {
    const known = this.#callers.get(caller);
    const strikes = known && now - known.last < MEMORY + this.penalty ? known.strikes + 1 : 1;
    const until = strikes <= LENIENCE ? 0 : now + Math.min(this.penalty * 2 ** (strikes - LENIENCE - 1), LONGEST);
    this.#callers.delete(caller);
    // The one that was good for longest is forgotten: a flood of addresses must not free one that waits.
    if (this.#callers.size >= MOST_CALLERS) this.#callers.delete(this.#callers.keys().next().value!);
    this.#callers.set(caller, { strikes, last: now, until });
  }
}

/** Whoever has an address of IPv6 has 2^64 of them. */
export function network(address: string): string {
  return isIPv6(address) && !address.includes(".") ? address.split(":").slice(0, 4).join(":") : address;
}
