/** Indexes follow the record store: the feed is read, and its steps are applied. */
import { setTimeout as pause } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import type { FeedAnswer, FeedGraph, FeedRequest } from "../records/port.js";

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

/**
 * How often a feed is asked again when it has not reached the announced sequence, and ms between.
 */
const IMPATIENCE = 8;
const IMPATIENCE_WAIT = 25;

interface FollowerOptions {
  feed: FeedReader;
  pageSize: number;
  /** Brings the graphs to the given state; may wait before it begins. */
  apply(graphs: FeedGraph[]): void | Promise<void>;
  onProgress?(done: number, total: number): void;
  /** Everything up to the sequence is applied. */
  onReached?(sequence: number): void;
}

/** Keeps a projection in step with the record store: all graphs first, then the changes. */
export class Follower {
  sequence = 0;
  #target = 0;
  #following: Promise<void> | undefined;
  #loaded = false;

  readonly #options: FollowerOptions;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /**
   * Applies every graph, then the changes made while they were read.
   * @param from the projection is as of this commit already: only later changes are applied
   * @throws when the feed is closed
   */
  async load(from?: number): Promise<void> {
    this.sequence = from ?? (await this.#loadAll());
    await this.#catchUp();
    this.#loaded = true;
    this.#options.onReached?.(this.sequence);
    await this.advance(this.#target);
  }

  /** @returns the commit before which nothing is missing */
  async #loadAll(): Promise<number> {
    const { pageSize } = this.#options;
    let done = 0;
    let next = this.#options.feed.ask({ all: { after: 0, limit: pageSize } });
    let first: number | undefined;
    for (;;) {
      const page = await next;
      first ??= page.sequence;
      if (page.next !== undefined) {
        // The store reads the next page while this one is applied.
        next = this.#options.feed.ask({ all: { after: page.next, limit: pageSize } });
        next.catch(() => {});
      }
      await this.#options.apply(page.graphs);
      done += page.graphs.length;
      this.#options.onProgress?.(done, Math.max(page.total ?? done, done));
      if (page.next === undefined) return first;
    }
  }

  /**
   * Applies the commits of the record store up to the sequence, and later ones where there are any.
   */
  advance(sequence: number): Promise<void> {
    this.#target = Math.max(this.#target, sequence);
    if (!this.#loaded) return Promise.resolve();
    this.#following ??= this.#follow().finally(() => (this.#following = undefined));
    return this.#following;
  }

  async #follow(): Promise<void> {
    for (let tries = 0; this.sequence < this.#target && tries < IMPATIENCE; tries++) {
      if (tries > 0) await pause(IMPATIENCE_WAIT * tries);
      const before = this.sequence;
      await this.#catchUp();
      if (this.sequence > before) {
        tries = -1;
        this.#options.onReached?.(this.sequence);
      }
    }
    // Announced, but missing for good: not asked for again until the next announcement.
    if (this.sequence < this.#target) this.#target = this.sequence;
  }

  async #catchUp(): Promise<void> {
    for (;;) {
      const page: FeedAnswer = await this.#options.feed.ask({
        since: { sequence: this.sequence, limit: this.#options.pageSize },
      });
      await this.#options.apply(page.graphs);
      this.sequence = Math.max(this.sequence, page.sequence);
      if (!page.more) return;
    }
  }
}
