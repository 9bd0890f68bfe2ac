import { move, transferableSymbol, valueSymbol } from "piscina";
import { ValidationError } from "../../errors.js";
import { parseBoundedJson } from "../../model/json/read.js";
import { packLinks, packQuads } from "../../storage/records/codecs.js";
import { changedPointers } from "../records/state.js";
import { stated } from "../records/reserved.js";
import { parseDocument } from "../records/view.js";
import type { DocumentJobs, FromDocumentThread, ToDocumentThread } from "./run-documents.js";

/** An answer, and the arrays of it that are transferred rather than copied. */
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
      // Packed here: as text the quads are ten times as large as the document, and they are
      // deflated before they are stored.
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

/**
 * The same in a thread of the pool: parsing and JSON-LD would block the serving thread. Errors that
 * cross threads lose their class, so problems are an answer.
 */
export async function doneInThread(message: ToDocumentThread): Promise<FromDocumentThread> {
  try {
    const { answer, handOver } = await done(message);
    return move({
      [transferableSymbol]: handOver.map(({ buffer }) => buffer),
      [valueSymbol]: { answer },
    }) as unknown as FromDocumentThread;
  } catch (error) {
    if (error instanceof ValidationError) return { problems: error.items };
    throw error;
  }
}
