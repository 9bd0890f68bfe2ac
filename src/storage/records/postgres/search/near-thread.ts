/** Searches all vectors in a thread of its own: the serving thread holds none of them. */
import { parentPort, workerData } from "node:worker_threads";
import type { AskedThreadAnswer, AskedThreadMessage } from "../../threads.js";
import type { SearchQuery } from "../../port.js";
import { asSent } from "../../refusals.js";
import type { Near } from "../../vectors/matrix.js";
import { Database, type DatabaseOptions } from "../statement.js";
import { asStoreError } from "../statement-error.js";
import { type ComparedBy, NearReads } from "./near-reads.js";

/** The nearest records, among those that are named where not all are compared. */
export interface NearQuestion {
  near: NonNullable<SearchQuery["near"]>;
  among: ComparedBy | undefined;
}

const { vectorsMemory, ...options } = workerData as Omit<DatabaseOptions, "pool" | "log"> & {
  vectorsMemory: number;
};
/** One connection: one question is asked at a time. */
const database = new Database({ ...options, pool: 1, log: () => {} });
const reads = new NearReads(database, vectorsMemory);

async function answered({ near, among }: NearQuestion): Promise<AskedThreadAnswer<Near[]>> {
  try {
    return { answer: await reads.nearest(near, among) };
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
