/** Searches all vectors in a thread of its own: the serving thread holds none of them. */
import { parentPort, workerData } from "node:worker_threads";
import type { AskedThreadAnswer, AskedThreadMessage } from "../../threads.js";
import type { SearchQuery } from "../../port.js";
import { asSent } from "../../refusals.js";
import type { RecordFilter } from "../../selection-port.js";
import type { Near } from "../../vectors/matrix.js";
import { Database, type DatabaseOptions } from "../statement.js";
import { asStoreError } from "../statement-error.js";
import { NearReads } from "./near-reads.js";

/** The nearest records, among those of a filter where there is one. */
export interface NearQuestion {
  near: NonNullable<SearchQuery["near"]>;
  filter: RecordFilter | undefined;
}

const { vectorsMemory, ...options } = workerData as Omit<DatabaseOptions, "pool" | "log"> & {
  vectorsMemory: number;
};
/** One connection: one question is asked at a time. */
const database = new Database({ ...options, pool: 1, log: () => {} });
const reads = new NearReads(database, vectorsMemory);

async function answered({ near, filter }: NearQuestion): Promise<AskedThreadAnswer<Near[]>> {
  try {
    return { answer: await reads.nearest(near, filter) };
  } catch (error) {
    return { error: asSent(error, asStoreError) };
  }
}

parentPort!.on("message", (message: AskedThreadMessage<NearQuestion>) => {
  if ("close" in message) {
    parentPort!.close();
    void database.close();
    return;
  }
  void answered(message.ask).then((answer) => parentPort!.postMessage(answer));
});
