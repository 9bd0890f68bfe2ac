import type { MessagePort } from "node:worker_threads";
import type { EngineLog } from "../../log.js";

export interface OpenOptions {
  /** Opens a feed of the truth; called for every thread that is started. */
  openFeed: () => MessagePort;
  /** SPARQL_TIMEOUT, ms. */
  timeout: number;
  /** SPARQL_MAX_ROWS and SPARQL_MAX_BYTES. */
  maxRows: number;
  maxBytes: number;
  /** SPARQL_MEMORY, bytes a thread. */
  memory: number;
  /** Bytes that the graph is known to take at the least; above SPARQL_MEMORY no thread is started. */
  needs?: () => number;
  /** SPARQL_THREADS. */
  threads: number;
  /** SPARQL_IDLE, ms. */
  idle: number;
  /** SPARQL_QUEUE, SPARQL_CALLER_QUEUE and SPARQL_QUEUE_WAIT, ms. */
  queue: number;
  callerQueue: number;
  queueWait: number;
  /** SPARQL_SLICE, ms. */
  slice: number;
  /** INDEX_WAIT, ms. */
  indexWait: number;
  log?: EngineLog;
  /** Graphs rewritten before a thread is replaced, and graphs read at a time. */
  rebuildAfter?: number;
  pageSize?: number;
}
