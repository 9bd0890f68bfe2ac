import type { LeaseStore } from "../../src/storage/records/port.js";

/** Leases of a record store in memory, with a handle that blocks the calls of one holder. */
export class MemoryLeases implements LeaseStore {
  readonly #leases = new Map<
    string,
    { holder: string | undefined; fence: number; until: number }
  >();

  async lease(name: string, holder: string, ttl: number): Promise<{ fence: number } | undefined> {
    const now = performance.now();
    const known = this.#leases.get(name);
    if (known?.holder !== undefined && known.holder !== holder && known.until > now)
      return undefined;
    const fence = known?.holder === holder ? known.fence : (known?.fence ?? 0) + 1;
    this.#leases.set(name, { holder, fence, until: now + ttl });
    return { fence };
  }

  async releaseLease(name: string, holder: string): Promise<void> {
    const known = this.#leases.get(name);
    if (known?.holder === holder) known.holder = undefined;
  }
}
