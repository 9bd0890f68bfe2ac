import { invalid } from "../../../errors.js";
import type { Ark } from "../../../identifiers/ark.js";
import type { FileReference, StoredRecord } from "../../../storage/records/port.js";
import { type Caller, mayReadContent } from "../../access/rules.js";
import type { Deps } from "../../deps.js";
import { findLive } from "../../records/find.js";
import { contentUrlOf } from "../records/document.js";
import { holderOf, partsOf } from "./records.js";

/** A stored file of a crate. */
export interface CrateFile extends Pick<FileReference, "sha256" | "size" | "mediaType"> {
  /** Path in the crate. */
  path: string;
  /** The record that describes it; null for a file that no entity describes. */
  record: StoredRecord | null;
  /** Where its bytes are. */
  address: string;
  /** Whether the caller may read them. */
  readable: boolean;
  position: string;
}

export interface CrateFilesQuery {
  limit: number;
  after?: string;
  /** Only files of at least so many bytes. */
  minSize?: number;
}

/**
 * The stored files of a crate, in the order of its records.
 * @throws ValidationError for a `minSize` that is not a size; ServiceError `NOT_FOUND`,
 * `AMBIGUOUS`, `GONE`; `BAD_REQUEST` for another list's cursor
 */
export async function crateFiles(
  deps: Deps,
  ark: Ark,
  { limit, after, minSize = 0 }: CrateFilesQuery,
  caller: Caller | null,
): Promise<{ items: CrateFile[]; next?: string }> {
  if (!Number.isSafeInteger(minSize) || minSize < 0)
    throw invalid(
      ["query", "minSize"],
      "Input should be a whole number of bytes, 0 or more",
      "int_parsing",
    );
  const root = await findLive(deps, ark, "rocrate");
  // A crate within another has no list of its own: its files are among those of the outer crate.
  const parts = root.crate === null ? undefined : await partsOf(deps, root);
  const isMine = (file: FileReference): boolean =>
    !parts || parts.has(file.ark) || file.ark.startsWith(`${root.ark}/`);
  const found: FileReference[] = [];
  let next = after;
  do {
    const page = await deps.records.filesOf(holderOf(root), {
      limit: parts ? Math.max(limit, 200) : limit,
      minSize,
      ...(next === undefined ? {} : { after: next }),
    });
    const mine = page.items.filter(isMine);
    const space = limit - found.length;
    for (const file of mine.slice(0, space)) found.push(file);
    next = mine.length > space ? found.at(-1)!.position : page.next;
  } while (next !== undefined && found.length < limit);
  const items = await described(deps, found, caller);
  return next === undefined ? { items } : { items, next };
}

/** The records of the files, one read for all of them. */
async function described(
  deps: Deps,
  files: readonly FileReference[],
  caller: Caller | null,
): Promise<CrateFile[]> {
  const records = await deps.records.findMany(files.map(({ ark }) => ark));
  const items: CrateFile[] = [];
  for (const [index, { name, role, sha256, size, mediaType, position }] of files.entries()) {
    const record = records[index];
    // Deleted between the two reads.
    if (!record) continue;
    const undescribed = role === "member";
    items.push({
      path: name,
      sha256,
      size,
      mediaType,
      position,
      record: undescribed ? null : record,
      address: undescribed
        ? `${deps.baseUrl()}/${encodeURI(record.ark)}/${pathInUrl(name)}`
        : contentUrlOf(deps.baseUrl(), record.kind, record.ark),
      readable: await mayReadContent(deps.records, caller, record),
    });
  }
  return items;
}

const pathInUrl = (path: string): string => path.split("/").map(encodeURIComponent).join("/");
