import { done } from "../../src/services/documents/jobs.js";
import type {
  DocumentThread,
  ToDocumentThread,
} from "../../src/services/documents/run-documents.js";

/**
 * Reads and expands documents in this thread, for tests and benches that make records without a
 * registry.
 */
export const documentsHere = {
  ask: async (job: string, question: object) =>
    (await done({ job, question } as ToDocumentThread)).answer,
} as unknown as DocumentThread;
