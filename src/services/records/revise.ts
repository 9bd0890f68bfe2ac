import type { JsonObject } from "../../model/field.js";
import { KINDS } from "../../model/kinds.js";
import type { RecordWrite, StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { changedBetween } from "./replace.js";
import { reservedFields, withoutReserved } from "./reserved.js";
import { claimedState } from "./state.js";
import { parseDocument } from "./view.js";

/**
 * The write that makes a document the next state of a record, for changes that the registry makes
 * itself: the document need not have every field that clients of the API must fill in. A document
 * of a crate stays one, whose own context defines its terms.
 */
export async function revisionOf(
  deps: Pick<Deps, "documents" | "records">,
  record: StoredRecord,
  document: JsonObject,
): Promise<RecordWrite> {
  const kind = KINDS[record.kind];
  const fromCrate = record.crate !== null;
  const claimed = await claimedState(deps, kind, record.ark, document, {
    fromCrate: kind.loose === true || fromCrate,
    ownerBefore: record.owner,
  });
  const state =
    claimed.reserved.length === 0 && reservedFields(kind).length === 0
      ? claimed.state
      : withoutReserved(kind, document, claimed, {
          document: parseDocument(record.document),
          quads: (await deps.records.quads(record.ark)) ?? "",
          fromCrate,
        });
  return {
    op: "replace",
    ark: record.ark,
    ifRevision: record.revision,
    changed: await changedBetween(deps, record.document, state.document),
    ...state,
    owner: state.owner ?? record.owner,
  };
}
