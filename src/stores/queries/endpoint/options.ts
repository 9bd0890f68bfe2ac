import type { MessagePort } from "node:worker_threads";
import type { LeaseStore } from "../../records/lease-port.js";
import type { EngineLog } from "../log.js";

/** Where a SPARQL 1.1 endpoint answers, and how it is spoken to. From the operator's settings, never from anybody's data. */
export interface EndpointAddress {
  /** SPARQL_QUERY_URL and SPARQL_UPDATE_URL; query parameters in them are sent along. */
  queryUrl: string;
  updateUrl: string;
  /** SPARQL_USER and SPARQL_PASSWORD: HTTP Basic authentication. */
  user?: string;
  password?: string;
}

/** How the projection is kept up. */
export interface ProjectionOptions {
  /** PROJECTION_BATCH: bytes of one update. */
  batch: number;
  /** PROJECTION_LEASE: ms that a node keeps the projection after it was last heard of. */
  lease: number;
  /** PROJECTION_POLL: ms between looks at the endpoint and at the change log when nothing is announced. */
  poll: number;
  /** PROJECTION_TIMEOUT: ms after which an update without an answer counts as lost. */
  timeout: number;
  /** Graphs read from the feed at a time. */
  pageSize: number;
}

export interface EndpointOptions extends EndpointAddress, Partial<ProjectionOptions> {
  /** Opens a feed of the truth. */
  openFeed: () => MessagePort;
  leases: LeaseStore;
  /** A name that the truth keeps for ever: an endpoint filled from another truth is not touched. */
  truth: () => Promise<string>;
  /** SPARQL_POOL: connections at a time. */
  pool?: number;
  /** INDEX_WAIT and QUERY_TIMEOUT, ms. */
  indexWait?: number;
  queryTimeout?: number;
  log?: EngineLog;
}

export const DEFAULTS = { batch: 2 ** 20, lease: 10_000, poll: 250, timeout: 120_000, pageSize: 500, pool: 8, indexWait: 2_000, queryTimeout: 30_000 };
/** With the defaults for what was left out. */
export type WholeOptions = Required<Omit<EndpointOptions, "user" | "password">> & EndpointOptions;
