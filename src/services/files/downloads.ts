import type { Ark } from "../../identifiers/ark.js";
import type { JsonValue } from "../../model/field.js";
import { assertMayChange, type Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { createRecord } from "../records/create.js";
import { findLive } from "../records/find.js";
import { amendRecord, mismatch } from "../records/replace.js";
import type { RecordView } from "../records/view.js";
import {
  assertClaims,
  contentReference,
  type IncomingFile,
  type StagedFile,
  stageFile,
  withFacts,
  withStaged,
} from "./stored-content.js";

/**
 * Creates a file record together with its content. The staged bytes are consumed, or discarded when
 * this fails.
 * @param at where the record's document is in the client's request
 * @throws ValidationError, also when `sha256` or `contentSize` do not match the bytes; ServiceError
 * as `createRecord`
 */
export function registerDownload(
  deps: Deps,
  input: JsonValue | undefined,
  file: StagedFile,
  caller: Caller,
  at: readonly (string | number)[] = ["body"],
): Promise<RecordView> {
  const uploadDate = new Date().toISOString();
  return withStaged(deps, file, (keep) =>
    createRecord(deps, "datadownload", input, caller, {
      at,
      prepare: async (document) => {
        assertClaims(document, file.object, at);
        await keep();
      },
      complete: (document, ark) => ({
        document: withFacts(document, ark, deps.baseUrl(), file.object, uploadDate),
        objects: [contentReference(document, file)],
      }),
    }),
  );
}

/**
 * Gives a file record new content as its next revision; earlier revisions keep theirs. As long as
 * no bytes were ever stored for the record, its statements about them are claims that the bytes
 * must match; uploading the same bytes again changes nothing.
 * @throws ValidationError; ServiceError `NOT_FOUND`, `GONE`, `FORBIDDEN`,
 * `REVISION_MISMATCH`, `TOO_LARGE`
 */
export async function uploadContent(
  deps: Deps,
  ark: Ark,
  incoming: IncomingFile,
  who: Caller,
  expectedRevision?: number,
): Promise<RecordView> {
  // Checked before a byte is stored, and again when all have arrived.
  const target = await findLive(deps, ark, "datadownload");
  await assertMayChange(deps.records, who, target);
  if (expectedRevision !== undefined && expectedRevision !== target.revision)
    throw mismatch(target, expectedRevision);
  const file = await stageFile(deps, incoming);
  return withStaged(deps, file, (keep) =>
    amendRecord(
      deps,
      ark,
      who,
      { kind: "datadownload", expectedRevision },
      (record) => assertMayChange(deps.records, who, record),
      async (record, document) => {
        const objects = await deps.records.objectsOf(record.ark);
        const stored = objects.find(({ role }) => role === "content");
        if (stored?.sha256 === file.object.sha256) {
          // Written again nevertheless: that repairs damaged or lost bytes.
          await keep();
          return undefined;
        }
        if (!stored && !(await deps.records.contentWasDeleted(record.ark)))
          assertClaims(document, file.object, ["body", "file"]);
        await keep();
        return {
          document: withFacts(
            document,
            record.ark,
            deps.baseUrl(),
            file.object,
            new Date().toISOString(),
          ),
          objects: [
            ...objects.filter(({ role }) => role !== "content"),
            contentReference(document, file),
          ],
        };
      },
    ),
  );
}

/**
 * Removes the stored content of a file record, from its earlier revisions too, and preserves the
 * metadata. Without stored content nothing changes.
 * @throws ServiceError `NOT_FOUND`, `GONE`, `FORBIDDEN`, `REVISION_MISMATCH`
 */
export async function removeContent(
  deps: Deps,
  ark: Ark,
  who: Caller,
  expectedRevision?: number,
): Promise<RecordView> {
  return amendRecord(
    deps,
    ark,
    who,
    { kind: "datadownload", expectedRevision },
    (record) => assertMayChange(deps.records, who, record),
    async (record, document) => {
      const objects = await deps.records.objectsOf(record.ark);
      if (!objects.some(({ role }) => role === "content")) return undefined;
      return {
        document: { ...document, contentUrl: null },
        objects: objects.filter(({ role }) => role !== "content"),
        dropObjects: true,
      };
    },
  );
}
