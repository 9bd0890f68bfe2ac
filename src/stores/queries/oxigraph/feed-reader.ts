import type { MessagePort } from "node:worker_threads";
import { setTimeout as pause } from "node:timers/promises";
import type { FeedAnswer, FeedRequest } from "../../records/port.js";

type Question = { all: { after: number; limit: number } } | { since: { sequence: number; limit: number } };

/** ms before a feed that answered with an error is asked again; doubled up to the last. */
const FIRST_RETRY = 100;
const LAST_RETRY = 10_000;

/** The asking side of a feed port ({@link FeedRequest}). A question that the store could not answer is asked again until it can. */
export class FeedReader {
  #lastId = 0;
  #closed = false;
  readonly #asked = new Map<number, { resolve: (answer: FeedAnswer) => void; reject: (error: Error) => void }>();

  /** @param onError told each time the store answers with an error */
  constructor(private readonly port: MessagePort, private readonly onError: (message: string) => void = () => {}) {
    port.on("message", (answer: FeedAnswer) => {
      this.#asked.get(answer.id)?.resolve(answer);
      this.#asked.delete(answer.id);
    });
    port.on("close", () => {
      this.#closed = true;
      for (const question of this.#asked.values()) question.reject(new Error("the feed of the record store was closed"));
      this.#asked.clear();
    });
  }

  /** @throws Error when the port is closed */
  async ask(question: Question): Promise<FeedAnswer> {
    for (let wait = FIRST_RETRY; ; wait = Math.min(wait * 2, LAST_RETRY)) {
      const answer = await this.#once(question);
      if (answer.error === undefined) return answer;
      this.onError(answer.error);
      await pause(wait);
    }
  }

  close(): void {
    this.port.close();
  }

  #once(question: Question): Promise<FeedAnswer> {
    if (this.#closed) return Promise.reject(new Error("the feed of the record store was closed"));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.port.postMessage({ id, ...question } satisfies FeedRequest);
    });
  }
}
