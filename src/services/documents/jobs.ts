import { parseBoundedJson } from "../../model/json/read.js";
import { packLinks, packQuads } from "../../storage/records/codecs.js";
import { changedPointers } from "../records/replace.js";
import { stated } from "../records/reserved.js";
import { parseDocument } from "../records/view.js";
import type { DocumentJobs, ToDocumentThread } from "./run-documents.js";

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
