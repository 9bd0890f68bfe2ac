/**
 * Selects records in a thread beside the serving thread: a filter that few records meet may have to
 * look at all of them.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { SelectionPage } from "../port.js";
import type { Selection, SelectionQuery, Statistics, StatisticsQuery } from "../selection-port.js";
import type { AskedThreadAnswer, AskedThreadMessage } from "../threads.js";
import { openForReading } from "./connection.js";
import { sendError } from "./requests.js";
import { SelectionReads } from "./selection-reads.js";
import type { Connection } from "./statement.js";

export type SelectionQuestion =
  { select: SelectionQuery } | { count: Selection } | { statistics: StatisticsQuery };
export type SelectionAnswer = SelectionPage | number | Statistics;

const { file } = workerData as { file: string };
let connection: Connection | undefined;
let reads: SelectionReads | undefined;
/** Opened with the first question: a fault of the file is its answer. */
const opened = (): SelectionReads =>
  (reads ??= new SelectionReads((connection ??= openForReading(file))));

parentPort!.on("message", (message: AskedThreadMessage<SelectionQuestion>) => {
  if ("close" in message) {
    reads?.close();
    connection?.close();
    parentPort!.close();
    return;
  }
  const { ask } = message;
  try {
    const answer =
      "select" in ask
        ? opened().select(ask.select)
        : "count" in ask
          ? opened().count(ask.count)
          : opened().statistics(ask.statistics);
    parentPort!.postMessage({ answer } satisfies AskedThreadAnswer<SelectionAnswer>);
  } catch (error) {
    parentPort!.postMessage({
      error: sendError(error),
    } satisfies AskedThreadAnswer<SelectionAnswer>);
  }
});
