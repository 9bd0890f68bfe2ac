import { ServiceError } from "../../../errors.js";
import { KINDS } from "../../../model/kinds.js";
import type { RecordStore, StoredRecord } from "../../../storage/records/port.js";
import type { Deps } from "../../deps.js";
import { withoutForgotten } from "../../records/forgotten.js";
import { changedPointers } from "../../records/replace.js";
import { stateOf } from "../../records/state.js";
import { parseDocument } from "../../records/view.js";
import { builtMembers, questionOf } from "./document.js";

/**
 * Graphs found unchanged, and as of which commit: they are not checked again before the next
 * commit.
 */
const verified = new WeakMap<RecordStore, Map<string, number>>();
/**
 * When the cache is full, the oldest entry is dropped, and its graph is checked again when it is
 * read.
 */
const REMEMBERED = 10_000;

/**
 * The result of {@link renewedAsStored}, without names and descriptions of records that were
 * deleted.
 */
export async function renewed(deps: Deps, record: StoredRecord): Promise<StoredRecord> {
  return (await withoutForgotten(deps, [await renewedAsStored(deps, record)]))[0]!;
}

/**
 * The record itself; for a stored evidence graph whose inputs have changed since, its next
 * revision, created now. The graph of a record that was deleted remains in its last state.
 * @throws ServiceError `INDEX_LOADING`, `INDEX_BEHIND`, `QUERY_TIMEOUT`
 */
async function renewedAsStored(deps: Deps, record: StoredRecord): Promise<StoredRecord> {
  if (record.kind !== "evidencegraph" || record.tombstone) return record;
  const before = parseDocument(record.document);
  const question = questionOf(record, before);
  if (!question) return record;
  let known = verified.get(deps.records);
  if (!known) verified.set(deps.records, (known = new Map()));
  const sequence = await deps.records.sequence();
  if (known.get(record.ark) === sequence) return record;

  try {
    const document = { ...before, ...(await builtMembers(deps, question, deps.config.INDEX_WAIT)) };
    const changed = changedPointers({ ...before, asOf: document["asOf"]! }, document);
    if (changed.length > 0) {
      const state = await stateOf(deps, KINDS.evidencegraph, record.ark, document);
      await deps.records.commit({
        by: null,
        at: Date.now(),
        records: [
          { op: "replace", ark: record.ark, ifRevision: record.revision, changed, ...state },
        ],
      });
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === "NOT_FOUND" || error.code === "GONE" || error.code === "AMBIGUOUS")
      return record;
    // Another request was faster: its revision is as recent.
    if (error.code !== "REVISION_MISMATCH") throw error;
  }
  known.delete(record.ark);
  known.set(record.ark, sequence);
  if (known.size > REMEMBERED) known.delete(known.keys().next().value!);
  const [after] = await deps.records.findMany([record.ark]);
  return after!;
}
