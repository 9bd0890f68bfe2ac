/** How often something was counted, the last time included, and the ms until its window ends. */
export interface Count {
  count: number;
  left: number;
}

/**
 * Small state that the nodes of an installation share: counts for limits, and callers that must
 * wait. All of it may be forgotten at any time, and no method fails: a node that cannot ask the
 * others uses its own counts.
 */
export interface SharedMemory {
  /** Counts one under a key, in a window of so many ms that begins with the first. */
  count(key: string, window: number): Promise<Count>;
  /** The value that another node, or this one, stored; null when that is not known. */
  recall(key: string): Promise<string | null>;
  /** @param lifetime ms */
  remember(key: string, value: string, lifetime: number): Promise<void>;
}
