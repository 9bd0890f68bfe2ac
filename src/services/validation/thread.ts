import { parentPort } from "node:worker_threads";
import { ValidationError, type ValidationItem } from "../../errors.js";
import { readSent, sentToJudge } from "./document.js";
import { ShapeJudge } from "./judge.js";
import type { Judged, SentDocument, ShapeResult } from "./report.js";

/**
 * To the thread: stored records to validate, or a document that a client sent. `most`: most results
 * to return.
 */
export type ToJudge = ({ records: Judged[] } | { sent: SentDocument }) & { most: number };
/**
 * Back, once for each message, in order: the validation results, or the error of the document
 * itself.
 */
export type FromJudge =
  { results: ShapeResult[]; checked: number } | { refused: ValidationItem[] } | { fault: string };

// A separate thread: a document may hold as many values as a body can, and each is parsed, expanded
// and validated.
const port = parentPort!;
const judge = new ShapeJudge();
let last = Promise.resolve();

async function judgeAll(message: ToJudge): Promise<void> {
  try {
    const results: ShapeResult[] = [];
    let checked = 0;
    const batches =
      "sent" in message
        ? sentToJudge(readSent(message.sent.document, message.sent.maxDepth), message.sent.kind)
        : [message.records];
    for await (const records of batches) {
      for (const record of records)
        for (const result of await judge.judge(record))
          if (results.length < message.most) results.push(result);
      checked += records.length;
      if (results.length >= message.most) break;
    }
    port.postMessage({ results, checked } satisfies FromJudge);
  } catch (error) {
    if (error instanceof ValidationError)
      port.postMessage({ refused: error.items } satisfies FromJudge);
    else
      port.postMessage({
        fault: error instanceof Error ? (error.stack ?? error.message) : String(error),
      } satisfies FromJudge);
  }
}
port.on("message", (message: ToJudge) => {
  last = last.then(() => judgeAll(message));
});
