import { Worker } from "node:worker_threads";
import { ServiceError } from "../../../errors.js";
import { threadModule } from "../../../package-root.js";
import type { GraphFormat } from "../open-port.js";

export type ScratchRequest = { id: number } & ScratchQuestion;
export type ScratchQuestion =
  | { op: "spell"; ntriples: string; format: GraphFormat }
  /** Whole graphs of N-Quads for the digest that `digest` asks for. */
  | { op: "add"; nquads: string }
  | { op: "digest" };
export interface ScratchReply { id: number; error?: string; text?: string; digest?: string; quads?: number; leftOut?: number }

/** The scratch thread from outside: started when it is asked, ended when nobody has asked for a while. */
export class Scratch {
  #worker: Worker | undefined;
  #clock: NodeJS.Timeout | undefined;
  #lastId = 0;
  readonly #asked = new Map<number, { resolve(reply: ScratchReply): void; reject(error: Error): void }>();

  /** @param idle ms after which the thread is ended, and what was added with it; `null`: it stays until it is closed */
  constructor(private readonly idle: number | null) {}

  /** @throws ServiceError `QUERY_MEMORY` when the thread cannot hold it; Error with what it said */
  ask(question: ScratchQuestion): Promise<ScratchReply> {
    clearTimeout(this.#clock);
    const id = ++this.#lastId;
    return new Promise<ScratchReply>((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      (this.#worker ??= this.#start()).postMessage({ id, ...question } satisfies ScratchRequest);
    });
  }

  /** Ends the thread; who asks afterwards gets another one. */
  async close(): Promise<void> {
    clearTimeout(this.#clock);
    const worker = this.#worker;
    this.#lost();
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(threadModule("src/stores/queries/endpoint/scratch-thread"), { name: "graph-scratch", env: {} });
    worker.on("message", (reply: ScratchReply) => {
      const asked = this.#asked.get(reply.id);
      this.#asked.delete(reply.id);
      if (reply.error === undefined) asked?.resolve(reply);
      else asked?.reject(new Error(reply.error));
      if (this.#asked.size === 0 && this.idle !== null && this.#worker === worker) this.#clock = setTimeout(() => void this.close(), this.idle).unref();
    });
    worker.on("error", () => {});
    worker.once("exit", () => {
      // One that was closed has a successor, perhaps, which knows what is asked now.
      if (this.#worker === worker) this.#lost();
    });
    return worker;
  }

  #lost(): void {
    this.#worker = undefined;
    for (const { reject } of this.#asked.values()) reject(new ServiceError("QUERY_MEMORY", "The graph is more than can be written in this form; ask for less, or for application/n-triples."));
    this.#asked.clear();
  }
}
