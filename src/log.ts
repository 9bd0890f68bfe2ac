import { ServiceError } from "./errors.js";
import { getOrInsert } from "./get-or-insert.js";

/** The logger of use cases: pino's interface, nothing more. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Damage that a node knows of. */
interface Known {
  records: boolean;
  contents: Set<string>;
}

/**
 * Most damaged objects that are remembered; more failures mean a lost disk, which the log has
 * reported by then.
 */
const MAX_DAMAGED = 10_000;

const known = new WeakMap<Log, Known>();

const knownOf = (log: Log): Known =>
  getOrInsert(known, log, () => ({ records: false, contents: new Set() }));

/** Whether a stored object was found damaged since the start of this node; it may be restored now. */
export const wasDamaged = (log: Log, sha256: string): boolean =>
  known.get(log)?.contents.has(sha256) === true;

/**
 * Logs damage that a request or background job has met: once for the records, and once for each
 * object, however often it is met. Any other error is ignored.
 */
export function reportDamage(log: Log, error: unknown): void {
  if (!(error instanceof ServiceError)) return;
  const damage = knownOf(log);
  if (error.code === "STORE_DAMAGED" && !damage.records) {
    damage.records = true;
    log.error(
      { err: error },
      'the records are damaged: stop the registry, run "arkgraph check" to list the ' +
        "damage, and restore records.db (or the database) from the backup as " +
        "docs/deployment.md says under Damage",
    );
  }
  const sha256 = error.code === "CONTENT_DAMAGED" ? error.extra["sha256"] : undefined;
  if (
    typeof sha256 !== "string" ||
    damage.contents.has(sha256) ||
    damage.contents.size >= MAX_DAMAGED
  )
    return;
  damage.contents.add(sha256);
  log.error(
    { err: error, sha256 },
    "a stored object is damaged: restore it from the backup of the objects, or upload the " +
      "file again; docs/deployment.md says how under Damage",
  );
}

/** Whether this node has found damaged records since its start. */
export const recordsAreDamaged = (log: Log): boolean => known.get(log)?.records === true;
