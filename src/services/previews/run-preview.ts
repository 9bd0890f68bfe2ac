import { Worker } from "node:worker_threads";
import { threadModule } from "../../package-root.js";
import { none, type PreviewInput, type ReadPreview } from "./types.js";

/** Bytes that are read in the serving thread. */
const SMALL = 64 << 10;

/** Whether a preview may be made in the serving thread: it takes milliseconds. */
export const isQuick = ({ bytes, schema }: PreviewInput): boolean =>
  bytes.byteLength <= SMALL &&
  schema === null &&
  Buffer.from(bytes.buffer, bytes.byteOffset, 4).toString("latin1") !== "PAR1";

/**
 * Makes a preview in a thread of its own: time and memory end with it.
 * @param memory bytes of the thread's heap
 * @param signal ends it
 */
export async function runPreview(
  input: PreviewInput,
  memory: number,
  signal: AbortSignal,
): Promise<ReadPreview> {
  signal.throwIfAborted();
  const worker = new Worker(threadModule("src/services/previews/thread"), {
    workerData: input,
    name: "preview",
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: Math.max(64, Math.floor(memory / 2 ** 20)) },
  });
  let abort = (): void => undefined;
  try {
    return await new Promise<ReadPreview>((resolve, reject) => {
      abort = () => reject(signal.reason as Error);
      signal.addEventListener("abort", abort, { once: true });
      worker.once("message", resolve);
      worker.once("error", (error: NodeJS.ErrnoException) =>
        error.code === "ERR_WORKER_OUT_OF_MEMORY"
          ? resolve(none("TOO_LARGE", "It needs too much memory to be shown: download it."))
          : reject(error),
      );
      worker.once("exit", (code) =>
        reject(new Error(`the thread of a preview ended with code ${code}`)),
      );
    });
  } finally {
    signal.removeEventListener("abort", abort);
    await worker.terminate();
  }
}
