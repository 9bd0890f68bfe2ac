import { arkKey } from "../../../../identifiers/ark.js";
import { fold, indexable } from "../../fold.js";
import { shortWord } from "../short-word.js";
import { sortedName } from "../sorted-name.js";
import { statement } from "../statement.js";
import type { Ledger } from "./ledger.js";
import type { Prepared } from "./prepare.js";
import type { Held } from "./record-row.js";
import type { Sending } from "./sending.js";
import { dropStates } from "./write-states.js";

const COLUMNS = ["id", "ark", "key", "kind", "name", "folded", "sorted", "owner", "owner_key", "created_at", "modified_at", "revision", "status", "embargoed_until", "crate", "newest_backlink", "state", "deleted_at", "deleted_by", "delete_reason", "successor"];
const NUMBERS = new Set(["id", "created_at", "modified_at", "revision", "newest_backlink", "state", "deleted_at"]);
const LISTS = COLUMNS.map((column, index) => `$${index + 1}::${NUMBERS.has(column) ? "bigint" : "text"}[]`).join(", ");
/** Not changed by a write of the record itself. */
const FIXED = new Set(["id", "ark", "key", "created_at", "newest_backlink"]);

const ADD = statement(`INSERT INTO record (${COLUMNS.join(", ")}) SELECT * FROM unnest(${LISTS})`);
const CHANGE = statement(`UPDATE record SET ${COLUMNS.filter((column) => !FIXED.has(column)).map((column) => `${column} = v.${column}`).join(", ")}
  FROM unnest(${LISTS}) AS v (${COLUMNS.join(", ")}) WHERE record.id = v.id`);
const ADD_REVISIONS = statement("INSERT INTO revision (record, revision, at, by, action, changed, state) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[])");
const DROP_KEYWORDS = statement("DELETE FROM keyword WHERE record = ANY($1::bigint[])");
const ADD_KEYWORDS = statement("INSERT INTO keyword (word, record, kind) SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])");
const TALLY = statement("INSERT INTO tally (kind, live) SELECT kind, live FROM unnest($1::text[], $2::bigint[]) AS v (kind, live) ON CONFLICT (kind) DO UPDATE SET live = tally.live + excluded.live");
const LOG = statement("INSERT INTO change_log (sequence, record) SELECT * FROM unnest($1::bigint[], $2::bigint[])");

function valuesOf(record: Held): unknown[] {
  const folded = indexable(fold(record.name ?? ""));
  return [
    record.id, record.ark, record.key, record.kind, record.name, folded, sortedName(folded), record.owner, record.owner === null ? null : arkKey(record.owner),
    record.createdAt, record.modifiedAt, record.revision, record.status, record.embargoedUntil, record.crate, record.newestBacklink, record.state,
    record.deletedAt, record.deletedBy, record.reason, record.successor,
  ];
}

/** Writes records, revisions, keywords and counts, and takes out the states and texts that nothing needs. */
export async function writeRecords(sending: Sending, ledger: Ledger, prepared: Iterable<Prepared>): Promise<void> {
  const changed = [...ledger.byArk.values()].filter((record) => record.stored && record.stored.revision !== record.revision);
  await sending.rows(ADD, ledger.created.map(valuesOf));
  await sending.rows(CHANGE, changed.map(valuesOf));
  await sending.rows(ADD_REVISIONS, ledger.revisions);
  await writeTexts(sending, ledger, changed, prepared);
  await sending.rows(TALLY, [...ledger.tally].filter(([, by]) => by !== 0));
}

export async function writeLog(sending: Sending, ledger: Ledger): Promise<void> {
  await sending.rows(LOG, [...new Map(ledger.log.map((row) => [row.join(" "), row])).values()]);
}

/** Keywords and texts are of live records' current states only. */
async function writeTexts(sending: Sending, ledger: Ledger, changed: readonly Held[], prepared: Iterable<Prepared>): Promise<void> {
  const needed = new Set(ledger.revisions.map(([, , , , , , state]) => state));
  const byState = new Map([...prepared].map((one) => [one.state, one]));
  const moved = changed.filter(({ state, deletedAt, stored }) => state !== stored!.state || (deletedAt === null) !== (stored!.deletedAt === null));
  const live = [...ledger.created, ...moved].filter(({ deletedAt }) => deletedAt === null);
  const current = new Set(live.map(({ state }) => state));
  const made = [...byState.keys()];
  await dropStates(sending, made.filter((state) => !needed.has(state)), [...made.filter((state) => !current.has(state)), ...moved.map(({ stored }) => stored!.state)]);
  if (moved.length > 0) await sending.rows(DROP_KEYWORDS, moved.map(({ id }) => [id]));
  await sending.rows(ADD_KEYWORDS, live.flatMap(({ id, state, kind }) => [...new Set((byState.get(state)?.keywords ?? []).map(shortWord))].map((word) => [word, id, kind])));
}
