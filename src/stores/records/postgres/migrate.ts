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
const SET_NEEDS = statement("UPDATE schema_needs SET version = $1 WHERE id = 1");
/** Nobody writes while this lock is held. */
const STILL = statement("SELECT 1 FROM counter WHERE id = 1 FOR UPDATE");
/**
 * For databases that were brought to version 3 or a later one. Asked in a transaction that writes, once it has the lock of
 * `counter`, it holds to the end of that: see {@link STILL}.
 */
export const NEEDS = statement<[version: number, needs: number]>("SELECT s.version, n.version FROM arkgraph_schema AS s, schema_needs AS n WHERE s.id = 1 AND n.id = 1");

/** Version of the schema that this program makes and knows. */
const KNOWN = MIGRATIONS.length;

/** Two nodes that make the first table at the same moment: PostgreSQL lets one fail on its own catalogue. */
const isMadeByAnother = (error: unknown): boolean => error instanceof StatementError && (["23505", "42P07", "42710"].includes(error.code) || isCollision(error));

const refusal = (reason: string): ServiceError => new ServiceError("STORE_UNAVAILABLE", `The records cannot be opened: the database ${reason}.`);

const isTooNew = (version: number): ServiceError => refusal(`was brought to schema ${version} by a newer version, and this version knows schema ${KNOWN}; start that version, or restore a backup`);

/** @throws ServiceError `STORE_UNAVAILABLE`: a newer version changed the schema in a way that this one cannot go on with */
export function assertKnown([version, needs]: readonly [version: number, needs: number]): void {
  if (needs > KNOWN) throw isTooNew(version);
}

/**
 * Brings the database to this version's schema, once, however many nodes start together: the row of
 * `arkgraph_schema` is locked meanwhile, and no node writes. A newer schema is left as it is where it says that this version may go on. Tables are made in the first schema of the connection's `search_path`.
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
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.transaction("", bringUp);
    } catch (error) {
      // A writer that had begun may wait for this one while this one waits for it.
      if (!isCollision(error) || attempt === 10) throw error;
      await pause(20 * attempt);
    }
  }
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
  if (version !== KNOWN) throw refusal(`has schema ${version}, this version reads ${KNOWN}; ${version < KNOWN ? "start a node of this version once" : "use that version"}`);
}

async function bringUp(session: Session): Promise<void> {
  const version = (await session.query(LOCK))[0]?.[0] ?? 0;
  if (version > KNOWN) return assertKnown((await session.query(NEEDS))[0]!);
  if (version === KNOWN) return;
  if (version > 0) await session.query(STILL);
  for (const { sql } of MIGRATIONS.slice(version)) {
    try {
      await session.exec(sql);
    } catch (error) {
      if (failure(error).code === "42P07") throw refusal(`holds tables of another program (${(error as Error).message}); give the registry a database or a schema of its own`);
      throw error;
    }
  }
  await session.query(SET, [KNOWN]);
  await session.query(SET_NEEDS, [Math.max(...MIGRATIONS.map(({ needs }) => needs))]);
}
