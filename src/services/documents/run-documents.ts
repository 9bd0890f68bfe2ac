import { Worker } from "node:worker_threads";
import type { Config } from "../../config/config.js";
import { ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import type { JsonLimits, JsonProblem } from "../../model/json/read.js";
import { threadModule } from "../../package-root.js";
import type { GraphInput } from "../../rdf/emit.js";
import type { Stated } from "../records/reserved.js";

/** Jobs of the thread: question and answer, by name. Bytes are transferred, never copied. */
export interface DocumentJobs {
  /** Whether bytes are JSON that may be stored; the answer returns the bytes. */
  check: {
    question: { bytes: Uint8Array; limits: JsonLimits };
    answer: { bytes: Uint8Array; problems: JsonProblem[]; tooMany: boolean };
  };
  /** The document, as UTF-8 JSON, as a record of the kind. */
  state: { question: Omit<GraphInput, "document"> & { document: Uint8Array }; answer: Stated };
  /** JSON pointers of the differences between two documents. */
  changed: { question: { before: Uint8Array; after: Uint8Array }; answer: string[] };
}
export type DocumentJob = keyof DocumentJobs;

export type ToDocumentThread = {
  [Job in DocumentJob]: { job: Job; question: DocumentJobs[Job]["question"] };
}[DocumentJob];
export type FromDocumentThread =
  | { answer: DocumentJobs[DocumentJob]["answer"] }
  | { problems: ValidationItem[] }
  | { fault: string };

export type DocumentLimits = Pick<
  Config,
  "DOCUMENT_TIMEOUT" | "DOCUMENT_MEMORY" | "DOCUMENT_QUEUE"
>;

/** ms after which an idle thread ends. */
const IDLE = 60_000;

interface Asked {
  message: ToDocumentThread;
  transfer: ArrayBuffer[];
  resolve(answer: never): void;
  reject(error: Error): void;
}

/**
 * Parses and expands large documents in a separate thread, one at a time, so that other requests do
 * not wait. The thread starts with the first question and ends when it is idle; a job that exceeds
 * its time or memory limit ends with its thread, and the next job gets a new thread.
 */
export class DocumentThread {
  #worker: Worker | undefined;
  #current: Asked | undefined;
  #clock: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #waiting: Asked[] = [];

  readonly #limits: DocumentLimits;

  constructor(limits: DocumentLimits) {
    this.#limits = limits;
  }

  /**
   * @param bytes arrays of the question that are transferred; the caller must not use them any more
   * @throws ValidationError for a document that cannot be expanded; ServiceError `TOO_LARGE` past
   * DOCUMENT_TIMEOUT or DOCUMENT_MEMORY, `BUSY`, `SHUTTING_DOWN`
   */
  ask<Job extends DocumentJob>(
    job: Job,
    question: DocumentJobs[Job]["question"],
    bytes: readonly Uint8Array[],
  ): Promise<DocumentJobs[Job]["answer"]> {
    return new Promise((resolve, reject) => {
      const { DOCUMENT_QUEUE: most } = this.#limits;
      if (this.#closed) return reject(stopping());
      if (this.#waiting.length >= most)
        return reject(
          new ServiceError(
            "BUSY",
            `Too many large documents are queued (${most}, DOCUMENT_QUEUE). Retry later, ` +
              "or send smaller ones.",
            {},
            { "Retry-After": "2" },
          ),
        );
      this.#waiting.push({
        message: { job, question } as ToDocumentThread,
        transfer: bytes.map(({ buffer }) => buffer as ArrayBuffer),
        resolve,
        reject,
      });
      this.#next();
    });
  }

  /** Number of running and of waiting jobs. */
  load(): { running: number; waiting: number } {
    return { running: this.#current ? 1 : 0, waiting: this.#waiting.length };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(stopping());
    await this.#end(stopping());
  }

  #next(): void {
    if (this.#current || this.#closed) return;
    clearTimeout(this.#clock);
    this.#current = this.#waiting.shift();
    if (!this.#current) {
      this.#clock = setTimeout(() => void this.#end(), IDLE).unref();
      return;
    }
    const { DOCUMENT_TIMEOUT: limit } = this.#limits;
    this.#clock = setTimeout(
      () =>
        this.#lost(
          new ServiceError(
            "TOO_LARGE",
            `The document takes longer than DOCUMENT_TIMEOUT=${limit} ms to read and ` +
              "expand. Send fewer values, or a smaller @context.",
          ),
        ),
      limit,
    ).unref();
    const { message, transfer } = this.#current;
    try {
      this.#thread().postMessage(message, transfer);
    } catch (error) {
      // Bytes that cannot be transferred, or a thread that cannot be started, fail this question
      // and not the next ones.
      this.#lost(error as Error);
    }
  }

  #thread(): Worker {
    if (this.#worker) return this.#worker;
    const memory = Math.max(64, Math.floor(this.#limits.DOCUMENT_MEMORY / 2 ** 20));
    const worker = new Worker(threadModule("src/services/documents/thread"), {
      name: "documents",
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: memory, stackSizeMb: 8 },
    });
    // An idle thread does not keep the process alive.
    worker.unref();
    const current = (act: () => void) => {
      if (worker === this.#worker) act();
    };
    worker.on("message", (answer: FromDocumentThread) => current(() => this.#answered(answer)));
    worker.on("error", (error: NodeJS.ErrnoException) =>
      current(() =>
        this.#lost(
          error.code === "ERR_WORKER_OUT_OF_MEMORY"
            ? new ServiceError(
                "TOO_LARGE",
                `The document needs more than ${this.#limits.DOCUMENT_MEMORY} bytes of ` +
                  "memory to be expanded (DOCUMENT_MEMORY). Send fewer values, or a smaller " +
                  "@context.",
              )
            : error,
        ),
      ),
    );
    worker.on("exit", (code) =>
      current(() =>
        this.#lost(new Error(`the thread for large documents ended with code ${code}`)),
      ),
    );
    return (this.#worker = worker);
  }

  #answered(message: FromDocumentThread): void {
    const asked = this.#current;
    this.#current = undefined;
    if ("answer" in message) asked?.resolve(message.answer as never);
    else
      asked?.reject(
        "problems" in message ? new ValidationError(message.problems) : new Error(message.fault),
      );
    this.#next();
  }

  #lost(error: Error): void {
    void this.#end(error);
    this.#next();
  }

  async #end(reason?: Error): Promise<void> {
    const worker = this.#worker;
    const asked = this.#current;
    this.#worker = undefined;
    this.#current = undefined;
    clearTimeout(this.#clock);
    if (reason) asked?.reject(reason);
    await worker?.terminate();
  }
}

const stopping = (): ServiceError =>
  new ServiceError(
    "SHUTTING_DOWN",
    "The service is stopping. Retry later.",
    {},
    { "Retry-After": "5" },
  );
