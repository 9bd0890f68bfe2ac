import { arkKey } from "../../../../identifiers/ark.js";
import type { CrateUses } from "../../port.js";
import type { StatedLink } from "../../rows.js";
import { fold, indexable, shortWord, sortedName } from "../../text.js";
import { type Database, type Sending, statement } from "../statement.js";
import type { Held, Ledger } from "./ledger.js";
import type { Prepared } from "./prepare.js";

const ADD_STATES =
  statement(`INSERT INTO state (id, document, quads) SELECT v.id, substring($1::bytea
    FROM v.d FOR v.dl), substring($1::bytea FROM v.q FOR v.ql)
    FROM unnest($2::bigint[], $3::int[], $4::int[], $5::int[], $6::int[]) AS v (id, d, dl, q, ql)`);
export const ADD_TEXTS =
  statement(`INSERT INTO text (state, kind, name, description, keywords, other, words, search)
      SELECT v.state, v.kind, v.name, v.description, v.keywords, v.other, v.words,
      v.search::tsvector FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[],
      $6::text[], $7::text[], $8::text[]) AS v (state, kind, name, description, keywords, other,
      words, search)`);
const DROP_STATES = statement("DELETE FROM state WHERE id = ANY($1::bigint[])");
const DROP_TEXTS = statement("DELETE FROM text WHERE state = ANY($1::bigint[])");
export const ADD_TERMS = statement(
  `INSERT INTO term (length, stem) SELECT * FROM unnest($1::smallint[], $2::text[])
    ON CONFLICT DO NOTHING`,
);

/**
 * States and their texts: the largest part of a commit. They are written before the transaction
 * asks for the lock, since no other writer sees their numbers.
 */
export async function writeStates(sending: Sending, prepared: Iterable<Prepared>): Promise<void> {
  const all = [...prepared];
  await sending.rowsWithBytes(
    ADD_STATES,
    all.map(({ state, document, quads }) => ({ columns: [state], bytes: [document, quads] })),
  );
  await sending.rows(
    ADD_TEXTS,
    all.map(({ state, kind, text, keywords, vector }) => [
      state,
      kind,
      text.name,
      text.description,
      text.keywords,
      text.other,
      keywords.join("\n"),
      vector,
    ]),
  );
}

/**
 * Removes rows that no record needs: states of refused commits, texts of states that are not
 * current.
 */
async function dropStates(
  sending: Sending,
  states: readonly number[],
  texts: readonly number[],
): Promise<void> {
  if (states.length > 0)
    await sending.rows(
      DROP_STATES,
      states.map((state) => [state]),
    );
  if (texts.length > 0)
    await sending.rows(
      DROP_TEXTS,
      texts.map((state) => [state]),
    );
}

/** Stems known to be in the dictionary; some MiB. */
const MOST_KNOWN = 100_000;
const AT_ONCE = 5000;

/**
 * The dictionary of stems. It only grows and belongs to no commit, so that commits do not wait for
 * each other's words.
 */
export class Terms {
  readonly #known = new Set<string>();

  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async add(stems: Iterable<string>): Promise<void> {
    const missing = [...new Set(stems)]
      .filter((stem) => !this.#known.has(stem))
      .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
    if (missing.length === 0) return;
    for (let at = 0; at < missing.length; at += AT_ONCE) {
      const some = missing.slice(at, at + AT_ONCE);
      await this.#database.query(ADD_TERMS, [some.map(({ length }) => length), some]);
    }
    if (this.#known.size > MOST_KNOWN) this.#known.clear();
    for (const stem of missing) this.#known.add(stem);
  }
}

const COLUMNS = [
  "id",
  "ark",
  "key",
  "kind",
  "name",
  "folded",
  "sorted",
  "owner",
  "owner_key",
  "created_at",
  "modified_at",
  "revision",
  "status",
  "embargoed_until",
  "crate",
  "newest_backlink",
  "state",
  "deleted_at",
  "deleted_by",
  "delete_reason",
  "successor",
  "licence",
];
const NUMBERS = new Set([
  "id",
  "created_at",
  "modified_at",
  "revision",
  "newest_backlink",
  "state",
  "deleted_at",
]);
const LISTS = COLUMNS.map(
  (column, index) => `$${index + 1}::${NUMBERS.has(column) ? "bigint" : "text"}[]`,
).join(", ");
/** Not changed by a write of the record itself. */
const FIXED = new Set(["id", "ark", "key", "created_at", "newest_backlink"]);

const ADD = statement(`INSERT INTO record (${COLUMNS.join(", ")}) SELECT * FROM unnest(${LISTS})`);
const CHANGE = statement(`UPDATE record SET ${COLUMNS.filter((column) => !FIXED.has(column))
  .map((column) => `${column} = v.${column}`)
  .join(", ")}
  FROM unnest(${LISTS}) AS v (${COLUMNS.join(", ")}) WHERE record.id = v.id`);
const ADD_REVISIONS = statement(
  `INSERT INTO revision (record, revision, at, by, action, changed, state) SELECT *
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[],
    $7::bigint[])`,
);
const DROP_KEYWORDS = statement("DELETE FROM keyword WHERE record = ANY($1::bigint[])");
const ADD_KEYWORDS = statement(
  `INSERT INTO keyword (word, record, kind) SELECT *
    FROM unnest($1::text[], $2::bigint[], $3::text[])`,
);
const TALLY = statement(
  `INSERT INTO tally (kind, live) SELECT kind, live
    FROM unnest($1::text[], $2::bigint[]) AS v (kind, live) ON CONFLICT (kind) DO UPDATE
    SET live = tally.live + excluded.live`,
);
const LOG = statement(
  "INSERT INTO change_log (sequence, record) SELECT * FROM unnest($1::bigint[], $2::bigint[])",
);

function valuesOf(record: Held): unknown[] {
  const folded = indexable(fold(record.name ?? ""));
  return [
    record.id,
    record.ark,
    record.key,
    record.kind,
    record.name,
    folded,
    sortedName(folded),
    record.owner,
    record.owner === null ? null : arkKey(record.owner),
    record.createdAt,
    record.modifiedAt,
    record.revision,
    record.status,
    record.embargoedUntil,
    record.crate,
    record.newestBacklink,
    record.state,
    record.deletedAt,
    record.deletedBy,
    record.reason,
    record.successor,
    record.licence,
  ];
}

/**
 * Writes records, revisions, keywords and counts, and removes the states and texts that no record
 * needs.
 */
export async function writeRecords(
  sending: Sending,
  ledger: Ledger,
  prepared: Iterable<Prepared>,
): Promise<void> {
  const changed = [...ledger.byArk.values()].filter(
    (record) => record.stored && record.stored.revision !== record.revision,
  );
  await sending.rows(ADD, ledger.created.map(valuesOf));
  await sending.rows(CHANGE, changed.map(valuesOf));
  await sending.rows(ADD_REVISIONS, ledger.revisions);
  await writeTexts(sending, ledger, changed, prepared);
  await sending.rows(
    TALLY,
    [...ledger.tally].filter(([, by]) => by !== 0),
  );
}

export async function writeLog(sending: Sending, ledger: Ledger): Promise<void> {
  await sending.rows(LOG, [...new Map(ledger.log.map((row) => [row.join(" "), row])).values()]);
}

/** Keywords and texts are of live records' current states only. */
async function writeTexts(
  sending: Sending,
  ledger: Ledger,
  changed: readonly Held[],
  prepared: Iterable<Prepared>,
): Promise<void> {
  const needed = new Set(ledger.revisions.map(([, , , , , , state]) => state));
  const byState = new Map([...prepared].map((one) => [one.state, one]));
  const moved = changed.filter(
    ({ state, deletedAt, stored }) =>
      state !== stored!.state || (deletedAt === null) !== (stored!.deletedAt === null),
  );
  const live = [...ledger.created, ...moved].filter(({ deletedAt }) => deletedAt === null);
  const current = new Set(live.map(({ state }) => state));
  const made = [...byState.keys()];
  await dropStates(
    sending,
    made.filter((state) => !needed.has(state)),
    [...made.filter((state) => !current.has(state)), ...moved.map(({ stored }) => stored!.state)],
  );
  if (moved.length > 0)
    await sending.rows(
      DROP_KEYWORDS,
      moved.map(({ id }) => [id]),
    );
  await sending.rows(
    ADD_KEYWORDS,
    live.flatMap(({ id, state, kind }) =>
      [...new Set((byState.get(state)?.keywords ?? []).map(shortWord))].map((word) => [
        word,
        id,
        kind,
      ]),
    ),
  );
}

const DROP_LINKS = statement(
  `DELETE FROM link USING unnest($1::bigint[], $2::int[]) AS v (source, position)
    WHERE link.source = v.source AND link.position >= v.position`,
);
const PUT =
  statement(`INSERT INTO link (source, position, via, target, target_key, sequence) SELECT *
    FROM unnest($1::bigint[], $2::int[], $3::int[], $4::text[], $5::text[], $6::bigint[])
    ON CONFLICT (source, position) DO UPDATE SET via = excluded.via, target = excluded.target,
    target_key = excluded.target_key, sequence = excluded.sequence`);
const TOUCH = statement(
  `UPDATE record SET newest_backlink = v.sequence
    FROM unnest($1::text[], $2::bigint[]) AS v (key, sequence)
    WHERE record.key = v.key AND record.newest_backlink < v.sequence`,
);

/** Writes the positions that differ, and updates the newest link of the targets. */
export async function writeLinks(sending: Sending, ledger: Ledger): Promise<void> {
  const dropped: [number, number][] = [];
  const put: unknown[][] = [];
  for (const [source, links] of ledger.links) {
    const before = ledger.storedLinks.get(source) ?? [];
    if (before.length > links.length) dropped.push([source, links.length]);
    for (const [position, link] of links.entries()) {
      if (!isSame(before[position], link))
        put.push([source, position, link.via, link.target, link.targetKey, link.sequence]);
    }
  }
  await sending.rows(DROP_LINKS, dropped);
  await sending.rows(PUT, put);
  await sending.rows(TOUCH, [...ledger.touched]);
}

const isSame = (before: StatedLink | undefined, now: StatedLink): boolean =>
  before !== undefined &&
  before.via === now.via &&
  before.target === now.target &&
  before.targetKey === now.targetKey &&
  before.sequence === now.sequence;

const DROP_OBJECTS = statement(
  `UPDATE object_ref SET ended = coalesce(object_ref.ended, v.revision), dropped = true
    FROM unnest($1::bigint[], $2::bigint[]) AS v (record, revision)
    WHERE object_ref.record = v.record AND object_ref.dropped = false`,
);
const END_OBJECTS = statement(
  `UPDATE object_ref SET ended = v.ended FROM unnest($1::bigint[], $2::bigint[]) AS v (id, ended)
    WHERE object_ref.id = v.id AND object_ref.ended IS NULL`,
);
const ADD_OBJECTS =
  statement(`INSERT INTO object_ref (id, record, sha256, size, media_type, name, role, since, ended,
      dropped) SELECT id, record, sha256, size, media_type, name, role, since, ended, dropped = 1
      FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[],
      $7::text[], $8::bigint[], $9::bigint[], $10::int[]) AS v (id, record, sha256, size,
      media_type, name, role, since, ended, dropped)`);
const DROP_ARCHIVES = statement(`WITH asked AS (SELECT r.id, r.crate, v.newest
      FROM unnest($1::text[], $2::bigint[]) AS v (ark, newest) JOIN record AS r
      ON r.ark = v.ark), holding AS (SELECT crate, newest FROM asked WHERE crate IS NOT NULL
      UNION SELECT u.crate, asked.newest FROM asked JOIN crate_use AS u
      ON u.record = asked.id) UPDATE object_ref SET ended = coalesce(object_ref.ended,
      object_ref.since), dropped = true FROM holding JOIN record AS c ON c.ark = holding.crate
      WHERE object_ref.record = c.id AND object_ref.role = 'archive' AND object_ref.dropped = false
      AND object_ref.id <= holding.newest`);
const PUT_ACCOUNT =
  statement(`INSERT INTO account (person, email, password_hash, admin, tokens_valid_from, deleted,
      disabled) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (person) DO UPDATE
      SET email = excluded.email, password_hash = excluded.password_hash, admin = excluded.admin,
      tokens_valid_from = excluded.tokens_valid_from, deleted = excluded.deleted,
      disabled = excluded.disabled,
      signed_in_at = CASE WHEN excluded.deleted THEN NULL ELSE account.signed_in_at END`);
const FORGET_CREDENTIALS = statement("DELETE FROM credential WHERE person = $1");
const SPEND = statement("UPDATE setting SET value = '' WHERE name = $1");
export const CLOSE = statement<
  [id: string]
>(`UPDATE submission SET status = $3, time_finished = $4, error = $5, warnings = $6, minted = $7,
    rocrate = $8 WHERE id = $1 AND attempt = $2 AND status = 'running' RETURNING id`);
export const RELEASE = statement("DELETE FROM intent WHERE holder = $1 AND holder_kind = $2");

export async function writeObjects(sending: Sending, ledger: Ledger): Promise<void> {
  await sending.rows(DROP_OBJECTS, [...ledger.drops]);
  const all = [...ledger.objects].flatMap(([record, held]) =>
    held.map((object) => ({ record, ...object })),
  );
  await sending.rows(
    END_OBJECTS,
    all.filter(({ isNew, ended }) => !isNew && ended !== null).map(({ id, ended }) => [id, ended]),
  );
  await sending.rows(
    ADD_OBJECTS,
    all
      .filter(({ isNew }) => isNew)
      .map(({ id, record, sha256, size, mediaType, name, role, since, ended, dropped }) => [
        id,
        record,
        sha256,
        size,
        mediaType,
        name,
        role,
        since,
        ended,
        dropped ? 1 : 0,
      ]),
  );
  await sending.rows(DROP_ARCHIVES, ledger.dropped);
}

/** Accounts, spent settings, and submissions that end with their commit. */
export async function writeEndings(sending: Sending, ledger: Ledger): Promise<void> {
  // Accounts that release an address come first: another may take it in the same group.
  const accounts = [...ledger.changedAccounts]
    .flatMap((user) => ledger.accounts.get(user) ?? [])
    .toSorted((a, b) => Number(b.deleted) - Number(a.deleted));
  for (const account of accounts) {
    const { user, email, passwordHash, admin, tokensValidFrom, deleted, disabled } = account;
    void sending.send(PUT_ACCOUNT, [
      user,
      email,
      passwordHash,
      admin,
      tokensValidFrom,
      deleted,
      disabled,
    ]);
    if (ledger.endedCredentials.has(user)) void sending.send(FORGET_CREDENTIALS, [user]);
  }
  for (const name of ledger.spent) void sending.send(SPEND, [name]);
  for (const { close, at } of ledger.closed) {
    void sending.send(CLOSE, closeValues(close, at));
    void sending.send(RELEASE, [close.id, "submission"]);
  }
  await sending.breathe();
}

/** Parameters of {@link CLOSE}. */
export const closeValues = (
  close: Ledger["closed"][number]["close"],
  at: number,
): (string | number | null)[] => [
  close.id,
  close.attempt,
  close.status,
  at,
  close.error ? JSON.stringify(close.error) : null,
  JSON.stringify(close.warnings ?? []),
  close.identifiersMinted ?? 0,
  close.rocrateIdentifier ?? null,
];

/** The numbers given out so far. */
export const SAVE = statement(
  "UPDATE counter SET sequence = $1, record = $2, object = $3, submission = $4 WHERE id = 1",
);

/** Gives records to the first crate that uses them, and ends that use. */
const HAND_OVER = `UPDATE record SET crate = (SELECT min(u.crate) FROM crate_use AS u
    WHERE u.record = record.id) WHERE deleted_at IS NULL AND EXISTS (SELECT 1
    FROM crate_use AS u WHERE u.record = record.id)`;
const HAND_OVER_SOME = statement<[id: number]>(
  `${HAND_OVER} AND ark = ANY($1::text[]) RETURNING id`,
);
const HAND_OVER_ALL = statement<[id: number]>(
  `${HAND_OVER} AND crate = ANY($1::text[]) RETURNING id`,
);
const SETTLE = statement(
  `DELETE FROM crate_use WHERE record = ANY($1::bigint[]) AND EXISTS (SELECT 1 FROM record
    WHERE id = crate_use.record AND record.crate = crate_use.crate)`,
);
const DROP_CRATE_USES = statement("DELETE FROM crate_use WHERE crate = ANY($1::text[])");
const ADD_CRATE_USES = statement(
  `INSERT INTO crate_use (crate, record) SELECT DISTINCT $1, r.id FROM record AS r
    WHERE r.ark = ANY($2::text[])`,
);

/**
 * Deleted crates use nothing any more. Records minted for them that stay belong to the crates that
 * use them.
 */
export async function endUses(sending: Sending, deleted: readonly string[]): Promise<void> {
  if (deleted.length === 0) return;
  void sending.send(DROP_CRATE_USES, [deleted]);
  await settle(sending, await sending.send(HAND_OVER_ALL, [deleted]));
}

export async function replaceUses(
  sending: Sending,
  { crate, arks, released = [] }: CrateUses,
): Promise<void> {
  void sending.send(DROP_CRATE_USES, [[crate]]);
  if (arks.length > 0) void sending.send(ADD_CRATE_USES, [crate, arks]);
  if (released.length > 0) await settle(sending, await sending.send(HAND_OVER_SOME, [released]));
}

async function settle(sending: Sending, moved: readonly [id: number][]): Promise<void> {
  if (moved.length > 0) await sending.send(SETTLE, [moved.map(([id]) => id)]);
}
