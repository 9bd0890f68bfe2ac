import { done } from "../../src/use-cases/documents/jobs.js";
import type { ToDocumentThread } from "../../src/use-cases/documents/protocol.js";
import type { DocumentThread } from "../../src/use-cases/documents/run-documents.js";

/** Reads and expands documents in this thread, for tests and benches that make records without a registry. */
export const documentsHere = {
  ask: async (job: string, question: object) => (await done({ job, question } as ToDocumentThread)).answer,
} as unknown as DocumentThread;
