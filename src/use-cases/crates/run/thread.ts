import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { ServiceError } from "../../../errors.js";
import { threadModule } from "../../../package-root.js";
import { CrateError, crateError } from "../findings.js";
import type { FromThread, IntakeHost, IntakeInput, IntakeResult, ToThread } from "./protocol.js";

/** How long (ms) a thread that is told to stop may take for it. */
const LAST_WORDS = 1000;

export interface ThreadLimits {
  /** Setting INTAKE_TIMEOUT in ms. */
  timeout: number;
  /** Setting INTAKE_MEMORY in bytes. */
  memory: number;
}

/**
 * Runs one intake in a thread of its own, which ends with it.
 * @throws CrateError when a limit ends it; the signal's reason when that does; else a fault that may pass
 */
export async function runThread(input: IntakeInput, host: IntakeHost, signal: AbortSignal, limits: ThreadLimits): Promise<IntakeResult> {
  signal.throwIfAborted();
  const worker = new Worker(threadModule("src/use-cases/crates/intake-thread"), {
    workerData: input, name: "intake", env: {},
    resourceLimits: { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: Math.max(64, Math.floor(limits.memory / 2 ** 20)), stackSizeMb: 16 },
  });
  let end = () => {};
  let told = false;
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  try {
    return await new Promise<IntakeResult>((resolve, reject) => {
      const timer = setTimeout(() => reject(crateError("INTAKE_TIMEOUT", `The intake took longer than INTAKE_TIMEOUT=${limits.timeout} ms; send a smaller crate, or ask for the setting to be raised.`)), limits.timeout);
      const abort = () => reject(signal.reason as Error);
      signal.addEventListener("abort", abort, { once: true });
      end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
      };
      worker.on("message", (message: FromThread) => {
        if (message.type === "result") {
          told = true;
          resolve(message.result);
        }
        else if (message.type === "fault") reject(message.code ? new ServiceError(message.code, message.message) : new Error(message.message));
        else handle(message, host, (answer) => worker.postMessage(answer), reject);
      });
      worker.on("error", (error: NodeJS.ErrnoException) =>
        reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? crateError("OUT_OF_MEMORY", `The intake needed more than INTAKE_MEMORY=${limits.memory} bytes of memory; send a smaller crate, or ask for the setting to be raised.`) : error));
      worker.on("exit", (code) => reject(new Error(`the intake thread ended with code ${code}`)));
    });
  } finally {
    end();
    if (!told) {
      // So that it removes what it is writing; what goes on computing is ended as it is.
      worker.postMessage({ stop: true } satisfies ToThread);
      await Promise.race([ended, sleep(LAST_WORDS, undefined, { ref: false })]);
    }
    await worker.terminate();
  }
}

function handle(message: Exclude<FromThread, { type: "result" | "fault" }>, host: IntakeHost, answer: (answer: ToThread) => void, reject: (error: Error) => void): void {
  if (message.type === "progress") return host.progress(message.progress);
  if (message.type === "records") return host.records(message.records);
  const { id } = message;
  const done = message.type === "intend" ? host.intend(message.sha256s).then(() => answer({ id })) : host.claim(message.claims).then((refusals) => answer({ id, refusals }));
  // The error itself ends the job here; the thread is only told to stop waiting.
  done.catch((error: Error) => {
    reject(error);
    answer({ id, fault: error instanceof CrateError ? "refused" : "the store is away" });
  });
}
