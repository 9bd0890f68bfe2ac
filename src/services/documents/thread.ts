import { parentPort } from "node:worker_threads";
import { ValidationError } from "../../errors.js";
import { done } from "./jobs.js";
import type { FromDocumentThread, ToDocumentThread } from "./run-documents.js";

/**
 * Parses and expands large documents, one at a time: parsing and JSON-LD would block the serving
 * thread.
 */

const port = parentPort!;

async function reply(message: ToDocumentThread): Promise<void> {
  try {
    const { answer, handOver } = await done(message);
    port.postMessage(
      { answer } satisfies FromDocumentThread,
      handOver.map(({ buffer }) => buffer as ArrayBuffer),
    );
  } catch (error) {
    const failed: FromDocumentThread =
      error instanceof ValidationError
        ? { problems: error.items }
        : { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    port.postMessage(failed);
  }
}

port.on("message", (message: ToDocumentThread) => void reply(message));
