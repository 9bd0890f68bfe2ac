import { Worker } from "node:worker_threads";
import type { Config } from "../../../config/config.js";
import { ServiceError } from "../../../errors.js";
import { threadModule } from "../../../package-root.js";
import { oneSpelling } from "../../../rdf/terms.js";
import type { Checked, CheckLimits, GuardData, GuardReply, GuardRequest } from "./check.js";
import { type Hidden, inTotalOrder } from "./rewrite.js";
import { plainTokens, type ScanLimits, type Scanned, scan } from "./scan.js";

/**
 * The query with at most so many rows: one more than are shown, which reveals that there are more.
 */
function boundRows({ text, limit, values }: Scanned, rows: number): string {
  if (limit)
    return Number(text.slice(limit.from, limit.to)) <= rows
      ? text
      : `${text.slice(0, limit.from)}${rows}${text.slice(limit.to)}`;
  // On a line of its own: the last line may be a comment.
  return values === undefined
    ? `${text}\nLIMIT ${rows}`
    : `${text.slice(0, values)}\nLIMIT ${rows}\n${text.slice(values)}`;
}

export type GuardLimits = ScanLimits &
  CheckLimits &
  Pick<Config, "SPARQL_PARSE_TIMEOUT" | "SPARQL_QUEUE" | "SPARQL_IDLE">;

/** A query that may be run. */
interface GuardedQuery extends Checked {
  text: string;
  /** The same with at most so many rows; for SELECT. */
  bounded(rows: number): string;
}

/**
 * Most accepted queries in the cache, and the longest of them: programs send the same queries again
 * and again.
 */
const REMEMBERED = 200;
const LONGEST_REMEMBERED = 10_000;

/** A rewritten query is longer and deeper than the original, and is not untrusted text any more. */
const GENERATED: ScanLimits = { SPARQL_MAX_QUERY_BYTES: 2 ** 24, SPARQL_MAX_DEPTH: 1_000 };

/** With the columns in place of `*`: engines have their own order of columns. */
const named = ({ text, star }: Scanned, columns: readonly string[] | undefined): string =>
  columns === undefined || star === undefined
    ? text
    : `${text.slice(0, star)}${columns.map((name) => `?${name}`).join(" ")}${text.slice(star + 1)}`;

interface Waiting {
  request: GuardRequest;
  resolve(checked: Checked): void;
  reject(error: Error): void;
}

/**
 * Precedes the query engine: first a pass over the characters, which is safe for any input, then a
 * parser in a separate thread, started at the first query and ended when idle.
 */
export class QueryGuard {
  #worker: Worker | undefined;
  #running: Waiting | undefined;
  #clock: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #waiting: Waiting[] = [];
  /** By base and text; the oldest first. */
  readonly #passed = new Map<string, Checked>();

  readonly #limits: GuardLimits;
  readonly #hidden: Hidden | undefined;

  /** @param hidden data of the endpoint that no query may see */
  constructor(limits: GuardLimits, hidden?: Hidden) {
    this.#limits = limits;
    this.#hidden = hidden;
  }

  /**
   * @param base IRI that relative ones are resolved against
   * @throws ServiceError `TOO_LARGE`, `QUERY_SYNTAX` with line and column, `QUERY_REFUSED`,
   * `UPDATE_REFUSED`, `SPARQL_BUSY`
   */
  async check(query: string, base: string): Promise<GuardedQuery> {
    const scanned = scan(query, this.#limits);
    if (this.#closed)
      throw new ServiceError(
        "SHUTTING_DOWN",
        "The service is stopping. Retry when it has started again.",
      );
    const key = `${base} ${scanned.text}`;
    const checked = this.#passed.get(key) ?? (await this.#parsed({ text: scanned.text, base }));
    if (scanned.text.length <= LONGEST_REMEMBERED) this.#remember(key, checked);
    const { narrowed, columns } = checked;
    const shown = named(narrowed === undefined ? scanned : scan(narrowed, GENERATED), columns);
    const meant = inTotalOrder(plainTokens(shown, oneSpelling));
    const asked = meant === scanned.text ? scanned : scan(meant, GENERATED);
    return { ...checked, text: asked.text, bounded: (rows) => boundRows(asked, rows) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const stopping = new ServiceError(
      "SHUTTING_DOWN",
      "The service is stopping. Retry when it has started again.",
      {},
      { "Retry-After": "5" },
    );
    for (const { reject } of this.#waiting.splice(0)) reject(stopping);
    await this.#end(stopping);
  }

  #remember(key: string, checked: Checked): void {
    this.#passed.delete(key);
    this.#passed.set(key, checked);
    if (this.#passed.size > REMEMBERED) this.#passed.delete(this.#passed.keys().next().value!);
  }

  #parsed(request: GuardRequest): Promise<Checked> {
    if (this.#waiting.length >= this.#limits.SPARQL_QUEUE)
      return Promise.reject(
        new ServiceError(
          "SPARQL_BUSY",
          `More than ${this.#limits.SPARQL_QUEUE} queries wait to be read (SPARQL_QUEUE); ` +
            "try again shortly.",
          {},
          { "Retry-After": "2" },
        ),
      );
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#running || this.#closed) return;
    clearTimeout(this.#clock);
    const next = this.#waiting.shift();
    if (!next) {
      this.#clock = setTimeout(() => void this.#end(), this.#limits.SPARQL_IDLE).unref();
      return;
    }
    this.#running = next;
    const { SPARQL_PARSE_TIMEOUT: limit } = this.#limits;
    this.#clock = setTimeout(
      () => this.#lost(`takes longer than ${limit} ms to read (SPARQL_PARSE_TIMEOUT)`),
      limit,
    ).unref();
    this.#thread().postMessage(next.request);
  }

  #thread(): Worker {
    if (this.#worker) return this.#worker;
    const { SPARQL_MAX_PATTERNS, SPARQL_MAX_OPERATORS, SPARQL_MAX_VALUES, SPARQL_MAX_CLOSURES } =
      this.#limits;
    const worker = new Worker(threadModule("src/services/sparql/guard/thread"), {
      workerData: {
        SPARQL_MAX_PATTERNS,
        SPARQL_MAX_OPERATORS,
        SPARQL_MAX_VALUES,
        SPARQL_MAX_CLOSURES,
        hidden: this.#hidden,
      } satisfies GuardData,
      name: "sparql-guard",
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 256, stackSizeMb: 8 },
    });
    const current = (act: () => void) => {
      if (worker === this.#worker) act();
    };
    worker.on("message", (reply: GuardReply) => current(() => this.#answered(reply)));
    worker.on("error", () => current(() => this.#lost("is too large for the parser")));
    worker.on("exit", () => current(() => this.#lost("ended its parser")));
    return (this.#worker = worker);
  }

  #answered(reply: GuardReply): void {
    const asked = this.#running;
    this.#running = undefined;
    clearTimeout(this.#clock);
    if ("checked" in reply) asked?.resolve(reply.checked);
    else
      asked?.reject(
        new ServiceError(reply.refusal.code, reply.refusal.message, reply.refusal.extra),
      );
    this.#next();
  }

  /** The query that was being parsed is refused; the others get a new thread. */
  #lost(why: string): void {
    void this.#end(new ServiceError("QUERY_REFUSED", `The query ${why}; write it shorter.`));
    this.#next();
  }

  async #end(reason?: Error): Promise<void> {
    const worker = this.#worker;
    const running = this.#running;
    this.#worker = undefined;
    this.#running = undefined;
    clearTimeout(this.#clock);
    if (reason) running?.reject(reason);
    await worker?.terminate();
  }
}
