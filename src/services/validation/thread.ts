import { parentPort } from "node:worker_threads";
import { ValidationError, type ValidationItem } from "../../errors.js";
import {
  type RecordToCheck,
  readSent,
  type SentDocument,
  type ShapeResult,
  sentToValidate,
} from "./document.js";
import { ShapeValidator } from "./shape-validator.js";

/**
 * To the thread: stored records to validate, or a document that a client sent. `most`: most results
 * to return.
 */
export type ToValidator = ({ records: RecordToCheck[] } | { sent: SentDocument }) & {
  most: number;
};
/**
 * Back, once for each message, in order: the validation results, or the error of the document
 * itself.
 */
export type FromValidator =
  { results: ShapeResult[]; checked: number } | { refused: ValidationItem[] } | { fault: string };

// A separate thread: a document may hold as many values as a body can, and each is parsed, expanded
// and validated.
const port = parentPort!;
const validator = new ShapeValidator();
let last = Promise.resolve();

async function validateAll(message: ToValidator): Promise<void> {
  try {
    const results: ShapeResult[] = [];
    let checked = 0;
    const batches =
      "sent" in message
        ? sentToValidate(readSent(message.sent.document, message.sent.maxDepth), message.sent.kind)
        : [message.records];
    for await (const records of batches) {
      for (const record of records)
        for (const result of await validator.check(record))
          if (results.length < message.most) results.push(result);
      checked += records.length;
      if (results.length >= message.most) break;
    }
    port.postMessage({ results, checked } satisfies FromValidator);
  } catch (error) {
    if (error instanceof ValidationError)
      port.postMessage({ refused: error.items } satisfies FromValidator);
    else
      port.postMessage({
        fault: error instanceof Error ? (error.stack ?? error.message) : String(error),
      } satisfies FromValidator);
  }
}
port.on("message", (message: ToValidator) => {
  last = last.then(() => validateAll(message));
});
