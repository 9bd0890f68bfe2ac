import type { Config } from "../../config/config.js";
import { ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import type { JsonLimits, JsonProblem } from "../../model/json/read.js";
import type { GraphInput } from "../../rdf/emit.js";
import { type CpuPool, OutOfMemory } from "../cpu-pool.js";
import { ConcurrencyLimit } from "../limits.js";
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
type DocumentJob = keyof DocumentJobs;

export type ToDocumentThread = {
  [Job in DocumentJob]: { job: Job; question: DocumentJobs[Job]["question"] };
}[DocumentJob];
export type FromDocumentThread =
  { answer: DocumentJobs[DocumentJob]["answer"] } | { problems: ValidationItem[] };

type DocumentLimits = Pick<Config, "DOCUMENT_TIMEOUT" | "DOCUMENT_MEMORY" | "DOCUMENT_QUEUE">;

/** Of the module that the thread loads, which imports this one. */
type DoneInThread = (message: ToDocumentThread) => Promise<FromDocumentThread>;
const JOB = { module: "src/services/documents/jobs", name: "doneInThread" };
/** Nobody gives up while a document is read. */
const NEVER = new AbortController().signal;

/**
 * Parses and expands large documents in a separate thread, one at a time, so that other requests do
 * not wait.
 */
export class DocumentThread {
  readonly #one = new ConcurrencyLimit(1);
  readonly #cpu: CpuPool;
  readonly #limits: DocumentLimits;

  constructor(cpu: CpuPool, limits: DocumentLimits) {
    this.#cpu = cpu;
    this.#limits = limits;
  }

  /**
   * @param bytes arrays of the question that are transferred; the caller must not use them any more
   * @throws ValidationError for a document that cannot be expanded; ServiceError `TOO_LARGE` past
   * DOCUMENT_TIMEOUT or DOCUMENT_MEMORY, `BUSY`, `SHUTTING_DOWN`
   */
  async ask<Job extends DocumentJob>(
    job: Job,
    question: DocumentJobs[Job]["question"],
    bytes: readonly Uint8Array[],
  ): Promise<DocumentJobs[Job]["answer"]> {
    const { DOCUMENT_QUEUE: most } = this.#limits;
    if (this.load().waiting >= most)
      throw new ServiceError(
        "BUSY",
        `Too many large documents are queued (${most}). Retry later, ` + "or send smaller ones.",
        {},
        { "Retry-After": "2" },
      );
    const answer = await this.#one.run(NEVER, (closing) =>
      this.#run({ job, question } as ToDocumentThread, bytes, closing),
    );
    if ("problems" in answer) throw new ValidationError(answer.problems);
    return answer.answer;
  }

  /** Number of running and of waiting jobs. */
  load(): { running: number; waiting: number } {
    return this.#one.load();
  }

  close(): void {
    this.#one.close();
  }

  async #run(
    message: ToDocumentThread,
    bytes: readonly Uint8Array[],
    closing: AbortSignal,
  ): Promise<FromDocumentThread> {
    const { DOCUMENT_TIMEOUT: limit, DOCUMENT_MEMORY: memory } = this.#limits;
    const late = new AbortController();
    const timer = setTimeout(
      () =>
        late.abort(
          new ServiceError(
            "TOO_LARGE",
            `The document takes longer than DOCUMENT_TIMEOUT=${limit} ms to read and ` +
              "expand. Send fewer values, or a smaller @context.",
          ),
        ),
      limit,
    ).unref();
    try {
      return await this.#cpu.run<DoneInThread>(JOB, message, {
        memory,
        signal: AbortSignal.any([closing, late.signal]),
        transfer: bytes.map(({ buffer }) => buffer as ArrayBuffer),
      });
    } catch (error) {
      if (error instanceof OutOfMemory)
        throw new ServiceError(
          "TOO_LARGE",
          `The document needs more than ${memory} bytes of memory to be expanded. ` +
            "Send fewer values, or a smaller @context.",
        );
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}
