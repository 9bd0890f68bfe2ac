import { ValidationError, type ValidationItem } from "../../errors.js";
import {
  type RecordToCheck,
  readSent,
  type SentDocument,
  type ShapeResult,
  sentToValidate,
} from "./document.js";
import { ShapeValidator } from "./shape-validator.js";

/** Stored records to validate, or a document that a client sent. */
export type ShapesInput = ({ records: RecordToCheck[] } | { sent: SentDocument }) & {
  /** Most results to return. */
  most: number;
};
/** The validation results, or the error of the document itself. */
type ShapesAnswer = { results: ShapeResult[]; checked: number } | { refused: ValidationItem[] };

let validator: ShapeValidator | undefined;

/**
 * Runs in a thread: a document may hold as many values as a body can, and each is parsed, expanded
 * and validated.
 */
export async function validateByShapes(input: ShapesInput): Promise<ShapesAnswer> {
  try {
    const results: ShapeResult[] = [];
    let checked = 0;
    const batches =
      "sent" in input
        ? sentToValidate(readSent(input.sent.document, input.sent.maxDepth), input.sent.kind)
        : [input.records];
    for await (const records of batches) {
      for (const record of records)
        for (const result of await (validator ??= new ShapeValidator()).check(record))
          if (results.length < input.most) results.push(result);
      checked += records.length;
      if (results.length >= input.most) break;
    }
    return { results, checked };
  } catch (error) {
    if (error instanceof ValidationError) return { refused: error.items };
    throw error;
  }
}
