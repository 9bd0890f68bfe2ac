import { invalid, ServiceError } from "../../errors.js";
import type { Deps } from "../deps.js";

/** What became of one record of a list. */
export interface BulkResult {
  /** The identifier as the caller wrote it. */
  id: string;
  done: boolean;
  /** Why it was left unchanged; null where it was not. */
  code: string | null;
  message: string | null;
}

/**
 * Does the same with many records, one after the other, each in a commit of its own. A record that
 * is refused does not prevent the others; each has its own result, in the order of the list.
 * @throws ValidationError for a list that is too long, or names an identifier twice
 */
export async function forEachRecord(
  { config, log }: Pick<Deps, "config" | "log">,
  ids: readonly string[],
  work: (id: string) => Promise<unknown>,
): Promise<BulkResult[]> {
  const { MAX_BULK_RECORDS: most } = config;
  if (ids.length > most)
    throw invalid(
      ["body", "ids"],
      `List should have at most ${most} items, not ${ids.length} (MAX_BULK_RECORDS)`,
      "too_long",
      { max_length: most },
    );
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined)
    throw invalid(
      ["body", "ids", ids.lastIndexOf(twice)],
      "Value error, the identifier occurs twice: name it once",
    );
  const results: BulkResult[] = [];
  for (const id of ids) {
    try {
      await work(id);
      results.push({ id, done: true, code: null, message: null });
    } catch (error) {
      if (!(error instanceof ServiceError))
        log.error({ err: error, record: id.slice(0, 200) }, "a record of a list was not changed");
      const known = error instanceof ServiceError;
      results.push({
        id,
        done: false,
        code: known ? error.code : "INTERNAL",
        message: known ? error.message : "Internal error of the service; its log has the details.",
      });
    }
  }
  return results;
}
