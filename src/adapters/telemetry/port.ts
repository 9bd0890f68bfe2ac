import type { IncomingMessage, ServerResponse } from "node:http";
import type { JobHandler } from "../../jobs/port.js";

/**
 * One call of a store. Its words come from fixed lists: a user's text never becomes a name or an
 * attribute.
 */
export interface StoreCall {
  store: "records" | "graph" | "objects";
  /** Implementation of the store: `sqlite`, `postgresql`, `oxigraph`, `sparql`, `files`, `s3`. */
  system: string;
  operation: string;
}

/**
 * Reports to a collector which operations run for which caller, and how long they take. There is
 * none unless a setting asks for it.
 */
export interface Tracing {
  /**
   * Handles a request in a span of its own, a child of the caller's where `traceparent` names one.
   * @param routeOf called at the end: the template of the path, of the contract
   */
  request(
    req: IncomingMessage,
    res: ServerResponse,
    routeOf: () => string | undefined,
    handle: () => void,
  ): void;
  /** The active span, in the form of W3C Trace Context: for work that goes on elsewhere. */
  traceparent(): string | undefined;
  /** Hands a submission to the queue in a span. */
  queued<T>(submission: string, enqueue: () => Promise<T>): Promise<T>;
  /**
   * Runs each attempt at a submission in a span, a child of the span of the request that submitted
   * it.
   * @param statusOf the result of an attempt
   */
  job(
    handler: JobHandler,
    statusOf: (submission: string) => Promise<string | undefined>,
  ): JobHandler;
  /** A call of a store in a span, where it is made for a request or a job that has one. */
  store<T>(call: StoreCall, work: () => Promise<T>): Promise<T>;
  /** Sends the remaining spans, and waits for that a short time only. Never rejects. */
  close(): Promise<void>;
}

/** The collector's address, and what is sent to it. */
export interface TracingOptions {
  /** Base address of a collector that takes OTLP over HTTP. */
  endpoint: string;
  /** Sent along; they may hold a key. */
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  version: string;
  /** Part of the traces that no caller has decided on: 0 to 1. */
  ratio: number;
  /** ms that one sending may take. */
  timeout: number;
  /** How work is queued: `in_process` or `bullmq`. */
  queueSystem: string;
  /** Called with the reason when spans could not be sent, at most once a minute. */
  onLost: (reason: string) => void;
}
