/**
 * Reads beside the serving thread what may take long: a search that ranks every record, a filter
 * that few records meet, a hundred thousand links, graphs for the indexes. The store starts a thread
 * for searches, one for selections and one for graphs, so that none waits for another.
 */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { FeedAnswer, FeedRequest, SearchPage, SearchQuery, SelectionPage } from "../port.js";
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
} from "../port/selection.js";
import { Links } from "../tables/links.js";
import type { AskedThreadAnswer, AskedThreadMessage, FeedThreadMessage } from "../threads.js";
import { openForReading } from "./connection.js";
import { FeedReads } from "./reads.js";
import { SearchReads } from "./search/search-reads.js";
import { SelectionReads } from "./selection-reads.js";
import { type Connection, sendError } from "./statement.js";
import { TABLE_SQL } from "./table-sql.js";
import { TableStatements } from "./table-statements.js";

export type ReadQuestion =
  | { search: SearchQuery }
  | { select: SelectionQuery }
  | { count: Selection }
  | { statistics: StatisticsQuery }
  | { links: LinkCountQuery }
  | { addressRanges: AddressRangesQuery }
  | { addresses: AddressesQuery };
export type ReadAnswer =
  SearchPage | SelectionPage | number | Statistics | number[] | AddressRange[] | AddressPage;

export interface ReadThreadData {
  file: string;
}

const { file } = workerData as ReadThreadData;
let connection: Connection | undefined;
/** Made with the first question: a fault of the file is its answer. */
function once<Reads>(made: (connection: Connection) => Reads): () => Reads {
  let reads: Reads | undefined;
  return () => (reads ??= made((connection ??= openForReading(file))));
}
const searches = once((opened) => new SearchReads(opened));
const selections = once((opened) => new SelectionReads(opened));
const links = once((opened) => new Links(new TableStatements(opened), TABLE_SQL.links));
const graphs = once((opened) => new FeedReads(opened));
const feeds = new Set<MessagePort>();

async function answerTo(question: ReadQuestion): Promise<ReadAnswer> {
  if ("search" in question) return searches().search(question.search);
  if ("select" in question) return selections().select(question.select);
  if ("count" in question) return selections().count(question.count);
  if ("links" in question) return links().countLinks(question.links);
  if ("addresses" in question) return selections().addresses(question.addresses);
  if ("addressRanges" in question) return selections().addressRanges(question.addressRanges);
  return selections().statistics(question.statistics);
}

/** An error is an answer: the reader on the other side decides whether to ask again. */
function graphsFor(request: FeedRequest): FeedAnswer {
  try {
    return graphs().answer(request);
  } catch (error) {
    return { id: request?.id, error: (error as Error).message, graphs: [], sequence: 0 };
  }
}

async function answered(question: ReadQuestion): Promise<AskedThreadAnswer<ReadAnswer>> {
  try {
    return { answer: await answerTo(question) };
  } catch (error) {
    return { error: sendError(error) };
  }
}

parentPort!.on("message", (message: FeedThreadMessage | AskedThreadMessage<ReadQuestion>) => {
  if ("ask" in message) {
    void answered(message.ask).then((answer) => parentPort!.postMessage(answer));
  } else if ("open" in message) {
    const port = message.open;
    feeds.add(port);
    port.on("message", (request: FeedRequest) => port.postMessage(graphsFor(request)));
    port.on("close", () => feeds.delete(port));
  } else {
    for (const port of feeds) port.close();
    connection?.close();
    parentPort!.close();
  }
});
