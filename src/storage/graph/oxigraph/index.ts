import { once } from "node:events";
import { type MessagePort, Worker } from "node:worker_threads";
import { ServiceError } from "../../../errors.js";
import { threadModule } from "../../../package-root.js";
import type { RecordsDigester } from "../port.js";
import { OxigraphEngine } from "./engine.js";
import {
  DEFAULTS,
  type DigestReply,
  type DigestRequest,
  type OxigraphOptions,
  type ThreadData,
} from "./thread-handle.js";

export { EvidenceEngine, OxigraphEngine } from "./engine.js";
export { OpenEngine } from "./open/engine.js";
export type { OpenOptions } from "./open/engine.js";
export type { EngineLog } from "../port.js";
export {
  REBUILD_AFTER_REWRITES,
  type OxigraphOptions,
  type SnapshotPlace,
} from "./thread-handle.js";

/**
 * Opens the graph index. Returns at once: loading goes on in its own thread, and until it is done
 * every question is refused with `INDEX_LOADING` and the progress.
 */
export async function openOxigraphEngine(options: OxigraphOptions): Promise<OxigraphEngine> {
  const engine = new OxigraphEngine(options);
  engine.start();
  return engine;
}

/**
 * {@link RecordsDigester} for the Oxigraph index. Its thread reads the feed from the beginning; the
 * serving thread is left alone. One question at a time.
 */
export function openRecordsDigester(
  openFeed: () => MessagePort,
  pageSize: number = DEFAULTS.pageSize,
): RecordsDigester {
  const feed = openFeed();
  const worker = new Worker(threadModule("src/storage/graph/oxigraph/records-digest-thread"), {
    workerData: { feed, pageSize } satisfies ThreadData,
    transferList: [feed],
  });
  let lost: Error | undefined;
  worker.on("error", (error) => (lost = error));
  return {
    async digest(atLeast) {
      if (lost) throw unread(lost);
      const answer = once(worker, "message");
      worker.postMessage({ atLeast } satisfies DigestRequest);
      try {
        return ((await answer) as [DigestReply])[0];
      } catch (error) {
        throw unread(error as Error);
      }
    },
    close: async () => void (await worker.terminate()),
  };
}

const unread = (error: Error): ServiceError =>
  new ServiceError(
    "STORE_UNAVAILABLE",
    `The records could not be read to the end: ${error.message}`,
  );
