/**
 * Selects records, and counts links, in a thread beside the serving thread: a filter that few
 * records meet may have to look at all of them, and a record may have a hundred thousand links.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { SelectionPage } from "../port.js";
import type {
  AddressesQuery,
  AddressPage,
  AddressRange,
  AddressRangesQuery,
  LinkCountQuery,
  Selection,
  SelectionQuery,
  Statistics,
  StatisticsQuery,
} from "../selection-port.js";
import type { AskedThreadAnswer, AskedThreadMessage } from "../threads.js";
import { openForReading } from "./connection.js";
import { LinkReads } from "./links.js";
import { SelectionReads } from "./selection-reads.js";
import { type Connection, sendError } from "./statement.js";

export type SelectionQuestion =
  | { select: SelectionQuery }
  | { count: Selection }
  | { statistics: StatisticsQuery }
  | { links: LinkCountQuery }
  | { addressRanges: AddressRangesQuery }
  | { addresses: AddressesQuery };
export type SelectionAnswer =
  SelectionPage | number | Statistics | number[] | AddressRange[] | AddressPage;

const { file } = workerData as { file: string };
let connection: Connection | undefined;
let reads: { selection: SelectionReads; links: LinkReads } | undefined;
/** Opened with the first question: a fault of the file is its answer. */
function opened(): NonNullable<typeof reads> {
  if (reads) return reads;
  connection ??= openForReading(file);
  return (reads = { selection: new SelectionReads(connection), links: new LinkReads(connection) });
}
function answerTo(question: SelectionQuestion): SelectionAnswer {
  const { selection, links } = opened();
  if ("select" in question) return selection.select(question.select);
  if ("count" in question) return selection.count(question.count);
  if ("links" in question) return links.count(question.links);
  if ("addresses" in question) return selection.addresses(question.addresses);
  if ("addressRanges" in question) return selection.addressRanges(question.addressRanges);
  return selection.statistics(question.statistics);
}

parentPort!.on("message", (message: AskedThreadMessage<SelectionQuestion>) => {
  if ("close" in message) {
    reads?.selection.close();
    connection?.close();
    parentPort!.close();
    return;
  }
  try {
    const answer = answerTo(message.ask);
    parentPort!.postMessage({ answer } satisfies AskedThreadAnswer<SelectionAnswer>);
  } catch (error) {
    parentPort!.postMessage({
      error: sendError(error),
    } satisfies AskedThreadAnswer<SelectionAnswer>);
  }
});
