import { ServiceError } from "../../../errors.js";
import { Connection } from "./statement.js";
import { StatementError } from "./statement-error.js";

/** Pages of the write-ahead log after which the writer copies them into the file; about 16 MiB. */
const CHECKPOINT_PAGES = 4000;

function connect(file: string, busyTimeout: number): Connection {
  try {
    return new Connection(file, busyTimeout);
  } catch (error) {
    if (error instanceof StatementError) throw new ServiceError("STORE_UNAVAILABLE", `The records cannot be opened: ${file} cannot be opened; check the folder and its permissions.`);
    throw error;
  }
}

// The file is read, not mapped: where the disk cannot give a page, or the file was cut short, a read fails with an error, and a
// mapped page ends the process (SIGBUS). Mapping saved 1 to 3 µs of a point read.

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
    if (error instanceof StatementError && error.code === "SQLITE_NOTADB") throw new ServiceError("STORE_UNAVAILABLE", `The records cannot be opened: ${file} is not a database.`);
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
