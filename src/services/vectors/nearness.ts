import type { Embedder } from "../../adapters/embeddings/port.js";
import { isOutage } from "../../errors.js";
import type { SearchPage, SearchQuery } from "../../storage/records/port.js";
import type { Log } from "../../log.js";

/**
 * After a failure of the server, searches use words only for this time, ms: none of them waits in
 * vain.
 */
const REST = 5_000;

/**
 * Lets searches use the nearness of vectors, as long as the embeddings server answers; otherwise
 * words only.
 */
export class Nearness {
  #pausedUntil = 0;
  #failing = false;

  readonly #embedder: Embedder;
  readonly #log: Log;

  constructor(embedder: Embedder, log: Log) {
    this.#embedder = embedder;
    this.#log = log;
  }

  /**
   * @param search runs the search: with the nearest records, or without
   * @throws what `search` throws; the signal's reason
   */
  async search(
    text: string,
    search: (near?: SearchQuery["near"]) => Promise<SearchPage>,
    signal: AbortSignal,
  ): Promise<SearchPage> {
    const near = Date.now() < this.#pausedUntil ? undefined : await this.#of(text, signal);
    if (!near) return search();
    this.#works();
    return search(near);
  }

  async #of(text: string, signal: AbortSignal): Promise<SearchQuery["near"]> {
    try {
      return { model: this.#embedder.model, vector: await this.#embedder.query(text, signal) };
    } catch (error) {
      signal.throwIfAborted();
      // One refused query must not disable vectors for all others; if a server refuses everything,
      // the job that computes vectors fails and reports it.
      if (isOutage(error)) this.#fails(error);
      else this.#log.debug({ err: error }, "a search uses words only");
      return undefined;
    }
  }

  /** Logs once that searches use words only, and why. */
  #fails(err: unknown): void {
    this.#pausedUntil = Date.now() + REST;
    if (!this.#failing)
      this.#log.warn({ err }, "searches use words only: no vectors are available");
    this.#failing = true;
  }

  #works(): void {
    if (this.#failing) this.#log.info({}, "searches use vectors again");
    this.#failing = false;
  }
}
