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
} from "../port.js";
import { FairLine } from "../waiting.js";
import {
  cutAnswer,
  type EndpointAddress,
  EndpointRefusal,
  RESERVED,
  SparqlHttp,
} from "./client.js";
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
    if (this.#closed) throw stopping();
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
    this.#line.close(stopping());
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
    const asked = graph ? "nt" : (format as "json" | "xml" | "csv" | "tsv");
    try {
      // Commits go on while a user's query runs: the answer is as of the position at which the
      // query began, and the query is sent once.
      const answer = await this.#engine.asOf(
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
      const { bytes, truncated } = answer.value;
      if (asked === "xml")
        return {
          bytes: Buffer.from(cleanXml(Buffer.from(bytes).toString("utf8"))),
          truncated,
          sequence: answer.sequence,
        };
      if (!graph || format === "nt") return { bytes, truncated, sequence: answer.sequence };
      return {
        bytes: await this.#spelled(bytes, format as "ttl", signal),
        truncated,
        sequence: answer.sequence,
      };
    } catch (error) {
      if (error instanceof EndpointRefusal) throw refusalOf(error.message);
      throw error;
    }
  }

  async #spelled(
    ntriples: Uint8Array,
    format: "ttl" | "jsonld" | "rdfxml",
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const text = await this.#options.spell(
      { ntriples: Buffer.from(ntriples).toString("utf8"), format },
      signal,
    );
    const bytes = Buffer.from(text, "utf8");
    const { maxBytes } = this.#options;
    if (bytes.length > maxBytes)
      throw new ServiceError(
        "QUERY_REFUSED",
        `The graph is longer than ${maxBytes} bytes (SPARQL_MAX_BYTES); ask for less, or ` +
          "for application/n-triples, which can be cut.",
      );
    return bytes;
  }

  /** An endpoint may fetch a graph that it has not: none is named to it that is not there. */
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
      if (!held)
        throw new ServiceError(
          "QUERY_REFUSED",
          `The dataset names ${iri.slice(0, 300)}, which is not a graph of this ` +
            "registry, and remote graphs are not fetched; the graph of a record is its ARK.",
        );
    }
  }
}

/** The words of Oxigraph and of Jena for a place; the first line is that of BASE. */
const PLACE = /error at (\d+):(\d+): |(?:at )?line (\d+), column (\d+)[.:]?\s*/;

function refusalOf(message: string): ServiceError {
  const [words, ...numbers] = PLACE.exec(message) ?? [];
  const [line, column] = numbers.filter((number) => number !== undefined).map(Number);
  if (words === undefined || line === undefined || column === undefined || line < 2)
    return new ServiceError("QUERY_REFUSED", `The query was refused: ${message}`);
  const place = { line: line - 1, column };
  return new ServiceError(
    "QUERY_SYNTAX",
    `The query is malformed at line ${place.line}, column ${place.column}: ` +
      `${message.replace(words, "").trim()}.`,
    place,
  );
}

const stopping = (): ServiceError =>
  new ServiceError(
    "SHUTTING_DOWN",
    "The service is stopping. Retry when it has started again.",
    {},
    { "Retry-After": "5" },
  );
