import type { MessagePort } from "node:worker_threads";
import type { LeaseStore } from "../../records/port.js";
import type { EngineLog } from "../port.js";

/**
 * Address of a SPARQL 1.1 endpoint, and how to speak to it. It comes from the operator's settings,
 * never from users' data.
 */
export interface EndpointAddress {
  /** SPARQL_QUERY_URL and SPARQL_UPDATE_URL; query parameters in them are sent along. */
  queryUrl: string;
  updateUrl: string;
  /** SPARQL_USER and SPARQL_PASSWORD: HTTP Basic authentication. */
  user?: string;
  password?: string;
}

/** Settings of the projection. */
export interface ProjectionOptions {
  /** PROJECTION_BATCH: bytes of one update. */
  batch: number;
  /** PROJECTION_LEASE: ms that a node holds the projection after its last heartbeat. */
  lease: number;
  /**
   * PROJECTION_POLL: ms between polls of the endpoint and of the change log when no commit is
   * announced.
   */
  poll: number;
  /** PROJECTION_TIMEOUT: ms after which an update without an answer counts as lost. */
  timeout: number;
  /** Graphs read from the feed at a time. */
  pageSize: number;
}

export interface EndpointOptions extends EndpointAddress, Partial<ProjectionOptions> {
  /** Opens a feed of the record store. */
  openFeed: () => MessagePort;
  leases: LeaseStore;
  /**
   * Permanent name of the record store: an endpoint filled from another record store is not
   * changed.
   */
  source: () => Promise<string>;
  /** SPARQL_POOL: connections at a time. */
  pool?: number;
  /** INDEX_WAIT and QUERY_TIMEOUT, ms. */
  indexWait?: number;
  queryTimeout?: number;
  log?: EngineLog;
}

export const DEFAULTS = {
  batch: 2 ** 20,
  lease: 10_000,
  poll: 250,
  timeout: 120_000,
  pageSize: 500,
  pool: 8,
  indexWait: 2_000,
  queryTimeout: 30_000,
};
/** All options; defaults stand in for absent ones. */
export type WholeOptions = Required<Omit<EndpointOptions, "user" | "password">> & EndpointOptions;

/**
 * The endpoint's own bookkeeping beside the graphs: one statement, in a graph of its own, holds the
 * position of the projection. Every update names the position that it expects, does nothing when it
 * finds another one, and otherwise replaces it by the next. So an update that arrives twice, or
 * from a node that has lost the projection, has no effect.
 */
export interface Position {
  /** Name of the record store that the graphs are made from. */
  source: string;
  /** Of the lease under which it was written. */
  fence: number;
  /** `fill` and `catch`: not to be read yet. `done`: holds every commit up to the sequence. */
  phase: "clear" | "fill" | "catch" | "done";
  sequence: number;
  /** While filling: position of the feed after which to go on. */
  after: number;
  /**
   * Number of updates already made of those that lead to the next position; 0 at a commit's end.
   */
  part: number;
}

/** IRIs of the service's own, which no record and no query may use. */
export const RESERVED = "urn:arkgraph:projection";
export const POSITION_GRAPH = RESERVED;
const POSITION_PREDICATE = `${RESERVED}:at`;
/** Hidden from users' queries. */
export const BOOKKEEPING = {
  prefix: RESERVED,
  predicate: POSITION_PREDICATE,
  graph: POSITION_GRAPH,
};
const VALUE = `${RESERVED}:is:`;

/** The position as an IRI: a literal might come back rewritten. */
const iriOf = ({ source, fence, phase, sequence, after, part }: Position): string =>
  `${VALUE}${source}:${fence}:${phase}:${sequence}:${after}:${part}`;

function positionOf(iri: string): Position | undefined {
  const [source, fence, phase, sequence, after, part] = iri.slice(VALUE.length).split(":");
  if (!iri.startsWith(VALUE) || part === undefined) return undefined;
  return {
    source: source!,
    fence: Number(fence),
    phase: phase as Position["phase"],
    sequence: Number(sequence),
    after: Number(after),
    part: Number(part),
  };
}

export const samePosition = (one: Position | undefined, other: Position | undefined): boolean =>
  (one && iriOf(one)) === (other && iriOf(other));

/** The block that a WHERE, a DELETE or an INSERT holds a position in. */
export const positionBlock = (position: Position | "?any"): string =>
  `GRAPH <${POSITION_GRAPH}> { <${POSITION_GRAPH}> <${POSITION_PREDICATE}> ` +
  `${position === "?any" ? position : `<${iriOf(position)}>`} }`;

/**
 * Asks for the position of the projection, and whether the default graph shows the statements of
 * the named graphs.
 */
export const LOOK = `SELECT ?at ?seen { ${positionBlock("?any").replace("?any", "?at")}
    OPTIONAL { <${POSITION_GRAPH}> <${POSITION_PREDICATE}> ?seen } }`;

/** The result of one poll of the endpoint. */
export interface Sight {
  /**
   * More than one: two updates collided, and the content of the graphs is unknown. None: the
   * endpoint was never filled, or was emptied.
   */
  positions: Position[];
  /** False: the default graph is not the union of the named ones. */
  union: boolean;
}

/** @param json results of {@link LOOK} */
export function sightIn(json: string): Sight {
  const { bindings } = (
    JSON.parse(json) as {
      results: { bindings: { at?: { value: string }; seen?: { value: string } }[] };
    }
  ).results;
  const positions = new Map(
    bindings.map(({ at }) => [at?.value ?? "", positionOf(at?.value ?? "")]),
  );
  return {
    positions: [...positions.values()].filter((position) => position !== undefined),
    union: bindings.every(({ seen }) => seen !== undefined),
  };
}
