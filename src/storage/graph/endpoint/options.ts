import type { MessagePort } from "node:worker_threads";
import type { LeaseStore } from "../../records/port.js";
import type { EngineLog } from "../port.js";

/**
 * Where a SPARQL 1.1 endpoint answers, and how it is spoken to. From the operator's settings, never
 * from anybody's data.
 */
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
  /**
   * PROJECTION_POLL: ms between looks at the endpoint and at the change log when nothing is
   * announced.
   */
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
/** With the defaults for what was left out. */
export type WholeOptions = Required<Omit<EndpointOptions, "user" | "password">> & EndpointOptions;

/**
 * What is kept in the endpoint beside the graphs: one statement, in a graph of its own, that says
 * how far the projection is. Every update names the position that it expects and does nothing where
 * it finds another, and replaces it by the next: an update that comes twice, or from a node that
 * has lost the projection, has no effect.
 */
export interface Position {
  /** The truth that the graphs are made from. */
  truth: string;
  /** Of the lease under which it was written. */
  fence: number;
  /** `fill` and `catch`: not to be read yet. `done`: holds every commit up to the sequence. */
  phase: "clear" | "fill" | "catch" | "done";
  sequence: number;
  /** While filling: position of the feed after which to go on. */
  after: number;
  /** Updates made of those that lead to the next position; 0 at a commit's end. */
  part: number;
}

/** IRIs of the service's own, which no record and no query may use. */
export const RESERVED = "urn:arkgraph:projection";
export const POSITION_GRAPH = RESERVED;
const POSITION_PREDICATE = `${RESERVED}:at`;
/** What strangers' queries must not see. */
export const BOOKKEEPING = {
  prefix: RESERVED,
  predicate: POSITION_PREDICATE,
  graph: POSITION_GRAPH,
};
const VALUE = `${RESERVED}:is:`;

/** The position as an IRI: a literal might come back rewritten. */
const iriOf = ({ truth, fence, phase, sequence, after, part }: Position): string =>
  `${VALUE}${truth}:${fence}:${phase}:${sequence}:${after}:${part}`;

function positionOf(iri: string): Position | undefined {
  const [truth, fence, phase, sequence, after, part] = iri.slice(VALUE.length).split(":");
  if (!iri.startsWith(VALUE) || part === undefined) return undefined;
  return {
    truth: truth!,
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

/** Asks where the projection is, and whether the default graph shows what the named graphs hold. */
export const LOOK = `SELECT ?at ?seen { ${positionBlock("?any").replace("?any", "?at")}
    OPTIONAL { <${POSITION_GRAPH}> <${POSITION_PREDICATE}> ?seen } }`;

/** What a look at the endpoint finds. */
export interface Sight {
  /**
   * More than one: two updates ran into each other, and nobody knows what the graphs hold. None: it
   * was never filled, or emptied.
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
