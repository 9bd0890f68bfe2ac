import { Worker } from "node:worker_threads";
import { threadModule } from "../../package-root.js";
import type { CheckInput, CheckedError, FromCheck, ToCheck } from "./protocol.js";

/** What kept the data from being checked. */
export class CheckRefused extends Error {
  constructor(readonly code: "SCHEMA" | "DATA" | "LIMIT" | "MEMORY", message: string) {
    super(message);
  }
}

/**
 * Runs one check in a thread of its own, which ends with it. The data are asked for as they are used up, so that
 * neither side holds more than a part of them.
 * @param memory most bytes of the thread's heap
 * @throws CheckRefused; what the data fail with; the signal's reason
 */
export async function runCheck(input: CheckInput, data: AsyncIterable<Uint8Array>, signal: AbortSignal, memory: number): Promise<CheckedError[]> {
  signal.throwIfAborted();
  const worker = new Worker(threadModule("src/use-cases/schemas/check-thread"), { workerData: input, name: "table-check", env: {}, resourceLimits: { maxOldGenerationSizeMb: Math.max(64, Math.floor(memory / 2 ** 20)) } });
  const parts = data[Symbol.asyncIterator]();
  const feed = async (): Promise<void> => {
    const { done, value } = await parts.next();
    // A copy of its own: a part may be a view of something larger, all of which would be sent.
    const part = done === true ? undefined : new Uint8Array(value);
    worker.postMessage(part ? { part } : { end: true } satisfies ToCheck, part ? [part.buffer] : []);
  };
  let abort = (): void => undefined;
  try {
    return await new Promise<CheckedError[]>((resolve, reject) => {
      abort = () => reject(signal.reason as Error);
      signal.addEventListener("abort", abort, { once: true });
      worker.on("message", (message: FromCheck) => {
        if ("more" in message) feed().catch(reject);
        else if ("errors" in message) resolve(message.errors);
        else if ("refused" in message) reject(new CheckRefused(message.refused.code, message.refused.message));
        else reject(new Error(message.fault));
      });
      worker.on("error", (error: NodeJS.ErrnoException) => reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? new CheckRefused("MEMORY", `it needs more than ${memory} bytes of memory to be checked`) : error));
      worker.on("exit", (code) => reject(new Error(`the thread of a check ended with code ${code}`)));
    });
  } finally {
    signal.removeEventListener("abort", abort);
    await worker.terminate();
  }
}
