import type { Ark } from "../../identifiers/ark.js";
import { assertMayChange, type Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { findLive } from "./find.js";
import { readRevision } from "./read.js";
import { updateRecord } from "./update.js";
import { parseDocument, type RecordView } from "./view.js";

/**
 * Makes an earlier revision of a record its next one. The rules of today apply to it; a revision
 * that says what the record says now makes no new one.
 * @throws as `updateRecord`; ServiceError `NOT_FOUND` for a revision that there is not
 */
export async function restoreRevision(
  deps: Deps,
  ark: Ark,
  revision: number,
  who: Caller,
  expectedRevision?: number,
): Promise<RecordView> {
  await assertMayChange(deps.records, who, await findLive(deps, ark));
  const { bytes } = await readRevision(deps, ark, revision, who);
  const whole = { op: "replace", path: "", value: parseDocument(bytes) };
  return updateRecord(deps, ark, { operations: [whole] }, who, { expectedRevision });
}
