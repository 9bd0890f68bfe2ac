import type { Readable } from "node:stream";
import { ServiceError } from "../../errors.js";
import type { KindName } from "../../model/kind.js";
import type { ContentHeaders } from "../../stores/objects/port.js";
import type { ObjectReference } from "../../stores/records/objects-port.js";
import type { StoredRecord } from "../../stores/records/port.js";
import type { Caller } from "../access/caller.js";
import { assertMayReadContent } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { findUndescribed } from "../crates/undescribed.js";
import { findLive } from "../records/find.js";

/** Stored bytes of a record, not yet opened. */
export interface Content {
  record: StoredRecord;
  object: ObjectReference;
  /** `start` to `end`, inclusive. */
  open(range?: { start: number; end: number }): Promise<Readable>;
  /** Where the client may read the bytes itself; `undefined` where it reads them here. */
  address(headers: ContentHeaders): Promise<string | undefined>;
}

/**
 * The content of a record: its file, or a crate's archive. A file that no entity of its crate describes is found by
 * the crate's identifier and its path.
 * @throws ServiceError `NOT_FOUND`, `GONE`, `CONTENT_DELETED`, `NOT_AUTHENTICATED`, `FORBIDDEN`
 */
export async function contentOf(deps: Deps, id: string, caller: Caller | null, options: { kind?: KindName; role?: ObjectReference["role"] } = {}): Promise<Content> {
  const found = await findLive(deps, id, options.kind).catch(async (error: unknown) => {
    const file = error instanceof ServiceError && error.code === "NOT_FOUND" && options.kind === undefined ? await findUndescribed(deps, id) : undefined;
    if (!file) throw error;
    return file;
  });
  const record = "object" in found ? found.crate : found;
  await assertMayReadContent(deps.records, caller, record);
  if ("object" in found) return { record, ...stored(deps, found.object) };
  const role = options.role ?? (record.kind === "rocrate" ? "archive" : "content");
  const [object] = await deps.records.objectsOf(record.ark, { role });
  if (!object) {
    if (await deps.records.contentWasDeleted(record.ark)) throw new ServiceError("CONTENT_DELETED", `The stored content of ${record.ark} was deleted; its metadata is kept.`);
    throw new ServiceError("NOT_FOUND", `No content is stored for ${record.ark}; see contentUrl in its metadata.`);
  }
  return { record, ...stored(deps, object) };
}

function stored({ objects }: Deps, object: ObjectReference): Omit<Content, "record"> {
  return { object, open: (range) => objects.open(object.sha256, range), address: async (headers) => objects.address?.(object.sha256, headers) };
}
