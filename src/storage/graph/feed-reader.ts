import type { MessagePort } from "node:worker_threads";
import { setTimeout as pause } from "node:timers/promises";
import type { FeedAnswer, FeedRequest } from "../records/port.js";

type Question =
  { all: { after: number; limit: number } } | { since: { sequence: number; limit: number } };

/** ms before a feed that answered with an error is asked again; doubled up to the last. */
const FIRST_RETRY = 100;
const LAST_RETRY = 10_000;

/**
 * ms after which a silent feed counts as closed: a port that was cut on its way to the thread
 * reports nothing.
 */
const SILENCE = 60_000;

/**
 * The asking side of a feed port ({@link FeedRequest}). When the store could not answer a question,
 * it is asked again until it can.
 */
export class FeedReader {
  #lastId = 0;
  #closed = false;
  readonly #asked = new Map<
    number,
    { resolve: (answer: FeedAnswer) => void; reject: (error: Error) => void; clock: NodeJS.Timeout }
  >();

  /**
   * Why the store last answered with an error; while the error lasts, each retry reports the same.
   */
  #reason: string | undefined;

  readonly #port: MessagePort;
  readonly #onError: (message: string) => void;

  /**
   * @param onError called when the store answers with an error, once for as long as it is the same
   */
  constructor(port: MessagePort, onError: (message: string) => void = () => {}) {
    this.#port = port;
    this.#onError = onError;

    port.on("message", (answer: FeedAnswer) => {
      const question = this.#asked.get(answer.id);
      if (!question) return;
      clearTimeout(question.clock);
      this.#asked.delete(answer.id);
      question.resolve(answer);
    });
    port.on("close", () => {
      this.#closed = true;
      for (const { reject, clock } of this.#asked.values()) {
        clearTimeout(clock);
        reject(new Error("the feed of the record store was closed"));
      }
      this.#asked.clear();
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** @throws Error when the port is closed */
  async ask(question: Question): Promise<FeedAnswer> {
    for (let wait = FIRST_RETRY; ; wait = Math.min(wait * 2, LAST_RETRY)) {
      const answer = await this.#once(question);
      if (answer.error === undefined) {
        this.#reason = undefined;
        return answer;
      }
      if (answer.error !== this.#reason) this.#onError(answer.error);
      this.#reason = answer.error;
      await pause(wait);
    }
  }

  close(): void {
    this.#port.close();
  }

  #once(question: Question): Promise<FeedAnswer> {
    if (this.#closed) return Promise.reject(new Error("the feed of the record store was closed"));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const clock = setTimeout(
        () =>
          reject(new Error(`the feed of the record store sent nothing for ${SILENCE / 1000} s`)),
        SILENCE,
      );
      this.#asked.set(id, { resolve, reject, clock });
      this.#port.postMessage({ id, ...question } satisfies FeedRequest);
    });
  }
}
