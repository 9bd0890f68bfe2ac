import type { ValidationItem } from "../../errors.js";
import type { JsonLimits } from "../../model/json/bounded-json.js";
import type { JsonProblem } from "../../model/json/strict-json.js";
import type { Stated, StatedInput } from "../records/stated.js";

/** Jobs of the thread: question and answer, by name. Bytes are handed over, never copied. */
export interface DocumentJobs {
  /** Whether bytes are JSON that may be stored; they come back with the answer. */
  check: { question: { bytes: Uint8Array; limits: JsonLimits }; answer: { bytes: Uint8Array; problems: JsonProblem[]; tooMany: boolean } };
  /** The document, as UTF-8 JSON, as a record of the kind. */
  state: { question: Omit<StatedInput, "document"> & { document: Uint8Array }; answer: Stated };
  /** JSON pointers of what differs between two documents. */
  changed: { question: { before: Uint8Array; after: Uint8Array }; answer: string[] };
}
export type DocumentJob = keyof DocumentJobs;

export type ToDocumentThread = { [Job in DocumentJob]: { job: Job; question: DocumentJobs[Job]["question"] } }[DocumentJob];
export type FromDocumentThread = { answer: DocumentJobs[DocumentJob]["answer"] } | { problems: ValidationItem[] } | { fault: string };
