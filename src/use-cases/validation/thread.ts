import { parentPort } from "node:worker_threads";
import { ShapeJudge } from "./judge.js";
import type { Judged, ShapeResult } from "./report.js";

/** To the thread: records to judge. Back: what is wrong with them, once for each message, in order. */
export type ToJudge = Judged[];
export type FromJudge = { results: ShapeResult[] } | { fault: string };

// A thread of its own: a record may hold as many values as a body can, and each is judged.
const port = parentPort!;
const judge = new ShapeJudge();
let last = Promise.resolve();

async function judgeAll(records: ToJudge): Promise<void> {
  try {
    const results: ShapeResult[] = [];
    for (const record of records) for (const result of await judge.judge(record)) results.push(result);
    port.postMessage({ results } satisfies FromJudge);
  } catch (error) {
    port.postMessage({ fault: error instanceof Error ? (error.stack ?? error.message) : String(error) } satisfies FromJudge);
  }
}
port.on("message", (records: ToJudge) => {
  last = last.then(() => judgeAll(records));
});
