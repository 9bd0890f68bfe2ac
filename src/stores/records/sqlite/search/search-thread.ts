/** Searches beside the serving thread: ranking a word that every record holds takes its time. */
import { parentPort, workerData } from "node:worker_threads";
import type { SearchPage, SearchQuery } from "../../search-port.js";
import { openForReading } from "../connection.js";
import { sendError, type SentError } from "../requests.js";
import { SearchReads } from "./search-reads.js";

export type SearchRequest = { query: SearchQuery } | { close: true };
export type SearchAnswer = { page: SearchPage } | { error: SentError };

const connection = openForReading((workerData as { file: string }).file);
const reads = new SearchReads(connection);

parentPort!.on("message", (message: SearchRequest) => {
  if ("close" in message) {
    connection.close();
    parentPort!.close();
    return;
  }
  try {
    parentPort!.postMessage({ page: reads.search(message.query) } satisfies SearchAnswer);
  } catch (error) {
    parentPort!.postMessage({ error: sendError(error) } satisfies SearchAnswer);
  }
});
