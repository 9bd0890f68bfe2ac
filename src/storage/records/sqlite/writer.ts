import { Worker } from "node:worker_threads";
import { eventLoop } from "../../../event-loop-budget.js";
import { threadModule } from "../../../package-root.js";
import type { Commit, Committed } from "../port.js";
import { receiveError, unavailable } from "../refusals.js";
import {
  withOwnBytes,
  type WriterCall,
  type WriterCalls,
  type WriterMessage,
  type WriterRequest,
} from "./requests.js";

/**
 * Requests that go on in one turn of the event loop once the disk has them: those of a group would
 * otherwise all send their answers before anybody else is served.
 */
const ANSWERS_PER_TURN = 16;
/** Records of one message; copying them takes a few ms. */
const RECORDS_PER_MESSAGE = 250;

type Waiting = {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
};

/** The serving thread's side of the writer thread. */
export class Writer {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners: ((sequence: number) => void)[] = [];
  readonly #ended: Promise<void>;
  #next = 1;
  #sequence = 0;
  #dead: Error | undefined;
  #closing = false;

  private constructor(file: string, thread: URL, ready: (error?: Error) => void) {
    this.#worker = new Worker(thread, { workerData: { file }, name: "records-writer" });
    this.#worker.on("message", (message: WriterMessage) => {
      if ("ready" in message) {
        this.#sequence = message.sequence;
        ready();
      } else if ("failed" in message) ready(receiveError(message.failed));
      else if ("answers" in message) this.#answered(message);
    });
    this.#worker.on("error", (error) => this.#died(error.message));
    this.#ended = new Promise((resolve) =>
      this.#worker.once("exit", (code) => {
        this.#died(this.#closing ? "it is closed" : `its writer thread ended with ${code}`);
        ready(this.#dead);
        resolve();
      }),
    );
  }

  /** @throws ServiceError when the file cannot be opened */
  static async open(
    file: string,
    thread = threadModule("src/storage/records/sqlite/writer-thread"),
  ): Promise<Writer> {
    let writer!: Writer;
    try {
      await new Promise<void>((resolve, reject) => {
        writer = new Writer(file, thread, (error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      await writer.#ended;
      throw error;
    }
    return writer;
  }

  /** Number of the last commit that changed records and was answered. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Resolves once the disk has it. @throws the writer's refusal; `STORE_UNAVAILABLE` */
  async call<Call extends Exclude<WriterCall, "commit">>(
    call: Call,
    ...args: Parameters<WriterCalls[Call]>
  ): Promise<Awaited<ReturnType<WriterCalls[Call]>>> {
    return this.#post(this.#next++, call, args);
  }

  /** A large commit is sent in parts, between which the serving thread does other work. */
  async commit(commit: Commit): Promise<Committed> {
    const id = this.#next++;
    const records = [...commit.records];
    while (records.length > RECORDS_PER_MESSAGE) {
      this.#send({ id, part: records.splice(0, RECORDS_PER_MESSAGE).map(withOwnBytes) });
      await eventLoop.nextTurn();
    }
    const sent: Commit = { ...commit, records: records.map(withOwnBytes) };
    return this.#post(id, "commit", [sent]);
  }

  #post<Call extends WriterCall>(
    id: number,
    call: Call,
    args: unknown[],
  ): Promise<Awaited<ReturnType<WriterCalls[Call]>>> {
    return new Promise((resolve, reject) => {
      this.#send({ task: { id, call, args } });
      this.#waiting.set(id, { resolve, reject });
    });
  }

  /** @throws ServiceError `STORE_UNAVAILABLE`; DataCloneError */
  #send(message: WriterRequest): void {
    this.#mustRun();
    this.#worker.postMessage(message);
  }

  #mustRun(): void {
    if (this.#dead || this.#closing) throw this.#dead ?? unavailable("it is closed");
  }

  onCommit(listener: (sequence: number) => void): void {
    this.#listeners.push(listener);
  }

  /** @throws ServiceError `STORE_UNAVAILABLE` once the thread has died */
  health(): void {
    if (this.#dead) throw this.#dead;
  }

  /** Writes all earlier requests, then ends the thread. */
  async close(): Promise<void> {
    if (!this.#closing && !this.#dead) this.#send({ close: true });
    this.#closing = true;
    await this.#ended;
  }

  #answered({ answers, sequence }: Extract<WriterMessage, { answers: unknown }>): void {
    const risen = sequence > this.#sequence;
    this.#sequence = sequence;
    const answerSome = (): void => {
      for (const answer of answers.splice(0, ANSWERS_PER_TURN)) {
        const waiting = this.#waiting.get(answer.id);
        this.#waiting.delete(answer.id);
        if ("error" in answer) waiting?.reject(receiveError(answer.error));
        else waiting?.resolve(answer.result as never);
      }
      if (answers.length > 0) setImmediate(answerSome);
    };
    answerSome();
    if (risen) for (const listener of this.#listeners) listener(sequence);
  }

  #died(reason: string): void {
    this.#dead ??= unavailable(reason);
    for (const { reject } of this.#waiting.values()) reject(this.#dead);
    this.#waiting.clear();
  }
}
