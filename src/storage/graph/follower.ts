import { setTimeout as pause } from "node:timers/promises";
import type { FeedAnswer, FeedGraph } from "../records/port.js";
import type { FeedReader } from "./feed-reader.js";

/**
 * How often a feed is asked again when it has not reached the announced sequence, and ms between.
 */
const IMPATIENCE = 8;
const IMPATIENCE_WAIT = 25;

export interface FollowerOptions {
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
      const last = page.next === undefined;
      if (!last) {
        // The store reads the next page while this one is applied.
        next = this.#options.feed.ask({ all: { after: page.next!, limit: pageSize } });
        next.catch(() => {});
      }
      await this.#options.apply(page.graphs);
      done += page.graphs.length;
      this.#options.onProgress?.(done, Math.max(page.total ?? done, done));
      if (last) return first;
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
