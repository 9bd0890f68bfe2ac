/** The data folder, which one process holds at a time, and connections to its database. */
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { chmod, lstat, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ServiceError } from "../../../errors.js";
import { Connection, StatementError } from "./statement.js";
import { endsEarly } from "./write-ahead-log.js";

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
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch {
    // The next process that opens the folder reports the fault.
  }
}

/** Pages of the write-ahead log after which the writer copies them into the file; about 16 MiB. */
const CHECKPOINT_PAGES = 4000;

function connect(file: string, busyTimeout: number): Connection {
  try {
    return new Connection(file, busyTimeout);
  } catch (error) {
    if (error instanceof StatementError)
      throw new ServiceError(
        "STORE_UNAVAILABLE",
        `The records cannot be opened: ${file} cannot be opened; check the folder and its ` +
          "permissions.",
      );
    throw error;
  }
}

// The file is read, not mapped: where the disk cannot give a page, or the file was cut short, a
// read fails with an error, and a mapped page ends the process (SIGBUS). Mapping saved 1 to 3 µs of
// a point read.

/** The connection that may write: a commit has returned only when its bytes are on the disk. */
export function openForWriting(file: string): Connection {
  const connection = connect(file, 5000);
  try {
    connection.pragma("journal_mode = WAL");
    connection.pragma("synchronous = FULL");
    connection.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    connection.pragma("journal_size_limit = 67108864");
    connection.pragma("cache_size = -131072");
    connection.pragma("temp_store = MEMORY");
    return connection;
  } catch (error) {
    connection.close();
    if (error instanceof StatementError && error.code === "SQLITE_NOTADB")
      throw new ServiceError(
        "STORE_UNAVAILABLE",
        `The records cannot be opened: ${file} is not a database.`,
      );
    throw error;
  }
}

/** A connection that reads only; readers and the writer do not wait for each other. */
export function openForReading(file: string): Connection {
  const connection = connect(file, 5000);
  connection.pragma("query_only = 1");
  connection.pragma("cache_size = -32768");
  connection.pragma("temp_store = MEMORY");
  return connection;
}

/** Files open in this process: the operating system's locks are between processes only. */
const held = new Set<string>();

/**
 * Makes this process the only one that has the file open. The lock is the operating system's, on
 * `<file>.lock` through SQLite: it ends with the process however that ends, so none is ever stale,
 * and it sees a process in another container, whose number would mean nothing here. `<file>.pid`
 * only shows operators which process holds it. Nothing in this process may open `<file>.lock`
 * otherwise: closing it would end the lock (POSIX).
 *
 * @param warn is called with one sentence where the last process did not stop cleanly, and SQLite
 * will not recover all of its write-ahead log
 * @returns ends the lock
 * @throws ServiceError `STORE_UNAVAILABLE` naming the process that has the file open
 */
export function lockFile(file: string, warn: (message: string) => void): () => void {
  const path = resolve(file);
  const pidFile = `${path}.pid`;
  const taken = (who: string): ServiceError =>
    new ServiceError(
      "STORE_UNAVAILABLE",
      `The records cannot be opened: ${path} is in use by ${who}. Stop it first, or use ` +
        "another data folder.",
    );
  if (held.has(path)) throw taken("this process already");
  let connection: Connection | undefined;
  for (const each of [path, `${path}.lock`]) createPrivate(each);
  try {
    connection = new Connection(`${path}.lock`);
    connection.exec("BEGIN EXCLUSIVE");
    if (existsSync(pidFile) && endsEarly(`${path}-wal`))
      warn(
        `The registry did not stop cleanly, and the write-ahead log ${path}-wal is damaged or cut ` +
          "short: the records written last may be lost. Compare the records with a backup.",
      );
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    connection?.close();
    if (error instanceof StatementError && /BUSY|LOCKED/.test(error.code))
      throw taken(holderOf(pidFile));
    const reason =
      error instanceof StatementError && error.code === "SQLITE_CANTOPEN"
        ? "check the folder and its permissions"
        : (error as Error).message;
    throw new ServiceError(
      "STORE_UNAVAILABLE",
      `The records cannot be opened: ${path}.lock cannot be locked; ${reason}.`,
    );
  }
  const lock = connection;
  held.add(path);
  return () => {
    held.delete(path);
    rmSync(pidFile, { force: true });
    lock.close();
  };
}

function holderOf(pidFile: string): string {
  try {
    return `process ${readFileSync(pidFile, "utf8").trim()}`;
  } catch {
    return "another process";
  }
}
