import type { ValidationItem } from "../../errors.js";
import { type JsonLimits, parseBoundedJson } from "../../model/json/bounded-json.js";
import type { JsonProblem } from "../../model/json/strict-json.js";
import { packLinks, packQuads } from "../../storage/records/codecs.js";
import { changedPointers } from "../records/replace.js";
import { stated, type Stated, type StatedInput } from "../records/reserved.js";
import { parseDocument } from "../records/view.js";

/** An answer, and which arrays of it are handed over rather than copied. */
interface Done {
  answer: DocumentJobs[keyof DocumentJobs]["answer"];
  handOver: Uint8Array[];
}

/**
 * Does one job of the thread for large documents.
 * @throws ValidationError for a document that cannot be expanded
 */
export async function done(message: ToDocumentThread): Promise<Done> {
  switch (message.job) {
    case "check": {
      const { bytes, limits } = message.question;
      const { problems, tooMany } = parseBoundedJson(bytes, limits);
      return { answer: { bytes, problems, tooMany }, handOver: [bytes] };
    }
    case "state": {
      const { document, ...input } = message.question;
      const { quads, links, ...rest } = await stated({
        ...input,
        document: parseDocument(document),
      });
      // Packed here: as text it is ten times the document, and it is deflated before it is stored.
      const packed = packQuads(quads);
      const packedLinks = packLinks(links);
      return {
        answer: { ...rest, quads: packed, links: packedLinks },
        handOver: [packed, ...(packedLinks instanceof Uint8Array ? [packedLinks] : [])],
      };
    }
    case "changed": {
      const { before, after } = message.question;
      return { answer: changedPointers(parseDocument(before), parseDocument(after)), handOver: [] };
    }
  }
}

/** Jobs of the thread: question and answer, by name. Bytes are handed over, never copied. */
export interface DocumentJobs {
  /** Whether bytes are JSON that may be stored; they come back with the answer. */
  check: {
    question: { bytes: Uint8Array; limits: JsonLimits };
    answer: { bytes: Uint8Array; problems: JsonProblem[]; tooMany: boolean };
  };
  /** The document, as UTF-8 JSON, as a record of the kind. */
  state: { question: Omit<StatedInput, "document"> & { document: Uint8Array }; answer: Stated };
  /** JSON pointers of what differs between two documents. */
  changed: { question: { before: Uint8Array; after: Uint8Array }; answer: string[] };
}
export type DocumentJob = keyof DocumentJobs;

export type ToDocumentThread = {
  [Job in DocumentJob]: { job: Job; question: DocumentJobs[Job]["question"] };
}[DocumentJob];
export type FromDocumentThread =
  | { answer: DocumentJobs[DocumentJob]["answer"] }
  | { problems: ValidationItem[] }
  | { fault: string };
