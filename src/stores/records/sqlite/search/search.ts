import { Worker } from "node:worker_threads";
import { threadModule } from "../../../../package-root.js";
import type { SearchPage, SearchQuery } from "../../search-port.js";
import { receiveError } from "../requests.js";
import { unavailable } from "../../unavailable.js";
import type { SearchAnswer, SearchRequest } from "./search-thread.js";

interface Asked { query: SearchQuery; signal: AbortSignal | undefined; resolve(page: SearchPage): void; reject(error: unknown): void }

/**
 * The search thread's side that serves: it starts with the first search, and anew after a failure. It is given one
 * query at a time; those that nobody waits for any more are dropped, so that the thread never works for no one.
 */
export class Search {
  #worker: Worker | undefined;
  #ended: Promise<void> = Promise.resolve();
  #closed = false;
  #current: Asked | undefined;
  readonly #waiting: Asked[] = [];

  constructor(private readonly file: string, private readonly log: (message: string) => void) {}

  ask(query: SearchQuery, signal?: AbortSignal): Promise<SearchPage> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ query, signal, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#fail();
    this.#worker?.postMessage({ close: true } satisfies SearchRequest);
    await this.#ended;
  }

  #next(): void {
    if (this.#closed) this.#fail();
    while (this.#current === undefined && this.#waiting.length > 0) {
      const asked = this.#waiting.shift()!;
      if (asked.signal?.aborted === true) asked.reject(asked.signal.reason);
      else {
        this.#current = asked;
        (this.#worker ??= this.#start()).postMessage({ query: asked.query } satisfies SearchRequest);
      }
    }
  }

  #fail(): void {
    for (const { reject } of this.#waiting.splice(0)) reject(unavailable("the store is closed"));
  }

  #start(): Worker {
    const worker = new Worker(threadModule("src/stores/records/sqlite/search/search-thread"), { workerData: { file: this.file }, name: "records-search" });
    worker.on("message", (answer: SearchAnswer) => {
      const asked = this.#current;
      this.#current = undefined;
      if ("error" in answer) asked?.reject(receiveError(answer.error));
      else asked?.resolve(answer.page);
      this.#next();
    });
    worker.on("error", (error) => this.log(`The search thread failed: ${error.message}`));
    this.#ended = new Promise((resolve) => worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
      this.#current?.reject(unavailable("the search thread ended"));
      this.#current = undefined;
      resolve();
      this.#next();
    }));
    return worker;
  }
}
