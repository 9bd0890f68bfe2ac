import { Worker } from "node:worker_threads";
import { ServiceError } from "../../../errors.js";
import { threadModule } from "../../../package-root.js";
import type { GraphDigest, GraphFormat, Row, Term } from "../port.js";
import { jsonRows, POSITION_GRAPH, type SparqlHttp } from "./client.js";

export type ScratchRequest = { id: number } & ScratchQuestion;
type ScratchQuestion =
  | { op: "spell"; ntriples: string; format: GraphFormat }
  /** Whole graphs of N-Quads for the digest that `digest` asks for. */
  | { op: "add"; nquads: string }
  | { op: "digest" };
export interface ScratchReply {
  id: number;
  error?: string;
  text?: string;
  digest?: string;
  quads?: number;
  leftOut?: number;
}

/**
 * The caller's side of the scratch thread: it starts with the first question and ends when no
 * question has come for a while.
 */
export class Scratch {
  #worker: Worker | undefined;
  #clock: NodeJS.Timeout | undefined;
  #lastId = 0;
  readonly #asked = new Map<
    number,
    { resolve(reply: ScratchReply): void; reject(error: Error): void }
  >();

  readonly #idle: number | null;

  /**
   * @param idle ms after which the thread ends and drops the quads that were added; `null`: it runs
   * until it is closed
   */
  constructor(idle: number | null) {
    this.#idle = idle;
  }

  /**
   * @throws ServiceError `QUERY_MEMORY` when the thread runs out of memory; Error with the thread's
   * own message
   */
  ask(question: ScratchQuestion): Promise<ScratchReply> {
    clearTimeout(this.#clock);
    const id = ++this.#lastId;
    return new Promise<ScratchReply>((resolve, reject) => {
      (this.#worker ??= this.#start()).postMessage({ id, ...question } satisfies ScratchRequest);
      this.#asked.set(id, { resolve, reject });
    });
  }

  /** Ends the thread; a later question starts another one. */
  async close(): Promise<void> {
    clearTimeout(this.#clock);
    const worker = this.#worker;
    this.#lost();
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(threadModule("src/storage/graph/endpoint/scratch-thread"), {
      name: "graph-scratch",
      env: {},
    });
    worker.on("message", (reply: ScratchReply) => {
      const asked = this.#asked.get(reply.id);
      this.#asked.delete(reply.id);
      if (reply.error === undefined) asked?.resolve(reply);
      else asked?.reject(new Error(reply.error));
      if (this.#asked.size === 0 && this.#idle !== null && this.#worker === worker)
        this.#clock = setTimeout(() => void this.close(), this.#idle).unref();
    });
    worker.on("error", () => {});
    worker.once("exit", () => {
      // A thread that was closed may have a successor, which holds the open questions.
      if (this.#worker === worker) this.#lost();
    });
    return worker;
  }

  #lost(): void {
    this.#worker = undefined;
    for (const { reject } of this.#asked.values())
      reject(
        new ServiceError(
          "QUERY_MEMORY",
          "The graph is too large for this format; ask for less, or for application/n-triples.",
        ),
      );
    this.#asked.clear();
  }
}

const QUADS = `SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } FILTER(?g != <${POSITION_GRAPH}>) }`;
/** Quads after which a batch ends with its graph, and quads after which it ends within a graph. */
const BATCH = 20_000;
const LARGEST_LOT = 500_000;
/** ms in which even a very large endpoint is read to its end. */
const PATIENCE = 3_600_000;

/**
 * Digest of all graphs of an endpoint, read in one stream. Servers rewrite literals, each in its
 * own way: both sides are digested as the engine in the house writes them.
 */
export async function digestEndpoint(
  http: SparqlHttp,
  asOf: <T>(ask: () => Promise<T>) => Promise<{ value: T; sequence: number }>,
): Promise<GraphDigest> {
  // However long the endpoint takes for a batch: the thread holds the batches before it.
  const scratch = new Scratch(null);
  try {
    const { value, sequence } = await asOf(async () => {
      let lines: string[] = [];
      let adding: Promise<unknown> = scratch.ask({ op: "digest" });
      let graph = "";
      const flush = async (): Promise<void> => {
        await adding;
        adding = scratch.ask({ op: "add", nquads: lines.join("") });
        adding.catch(() => {});
        lines = [];
      };
      for await (const rows of jsonRows(
        http.query(QUADS, { accept: "application/sparql-results+json", timeout: PATIENCE }),
      )) {
        for (const row of rows) {
          if ((row.g!.value !== graph && lines.length >= BATCH) || lines.length >= LARGEST_LOT)
            await flush();
          graph = row.g!.value;
          lines.push(lineOf(row));
        }
      }
      await flush();
      await adding;
      return scratch.ask({ op: "digest" });
    });
    return { digest: value.digest!, quads: value.quads!, sequence };
  } finally {
    await scratch.close();
  }
}

const lineOf = ({ g, s, p, o }: Row): string =>
  `${termOf(s!)} ${termOf(p!)} ${termOf(o!)} ${termOf(g!)} .\n`;

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
};

function termOf(term: Term): string {
  if (term.type === "uri") return `<${term.value}>`;
  if (term.type === "bnode") return `_:${term.value}`;
  const text = `"${term.value.replaceAll(/["\\\n\r]/g, (character) => ESCAPES[character]!)}"`;
  if (term["xml:lang"] !== undefined) return `${text}@${term["xml:lang"]}`;
  return term.datatype === undefined ? text : `${text}^^<${term.datatype}>`;
}
