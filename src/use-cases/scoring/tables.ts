import { ServiceError } from "../../errors.js";
import type { Deps } from "../deps.js";
import { checkTable } from "../schemas/check-table.js";
import type { NamedTable } from "./facts/gather.js";
import { Share } from "./facts/share.js";

/** Faults of the table or its schema; any other is none of the crate's. */
const DOES_NOT_CONFORM: ReadonlySet<string> = new Set(["VALIDATION", "SCHEMA_UNUSABLE"]);
const LEFT_OUT: ReadonlySet<string> = new Set(["TOO_LARGE", "QUERY_TIMEOUT", "NOT_FOUND", "GONE", "AMBIGUOUS", "CONTENT_DELETED", "CONTENT_DAMAGED"]);
const COMPRESSED = /\.(?:gz|bz2|xz|zst|zip)$/i;

/**
 * Checks tables whose content is stored here against the schemas that they name, up to SCORE_MAX_TABLES and
 * SCORE_TABLE_BYTES. Tells of a table only whether it conforms.
 */
export async function checkTables(deps: Deps, tables: readonly NamedTable[], signal: AbortSignal, report: (done: number, total: number) => void): Promise<Share> {
  const checked = new Share();
  let room = deps.config.SCORE_TABLE_BYTES;
  const most = Math.min(tables.length, deps.config.SCORE_MAX_TABLES);
  for (const [index, { ark, schema, place }] of tables.slice(0, most).entries()) {
    signal.throwIfAborted();
    report(index, most);
    const [content] = await deps.records.objectsOf(ark, { role: "content" });
    if (!content || content.size > room || COMPRESSED.test(content.name)) continue;
    room -= content.size;
    try {
      const stream = await deps.objects.open(content.sha256, undefined, { size: content.size });
      const abort = (): void => void stream.destroy(signal.reason as Error);
      signal.addEventListener("abort", abort, { once: true });
      try {
        checked.add((await checkTable(deps, schema, { stream, name: content.name, mediaType: content.mediaType })).conforms, place);
      } finally {
        signal.removeEventListener("abort", abort);
        stream.destroy();
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (DOES_NOT_CONFORM.has(error.code)) checked.add(false, place);
      else if (!LEFT_OUT.has(error.code)) throw error;
    }
  }
  return checked;
}
