import { Worker } from "node:worker_threads";
import { ServiceError, ValidationError } from "../../errors.js";
import { threadModule } from "../../package-root.js";
import type { Judged, SentDocument, ShapeReport } from "./report.js";
import type { FromJudge, ToJudge } from "./thread.js";

export interface JudgeLimits {
  /** Setting VALIDATE_TIMEOUT in ms. */
  timeout: number;
  /** Setting VALIDATE_MEMORY in bytes. */
  memory: number;
  /** Setting VALIDATE_MAX_RESULTS. */
  results: number;
}

/**
 * Judges stored records batch after batch, or a document that a client sent, in a thread of its own, and ends it.
 * @throws the signal's reason; ValidationError for a document that is no JSON-LD; ServiceError `VALIDATION_TIMEOUT`, `TOO_LARGE` when it needs more memory than it may have
 */
export async function runJudge(judged: AsyncIterable<Judged[]> | SentDocument, limits: JudgeLimits, signal: AbortSignal): Promise<ShapeReport> {
  const worker = new Worker(threadModule("src/use-cases/validation/thread"), { name: "shapes", env: {}, resourceLimits: { maxOldGenerationSizeMb: Math.max(64, Math.floor(limits.memory / 2 ** 20)) } });
  const report: ShapeReport = { conforms: true, results: [], checked: 0, truncated: false };
  let timer: NodeJS.Timeout | undefined;
  let leave = () => {};
  const ended = new Promise<never>((_resolve, reject) => {
    leave = () => reject(signal.reason as Error);
    signal.addEventListener("abort", leave, { once: true });
    timer = setTimeout(() => reject(new ServiceError("VALIDATION_TIMEOUT", `The check took longer than VALIDATE_TIMEOUT=${limits.timeout} ms; check fewer records at a time.`)), limits.timeout);
    worker.on("error", (error: NodeJS.ErrnoException) => reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? new ServiceError("TOO_LARGE", `The check needs more than ${limits.memory} bytes of memory (VALIDATE_MEMORY).`) : error));
    worker.on("exit", (code) => reject(new Error(`the thread that judges records ended with code ${code}`)));
  });
  // It may end while nobody waits for it.
  ended.catch(() => {});
  const ask = (message: ToJudge, transfer: ArrayBuffer[] = []) => new Promise<FromJudge>((resolve) => {
    worker.once("message", resolve);
    worker.postMessage(message, transfer);
  });
  const answered = async (question: Promise<FromJudge>): Promise<void> => {
    const answer = await Promise.race([question, ended]);
    if ("fault" in answer) throw new Error(answer.fault);
    if ("refused" in answer) throw new ValidationError(answer.refused);
    report.checked += answer.checked;
    for (const result of answer.results) report.results.push(result);
    if (answer.results.length > 0) report.conforms = false;
    report.truncated = report.results.length >= limits.results;
  };
  try {
    if ("document" in judged) {
      // A copy of its own, which is handed over: what was received may be part of a larger buffer.
      const document = new Uint8Array(judged.document);
      await answered(ask({ sent: { ...judged, document }, most: limits.results }, [document.buffer]));
    } else {
      for await (const records of judged) {
        await answered(ask({ records, most: limits.results - report.results.length }));
        if (report.truncated) break;
      }
    }
    return report;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", leave);
    await worker.terminate();
  }
}
