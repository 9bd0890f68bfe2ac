/** Whether a record of a crate and a stored one state the same. */
import { listOf } from "../../../model/field.js";
import { KINDS } from "../../../model/kinds.js";
import type {
  ObjectReference,
  RecordState,
  RecordStore,
  StoredRecord,
} from "../../../storage/records/port.js";
import { changedPointers } from "../../records/state.js";
import { reservedFields, reservedIn, reservedTextOf } from "../../records/reserved.js";
import { parseDocument } from "../../records/view.js";
import { SUMMARIZES } from "../layout.js";
import type { CrateRecord } from "../steps.js";

/**
 * Top-level members in which a crate's record differs from the stored one. Key order is ignored: a
 * crate that was edited and packed again has another order.
 */
export async function differences(
  records: Pick<RecordStore, "quads">,
  before: StoredRecord,
  after: Pick<CrateRecord, "document" | "quads">,
): Promise<string[]> {
  if (Buffer.compare(before.document, after.document) === 0) return [];
  const [then, now] = [parseDocument(before.document), parseDocument(after.document)];
  // Summaries have the order of the entities in their metadata file, which means nothing.
  const summaries = [then, now].map((document) =>
    listOf(document[SUMMARIZES])
      .map((value) => JSON.stringify(value))
      .toSorted()
      .join("\n"),
  );
  const changed = changedPointers(then, now).filter(
    (pointer) => pointer !== `/${SUMMARIZES}` || summaries[0] !== summaries[1],
  );
  // An exported crate states its context once for all entities: only the effect of the context on
  // the record counts.
  return changed.length === 1 &&
    changed[0] === "/@context" &&
    (await records.quads(before.ark)) === reservedTextOf(after.quads)
    ? []
    : changed;
}

/**
 * Statements of a run in this registry remain, as long as the upload repeats these fields of the
 * document unchanged.
 */
export async function withRunFacts<T extends RecordState>(
  records: Pick<RecordStore, "quads">,
  state: T,
  before: StoredRecord,
): Promise<T> {
  const [now, then] = [parseDocument(state.document), parseDocument(before.document)];
  const names = reservedFields(KINDS[state.kind]).filter((name) => then[name] !== undefined);
  if (names.length === 0 || names.some((name) => now[name] !== then[name])) return state;
  const facts = reservedIn((await records.quads(before.ark)) ?? "");
  return facts.length === 0
    ? state
    : {
        ...state,
        quads: [...reservedTextOf(state.quads).split("\n"), ...facts]
          .filter((line) => line !== "")
          .toSorted()
          .join("\n"),
      };
}

/**
 * An archive is compared by its bytes, whatever its name; names that differ in Unicode
 * normalisation are equal (no archive may hold both). As long as no record of the crate changes, an
 * archive and a metadata file may have other bytes: they have the same statements.
 */
export function sameObjects(
  before: readonly ObjectReference[],
  after: readonly ObjectReference[],
  isChanged: boolean,
): boolean {
  const identity = ({ sha256, mediaType, name, role }: ObjectReference) =>
    (role === "archive" ? [role, sha256] : [role, sha256, mediaType, name.normalize("NFC")]).join(
      "\n",
    );
  const identities = (objects: readonly ObjectReference[]) =>
    objects
      .filter(({ role }) => isChanged || (role !== "metadata" && role !== "archive"))
      .map(identity)
      .toSorted();
  const left = identities(before);
  const right = identities(after);
  return left.length === right.length && left.every((text, index) => text === right[index]);
}
