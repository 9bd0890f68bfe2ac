import { invisibleIn, withoutInvisible } from "../visible.js";
import { foldName } from "../zip/member-name.js";

const METADATA = /(?:^|\/)ro-crate-metadata\.json(?:ld)?$/i;
/** Where files go that have no place of their own. */
const ELSEWHERE = "files";

/** The names of an archive that is being written: none leads out of it, none equals another on any file system. */
export class MemberPaths {
  private readonly files = new Set<string>();
  private readonly folders = new Set<string>();

  constructor() {
    this.files.add(foldName("ro-crate-metadata.json"));
  }

  /** True for the folder of a file that was placed. */
  hasFolder(path: string): boolean {
    return this.folders.has(foldName(path));
  }

  /** Takes a path as it is; undefined when it cannot be a name of the archive, or is taken. */
  take(path: string): string | undefined {
    return isName(path) && !METADATA.test(path) && this.isFree(path) ? this.add(path) : undefined;
  }

  /** A path for metadata of a crate within the crate. */
  takeMetadata(folder: string): string {
    const bare = isName(folder) ? folder : `crates/${plain(folder)}`;
    for (let count = 0; ; count++) {
      const path = `${bare}${count === 0 ? "" : `-${count}`}/ro-crate-metadata.json`;
      if (this.isFree(path)) return this.add(path);
    }
  }

  /** A path that is free and ends, more or less, in a name. */
  place(name: string): string {
    const last = plain(name.slice(name.lastIndexOf("/") + 1)) || "file";
    for (let count = 0; ; count++) {
      const path = `${ELSEWHERE}/${count === 0 ? "" : `${count}/`}${last}`;
      const taken = this.take(path) ?? (METADATA.test(path) ? this.take(`${path}.txt`) : undefined);
      if (taken !== undefined) return taken;
    }
  }

  private isFree(path: string): boolean {
    const folded = foldName(path);
    if (this.files.has(folded) || this.folders.has(folded)) return false;
    return !foldersOf(folded).some((folder) => this.files.has(folder));
  }

  private add(path: string): string {
    const folded = foldName(path);
    this.files.add(folded);
    for (const folder of foldersOf(folded)) this.folders.add(folder);
    return path;
  }
}

/** What intake accepts as a member's name (and every file system that matters as a path). */
function isName(path: string): boolean {
  return path.length <= 1000 && path.isWellFormed() && invisibleIn(path) === undefined && !/\\|^[a-zA-Z]:/.test(path) && path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

const plain = (text: string): string => withoutInvisible(text.toWellFormed()).replace(/[\\/:*?"<>|]+/g, "_").replace(/^\.+$/, "_").slice(-100);

function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let slash = path.indexOf("/"); slash > 0; slash = path.indexOf("/", slash + 1)) folders.push(path.slice(0, slash));
  return folders;
}
