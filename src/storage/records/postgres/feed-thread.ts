/**
 * Serves graphs to indexes in other threads, so that neither reading nor inflating them blocks the
 * serving thread.
 */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { FeedThreadMessage } from "../threads.js";
import type { FeedAnswer, FeedRequest } from "../port.js";
import { FeedReads } from "./reads/feed-reads.js";
import { Database, type DatabaseOptions } from "./statement.js";

/** Connections of the thread: one reader seldom asks twice at a time. */
const POOL = 2;

const database = new Database({
  ...(workerData as Omit<DatabaseOptions, "pool" | "log">),
  pool: POOL,
  log: () => {},
});
const feed = new FeedReads(database);
const feeds = new Set<MessagePort>();

/** An error is an answer: the reader on the other side decides whether to ask again. */
async function answer(request: FeedRequest): Promise<FeedAnswer> {
  try {
    return await feed.answer(request);
  } catch (error) {
    return { id: request?.id, error: (error as Error).message, graphs: [], sequence: 0 };
  }
}

parentPort!.on("message", (message: FeedThreadMessage) => {
  if ("close" in message) {
    for (const port of feeds) port.close();
    parentPort!.close();
    void database.close();
    return;
  }
  const port = message.open;
  feeds.add(port);
  port.on(
    "message",
    (request: FeedRequest) =>
      void answer(request).then((answered) => {
        if (feeds.has(port)) port.postMessage(answered);
      }),
  );
  port.on("close", () => feeds.delete(port));
});
