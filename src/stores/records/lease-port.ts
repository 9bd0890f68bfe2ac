/** A lease in the truth: at most one holder at a time by the store's own clock. */
export interface LeaseStore {
  /** Takes the lease, or keeps it when `holder` has it, for `ttl` ms by the store's own clock. `fence` rises by one with each new holder. `undefined` when another holds it. */
  lease(name: string, holder: string, ttl: number): Promise<{ fence: number } | undefined>;
  /** Gives it back, where `holder` has it. */
  releaseLease(name: string, holder: string): Promise<void>;
}
