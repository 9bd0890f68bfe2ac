import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "../../../errors.js";
import { MIGRATIONS } from "./schema.js";
import { type Database, type Session, statement } from "./statement.js";
import { failure, isCollision, StatementError } from "./statement-error.js";

/** A name that no other program's tables have: what tells a database of ours from an empty one. */
const CREATE = "CREATE TABLE IF NOT EXISTS arkgraph_schema (id smallint PRIMARY KEY, version integer NOT NULL)";
const FIRST = statement("INSERT INTO arkgraph_schema (id, version) VALUES (1, 0) ON CONFLICT DO NOTHING");
const LOCK = statement<[version: number]>("SELECT version FROM arkgraph_schema WHERE id = 1 FOR UPDATE");
const VERSION = statement<[version: number]>("SELECT version FROM arkgraph_schema WHERE id = 1");
const SET = statement("UPDATE arkgraph_schema SET version = $1 WHERE id = 1");

/** Two nodes that make the first table at the same moment: PostgreSQL lets one fail on its own catalogue. */
const isMadeByAnother = (error: unknown): boolean => error instanceof StatementError && (["23505", "42P07", "42710"].includes(error.code) || isCollision(error));

const refusal = (reason: string): ServiceError => new ServiceError("STORE_UNAVAILABLE", `The records cannot be opened: the database ${reason}.`);

/**
 * Brings the database to this version's schema, once, however many nodes start together: the row of
 * `arkgraph_schema` is locked meanwhile. Tables are made in the first schema of the connection's `search_path`.
 *
 * @throws ServiceError `STORE_UNAVAILABLE`: another program's tables, or a newer version's
 */
export async function migrate(database: Database): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await database.transaction("", async (session) => {
        await session.exec(CREATE);
        await session.query(FIRST);
      });
      break;
    } catch (error) {
      if (!isMadeByAnother(error) || attempt === 10) throw error;
      await pause(20 * attempt);
    }
  }
  await database.transaction("", bringUp);
}

/**
 * Looks whether a database that is only read has this version's schema.
 * @throws ServiceError `STORE_UNAVAILABLE`: it has none, or another version's
 */
export async function checkSchema(database: Database): Promise<void> {
  let version: number;
  try {
    version = (await database.query(VERSION))[0]?.[0] ?? 0;
  } catch (error) {
    if (failure(error).code === "42P01") throw refusal("holds no registry");
    throw error;
  }
  if (version !== MIGRATIONS.length) throw refusal(`has schema ${version}, this version reads ${MIGRATIONS.length}; ${version < MIGRATIONS.length ? "start a node of this version once" : "use that version"}`);
}

async function bringUp(session: Session): Promise<void> {
  const version = (await session.query(LOCK))[0]?.[0] ?? 0;
  if (version > MIGRATIONS.length) throw refusal(`was written by a newer version (its schema is ${version}, this version knows ${MIGRATIONS.length}); start that version, or restore a backup`);
  for (const migration of MIGRATIONS.slice(version)) {
    try {
      await session.exec(migration);
    } catch (error) {
      if (failure(error).code === "42P07") throw refusal(`holds tables of another program (${(error as Error).message}); give the registry a database or a schema of its own`);
      throw error;
    }
  }
  if (version < MIGRATIONS.length) await session.query(SET, [MIGRATIONS.length]);
}
