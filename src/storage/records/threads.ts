import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { threadModule } from "../../package-root.js";
import { receiveError, type SentError, unavailable } from "./refusals.js";

/** A message to a feed thread: serve a further reader at this port, or end. */
export type FeedThreadMessage = { open: MessagePort } | { close: true };

/** Starts the feed thread when the first feed is opened. */
export class Feed {
  #worker: Worker | undefined;
  #ended: Promise<void> = Promise.resolve();

  readonly #module: string;
  readonly #workerData: unknown;
  readonly #log: (message: string) => void;

  /** @param module of the thread, for {@link threadModule} */
  constructor(module: string, workerData: unknown, log: (message: string) => void) {
    this.#module = module;
    this.#workerData = workerData;
    this.#log = log;
  }

  /**
   * A port for the reader; it may be transferred to another thread. It closes when the feed thread
   * ends.
   */
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
    const worker = new Worker(threadModule(this.#module), {
      workerData: this.#workerData,
      name: "records-feed",
    });
    worker.on("error", (error) => this.#log(`The feed thread failed: ${error.message}`));
    this.#ended = new Promise((resolve) =>
      worker.once("exit", () => {
        // The next feed gets a new thread; readers of this one see their ports close.
        if (this.#worker === worker) this.#worker = undefined;
        resolve();
      }),
    );
    this.#worker = worker;
    return worker;
  }
}

/** Messages to such a thread, and its answer to each question. */
export type AskedThreadMessage<Question> = { ask: Question } | { close: true };
export type AskedThreadAnswer<Answer> = { answer: Answer } | { error: SentError };

interface Asked<Question, Answer> {
  question: Question;
  signal: AbortSignal | undefined;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * The serving side of a thread that answers questions: it starts with the first one, and anew after
 * a failure. The thread gets one question at a time; a question whose caller has gone is dropped,
 * so that the thread never works for no one.
 */
export class AskedThread<Question, Answer> {
  #worker: Worker | undefined;
  #ended: Promise<void> = Promise.resolve();
  #closed = false;
  #current: Asked<Question, Answer> | undefined;
  readonly #waiting: Asked<Question, Answer>[] = [];

  readonly #what: string;
  readonly #module: string;
  readonly #workerData: unknown;
  readonly #log: (message: string) => void;

  /**
   * @param what the thread's name, e.g. "search";
   * @param module of the thread, for {@link threadModule}
   */
  constructor(what: string, module: string, workerData: unknown, log: (message: string) => void) {
    this.#what = what;
    this.#module = module;
    this.#workerData = workerData;
    this.#log = log;
  }

  /** @param signal an abort before the question is sent prevents it; its reason is thrown */
  ask(question: Question, signal?: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, signal, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#fail();
    this.#worker?.postMessage({ close: true } satisfies AskedThreadMessage<Question>);
    await this.#ended;
  }

  #next(): void {
    if (this.#closed) this.#fail();
    while (this.#current === undefined && this.#waiting.length > 0) {
      const asked = this.#waiting.shift()!;
      if (asked.signal?.aborted === true) asked.reject(asked.signal.reason);
      else
        try {
          (this.#worker ??= this.#start()).postMessage({
            ask: asked.question,
          } satisfies AskedThreadMessage<Question>);
          this.#current = asked;
        } catch (error) {
          // A thread that cannot be started fails this question and not the next ones.
          asked.reject(error);
        }
    }
  }

  #fail(): void {
    for (const { reject } of this.#waiting.splice(0)) reject(unavailable("the store is closed"));
  }

  #start(): Worker {
    const worker = new Worker(threadModule(this.#module), {
      workerData: this.#workerData,
      name: `records-${this.#what}`,
    });
    worker.on("message", (answer: AskedThreadAnswer<Answer>) => {
      const asked = this.#current;
      this.#current = undefined;
      if ("error" in answer) asked?.reject(receiveError(answer.error));
      else asked?.resolve(answer.answer);
      this.#next();
    });
    worker.on("error", (error) => this.#log(`The ${this.#what} thread failed: ${error.message}`));
    this.#ended = new Promise((resolve) =>
      worker.once("exit", () => {
        if (this.#worker === worker) this.#worker = undefined;
        this.#current?.reject(unavailable(`the ${this.#what} thread ended`));
        this.#current = undefined;
        resolve();
        this.#next();
      }),
    );
    return worker;
  }
}
