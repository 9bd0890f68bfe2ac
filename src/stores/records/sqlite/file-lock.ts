import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { ServiceError } from "../../../errors.js";
import { createPrivate } from "../../data-folder.js";
import { Connection } from "./statement.js";
import { StatementError } from "./statement-error.js";

/** Files open in this process: the operating system's locks are between processes only. */
const held = new Set<string>();

/**
 * Makes this process the only one that has the file open. The lock is the operating system's, on `<file>.lock`
 * through SQLite: it ends with the process however that ends, so none is ever stale, and it sees a process in
 * another container, whose number would mean nothing here. `<file>.pid` only tells people who holds it.
 * Nothing in this process may open `<file>.lock` otherwise: closing it would end the lock (POSIX).
 *
 * @returns ends the lock
 * @throws ServiceError `STORE_UNAVAILABLE` naming the process that has the file open
 */
export function lockFile(file: string): () => void {
  const path = resolve(file);
  const pidFile = `${path}.pid`;
  const taken = (who: string): ServiceError =>
    new ServiceError("STORE_UNAVAILABLE", `The records cannot be opened: ${path} is in use by ${who}. Stop it first, or use another data folder.`);
  if (held.has(path)) throw taken("this process already");
  let connection: Connection | undefined;
  for (const each of [path, `${path}.lock`]) createPrivate(each);
  try {
    connection = new Connection(`${path}.lock`);
    connection.exec("BEGIN EXCLUSIVE");
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    connection?.close();
    if (error instanceof StatementError && /BUSY|LOCKED/.test(error.code)) throw taken(holderOf(pidFile));
    const reason = error instanceof StatementError && error.code === "SQLITE_CANTOPEN" ? "check the folder and its permissions" : (error as Error).message;
    throw new ServiceError("STORE_UNAVAILABLE", `The records cannot be opened: ${path}.lock cannot be locked; ${reason}.`);
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
