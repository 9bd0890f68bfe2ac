/** Searches beside the serving thread: ranking a word that every record holds takes its time. */
import { parentPort, workerData } from "node:worker_threads";
import type { SearchPage, SearchQuery } from "../../search-port.js";
import { openForReading } from "../connection.js";
import { sendError, type SentError } from "../requests.js";
import { SearchReads } from "./search-reads.js";

export type SearchRequest = { id: number; query: SearchQuery } | { close: true };
export type SearchAnswer = { id: number; page: SearchPage } | { id: number; error: SentError };

const connection = openForReading((workerData as { file: string }).file);
const reads = new SearchReads(connection);

parentPort!.on("message", (message: SearchRequest) => {
  if ("close" in message) {
    connection.close();
    parentPort!.close();
    return;
  }
  const { id, query } = message;
  try {
    parentPort!.postMessage({ id, page: reads.search(query) } satisfies SearchAnswer);
  } catch (error) {
    parentPort!.postMessage({ id, error: sendError(error) } satisfies SearchAnswer);
  }
});
