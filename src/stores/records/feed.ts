import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { threadModule } from "../../package-root.js";

/** What a feed thread is told: to serve a further reader at this port, or to end. */
export type FeedThreadMessage = { open: MessagePort } | { close: true };

/** Starts the feed thread when the first feed is opened. */
export class Feed {
  #worker: Worker | undefined;
  #ended: Promise<void> = Promise.resolve();

  /** @param module of the thread, for {@link threadModule} */
  constructor(private readonly module: string, private readonly workerData: unknown, private readonly log: (message: string) => void) {}

  /** A port for the reader; it may be transferred to another thread. It closes when the feed thread ends. */
  open(): MessagePort {
    const worker = this.#worker ?? this.#start();
    const { port1, port2 } = new MessageChannel();
    worker.postMessage({ open: port2 } satisfies FeedThreadMessage, [port2]);
    return port1;
  }

  async close(): Promise<void> {
    this.#worker?.postMessage({ close: true } satisfies FeedThreadMessage);
    await this.#ended;
  }

  #start(): Worker {
    const worker = new Worker(threadModule(this.module), { workerData: this.workerData, name: "records-feed" });
    worker.on("error", (error) => this.log(`The feed thread failed: ${error.message}`));
    this.#ended = new Promise((resolve) => worker.once("exit", () => {
      // The next feed gets a new thread; readers of this one see their ports close.
      if (this.#worker === worker) this.#worker = undefined;
      resolve();
    }));
    this.#worker = worker;
    return worker;
  }
}
