import { ServiceError } from "../../../errors.js";
import { cleanXml } from "../../../model/markup.js";
import type { PoolLoads } from "../../connections.js";
import {
  type Asker,
  type GraphFormat,
  iriTerm,
  type OpenAnswer,
  type OpenQueries,
  type OpenQuestion,
  type ResultFormat,
} from "../port.js";
import { cutAnswer, graphIsMissing, refusalOf, wholeGraph } from "../answers.js";
import { FairLine, stopping } from "../waiting.js";
import { type EndpointAddress, EndpointRefusal, RESERVED, SparqlHttp } from "./client.js";
import type { EndpointEngine } from "./engine.js";

/** A graph, and the form in which it is written. */
export interface NTriples {
  ntriples: string;
  format: GraphFormat;
}

export interface OpenEndpointOptions {
  /** SPARQL_TIMEOUT, ms. */
  timeout: number;
  /** SPARQL_MAX_ROWS and SPARQL_MAX_BYTES. */
  maxRows: number;
  maxBytes: number;
  /** Queries at a time, half of SPARQL_POOL. */
  atOnce: number;
  /** SPARQL_QUEUE and SPARQL_QUEUE_WAIT, ms. */
  queue: number;
  queueWait: number;
  /** SPARQL_SLICE, ms. */
  slice: number;
  /** INDEX_WAIT, ms. */
  indexWait: number;
  /** Writes a graph in another form than N-Triples, without blocking the serving thread. */
  spell(graph: NTriples, signal: AbortSignal): Promise<string>;
}

const MEDIA_TYPES = {
  json: "application/sparql-results+json",
  xml: "application/sparql-results+xml",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  nt: "application/n-triples",
} as const;

/**
 * {@link OpenQueries} on the endpoint that the service itself asks, over connections of its own.
 * Queries wait here and not at the endpoint; one whose caller has gone, or that takes too long, is
 * ended with its connection.
 */
export class OpenEndpoint implements OpenQueries {
  readonly #http: SparqlHttp;
  readonly #line: FairLine;
  #closed = false;

  readonly #engine: EndpointEngine;
  readonly #options: OpenEndpointOptions;

  constructor(engine: EndpointEngine, address: EndpointAddress, options: OpenEndpointOptions) {
    this.#engine = engine;
    this.#options = options;

    this.#http = new SparqlHttp(address, options.atOnce);
    const late = (): ServiceError =>
      new ServiceError(
        "SPARQL_BUSY",
        `All connections for queries were busy for SPARQL_QUEUE_WAIT=${options.queueWait} ` +
          "ms; try again shortly.",
        {},
        { "Retry-After": "5" },
      );
    this.#line = new FairLine({ ...options, slots: options.atOnce, what: "connection", late });
  }

  async ask(question: OpenQuestion, asker: Asker = {}): Promise<OpenAnswer> {
    if (this.#closed) throw stopping("service");
    const { signal } = asker;
    return this.#line.run(asker, (ending) =>
      this.#answer(question, signal ? AbortSignal.any([signal, ending]) : ending),
    );
  }

  /** Nothing to do: the {@link QueryEngine} is notified of commits. */
  advance(): void {}

  state(): { threads: number; waiting: number } {
    return { threads: this.#line.running, waiting: this.#line.length };
  }

  pools(): PoolLoads {
    return { sparql_open: this.#http.load() };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#line.close(stopping("service"));
    this.#http.close();
  }

  async #answer(
    { query, format, graph, base, dataset, sequence }: OpenQuestion,
    signal: AbortSignal,
  ): Promise<OpenAnswer> {
    const { timeout, maxRows, maxBytes, indexWait } = this.#options;
    await this.#engine.reach(sequence, indexWait);
    const limits = { timeout, setting: "SPARQL_TIMEOUT", signal };
    await this.#mustHold(dataset, limits);
    const asked = graph ? "nt" : (format as ResultFormat);
    try {
      // Commits go on while a user's query runs: the answer is as of the position at which the
      // query began, and the query is sent once.
      const { value, sequence } = await this.#engine.asOf(
        () =>
          this.#http.whole(() =>
            cutAnswer(
              this.#http.query(`BASE ${iriTerm(base)}\n${query}`, {
                accept: MEDIA_TYPES[asked],
                ...limits,
                ...(dataset && { dataset }),
              }),
              asked,
              maxRows,
              maxBytes,
            ),
          ),
        1,
      );
      const bytes = await this.#written(value.bytes, format, signal);
      return { bytes, truncated: value.truncated, sequence };
    } catch (error) {
      // The first line is that of BASE.
      if (error instanceof EndpointRefusal) throw refusalOf(error.message, 1);
      throw error;
    }
  }

  /** An answer in the form that was asked for. */
  async #written(
    bytes: Uint8Array,
    format: OpenQuestion["format"],
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    if (format === "xml") return Buffer.from(cleanXml(textOf(bytes)));
    if (format !== "ttl" && format !== "jsonld" && format !== "rdfxml") return bytes;
    const { spell, maxBytes } = this.#options;
    return wholeGraph(await spell({ ntriples: textOf(bytes), format }, signal), maxBytes);
  }

  async #mustHold(
    dataset: OpenQuestion["dataset"],
    limits: { timeout: number; setting: string; signal: AbortSignal },
  ): Promise<void> {
    for (const iri of dataset ? [...dataset.default, ...dataset.named] : []) {
      const held =
        !iri.startsWith(RESERVED) &&
        (iri.startsWith("ark:") ||
          (
            JSON.parse(
              await this.#http.text(`ASK { GRAPH ${iriTerm(iri)} { ?s ?p ?o } }`, {
                accept: MEDIA_TYPES.json,
                ...limits,
              }),
            ) as { boolean: boolean }
          ).boolean);
      if (!held) throw graphIsMissing(iri);
    }
  }
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");
