/** What a stored crate holds: its records, files and folders. */
import { invalid, ServiceError } from "../../../errors.js";
import type { Ark } from "../../../identifiers/ark.js";
import { resolvedPath } from "../../../identifiers/entity-ids.js";
import { type JsonObject, type JsonValue, referencesIn } from "../../../model/field.js";
import type { FileReference, StoredRecord } from "../../../storage/records/port.js";
import { type Caller, mayReadContent } from "../../access/rules.js";
import type { Deps } from "../../deps.js";
import { ByteCache } from "../../limits.js";
import { findLive } from "../../records/find.js";
import { contentUrlOf } from "../../records/stored-content.js";
import { privateViewerOf } from "../../access/seen.js";
import { heldPages, stateOf } from "../../records/of-crate.js";
import { parseDocument } from "../../records/view.js";
import { localPath, otherContentUrls } from "../files/match-files.js";

/**
 * The part of a record's ARK after the ARK of its crate: the path that the crate called it by,
 * percent-encoded.
 */
export const suffixOf = (ark: string, crate: string): string | undefined =>
  ark.startsWith(`${crate}/`) ? ark.slice(crate.length + 1) : undefined;

export function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** A path at which a crate has a file, and what states it. */
export interface StatedPath {
  path: string;
  /** The identifier's part that is the path. */
  suffix?: string;
  /**
   * The `contentUrl` that the crate stated; null where the identifier states the path, undefined
   * where anything else does.
   */
  url: JsonValue | undefined;
}

/** Paths of a file in its crate: the one that its identifier was derived from comes first. */
export function statedPaths(ark: string, document: JsonObject, crate: string): StatedPath[] {
  const pathsIn = (urls: string[], url?: JsonValue): StatedPath[] =>
    urls.flatMap((text) => {
      const local = localPath(text);
      // A reference to a path was replaced by the identifier that was made from it.
      const path = local === undefined ? pathInArk(text, crate) : decoded(local);
      const resolved = path === undefined ? undefined : resolvedPath(path);
      return resolved === undefined ? [] : [{ path: resolved, url }];
    });
  const stated = document["sourceContentUrl"];
  const sources = [
    ...pathsIn(referencesIn(stated), stated),
    ...pathsIn(otherContentUrls(document)),
  ];
  const path = pathInArk(ark, crate);
  const suffix = suffixOf(ark, crate);
  return path === undefined || suffix === undefined
    ? sources
    : [{ path, suffix, url: null }, ...sources];
}

/** A stored file of a crate. */
export interface CrateFile extends Pick<FileReference, "sha256" | "size" | "mediaType"> {
  /** Path in the crate; the name of a file that came without a path. */
  path: string;
  /** Of the record that describes it, else of the crate with the path behind it. */
  ark: string;
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
  after?: string | undefined;
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
  const found: FileReference[] = [];
  for await (const files of storedFiles(deps, root, { limit, minSize, after })) {
    for (const file of files) found.push(file);
    if (found.length > limit) break;
  }
  const shown = found.slice(0, limit);
  const items = await described(deps, root.ark, shown, caller);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return last ? { items, next: last.position } : { items };
}

/** How many files {@link crateFiles} lists in all. @throws as it does */
export async function countCrateFiles(deps: Deps, ark: Ark, minSize = 0): Promise<number> {
  const tree = await treeOf(deps, await findLive(deps, ark, "rocrate"));
  return tree.filter(({ file }) => file.size >= minSize).length;
}

/** The records of the files, one read for all of them. */
async function described(
  deps: Deps,
  crate: string,
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
      // An escape in an identifier spells a character; one in a file's name is the name.
      ark: undescribed ? `${record.ark}/${name.replaceAll("%", "%25")}` : record.ark,
      path: undescribed
        ? name
        : (statedPaths(record.ark, parseDocument(record.document), crate)[0]?.path ?? name),
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

/** The path of a file in a crate as a part of an address. */
export const pathInUrl = (path: string): string =>
  path.split("/").map(encodeURIComponent).join("/");

/** A file, or a folder with all that is in it. */
export interface FolderEntry {
  /** From the folder that was asked for: of a file that was found, with the folders between. */
  name: string;
  /** From the root of the crate. */
  path: string;
  /** Files in the folder and below it; 1 for a file. */
  fileCount: number;
  /** Their bytes. */
  size: number;
  /** Absent for a folder. */
  file?: CrateFile;
  position: string;
}

export interface Folder {
  path: string;
  fileCount: number;
  size: number;
  /** Folders first, then files, each by name. */
  items: FolderEntry[];
  /** Entries in all pages. */
  entryCount: number;
  next?: string;
}

const MAX_FIND_CHARS = 1000;
/** Files in one read. */
const FOLDER_PAGE = 1000;
/** Files in one read of a page that needs fewer. */
const MIN_FILES_READ = 200;

export interface FolderQuery {
  limit: number;
  after?: string;
  /** Only files below the folder whose path in it contains this, in any case; no folders. */
  find?: string;
}

/**
 * One folder of a crate: what is directly in it, with counts and sizes of everything below.
 * @param path without slashes at its ends; empty for the root
 * @throws ValidationError for a long `find`; ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`,
 * `BAD_REQUEST`
 */
export async function crateFolder(
  deps: Deps,
  ark: Ark,
  path: string,
  { limit, after, find }: FolderQuery,
  caller: Caller | null,
): Promise<Folder> {
  const sought = find?.trim().toLowerCase() ?? "";
  if (sought.length > MAX_FIND_CHARS)
    throw invalid(
      ["query", "find"],
      `String should have at most ${MAX_FIND_CHARS} characters`,
      "string_too_long",
    );
  const root = await findLive(deps, ark, "rocrate");
  const { path: inside, files: below } = await filesBelow(deps, root, path);
  const prefix = inside === "" ? "" : `${inside}/`;
  const entries = new Map<string, { fileCount: number; size: number; file?: FileReference }>();
  let [fileCount, size] = [0, 0];
  for (const { rest, file } of below) {
    if (!rest.toLowerCase().includes(sought)) continue;
    fileCount++;
    size += file.size;
    const slash = sought === "" ? rest.indexOf("/") : -1;
    const position = slash < 0 ? `f${rest}` : `d${rest.slice(0, slash)}`;
    const known = entries.get(position);
    if (known) {
      known.fileCount++;
      known.size += file.size;
    } else entries.set(position, { fileCount: 1, size: file.size, ...(slash < 0 && { file }) });
  }
  const start = after === undefined ? "" : positionIn(after);
  const order = [...entries]
    .filter(([position]) => position > start)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = order.slice(0, limit);
  const files = shown.flatMap(([, { file }]) => file ?? []);
  const facts = new Map(
    (await described(deps, root.ark, files, caller)).map((file) => [file.position, file]),
  );
  const items = shown.flatMap(([position, { file, ...counts }]): FolderEntry[] => {
    const known = file && facts.get(file.position);
    // Deleted between the two reads.
    if (file && !known) return [];
    const name = position.slice(1);
    const entry = { name, path: prefix + name, ...counts, position: cursorOf(position) };
    return [known ? { ...entry, file: { ...known, path: entry.path } } : entry];
  });
  return {
    path: inside,
    fileCount,
    size,
    items,
    entryCount: entries.size,
    ...(order.length > shown.length && { next: cursorOf(shown.at(-1)?.[0] ?? start) }),
  };
}

/** The error for a folder that a crate has not. */
export const noFolder = (path: string): ServiceError =>
  new ServiceError("NOT_FOUND", `The crate has no folder ${JSON.stringify(path.slice(0, 300))}.`);

/**
 * The files of a folder of a crate, and of the folders in it.
 * @param folder from the root of the crate; slashes at its ends are ignored
 * @throws ServiceError `NOT_FOUND` for a folder without a file
 */
export async function filesBelow(
  deps: Deps,
  root: StoredRecord,
  folder: string,
): Promise<{ path: string; files: { rest: string; file: FileReference }[] }> {
  const path = folder.replace(/^\/+|\/+$/g, "");
  const prefix = path === "" ? "" : `${path}/`;
  const files = (await treeOf(deps, root)).flatMap(({ name, file }) =>
    name.startsWith(prefix) ? [{ rest: name.slice(prefix.length), file }] : [],
  );
  if (files.length === 0 && path !== "") throw noFolder(path);
  return { path, files };
}

const cursorOf = (position: string): string => Buffer.from(position).toString("base64url");

/** @throws ServiceError `BAD_REQUEST` for a text that {@link cursorOf} did not write */
function positionIn(cursor: string): string {
  const position = Buffer.from(cursor, "base64url").toString();
  if (/^(?:[df]|$)/.test(position)) return position;
  throw new ServiceError(
    "BAD_REQUEST",
    "This is not a cursor of a folder: take it from the previous answer.",
  );
}

interface Placed {
  /** Path in the crate. */
  name: string;
  file: FileReference;
}

/** Bytes that a file takes in memory, without the text of its names. */
const PER_FILE = 350;
/** The paths of crates by their state. */
const trees = new ByteCache<Placed[]>(64 * 2 ** 20, {
  sizeOf: (tree) =>
    tree.reduce(
      (sum, { name, file }) => sum + PER_FILE + name.length + file.name.length + file.ark.length,
      0,
    ),
  // A large crate is the one that takes long to read: some 60,000 files are still remembered.
  share: 2,
});

/** All files of a crate with their paths. They are read again when the crate has changed. */
async function treeOf(deps: Deps, root: StoredRecord): Promise<Placed[]> {
  // Members of others may be private in an open crate.
  const [state, viewer] = await Promise.all([stateOf(deps, root), privateViewerOf(deps.records)]);
  const key = JSON.stringify([deps.baseUrl(), root.ark, state, viewer]);
  const known = trees.get(key);
  if (known) return known;
  const tree = await readTree(deps, root);
  trees.set(key, tree);
  return tree;
}

async function readTree(deps: Deps, root: StoredRecord): Promise<Placed[]> {
  const tree: Placed[] = [];
  for await (const files of storedFiles(deps, root)) {
    // Entities whose identifier is no path state it in their document.
    const unplaced = files.filter(
      (file) => file.role !== "member" && !pathInArk(file.ark, root.ark),
    );
    const records = await deps.records.findMany(unplaced.map(({ ark }) => ark));
    const stated = new Map(
      records.flatMap((record) =>
        record ? [[record.ark, pathIn(record, root.ark)] as const] : [],
      ),
    );
    for (const file of files) {
      const path =
        file.role === "member"
          ? file.name
          : (pathInArk(file.ark, root.ark) ?? stated.get(file.ark));
      tree.push({ name: (path ?? file.name).replace(/^\/+/, ""), file });
    }
  }
  return tree;
}

/** The path that an identifier was made from; a name that was made for it is none. */
function pathInArk(ark: string, crate: string): string | undefined {
  const suffix = suffixOf(ark, crate);
  return suffix === undefined || suffix.startsWith("entity/") ? undefined : decoded(suffix);
}

const pathIn = (record: StoredRecord, crate: string): string | undefined =>
  statedPaths(record.ark, parseDocument(record.document), crate)[0]?.path;

/** The stored files of a crate, in pages; of a crate within another, those of its parts. */
export const storedFiles = (
  { records }: Pick<Deps, "records">,
  root: StoredRecord,
  { limit = FOLDER_PAGE, minSize = 0, after }: Partial<CrateFilesQuery> = {},
): AsyncGenerator<FileReference[]> =>
  heldPages({ records }, root, { after, recordOf: ({ ark }) => ark }, (holder, next) =>
    records.filesOf(holder, {
      limit: Math.max(limit, MIN_FILES_READ),
      minSize,
      ...(next === undefined ? {} : { after: next }),
    }),
  );
