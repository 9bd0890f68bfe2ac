import { type MessagePort, Worker } from "node:worker_threads";
import { type ErrorCode, ServiceError } from "../../../errors.js";
import { threadModule } from "../../../package-root.js";
import type { EngineLog, OpenAnswer, OpenQuestion } from "../port.js";

/** A query or a digest on its way through a thread. */
export interface Job {
  ask:
    | { op: "query"; query: string; format: string }
    | { op: "digest" }
    | ({ op: "ask" } & AskRequest);
  /**
   * ms it may run once it has begun; a digest is done in slices between other jobs and has no
   * limit.
   */
  timeout?: number;
  /** Name of the setting that `timeout` comes from, for the error. */
  setting?: string;
  /** Threads that were lost while it waited in them. */
  attempts: number;
  resolve(reply: Extract<ThreadReply, { op: "answer" | "digested" | "asked" }>): void;
  reject(error: Error): void;
}

/**
 * Why a thread is no more. `guilty`: the query that was running; it was answered already when it
 * timed out.
 */
export interface Loss {
  reason: string;
  timedOut: boolean;
  /** It ended because its engine, or the thread, needed more memory than there was. */
  outOfMemory: boolean;
  guilty: Job | undefined;
  /** All the rest, in order. */
  innocent: Job[];
}

export interface ThreadEvents {
  onProgress(handle: ThreadHandle): void;
  onReached(handle: ThreadHandle): void;
  /** Once; not called after {@link ThreadHandle.end}. */
  onLost(handle: ThreadHandle, loss: Loss): void;
}

/** Begins the message of an engine that ended because its memory was exhausted. */
export const NO_MEMORY = "the engine ran out of memory";

/** True when an engine ended for lack of memory: its own, or that of its thread. */
const isLackOfMemory = (error: Error & { code?: string }): boolean =>
  error.message.startsWith(NO_MEMORY) ||
  error.code === "ERR_WORKER_OUT_OF_MEMORY" ||
  /allocation failed|Invalid (?:string|array buffer) length/i.test(error.message);

/** A thread, or a process, with a store of the graph. */
export interface EngineSide {
  on(event: "message", listener: (reply: ThreadReply) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "exit", listener: (code: number | string) => void): unknown;
  postMessage(request: ThreadRequest): void;
  terminate(): Promise<unknown>;
}

/** A thread of this process, for the service's own queries. */
export const engineThread = (feed: MessagePort, pageSize: number): EngineSide =>
  new Worker(threadModule("src/storage/graph/oxigraph/thread"), {
    workerData: { feed, pageSize } satisfies ThreadData,
    transferList: [feed],
    name: "graph",
  });

/**
 * The caller's side of one thread, or process, with a store of the graph. It answers queries in the
 * order asked, so the first without an answer is the one that runs, and the clock runs for that one
 * only.
 */
export class ThreadHandle {
  loaded = false;
  sequence = 0;
  /**
   * Highest sequence that a caller received from this thread: answers may arrive before the message
   * that the thread has reached it.
   */
  reported = 0;
  rewrites = 0;
  /** Records that it holds. */
  records = 0;
  /** Bytes that the store grew by when graphs came. */
  held = 0;
  done = 0;
  total = 0;
  #lastId = 0;
  #announced = 0;
  #gone = false;
  #retiring = false;
  #clock: NodeJS.Timeout | undefined;
  #running: Job | undefined;
  readonly #jobs = new Map<number, Job>();
  readonly #engine: EngineSide;

  readonly #events: ThreadEvents;
  readonly #log: EngineLog;

  constructor(engine: EngineSide, events: ThreadEvents, log: EngineLog) {
    this.#engine = engine;
    this.#events = events;
    this.#log = log;

    engine.on("message", (reply: ThreadReply) => this.#receive(reply));
    engine.on("error", (error) => this.#lose(error.message, false, isLackOfMemory(error)));
    engine.on("exit", (code) => this.#lose(`the engine ended with ${code}`, false));
  }

  /**
   * Rewritten so often that much of its memory is waste.
   * @param after rewrites, whatever it holds
   */
  isWorn(after?: number): boolean {
    return (
      this.rewrites >= (after ?? Math.min(MAX_REWRITES, Math.max(LEAST_REWRITES, this.records)))
    );
  }

  send(job: Job): void {
    const id = ++this.#lastId;
    this.#jobs.set(id, job);
    this.#engine.postMessage({ id, ...job.ask });
    if (job.timeout !== undefined && !this.#running) this.#wind(job);
  }

  advance(sequence: number): void {
    if (sequence <= this.#announced && sequence <= this.sequence) return;
    this.#announced = sequence;
    this.#engine.postMessage({ op: "advance", sequence });
  }

  /** Ends the running query, and the thread with it: nothing else stops the engine. */
  stop(error: Error): void {
    if (this.#gone || !this.#running) return;
    this.#running.reject(error);
    this.#lose(error.message, true);
  }

  /** Answers its open questions, then ends. */
  retire(): void {
    this.#retiring = true;
    if (this.#jobs.size === 0) void this.end();
  }

  /** Ends the thread; returns the jobs that it did not answer. */
  async end(): Promise<Job[]> {
    this.#gone = true;
    clearTimeout(this.#clock);
    const left = [...this.#jobs.values()];
    this.#jobs.clear();
    await this.#engine.terminate();
    return left;
  }

  #receive(reply: ThreadReply): void {
    if (this.#gone) return;
    if (reply.op === "log") {
      this.#log[reply.level](reply.fields, reply.message);
    } else if (reply.op === "progress") {
      this.done = reply.done;
      this.total = reply.total;
      this.held = reply.held;
      this.#events.onProgress(this);
    } else if (reply.op === "reached") {
      this.loaded = true;
      this.sequence = reply.sequence;
      this.reported = Math.max(this.reported, reply.sequence);
      this.rewrites = reply.rewrites;
      this.records = reply.records;
      this.held = reply.held;
      this.#events.onReached(this);
    } else {
      this.#answer(reply);
    }
  }

  #answer(reply: Extract<ThreadReply, { id: number }>): void {
    const job = this.#jobs.get(reply.id);
    if (!job) return;
    this.#jobs.delete(reply.id);
    if (job === this.#running) {
      clearTimeout(this.#clock);
      this.#running = undefined;
      for (const next of this.#jobs.values()) {
        if (next.timeout === undefined) continue;
        this.#wind(next);
        break;
      }
    }
    if (this.#retiring && this.#jobs.size === 0) void this.end();
    if (reply.op !== "refused") this.reported = Math.max(this.reported, reply.sequence);
    if (reply.op === "refused")
      job.reject(
        new ServiceError(
          reply.code ?? "BAD_REQUEST",
          reply.code ? reply.message : `The query was refused: ${reply.message}`,
          reply.extra,
        ),
      );
    else job.resolve(reply);
  }

  #wind(job: Job): void {
    this.#running = job;
    this.#clock = setTimeout(() => {
      job.reject(
        new ServiceError(
          "QUERY_TIMEOUT",
          `The query ran longer than ${job.timeout} ` +
            `ms${job.setting ? ` (${job.setting})` : ""} and was ended; ask for less at a ` +
            "time.",
          {},
          { "Retry-After": "1" },
        ),
      );
      this.#lose(`a query ran longer than ${job.timeout} ms`, true);
    }, job.timeout);
    this.#clock.unref();
  }

  #lose(reason: string, timedOut: boolean, outOfMemory = false): void {
    if (this.#gone) return;
    const guilty = this.#running;
    const innocent = [...this.#jobs.values()].filter((job) => job !== guilty);
    void this.end();
    this.#events.onLost(this, { reason, timedOut, outOfMemory, guilty, innocent });
  }
}

export interface OxigraphOptions {
  /** Opens a feed of the record store; called for every thread that is started. */
  openFeed: () => MessagePort;
  /** ms that a query waits for a thread that is coming back (INDEX_WAIT). */
  indexWait?: number;
  /** ms a query may run by default (QUERY_TIMEOUT). */
  queryTimeout?: number;
  log?: EngineLog;
  /** Graphs rewritten before a fresh thread takes over, whatever it holds. */
  rebuildAfter?: number;
  /** Graphs read from the feed at a time. */
  pageSize?: number;
  /** Records above which another engine is suggested. */
  outgrown?: number;
}

/** Approximate bytes that a rewrite leaves behind, and that WASM never gives back. */
export const WASTE_PER_REWRITE = 4_600;
/**
 * A fresh thread takes over after as many rewrites as there are records, so that what is lost stays
 * in proportion to what is held. Not after fewer than the first, as a start costs as much as some
 * thousand records, nor after more than the last, when half a gigabyte is lost.
 */
export const LEAST_REWRITES = 10_000;
const MAX_REWRITES = 100_000;

export const DEFAULTS = {
  indexWait: 2_000,
  queryTimeout: 30_000,
  pageSize: 500,
  outgrown: 150_000,
};

/** The thread's start data; the port is moved to it. */
export interface ThreadData {
  feed: MessagePort;
  /** Graphs requested at a time. */
  pageSize: number;
}

/** A user's question, and the limits of its answer. */
export interface AskRequest {
  question: Omit<OpenQuestion, "sequence">;
  maxRows: number;
  maxBytes: number;
}

/** A question to the thread; the reply carries the same `id`. */
export type ThreadRequest =
  | { op: "query"; id: number; query: string; format: string }
  | ({ op: "ask"; id: number } & AskRequest)
  | { op: "digest"; id: number }
  | { op: "advance"; sequence: number };

export type ThreadReply =
  /** `held`: bytes that the engine grew by when graphs came. */
  | { op: "progress"; done: number; total: number; held: number }
  /**
   * Loaded, and every commit up to `sequence` applied. `rewrites`: graphs replaced since the thread
   * began. `records`: those it holds.
   */
  | { op: "reached"; sequence: number; rewrites: number; records: number; held: number }
  | { op: "answer"; id: number; text: string; sequence: number }
  | ({ op: "asked"; id: number } & OpenAnswer)
  | { op: "digested"; id: number; digest: string; quads: number; sequence: number }
  | {
      op: "refused";
      id: number;
      message: string;
      code?: ErrorCode;
      extra?: Readonly<Record<string, unknown>>;
    }
  | {
      op: "log";
      level: "info" | "warn" | "error";
      message: string;
      fields: Record<string, unknown>;
    };
