import { Worker } from "node:worker_threads";
import { threadModule } from "../../../../package-root.js";
import type { SearchPage, SearchQuery } from "../../search-port.js";
import { receiveError, unavailable } from "../requests.js";
import type { SearchAnswer, SearchRequest } from "./search-thread.js";

interface Waiting { resolve(page: SearchPage): void; reject(error: Error): void }

/** The search thread's side that serves: it starts with the first search, and anew after a failure. */
export class Search {
  #worker: Worker | undefined;
  #ended: Promise<void> = Promise.resolve();
  #asked = 0;
  readonly #waiting = new Map<number, Waiting>();

  constructor(private readonly file: string, private readonly log: (message: string) => void) {}

  ask(query: SearchQuery): Promise<SearchPage> {
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      (this.#worker ??= this.#start()).postMessage({ id, query } satisfies SearchRequest);
    });
  }

  async close(): Promise<void> {
    this.#worker?.postMessage({ close: true } satisfies SearchRequest);
    await this.#ended;
  }

  #start(): Worker {
    const worker = new Worker(threadModule("src/stores/records/sqlite/search/search-thread"), { workerData: { file: this.file }, name: "records-search" });
    worker.on("message", (answer: SearchAnswer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if ("error" in answer) waiting?.reject(receiveError(answer.error));
      else waiting?.resolve(answer.page);
    });
    worker.on("error", (error) => this.log(`The search thread failed: ${error.message}`));
    this.#ended = new Promise((resolve) => worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(unavailable("the search thread ended"));
      this.#waiting.clear();
      resolve();
    }));
    return worker;
  }
}
