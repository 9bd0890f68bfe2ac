import { ServiceError, ValidationError } from "../errors.js";
import { NamesOfDocument } from "./documents.js";
import type { PageRequest } from "./page.js";

/** Name and kind of each record that could be read. */
export type Names = ReadonlyMap<string, { name: string | null; kind: string | null }>;

/**
 * Names and kinds of records by identifier. A record that cannot be read, because it was deleted
 * or is not stored, has none: each is asked for by itself, so that one does not hide the others.
 */
export async function namesOf(ask: PageRequest["ask"], ids: readonly string[]): Promise<Names> {
  const names = new Map<string, { name: string | null; kind: string | null }>();
  await Promise.all(
    [...new Set(ids)].map(async (id) => {
      try {
        const [node] = (await ask(NamesOfDocument, { ids: [id] })).nodes;
        if (node && "name" in node) names.set(id, { name: node.name, kind: node.kind });
      } catch (error) {
        if (!(error instanceof ServiceError || error instanceof ValidationError)) throw error;
      }
    }),
  );
  return names;
}
