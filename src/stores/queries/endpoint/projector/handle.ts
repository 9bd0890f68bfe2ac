import { Worker, type MessagePort } from "node:worker_threads";
import { threadModule } from "../../../../package-root.js";
import type { EngineLog } from "../../log.js";
import type { EndpointAddress, ProjectionOptions } from "../options.js";
import type { ProjectorReply, ProjectorRequest } from "./messages.js";

/** ms before a thread that was lost is started again. */
const RESTART = 1_000;

export interface HandleOptions { openFeed: () => MessagePort; address: EndpointAddress; truth: string; options: ProjectionOptions; log: EngineLog }

/** The projector's thread from outside; it is started anew whenever it ends. */
export class ProjectorHandle {
  #worker: Worker | undefined;
  #restart: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param onStart a thread has begun, and knows of no lease */
  constructor(private readonly setting: HandleOptions, private readonly onReply: (reply: ProjectorReply) => void, private readonly onStart: () => void) {
    this.#start();
  }

  post(request: ProjectorRequest): void {
    this.#worker?.postMessage(request);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restart);
    await this.#worker?.terminate();
  }

  #start(): void {
    const { openFeed, log, ...data } = this.setting;
    let worker: Worker;
    try {
      const feed = openFeed();
      worker = new Worker(threadModule("src/stores/queries/endpoint/projector/thread"), { workerData: { feed, ...data }, transferList: [feed], name: "projector" });
    } catch (error) {
      return this.#again((error as Error).message);
    }
    this.#worker = worker;
    let reason = "it ended";
    worker.on("message", (reply: ProjectorReply) => {
      if (reply.op === "log") log[reply.level](reply.fields, reply.message);
      else this.onReply(reply);
    });
    worker.on("error", (error) => (reason = error.message));
    worker.once("exit", () => {
      if (!this.#closed) this.#again(reason);
    });
    this.onStart();
  }

  #again(reason: string): void {
    this.setting.log.error({ reason }, "the projector's thread was lost; a new one starts after a pause");
    this.#restart = setTimeout(() => this.#start(), RESTART);
  }
}
