import type { JsonObject } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds/index.js";
import type { ObjectReference } from "../../stores/records/objects-port.js";
import type { StoredRecord } from "../../stores/records/port.js";
import type { Caller } from "../access/caller.js";
import type { Deps } from "../deps.js";
import { changedBetween } from "./changed-between.js";
import { unlessChanged } from "./contention.js";
import { findLive } from "./find.js";
import { mismatch } from "./replace.js";
import { stateOf } from "./state.js";
import { parseDocument, viewOf, type RecordView } from "./view.js";

/** The next state of a record. */
export interface Amendment {
  document: JsonObject;
  /** What the record refers to from now on; absent: as before. */
  objects?: ObjectReference[];
  /** Takes the objects so far from earlier revisions too. */
  dropObjects?: boolean;
}

/** Which record, as the client knows it. */
export interface AmendOptions { kind: KindName; expectedRevision?: number | undefined }

/**
 * Changes one part of a record and leaves the rest as it is. `change` is asked again when another write came
 * between, unless the client named the revision that it knows.
 * @param assertMay throws when the caller may not do this to the record
 * @param change the next state; `undefined` leaves the record as it is, and makes no revision
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `REVISION_MISMATCH`, and what the two functions throw
 */
export async function amendRecord(
  deps: Deps, id: string, who: Caller, { kind, expectedRevision }: AmendOptions,
  assertMay: (record: StoredRecord) => Promise<void> | void,
  change: (record: StoredRecord, document: JsonObject) => Promise<Amendment | undefined>,
): Promise<RecordView> {
  return unlessChanged(id, expectedRevision, async () => {
    const record = await findLive(deps, id, kind);
    await assertMay(record);
    if (expectedRevision !== undefined && expectedRevision !== record.revision) throw mismatch(record, expectedRevision);
    const before = parseDocument(record.document);
    const next = await change(record, before);
    if (!next) return viewOf(deps, record, who);
    const { document, ...objects } = next;
    const state = await stateOf(deps, KINDS[kind], record.ark, document, record.crate !== null, record.owner);
    // New objects are a change even where the document says the same of them.
    const changed = await changedBetween(deps, record.document, state.document);
    if (changed.length === 0 && objects.objects) changed.push("/contentUrl");
    await deps.records.commit({
      by: who.user, at: Date.now(),
      // The owner of a crate's member need not stand in its document.
      records: [{ op: "replace", ark: record.ark, ifRevision: record.revision, changed, ...state, owner: state.owner ?? record.owner, ...objects }],
    });
    const [after] = await deps.records.findMany([record.ark]);
    return viewOf(deps, after!, who);
  });
}
