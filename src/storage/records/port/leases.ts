/** A lease in the record store: at most one holder at a time by the store's own clock. */
export interface LeaseStore {
  /**
   * Takes the lease, or renews it when `holder` has it, for `ttl` ms by the store's own clock.
   * `fence` rises by one with each new holder. `undefined` when another holds it.
   */
  lease(name: string, holder: string, ttl: number): Promise<{ fence: number } | undefined>;
  /** Releases the lease, where `holder` has it. */
  releaseLease(name: string, holder: string): Promise<void>;
}
