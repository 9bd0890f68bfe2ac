/**
 * Searches in a thread beside the serving thread: ranking a word that every record holds takes
 * long, and so does comparing all vectors.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { AskedThreadAnswer, AskedThreadMessage } from "../../threads.js";
import type { SearchPage, SearchQuery } from "../../port.js";
import { openForReading } from "../connection.js";
import { type Connection, sendError } from "../statement.js";
import { SearchReads } from "./search-reads.js";

const { file, vectorsMemory } = workerData as { file: string; vectorsMemory: number };
let connection: Connection | undefined;
let reads: SearchReads | undefined;
/** Opened with the first question: a fault of the file is its answer. */
const opened = (): SearchReads =>
  (reads ??= new SearchReads((connection ??= openForReading(file)), vectorsMemory));

parentPort!.on("message", (message: AskedThreadMessage<SearchQuery>) => {
  if ("close" in message) {
    connection?.close();
    parentPort!.close();
    return;
  }
  try {
    parentPort!.postMessage({
      answer: opened().search(message.ask),
    } satisfies AskedThreadAnswer<SearchPage>);
  } catch (error) {
    parentPort!.postMessage({ error: sendError(error) } satisfies AskedThreadAnswer<SearchPage>);
  }
});
