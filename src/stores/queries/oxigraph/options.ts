import type { MessagePort } from "node:worker_threads";
import type { EngineLog } from "../log.js";

export interface OxigraphOptions {
  /** Opens a feed of the truth; called for every thread that is started. */
  openFeed: () => MessagePort;
  /** ms that a query waits for a thread that is coming back (INDEX_WAIT). */
  indexWait?: number;
  /** ms a query may run unless it says otherwise (QUERY_TIMEOUT). */
  queryTimeout?: number;
  log?: EngineLog;
  /** Graphs rewritten before a fresh thread takes over. */
  rebuildAfter?: number;
  /** Graphs read from the feed at a time. */
  pageSize?: number;
}

/** Bytes that a rewrite leaves behind, about, and that WASM never gives back. */
export const WASTE_PER_REWRITE = 4_600;
/** The point where half a gigabyte is gone. */
export const REBUILD_AFTER_REWRITES = 100_000;

export const DEFAULTS = { indexWait: 2_000, queryTimeout: 30_000, rebuildAfter: REBUILD_AFTER_REWRITES, pageSize: 500 };
