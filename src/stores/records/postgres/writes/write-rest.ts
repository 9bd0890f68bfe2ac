import { statement } from "../statement.js";
import type { Ledger } from "./ledger.js";
import type { Sending } from "./sending.js";

const DROP_OBJECTS = statement("UPDATE object_ref SET ended = coalesce(object_ref.ended, v.revision), dropped = true FROM unnest($1::bigint[], $2::bigint[]) AS v (record, revision) WHERE object_ref.record = v.record AND object_ref.dropped = false");
const END_OBJECTS = statement("UPDATE object_ref SET ended = v.ended FROM unnest($1::bigint[], $2::bigint[]) AS v (id, ended) WHERE object_ref.id = v.id AND object_ref.ended IS NULL");
const ADD_OBJECTS = statement(`INSERT INTO object_ref (id, record, sha256, size, media_type, name, role, since, ended, dropped)
  SELECT id, record, sha256, size, media_type, name, role, since, ended, dropped = 1
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::int[]) AS v (id, record, sha256, size, media_type, name, role, since, ended, dropped)`);
const DROP_ARCHIVES = statement(`WITH asked AS (SELECT r.id, r.crate, v.newest FROM unnest($1::text[], $2::bigint[]) AS v (ark, newest) JOIN record AS r ON r.ark = v.ark),
    holding AS (SELECT crate, newest FROM asked WHERE crate IS NOT NULL UNION SELECT u.crate, asked.newest FROM asked JOIN crate_use AS u ON u.record = asked.id)
  UPDATE object_ref SET ended = coalesce(object_ref.ended, object_ref.since), dropped = true FROM holding JOIN record AS c ON c.ark = holding.crate
  WHERE object_ref.record = c.id AND object_ref.role = 'archive' AND object_ref.dropped = false AND object_ref.id <= holding.newest`);
const PUT_ACCOUNT = statement(`INSERT INTO account (person, email, password_hash, admin, tokens_valid_from, deleted) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (person) DO UPDATE SET email = excluded.email, password_hash = excluded.password_hash, admin = excluded.admin, tokens_valid_from = excluded.tokens_valid_from, deleted = excluded.deleted`);
const SPEND = statement("UPDATE setting SET value = '' WHERE name = $1");
export const CLOSE = statement<[id: string]>(`UPDATE submission SET status = $3, time_finished = $4, error = $5, warnings = $6, minted = $7, rocrate = $8
  WHERE id = $1 AND attempt = $2 AND status = 'running' RETURNING id`);
export const RELEASE = statement("DELETE FROM intent WHERE holder = $1 AND holder_kind = $2");

export async function writeObjects(sending: Sending, ledger: Ledger): Promise<void> {
  await sending.rows(DROP_OBJECTS, [...ledger.drops]);
  const all = [...ledger.objects].flatMap(([record, held]) => held.map((object) => ({ record, ...object })));
  await sending.rows(END_OBJECTS, all.filter(({ isNew, ended }) => !isNew && ended !== null).map(({ id, ended }) => [id, ended]));
  await sending.rows(ADD_OBJECTS, all.filter(({ isNew }) => isNew).map(({ id, record, sha256, size, mediaType, name, role, since, ended, dropped }) =>
    [id, record, sha256, size, mediaType, name, role, since, ended, dropped ? 1 : 0]));
  await sending.rows(DROP_ARCHIVES, ledger.dropped);
}

/** Accounts, spent settings, and submissions that end with their commit. */
export async function writeEndings(sending: Sending, ledger: Ledger): Promise<void> {
  // Accounts that give an address up come first: another may take it in the same group.
  const accounts = [...ledger.changedAccounts].flatMap((user) => ledger.accounts.get(user) ?? []).toSorted((a, b) => Number(b.deleted) - Number(a.deleted));
  for (const { user, email, passwordHash, admin, tokensValidFrom, deleted } of accounts) void sending.send(PUT_ACCOUNT, [user, email, passwordHash, admin, tokensValidFrom, deleted]);
  for (const name of ledger.spent) void sending.send(SPEND, [name]);
  for (const { close, at } of ledger.closed) {
    void sending.send(CLOSE, closeValues(close, at));
    void sending.send(RELEASE, [close.id, "submission"]);
  }
  await sending.breathe();
}

/** Parameters of {@link CLOSE}. */
export const closeValues = (close: Ledger["closed"][number]["close"], at: number): (string | number | null)[] => [
  close.id, close.attempt, close.status, at, close.error ? JSON.stringify(close.error) : null,
  JSON.stringify(close.warnings ?? []), close.identifiersMinted ?? 0, close.rocrateIdentifier ?? null,
];
