import { Piscina } from "piscina";
import { ServiceError } from "../../../errors.js";
import { threadModule } from "../../../package-root.js";
import type { GraphDigest, Term } from "../port.js";
import { QuadDigest } from "../quad-digest.js";
import { jsonRows, POSITION_GRAPH, type SparqlHttp } from "./client.js";
import type { digest, spell } from "./scratch.js";

/** Of the module that the thread loads. */
interface Jobs {
  spell: typeof spell;
  digest: typeof digest;
}

/** A thread with the service's own engine: one job at a time, started when one comes. */
export class Scratch {
  readonly #pool: Piscina;

  /** @param idle ms after which the thread ends */
  constructor(idle: number) {
    this.#pool = new Piscina({
      filename: threadModule("src/storage/graph/endpoint/scratch").href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idle,
      env: {},
    });
    // A thread that fails between two jobs is replaced.
    this.#pool.on("error", () => undefined);
  }

  /** @throws ServiceError `QUERY_MEMORY` when the thread runs out of memory; what the job throws */
  async run<Name extends keyof Jobs>(
    name: Name,
    input: Parameters<Jobs[Name]>[0],
  ): Promise<ReturnType<Jobs[Name]>> {
    try {
      return (await this.#pool.run(input, { name })) as ReturnType<Jobs[Name]>;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_OUT_OF_MEMORY") throw error;
      throw new ServiceError(
        "QUERY_MEMORY",
        "The graph is too large for this format; ask for less, or for application/n-triples.",
      );
    }
  }

  /** Ends the thread, with its jobs. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

const QUADS = `SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } FILTER(?g != <${POSITION_GRAPH}>) }`;
/** Quads after which a batch ends with its graph, and quads after which it ends within a graph. */
const BATCH = 20_000;
const LARGEST_LOT = 500_000;
/** ms after which a thread without a batch ends; the next batch starts one. */
const THREAD_IDLE = 10_000;
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
  const scratch = new Scratch(THREAD_IDLE);
  try {
    const { value, sequence } = await asOf(async () => {
      const sum = new QuadDigest();
      let lines: string[] = [];
      let adding: Promise<void> = Promise.resolve();
      let graph = "";
      const add = async (nquads: string): Promise<void> => {
        const { words, quads } = await scratch.run("digest", nquads);
        sum.add(new QuadDigest(words, quads));
      };
      const flush = async (): Promise<void> => {
        await adding;
        adding = add(lines.join(""));
        adding.catch(() => {});
        lines = [];
      };
      for await (const rows of jsonRows<Quad>(
        http.query(QUADS, { accept: "application/sparql-results+json", timeout: PATIENCE }),
      )) {
        for (const row of rows) {
          if ((row.g.value !== graph && lines.length >= BATCH) || lines.length >= LARGEST_LOT)
            await flush();
          graph = row.g.value;
          lines.push(lineOf(row));
        }
      }
      await flush();
      await adding;
      return sum;
    });
    return { digest: value.digest, quads: value.quads, sequence };
  } finally {
    await scratch.close();
  }
}

/** A row of {@link QUADS}. */
type Quad = Record<"g" | "s" | "p" | "o", Term>;

const lineOf = ({ g, s, p, o }: Quad): string =>
  `${termOf(s)} ${termOf(p)} ${termOf(o)} ${termOf(g)} .\n`;

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
};

function termOf(term: Term): string {
  if (term.type === "uri") return `<${term.value}>`;
  if (term.type === "bnode") return `_:${term.value}`;
  const text = `"${term.value.replaceAll(/["\\\n\r]/g, (character) => ESCAPES[character] ?? character)}"`;
  if (term["xml:lang"] !== undefined) return `${text}@${term["xml:lang"]}`;
  return term.datatype === undefined ? text : `${text}^^<${term.datatype}>`;
}
