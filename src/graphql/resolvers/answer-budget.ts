/** Limits of one answer, which hold while it is put together. */
import { ServiceError } from "../../errors.js";
import type { Caller } from "../../services/access/rules.js";
import type { Deps } from "../../services/deps.js";
import { eventLoop } from "../../event-loop-budget.js";
import type { RecordNode } from "./types/records.js";

/**
 * Bytes of a document that take about a millisecond to parse, and bytes that are parsed in one turn
 * of the event loop.
 */
const [LARGE_DOCUMENT_BYTES, MAX_PARSED_BYTES_PER_TURN] = [32 * 2 ** 10, 256 * 2 ** 10];
/**
 * Bytes of a document of which a list shows parts: what is longer counts for a small share, so that
 * the longest record there is does not end every list that it is in. Who asks for the document
 * itself has it counted whole.
 */
const [FULLY_COUNTED_BYTES, SHARE_BEYOND] = [64 * 2 ** 10, 64];
export const shareOf = (bytes: number): number =>
  bytes <= FULLY_COUNTED_BYTES
    ? bytes
    : FULLY_COUNTED_BYTES + Math.ceil((bytes - FULLY_COUNTED_BYTES) / SHARE_BEYOND);
/** Share of an answer from which one value by itself is too long; the rest is answered. */
const LONG_VALUE_SHARE = 4;

/** A value does not fit in the answer. What else was asked for is answered. */
export class ValueTooLong extends ServiceError {}

/** Bytes of an answer after which they are compared with the limit again. */
const STEP = 2 ** 10;
/** Nodes that are answered without a pause. */
const MAX_NODES_PER_TURN = 50;

/** Counts what one answer is made of, and refuses what is over its limits. */
export class AnswerBudget {
  #spent = 0;
  #held = 0;
  #weight = 0;
  /** How long the answer was when that was last compared with the limit. */
  #compared = 0;
  #pages: Promise<unknown> = Promise.resolve();
  #begun = 0;
  #since = 0;

  readonly #config: Deps["config"];
  readonly #caller: Caller | null;
  readonly #isAbandoned: () => boolean;

  /** @param isAbandoned whether nobody waits for the answer any more */
  constructor(config: Deps["config"], caller: Caller | null, isAbandoned: () => boolean) {
    this.#config = config;
    this.#caller = caller;
    this.#isAbandoned = isAbandoned;
  }

  /**
   * Queues reads so that each runs in its own turn of the event loop: a document of a few kilobytes
   * may ask for a hundred pages, and reading them blocks the thread that serves other requests as
   * well. Pages that will not be answered are not read.
   * @throws ServiceError `QUERY_TOO_COSTLY` when the answer has reached its limit; `QUERY_TIMEOUT`
   * when it took too long for a caller without token; `BAD_REQUEST` when nobody waits for it
   */
  queued<R>(read: () => Promise<R>): Promise<R> {
    const isFirst = this.#begun++ === 0;
    if (isFirst) this.#since = performance.now();
    const result = this.#pages
      .then(() => (isFirst ? undefined : eventLoop.nextTurn()))
      .then(() => {
        if (this.#held > this.#config.GRAPHQL_MAX_BYTES) throw this.#tooMuch();
        this.assertMayGoOn();
        return read();
      });
    this.#pages = result.catch(() => undefined);
    return result;
  }

  /**
   * To be called after each pause.
   * @throws ServiceError as {@link queued}
   */
  assertMayGoOn(): void {
    if (this.#isAbandoned())
      throw new ServiceError("BAD_REQUEST", "The request was abandoned before it was answered.");
    if (this.#weight > this.#config.GRAPHQL_MAX_BYTES) throw this.#tooLong();
    this.#assertInTime();
  }

  #assertInTime(): void {
    const { GRAPHQL_ANONYMOUS_TIME: most } = this.#config;
    if (this.#caller || this.#begun === 0 || performance.now() - this.#since <= most) return;
    throw new ServiceError(
      "QUERY_TIMEOUT",
      `The operation took longer than ${most / 1000} s, which is the limit without a token ` +
        "(GRAPHQL_ANONYMOUS_TIME). Ask for smaller pages with first, or send a token.",
    );
  }

  #tooMuch(): ServiceError {
    return new ServiceError(
      "QUERY_TOO_COSTLY",
      `The answer would be made of more than ${this.#config.GRAPHQL_MAX_BYTES} bytes of ` +
        "documents (GRAPHQL_MAX_BYTES). Ask for smaller pages with first.",
    );
  }

  #tooLong(): ServiceError {
    return new ServiceError(
      "QUERY_TOO_COSTLY",
      `The answer would be longer than ${this.#config.GRAPHQL_MAX_BYTES} bytes ` +
        "(GRAPHQL_MAX_BYTES). Ask for fewer fields, or for smaller pages with first.",
    );
  }

  /** Adds to the length of the answer. */
  weigh(bytes: number): void {
    this.#weight += bytes;
  }
  /** @throws ValueTooLong for a value that alone fills the rest of the answer; it is not added */
  assertFits(bytes: number): void {
    const most = this.#config.GRAPHQL_MAX_BYTES;
    const there = Math.max(this.#weight, this.#held);
    if (bytes * LONG_VALUE_SHARE > most && there <= most && there + bytes > most)
      throw new ValueTooLong(
        "QUERY_TOO_COSTLY",
        `The value has ${bytes} bytes, more than an answer of ${most} bytes has space for ` +
          "(GRAPHQL_MAX_BYTES). Read the record by itself, over REST.",
      );
  }
  /**
   * Compares the length of the answer with its limit, once for each {@link STEP}.
   * @throws ServiceError as {@link assertMayGoOn}
   */
  compare(): void {
    if (this.#weight - this.#compared < STEP) return;
    this.#compared = this.#weight;
    this.assertMayGoOn();
  }
  /** About how long the answer is: its values, and the documents that it is made of. */
  get weight(): number {
    return this.#weight + this.#held;
  }

  /** Counts bytes of the answer that are not of a record's document. @throws as {@link hold} */
  count(bytes: number): void {
    this.assertFits(bytes);
    if ((this.#held += bytes) > this.#config.GRAPHQL_MAX_BYTES) throw this.#tooMuch();
  }

  /**
   * The same of values that become JSON, with pauses.
   * @throws as {@link hold}
   */
  async countJson(values: readonly object[]): Promise<void> {
    for (const value of values) {
      this.count(JSON.stringify(value).length);
      await eventLoop.pause();
    }
  }

  /** Begins anew, for the next event of a subscription. */
  begin(): void {
    this.#spent = 0;
    this.#held = 0;
    this.#weight = 0;
    this.#compared = 0;
    this.#begun = 0;
  }

  /**
   * Counts records that links led to: their number is not known in advance.
   * @throws ServiceError `QUERY_TOO_COSTLY`
   */
  spend(records: number): void {
    const most = this.#config.GRAPHQL_MAX_COST;
    if ((this.#spent += records) > most) {
      throw new ServiceError(
        "QUERY_TOO_COSTLY",
        `The links lead to more than ${most} records (GRAPHQL_MAX_COST): ask for smaller ` +
          "pages with first, or follow fewer links at a time.",
      );
    }
  }

  /**
   * Counts the bytes of documents of which the answer shows parts. Large documents are parsed here,
   * with pauses in which other requests are served; the execution would parse them all at once.
   * @throws ServiceError `QUERY_TOO_COSTLY`
   */
  async hold(nodes: readonly RecordNode[]): Promise<void> {
    const most = this.#config.GRAPHQL_MAX_BYTES;
    let parsed = 0;
    for (const node of nodes) {
      const size = node.stored?.document.length ?? 0;
      if ((this.#held += shareOf(size)) > most) {
        throw this.#tooMuch();
      }
      if (size <= LARGE_DOCUMENT_BYTES) continue;
      void node.shown;
      if ((parsed += size) < MAX_PARSED_BYTES_PER_TURN) continue;
      parsed = 0;
      await eventLoop.nextTurn();
    }
    // Each page is continued in its own turn of the event loop: a document may ask for a hundred
    // pages.
    if (nodes.length > MAX_NODES_PER_TURN) await eventLoop.nextTurn();
  }
}
