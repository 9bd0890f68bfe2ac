import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { ServiceError } from "../../../errors.js";
import { createPrivate } from "../../data-folder.js";
import { StatementError } from "./statement-error.js";
import { Connection } from "./statement.js";

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
 * @returns ends the lock
 * @throws ServiceError `STORE_UNAVAILABLE` naming the process that has the file open
 */
export function lockFile(file: string): () => void {
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
