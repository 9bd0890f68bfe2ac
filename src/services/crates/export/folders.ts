import { setImmediate } from "node:timers/promises";
import { ServiceError } from "../../../errors.js";
import type { Ark } from "../../../identifiers/ark.js";
import type { FileReference, StoredRecord } from "../../../storage/records/port.js";
import type { Caller } from "../../access/rules.js";
import { ByteCache } from "../../byte-cache.js";
import type { Deps } from "../../deps.js";
import { findLive } from "../../records/find.js";
import { parseDocument } from "../../records/view.js";
import {
  type CrateFile,
  decoded,
  described,
  holderOf,
  partsOf,
  statedPaths,
  stateOf,
  suffixOf,
} from "./records.js";

/** A file, or a folder with all that is in it. */
export interface FolderEntry {
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
  next?: string;
}

/** Files in one read. */
const PAGE = 1000;

/**
 * One folder of a crate: what is directly in it, with counts and sizes of everything below.
 * @param path without slashes at its ends; empty for the root
 * @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `BAD_REQUEST`
 */
export async function crateFolder(
  deps: Deps,
  ark: Ark,
  path: string,
  { limit, after }: { limit: number; after?: string },
  caller: Caller | null,
): Promise<Folder> {
  const root = await findLive(deps, ark, "rocrate");
  const inside = path.replace(/^\/+|\/+$/g, "");
  const prefix = inside === "" ? "" : `${inside}/`;
  const entries = new Map<string, { fileCount: number; size: number; file?: FileReference }>();
  let [fileCount, size] = [0, 0];
  for (const { name, file } of await treeOf(deps, root)) {
    if (!name.startsWith(prefix)) continue;
    fileCount++;
    size += file.size;
    const rest = name.slice(prefix.length);
    const slash = rest.indexOf("/");
    const position = slash < 0 ? `f${rest}` : `d${rest.slice(0, slash)}`;
    const known = entries.get(position);
    if (known) {
      known.fileCount++;
      known.size += file.size;
    } else entries.set(position, { fileCount: 1, size: file.size, ...(slash < 0 && { file }) });
  }
  if (fileCount === 0 && inside !== "")
    throw new ServiceError("NOT_FOUND", `The crate has no folder ${JSON.stringify(inside)}.`);
  const start = after === undefined ? "" : positionIn(after);
  const order = [...entries.keys()].filter((position) => position > start).sort();
  const shown = order.slice(0, limit);
  const files = shown.flatMap((position) => entries.get(position)!.file ?? []);
  const facts = new Map(
    (await described(deps, root.ark, files, caller)).map((file) => [file.position, file]),
  );
  const items = shown.flatMap((position): FolderEntry[] => {
    const { file, ...counts } = entries.get(position)!;
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
    ...(order.length > shown.length && { next: cursorOf(shown.at(-1) ?? start) }),
  };
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
  const key = `${deps.baseUrl()} ${root.ark} ${await stateOf(deps, root)}`;
  const known = trees.get(key);
  if (known) return known;
  const tree = await readTree(deps, root);
  trees.set(key, tree);
  return tree;
}

async function readTree(deps: Deps, root: StoredRecord): Promise<Placed[]> {
  const tree: Placed[] = [];
  for await (const files of filesOf(deps, root)) {
    // Entities whose identifier is no path state it in their document.
    const unplaced = files.filter((file) => file.role !== "member" && !pathInArk(file, root.ark));
    const records = await deps.records.findMany(unplaced.map(({ ark }) => ark));
    const stated = new Map(
      records.flatMap((record) =>
        record ? [[record.ark, pathIn(record, root.ark)] as const] : [],
      ),
    );
    for (const file of files) {
      const path =
        file.role === "member" ? file.name : (pathInArk(file, root.ark) ?? stated.get(file.ark));
      tree.push({ name: (path ?? file.name).replace(/^\/+/, ""), file });
    }
  }
  return tree;
}

/** The path that an identifier was made from; a name that was made for it is none. */
function pathInArk({ ark }: FileReference, crate: string): string | undefined {
  const suffix = suffixOf(ark, crate);
  return suffix === undefined || suffix.startsWith("entity/") ? undefined : decoded(suffix);
}

const pathIn = (record: StoredRecord, crate: string): string | undefined =>
  statedPaths(record.ark, parseDocument(record.document), crate)[0]?.path;

/** The stored files of a crate; of a crate within another, those of its parts. */
async function* filesOf(deps: Deps, root: StoredRecord): AsyncGenerator<FileReference[]> {
  const parts = root.crate === null ? undefined : await partsOf(deps, root);
  let after: string | undefined;
  do {
    const page = await deps.records.filesOf(holderOf(root), {
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    yield parts
      ? page.items.filter((file) => parts.has(file.ark) || file.ark.startsWith(`${root.ark}/`))
      : page.items;
    after = page.next;
    await setImmediate();
  } while (after !== undefined);
}
