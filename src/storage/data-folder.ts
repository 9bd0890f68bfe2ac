import { chmod, lstat, readdir } from "node:fs/promises";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";

const OTHERS = 0o077;

/** Paths that a warning names. */
const NAMED = 3;

/**
 * Closes the data folder to all users but its owner: the folder itself, the files in it, and the
 * folders of objects. These protect everything deeper. Links are left alone: they lead to where the
 * operator wanted them.
 * @param warn is called with one sentence where something stays open to others
 */
export async function makePrivate(
  folder: string,
  warn: (message: string) => void,
  change: (path: string, mode: number) => Promise<void> = chmod,
): Promise<void> {
  const open: string[] = [];
  const close = async (path: string): Promise<void> => {
    const stats = await lstat(path).catch(() => undefined);
    if (!stats || (stats.mode & OTHERS) === 0 || !(stats.isFile() || stats.isDirectory())) return;
    await change(path, stats.mode & 0o700).catch(() => open.push(path));
  };
  const names = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of names) if (entry.isFile()) await close(join(folder, entry.name));
  await close(join(folder, "objects", "staging"));
  await close(join(folder, "objects"));
  // Last: where it stays open the files in it are closed all the same.
  await close(folder);
  if (open.length === 0) return;
  const named = `${open.slice(0, NAMED).join(", ")}${open.length > NAMED ? ` and ${open.length - NAMED} more` : ""}`;
  warn(
    `Others on this machine can read ${named}: they belong to another user, and this ` +
      "process cannot change that. Make them private as their owner (chmod 700 for folders, " +
      "600 for files).",
  );
}

/**
 * Makes a file that only its owner can read, unless its name exists: an existing file is not even
 * opened, since closing it would end the locks that this process has on it. The files that SQLite
 * adds beside a database get the mode of the database.
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch {
    // The next process that opens the folder reports the fault.
  }
}
