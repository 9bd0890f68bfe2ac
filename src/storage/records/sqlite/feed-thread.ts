/**
 * Serves graphs to indexes in other threads, so that neither reading nor inflating them blocks the
 * serving thread.
 */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { FeedThreadMessage } from "../threads.js";
import type { FeedAnswer, FeedRequest } from "../port.js";
import { openForReading } from "./connection.js";
import { FeedReads } from "./reads.js";
import type { Connection } from "./statement.js";

let connection: Connection | undefined;
let feed: FeedReads | undefined;
/** Opened with the first question: a fault of the file is its answer. */
const opened = (): FeedReads =>
  (feed ??= new FeedReads((connection ??= openForReading((workerData as { file: string }).file))));
const feeds = new Set<MessagePort>();

/** An error is an answer: the reader on the other side decides whether to ask again. */
function answer(request: FeedRequest): FeedAnswer {
  try {
    return opened().answer(request);
  } catch (error) {
    return { id: request?.id, error: (error as Error).message, graphs: [], sequence: 0 };
  }
}

parentPort!.on("message", (message: FeedThreadMessage) => {
  if ("close" in message) {
    for (const port of feeds) port.close();
    connection?.close();
    parentPort!.close();
    return;
  }
  const port = message.open;
  feeds.add(port);
  port.on("message", (request: FeedRequest) => port.postMessage(answer(request)));
  port.on("close", () => feeds.delete(port));
});
