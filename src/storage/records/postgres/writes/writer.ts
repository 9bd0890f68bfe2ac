import { unpackLinks } from "../../codecs.js";
import { setImmediate as turn } from "node:timers/promises";
import type { Commit, Committed } from "../../port.js";
import { unavailable } from "../../refusals.js";
import type { Group, Task } from "./group.js";
import type { Operation, Operations } from "./operations.js";

/** Bounds the memory and the wait of one group; more is done right after. */
const LARGEST_GROUP = 512;
/**
 * Number of records from which on a commit has its own transaction, beside the groups of small
 * ones.
 */
const LARGE = 100;

type Waiting = { task: Task; resolve(result: never): void; reject(error: unknown): void };

/** Tasks that are done one group after the other. */
class Lane {
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;

  readonly #group: Group;
  readonly #largest: number;
  readonly #done: (sequence: number) => void;

  constructor(group: Group, largest: number, done: (sequence: number) => void) {
    this.#group = group;
    this.#largest = largest;
    this.#done = done;
  }

  push(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#running ??= this.#run();
  }

  /** Rejects waiting requests that have not begun. */
  fail(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    // All requests of this iteration of the event loop go together.
    await turn();
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, this.#largest);
      const answers = await this.#group.run(group.map(({ task }) => task));
      this.#done(this.#group.sequence);
      for (const [index, { resolve, reject }] of group.entries()) {
        const answer = answers[index]!;
        if ("error" in answer) reject(answer.error);
        else resolve(answer.result as never);
      }
    }
    this.#running = undefined;
  }
}

/** All writes of this node: small ones share transactions, large ones have their own. */
export class Writer {
  readonly #small: Lane;
  readonly #large: Lane;
  #closed = false;

  /** @param done called with the number of the last commit after each group */
  constructor(small: Group, large: Group, done: (sequence: number) => void) {
    this.#small = new Lane(small, LARGEST_GROUP, done);
    this.#large = new Lane(large, 1, done);
  }

  commit(commit: Commit): Promise<Committed> {
    const isLarge =
      commit.records.length > LARGE || commit.within !== undefined || commit.uses !== undefined;
    const records = commit.records.map((write) =>
      "links" in write ? { ...write, links: unpackLinks(write.links) } : write,
    );
    return this.#push(isLarge ? this.#large : this.#small, { commit: { ...commit, records } });
  }

  call<Call extends Operation>(
    call: Call,
    ...args: Parameters<Operations[Call]>
  ): ReturnType<Operations[Call]> {
    return this.#push(this.#small, { call, args }) as ReturnType<Operations[Call]>;
  }

  /** The database is unavailable: waiting requests fail now. */
  away(error: unknown): void {
    for (const lane of [this.#small, this.#large]) lane.fail(unavailable((error as Error).message));
  }

  /** Writes all earlier requests. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#small.idle(), this.#large.idle()]);
  }

  #push<T>(lane: Lane, task: Task): Promise<T> {
    if (this.#closed) return Promise.reject(unavailable("it is closed"));
    return new Promise<T>((resolve, reject) => lane.push({ task, resolve, reject }));
  }
}
