import { ServiceError } from "../../../errors.js";
import { MIGRATIONS, SCHEMA_VERSION } from "./schema-versions.js";
import { type Connection } from "./statement.js";
import { StatementError } from "./statement-error.js";

/** Marks a file as ours in its header ("Arkg"), so that another program's database is not taken for an empty one. */
const APPLICATION_ID = 0x41726b67;

/**
 * Brings the file to this version's schema.
 * @throws ServiceError `STORE_UNAVAILABLE`: not a database, another program's, or written by a newer version
 */
export function migrate(connection: Connection, file: string): void {
  const refuse = (reason: string): never => {
    throw new ServiceError("STORE_UNAVAILABLE", `The records cannot be opened: ${file} ${reason}.`);
  };
  try {
    const version = Number(connection.pragma("user_version"));
    const empty = connection.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
    if (!empty && Number(connection.pragma("application_id")) !== APPLICATION_ID) refuse("is the database of another program");
    if (version > SCHEMA_VERSION) refuse(`was written by a newer version (its schema is ${version}, this version knows ${SCHEMA_VERSION}); start that version, or restore a backup`);
    if (version === SCHEMA_VERSION) return;
    connection.transaction(() => {
      for (const migration of MIGRATIONS.slice(version)) connection.exec(migration);
      connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
    }, "EXCLUSIVE");
  } catch (error) {
    if (error instanceof StatementError && error.code === "SQLITE_NOTADB") refuse("is not a database");
    if (error instanceof StatementError && error.code === "SQLITE_CANTOPEN") refuse("cannot be opened; check the folder and its permissions");
    throw error;
  }
}

/**
 * Looks whether a file that is only read has this version's schema.
 * @throws ServiceError `STORE_UNAVAILABLE`: not a database, another program's, or of another version
 */
export function checkSchema(connection: Connection, file: string): void {
  const refuse = (reason: string): never => {
    throw new ServiceError("STORE_UNAVAILABLE", `The records cannot be opened: ${file} ${reason}.`);
  };
  try {
    const version = Number(connection.pragma("user_version"));
    if (Number(connection.pragma("application_id")) !== APPLICATION_ID) refuse("is no registry's");
    if (version !== SCHEMA_VERSION) refuse(`has schema ${version}, this version reads ${SCHEMA_VERSION}; ${version < SCHEMA_VERSION ? "start the registry of this version on it once" : "use that version"}`);
  } catch (error) {
    if (error instanceof StatementError && error.code === "SQLITE_NOTADB") refuse("is not a database");
    throw error;
  }
}
