/** The current use of a pool of connections. */
export interface PoolLoad {
  /** Connections that are open, idle ones included. */
  total: number;
  idle: number;
  /** Requests that wait for a connection. */
  waiting: number;
}

/**
 * Loads of pools by name. Names are fixed, and letters and underscores only: they become labels of
 * metrics.
 */
export type PoolLoads = Readonly<Record<string, PoolLoad>>;
