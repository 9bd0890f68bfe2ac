/**
 * An intake in a thread or process of its own: what it is told, what it asks, and how it is run.
 */
import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { type ErrorCode, ServiceError } from "../../errors.js";
import type { Progress } from "../../jobs/port.js";
import { threadModule } from "../../package-root.js";
import { CrateError, crateError } from "./findings.js";
import type { CrateRecord, IntakeHost, IntakeInput, IntakeResult } from "./steps.js";

/** Methods of the host that have an answer. */
export type Questions = Pick<IntakeHost, "intend" | "registered" | "claim">;
type Question = {
  [Q in keyof Questions]: { type: Q; id: number; asked: Parameters<Questions[Q]> };
}[keyof Questions];

/** Thread to main side. */
export type FromThread =
  | { type: "progress"; progress: Progress }
  | Question
  | { type: "records"; records: CrateRecord[] }
  | { type: "result"; result: IntakeResult }
  /** From the separate process of a crate: its thread exceeded its memory limit. */
  | { type: "outOfMemory" }
  /** A fault that is not the crate's: a retry may help. */
  | {
      type: "fault";
      message: string;
      /** Present if callers may see it. */ code?: ErrorCode;
    };
/** Main side to thread. */
export type ToThread = { id: number; answer?: unknown; fault?: string } | { stop: true };

/** Code of the error of a thread that exceeded its memory limit. */
export const OUT_OF_MEMORY = "ERR_WORKER_OUT_OF_MEMORY";
const outOfMemory = ({ memory }: ThreadLimits) =>
  crateError(
    "OUT_OF_MEMORY",
    `Ingesting the crate needed more than INTAKE_MEMORY=${memory} bytes of memory; send ` +
      "a smaller crate, or ask the operator to raise the setting.",
  );

/** How long (ms) a thread may take to stop. */
const LAST_WORDS = 1000;

/** Channel to a crate's thread, or its process. */
interface Side {
  on(event: "message", listener: (message: FromThread) => void): unknown;
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
  on(
    event: "exit",
    listener: (code: number | null, signal?: NodeJS.Signals | null) => void,
  ): unknown;
  postMessage(message: ToThread): void;
  terminate(): unknown;
}

/** Options of a crate's thread, in this process or in another. */
export const threadOptions = (input: IntakeInput, memory: number): WorkerOptions => ({
  workerData: input,
  name: "intake",
  env: {},
  resourceLimits: {
    maxYoungGenerationSizeMb: 6,
    maxOldGenerationSizeMb: Math.max(64, Math.floor(memory / 2 ** 20)),
    stackSizeMb: 16,
  },
});

/** First message to the process of a crate. */
export interface ProcessInput {
  input: IntakeInput;
  memory: number;
}

/** The same thread in a separate process, whose crash does not end the service. */
function processOf(input: IntakeInput, memory: number): Side {
  const child = fork(fileURLToPath(threadModule("src/services/crates/intake-process")), {
    serialization: "advanced",
    env: {},
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const gone = () => {};
  child.send({ input, memory } satisfies ProcessInput, gone);
  return {
    on: (event: string, listener: (...values: never[]) => void) =>
      child.on(event, listener as (...values: unknown[]) => void),
    postMessage: (message) => void (child.connected && child.send(message, gone)),
    terminate: () => child.kill("SIGKILL"),
  };
}

interface ThreadLimits {
  /** In a separate process. */
  apart?: boolean;
  /** Setting INTAKE_TIMEOUT in ms. */
  timeout: number;
  /** Setting INTAKE_MEMORY in bytes. */
  memory: number;
}

/**
 * Runs one intake in a separate thread, or in a separate process, which ends with it.
 * @throws CrateError when a limit ends it; the signal's reason when the signal does; else a fault
 * that may be temporary
 */
export async function runIntake(
  input: IntakeInput,
  host: IntakeHost,
  signal: AbortSignal,
  limits: ThreadLimits,
): Promise<IntakeResult> {
  signal.throwIfAborted();
  const worker: Side = limits.apart
    ? processOf(input, limits.memory)
    : new Worker(
        threadModule("src/services/crates/intake-thread"),
        threadOptions(input, limits.memory),
      );
  let end = () => {};
  let reported = false;
  const ended = new Promise<void>((resolve) => worker.on("exit", () => resolve()));
  try {
    return await new Promise<IntakeResult>((resolve, reject) => {
      const timer = setTimeout(
        () =>
          reject(
            crateError(
              "INTAKE_TIMEOUT",
              `Ingesting the crate took longer than INTAKE_TIMEOUT=${limits.timeout} ms; ` +
                "send a smaller crate, or ask the operator to raise the setting.",
            ),
          ),
        limits.timeout,
      );
      const abort = () => reject(signal.reason as Error);
      signal.addEventListener("abort", abort, { once: true });
      end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
      };
      worker.on("message", (message: FromThread) => {
        switch (message.type) {
          case "result":
            reported = true;
            return resolve(message.result);
          case "outOfMemory":
            return reject(outOfMemory(limits));
          case "fault":
            return reject(
              message.code
                ? new ServiceError(message.code, message.message)
                : new Error(message.message),
            );
          case "progress":
            return host.progress(message.progress);
          case "records":
            return host.records(message.records);
          default:
            return void answer(message, host, (reply) => worker.postMessage(reply)).catch(reject);
        }
      });
      worker.on("error", (error: NodeJS.ErrnoException) =>
        reject(error.code === OUT_OF_MEMORY ? outOfMemory(limits) : error),
      );
      worker.on("exit", (code, signal) =>
        reject(
          new Error(
            `the intake ${limits.apart ? "process" : "thread"} ended with ` +
              (signal ? `signal ${signal}` : `code ${code}`),
          ),
        ),
      );
    });
  } finally {
    end();
    if (!reported) {
      // So that the thread removes files in progress; a thread that is still computing is
      // terminated.
      worker.postMessage({ stop: true } satisfies ToThread);
      await Promise.race([ended, sleep(LAST_WORDS, undefined, { ref: false })]);
    }
    await worker.terminate();
  }
}

async function answer(
  { type, id, asked }: Question,
  host: IntakeHost,
  send: (answer: ToThread) => void,
): Promise<void> {
  try {
    const ask = host[type] as (...asked: Question["asked"]) => Promise<unknown>;
    // oxlint-disable-next-line arkgraph/spread-into-call -- arguments of one question
    send({ id, answer: await ask(...asked) });
  } catch (error) {
    // The error itself ends the job here; the thread is only asked to stop waiting.
    send({ id, fault: error instanceof CrateError ? "refused" : "the store is unavailable" });
    throw error;
  }
}
