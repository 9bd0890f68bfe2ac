import { setImmediate as turn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { threadModule } from "../../../package-root.js";
import type { Commit, Committed, Foreseen, RecordWrite } from "../port.js";
import { receiveError, unavailable } from "../refusals.js";
import {
  prepareCommit,
  rawWrite,
  type WriterCall,
  type WriterCalls,
  type WriterMessage,
  type WriterRequest,
  type WriterTask,
} from "./requests.js";

/** Records of one message; copying them takes a few ms. */
const PART = 250;
/**
 * Records of a commit that are prepared by the serving thread, which has more time than the writer
 * while they are few.
 */
const FEW = 8;
/**
 * Requests that are sent without waiting for more: the thread works on them while this one makes
 * the next.
 */
const BATCH = 8;
/**
 * Requests that go on in one turn of the event loop once the disk has them: those of a group would
 * otherwise all send their answers before anybody else is served.
 */
const ANSWERED = 16;

/**
 * Bytes of a document that this thread prepares itself: folding its words and packing its quads
 * takes longer for more.
 */
const SMALL = 64 * 2 ** 10;
const isSmall = (write: RecordWrite): boolean =>
  !("document" in write) ||
  (write.document.length <= SMALL && !(write.links instanceof Uint8Array));

/** Records that the thread has already, with the number of the commit that will have them. */
class Ahead implements Foreseen {
  readonly #places = new Map<RecordWrite, number>();
  #ended = false;

  readonly #id: number;
  readonly #send: (part: readonly RecordWrite[]) => boolean;
  readonly #keep: (places: readonly number[]) => void;

  constructor(
    id: number,
    send: (part: readonly RecordWrite[]) => boolean,
    keep: (places: readonly number[]) => void,
  ) {
    this.#id = id;
    this.#send = send;
    this.#keep = keep;
  }

  add(records: readonly RecordWrite[]): void {
    if (this.#ended || records.length === 0) return;
    if (!this.#send(records)) return;
    for (const record of records) this.#places.set(record, this.#places.size);
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#places.size > 0) this.#keep([]);
  }

  /**
   * How many records of a commit, from its first one on, the thread has in the same order; the
   * thread drops its others.
   */
  take(records: readonly RecordWrite[]): { id: number; taken: number } | undefined {
    const places: number[] = [];
    for (const record of records) {
      const place = this.#places.get(record);
      if (place === undefined || place <= (places.at(-1) ?? -1)) break;
      places.push(place);
    }
    if (this.#ended || places.length === 0) return undefined;
    this.#ended = true;
    if (places.length < this.#places.size) this.#keep(places);
    return { id: this.#id, taken: places.length };
  }
}

type Waiting = {
  task: WriterTask;
  resolve: (result: never) => void;
  reject: (error: Error) => void;
};

/** The serving thread's side of the writer thread. */
export class Writer {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners: ((sequence: number) => void)[] = [];
  readonly #ended: Promise<void>;
  /**
   * Requests of this iteration of the event loop; they go to the thread in few messages, which wake
   * it seldom.
   */
  #asked: Waiting[] = [];
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
  call<Call extends WriterCall>(
    call: Call,
    ...args: WriterCalls[Call]["args"]
  ): Promise<WriterCalls[Call]["result"]> {
    return this.#post(this.#next++, call, args);
  }

  /** A large commit is sent in parts, between which the serving thread does other work. */
  async commit({ foreseen, ...commit }: Commit): Promise<Committed> {
    const { records } = commit;
    const ahead = foreseen instanceof Ahead ? foreseen.take(records) : undefined;
    const id = ahead?.id ?? this.#next++;
    const rest = ahead ? records.slice(ahead.taken) : records;
    if (!ahead && records.length <= FEW && records.every(isSmall))
      return this.#post(id, "commit", [prepareCommit(commit)]);
    for (let sent = 0; sent < rest.length; sent += PART) {
      if (sent > 0) await turn();
      this.#sendPart(id, rest.slice(sent, sent + PART));
    }
    return this.#post(id, "commit", [{ ...commit, records: [] }]);
  }

  /** The thread prepares records while the commit that will have them is still being made. */
  foresee(): Foreseen {
    const id = this.#next++;
    // A thread that has ended is no fault here: the commit itself reports it.
    const isRunning = () => !this.#dead && !this.#closing;
    return new Ahead(
      id,
      (part) => {
        if (isRunning()) this.#sendPart(id, part);
        return isRunning();
      },
      (keep) => {
        if (isRunning()) this.#worker.postMessage({ id, keep } satisfies WriterRequest);
      },
    );
  }

  #sendPart(id: number, part: readonly RecordWrite[]): void {
    this.#mustRun();
    this.#worker.postMessage({ id, part: part.map(rawWrite) } satisfies WriterRequest);
  }

  #post<Call extends WriterCall>(
    id: number,
    call: Call,
    args: WriterCalls[Call]["args"],
  ): Promise<WriterCalls[Call]["result"]> {
    return new Promise((resolve, reject) => {
      this.#mustRun();
      if (this.#asked.length === 0) setImmediate(() => this.#send());
      this.#asked.push({ task: { id, call, args }, resolve, reject });
      if (this.#asked.length >= BATCH) this.#send();
    });
  }

  #send(): void {
    const asked = this.#asked;
    this.#asked = [];
    try {
      this.#sendTogether(asked);
    } catch (error) {
      if (asked.length === 1) asked[0]!.reject(error as Error);
      // One of them cannot be copied: the others do not suffer for it.
      else
        for (const one of asked) {
          this.#asked = [one];
          this.#send();
        }
    }
  }

  #sendTogether(asked: readonly Waiting[]): void {
    if (this.#dead) for (const { reject } of asked) reject(this.#dead);
    else if (asked.length > 0) {
      this.#worker.postMessage({ tasks: asked.map(({ task }) => task) } satisfies WriterRequest);
      for (const one of asked) this.#waiting.set(one.task.id, one);
    }
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
    if (!this.#closing && !this.#dead) {
      this.#send();
      this.#worker.postMessage({ close: true } satisfies WriterRequest);
    }
    this.#closing = true;
    await this.#ended;
  }

  #answered({ answers, sequence }: Extract<WriterMessage, { answers: unknown }>): void {
    const risen = sequence > this.#sequence;
    this.#sequence = sequence;
    const answered = answers.map((answer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      return () => {
        if ("error" in answer) waiting?.reject(receiveError(answer.error));
        else waiting?.resolve(answer.result as never);
      };
    });
    const answerSome = (): void => {
      for (const answer of answered.splice(0, ANSWERED)) answer();
      if (answered.length > 0) setImmediate(answerSome);
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
