import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../failure.js";

/** A file of a crate's folder. */
export interface Member {
  /** Below the folder, with slashes. */
  path: string;
  size: number;
}
export interface Tree { files: Member[]; /** Folders without anything in them. */ empty: string[] }

/** File kinds that an archive cannot hold, by the type bits of their mode. */
const KINDS: ReadonlyMap<number, string> = new Map([
  [constants.S_IFLNK, "a symbolic link: put in its place what it points to"], [constants.S_IFSOCK, "a socket"], [constants.S_IFIFO, "a pipe"], [constants.S_IFCHR, "a device"], [constants.S_IFBLK, "a device"],
]);

/**
 * Every file below a folder, by the bytes of its path, so that the same folder is read in the same order everywhere.
 * @throws Failure naming the first thing that is neither file nor folder, or whose name is not UTF-8
 */
export async function walkFolder(folder: string): Promise<Tree> {
  const tree: Tree = { files: [], empty: [] };
  const pending = [""];
  for (let inside = pending.pop(); inside !== undefined; inside = pending.pop()) {
    const names = await readdir(join(folder, inside), { encoding: "buffer" });
    if (names.length === 0 && inside !== "") tree.empty.push(inside);
    for (const bytes of names) {
      const path = inside === "" ? bytes.toString("utf8") : `${inside}/${bytes.toString("utf8")}`;
      if (!isUtf8(bytes)) throw new Failure(`${join(folder, path)}: its name is not UTF-8: rename it`);
      const about = await lstat(join(folder, path));
      if (about.isDirectory()) pending.push(path);
      else if (about.isFile()) tree.files.push({ path, size: about.size });
      else throw new Failure(`${join(folder, path)} is ${KINDS.get(about.mode & constants.S_IFMT) ?? "no file"}; a crate holds files and folders`);
    }
  }
  tree.files.sort((a, b) => byBytes(a.path, b.path));
  tree.empty.sort(byBytes);
  return tree;
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
