import { ServiceError } from "../../../errors.js";
import { arkKey } from "../../../identifiers/ark.js";
import { linkPredicate } from "../../../rdf/terms.js";
import {
  FORMER_KINDS,
  KIND_MARKS,
  kindNow,
  LICENCE_MARK,
  PUBLICATION_MARK,
  storedLicence,
  storedPercent,
  storedPublication,
  withoutArks,
} from "../text.js";
import { publishedAt } from "../selection.js";
import { type Connection, type Row, type Statement, StatementError } from "./statement.js";

/**
 * The record store's tables. Times are ms since 1970 UTC. `record.id` is the order of creation: it
 * rises by commit, within one commit by identifier, and is never used again because a deleted
 * record stays as a tombstone; so lists page by it. Indexes named `live_…` leave tombstones out.
 * Clients' documents are BLOBs and plain columns: SQL JSON functions never see them.
 */
const VERSION_1 = `
CREATE TABLE record (
  id INTEGER PRIMARY KEY,
  ark TEXT NOT NULL UNIQUE,
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT,
  folded TEXT NOT NULL,          -- the name without case: for the filter and the order by name
  owner TEXT,
  owner_key TEXT,
  created_at INTEGER NOT NULL,
  modified_at INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  status TEXT NOT NULL,
  embargoed_until TEXT,
  crate TEXT,
  newest_backlink INTEGER NOT NULL,
  state INTEGER NOT NULL,        -- the current row of state
  deleted_at INTEGER,
  deleted_by TEXT,
  delete_reason TEXT,
  successor TEXT
) STRICT;
CREATE INDEX record_key ON record (key);
-- The name stands in the index so that the filter by name reads no rows it does not want.
CREATE INDEX live_kind ON record (kind, id, folded) WHERE deleted_at IS NULL;
CREATE INDEX live_kind_name ON record (kind, folded, id) WHERE deleted_at IS NULL;
CREATE INDEX live_owner ON record (owner_key, id, kind) WHERE deleted_at IS NULL AND owner_key IS NOT NULL;
CREATE INDEX live_crate ON record (crate, id, kind) WHERE deleted_at IS NULL AND crate IS NOT NULL;

-- What a record said at some time. Revisions that change administration only share one row.
CREATE TABLE state (
  id INTEGER PRIMARY KEY,
  document BLOB NOT NULL,
  quads BLOB NOT NULL,           -- as written
  projected BLOB                 -- with link targets spelled as their records spell them, where that differs
) STRICT;

CREATE TABLE revision (
  record INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  at INTEGER NOT NULL,
  by TEXT,
  action TEXT NOT NULL,
  changed TEXT,                  -- JSON array of pointers
  state INTEGER NOT NULL,
  PRIMARY KEY (record, revision)
) STRICT, WITHOUT ROWID;

-- Pairs of predicate and kind of the source, so that a link's index entry is small and a hub's links are
-- found by both without reading the others.
CREATE TABLE via (id INTEGER PRIMARY KEY, predicate TEXT NOT NULL, kind TEXT NOT NULL, UNIQUE (predicate, kind)) STRICT;
CREATE TABLE link (
  source INTEGER NOT NULL,
  position INTEGER NOT NULL,
  via INTEGER NOT NULL,
  target TEXT NOT NULL,          -- as written
  target_key TEXT NOT NULL,
  sequence INTEGER NOT NULL,     -- of the commit that first stated it
  PRIMARY KEY (source, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_target ON link (target_key, via, sequence, source, position);

CREATE TABLE keyword (word TEXT NOT NULL, record INTEGER NOT NULL, kind TEXT NOT NULL,
  PRIMARY KEY (word, record)) STRICT, WITHOUT ROWID;

-- What the search index has indexed, and the record's words of the table above, one a line.
CREATE TABLE text (id INTEGER PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL,
  keywords TEXT NOT NULL, other TEXT NOT NULL, words TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE search USING fts5 (name, description, keywords, other, content='text',
  content_rowid='id', tokenize='porter unicode61 remove_diacritics 2');

CREATE TABLE change_log (sequence INTEGER NOT NULL, record INTEGER NOT NULL,
  PRIMARY KEY (sequence, record)) STRICT, WITHOUT ROWID;
CREATE TABLE tally (kind TEXT PRIMARY KEY, live INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE account (
  user TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  admin INTEGER NOT NULL,
  tokens_valid_from INTEGER NOT NULL,
  deleted INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX account_email ON account (email) WHERE deleted = 0;
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE submission (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  user TEXT NOT NULL,
  status TEXT NOT NULL,
  stage TEXT,
  attempt INTEGER NOT NULL,
  interrupted INTEGER NOT NULL DEFAULT 0,
  time_created INTEGER NOT NULL,
  time_started INTEGER,
  time_finished INTEGER,
  error TEXT,                    -- this and the next JSON text
  warnings TEXT NOT NULL,
  minted INTEGER NOT NULL,
  rocrate TEXT,
  sha256 TEXT,
  input TEXT NOT NULL,
  cancelled INTEGER NOT NULL
) STRICT;
CREATE INDEX submission_user ON submission (user, number);
CREATE INDEX submission_sha256 ON submission (sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX submission_unfinished ON submission (number) WHERE status IN ('queued', 'running');

-- Earlier revisions keep their objects: a reference counts from revision since up to, not including, until.
CREATE TABLE object_ref (
  id INTEGER PRIMARY KEY,
  record INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  media_type TEXT NOT NULL,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER,
  dropped INTEGER NOT NULL       -- 1: also earlier revisions lost it
) STRICT;
CREATE INDEX object_ref_record ON object_ref (record);
CREATE INDEX object_ref_sha256 ON object_ref (sha256) WHERE dropped = 0;
CREATE TABLE intent (sha256 TEXT NOT NULL, holder_kind TEXT NOT NULL, holder TEXT NOT NULL,
  attempt INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (sha256, holder_kind, holder)) STRICT, WITHOUT ROWID;
CREATE INDEX intent_holder ON intent (holder, holder_kind);
CREATE TABLE object_removal (sha256 TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
`;

/**
 * `crate_use`: records that a crate describes and that were not minted for it; rows of deleted
 * crates are removed.
 */
const VERSION_2 = `
CREATE TABLE crate_use (crate TEXT NOT NULL, record INTEGER NOT NULL,
  PRIMARY KEY (crate, record)) STRICT, WITHOUT ROWID;
CREATE INDEX crate_use_record ON crate_use (record, crate);
ALTER TABLE submission ADD COLUMN updates INTEGER NOT NULL DEFAULT 0; -- 1: what is stored already is brought up to date
`;

/**
 * `until` by the clock of the process that has the file. A row stays when its lease is released:
 * its fence goes on rising.
 */
const VERSION_3 = `
CREATE TABLE lease (name TEXT PRIMARY KEY, holder TEXT, fence INTEGER NOT NULL,
  until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/** Derived data; not part of the source of truth. */
const VERSION_4 = `
CREATE TABLE score (crate TEXT PRIMARY KEY, state TEXT NOT NULL, whole INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
`;

/**
 * One index of `key` and `ark` in place of one of each: identifiers end at random, so that a new
 * record changed a page of either. SQLite drops no constraint, so the table is made anew; its rows
 * keep their numbers.
 */
const VERSION_6 = `
CREATE TABLE record_6 (
  id INTEGER PRIMARY KEY,
  ark TEXT NOT NULL,
  key TEXT NOT NULL,             -- always that of the identifier
  kind TEXT NOT NULL,
  name TEXT,
  folded TEXT NOT NULL,
  owner TEXT,
  owner_key TEXT,
  created_at INTEGER NOT NULL,
  modified_at INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  status TEXT NOT NULL,
  embargoed_until TEXT,
  crate TEXT,
  newest_backlink INTEGER NOT NULL,
  state INTEGER NOT NULL,
  deleted_at INTEGER,
  deleted_by TEXT,
  delete_reason TEXT,
  successor TEXT
) STRICT;
INSERT INTO record_6 SELECT id, ark, key, kind, name, folded, owner, owner_key, created_at, modified_at,
  revision, status, embargoed_until, crate, newest_backlink, state, deleted_at, deleted_by, delete_reason,
  successor FROM record ORDER BY id;
DROP TABLE record;
ALTER TABLE record_6 RENAME TO record;
CREATE UNIQUE INDEX record_ark ON record (key, ark);
CREATE INDEX live_kind ON record (kind, id, folded) WHERE deleted_at IS NULL;
CREATE INDEX live_kind_name ON record (kind, folded, id) WHERE deleted_at IS NULL;
CREATE INDEX live_owner ON record (owner_key, id, kind) WHERE deleted_at IS NULL AND owner_key IS NOT NULL;
CREATE INDEX live_crate ON record (crate, id, kind) WHERE deleted_at IS NULL AND crate IS NOT NULL;
`;

/**
 * Archives are deleted with the records they hold; before this version they stayed, and served the
 * deleted content. An archive that came after the deletion does not hold it.
 */
const VERSION_7 = `WITH gone (crate, at) AS ( SELECT crate, deleted_at FROM record
    WHERE crate IS NOT NULL AND deleted_at IS NOT NULL UNION ALL SELECT u.crate, m.deleted_at
    FROM crate_use AS u JOIN record AS m ON m.id = u.record WHERE m.deleted_at IS NOT NULL
    UNION ALL SELECT m.crate, v.at FROM object_ref AS o JOIN record AS m ON m.id = o.record
    JOIN revision AS v ON v.record = o.record AND v.revision = o.until
    WHERE o.role = 'content' AND o.dropped = 1 AND m.crate IS NOT NULL UNION ALL
    SELECT u.crate, v.at FROM object_ref AS o JOIN crate_use AS u ON u.record = o.record
    JOIN revision AS v ON v.record = o.record AND v.revision = o.until
    WHERE o.role = 'content' AND o.dropped = 1), latest (crate, at) AS (SELECT crate, max(at)
    FROM gone GROUP BY crate) UPDATE object_ref SET until = coalesce(until, since), dropped = 1
    WHERE id IN ( SELECT a.id FROM latest JOIN record AS c ON c.ark = latest.crate
    JOIN object_ref AS a ON a.record = c.id JOIN revision AS v
    ON v.record = c.id AND v.revision = a.since WHERE a.role = 'archive' AND a.dropped = 0 AND v.at
    < latest.at);`;

/**
 * Selections by time and by status. New records and changed ones come last in each, so that a write
 * changes pages that the one before it changed too.
 */
const VERSION_9 = `
CREATE INDEX IF NOT EXISTS live_created ON record (created_at, id, kind) WHERE deleted_at IS NULL;
CREATE INDEX IF NOT EXISTS live_modified ON record (modified_at, id, kind, status) WHERE deleted_at IS NULL;
CREATE INDEX IF NOT EXISTS live_status ON record (status, id, kind) WHERE deleted_at IS NULL;
`;

/** Texts that are read together. */
const TEXTS = 1000;

/** Pages of the rows behind a number, their first column, until one is empty. */
function* pagesOf<R extends readonly [id: number, ...Row]>(
  page: Statement<R>,
): Generator<R[], void, undefined> {
  let rows = page.all([0]);
  for (let last = rows.at(-1); last; last = rows.at(-1)) {
    yield rows;
    rows = page.all([last[0]]);
  }
}

/**
 * Identifiers are no text to search for; before this version search found the words in them. The
 * index is changed only where there were identifiers.
 */
function version8(connection: Connection): void {
  const page = connection.prepare<[number, string, string, string, string]>(
    `SELECT id, name, description, keywords, other FROM text
      WHERE id > ? AND other LIKE '%ark:%' ORDER BY id LIMIT ${TEXTS}`,
  );
  const change = connection.prepare("UPDATE text SET other = ? WHERE id = ?");
  // External content: the index needs exactly the text that it indexed.
  const unindex = connection.prepare(
    `INSERT INTO search (search, rowid, name, description, keywords, other)
      VALUES ('delete', ?, ?, ?, ?, ?)`,
  );
  const index = connection.prepare(
    "INSERT INTO search (rowid, name, description, keywords, other) VALUES (?, ?, ?, ?, ?)",
  );
  for (const rows of pagesOf(page)) {
    for (const [id, name, description, keywords, other] of rows) {
      const left = withoutArks(other);
      unindex.put([id, name, description, keywords, other]);
      change.put([left, id]);
      index.put([id, name, description, keywords, left]);
    }
  }
}

/**
 * Selections by licence, by score and of deleted records. `record.licence` is as `licenceName`
 * makes it, of live records only; `score.percent` as `percentOf`.
 */
function version10(connection: Connection): void {
  addColumn(connection, "record", "licence", "TEXT");
  addColumn(connection, "score", "record", "INTEGER");
  addColumn(connection, "score", "percent", "INTEGER");
  fillLicences(connection);
  fillPercents(connection);
  connection.exec(`
    CREATE INDEX IF NOT EXISTS live_licence ON record (licence, id, kind)
      WHERE deleted_at IS NULL AND licence IS NOT NULL;
    CREATE INDEX IF NOT EXISTS gone ON record (deleted_at, id, kind) WHERE deleted_at IS NOT NULL;
    CREATE INDEX IF NOT EXISTS score_percent ON score (percent, record);`);
}

/** The document of a state, where it holds a text. */
const STATING = "SELECT document FROM state WHERE id = ? AND instr(document, CAST(? AS BLOB)) > 0";

/** Reads the licences of all live records from their documents, one in memory at a time. */
export function fillLicences(connection: Connection): void {
  const page = connection.prepare<[id: number, kind: string, state: number]>(
    `SELECT id, kind, state FROM record WHERE id > ? AND deleted_at IS NULL ORDER BY id
      LIMIT ${TEXTS}`,
  );
  const document = connection.prepare<[Uint8Array]>(STATING);
  const put = connection.prepare("UPDATE record SET licence = ? WHERE id = ?");
  for (const rows of pagesOf(page))
    for (const [id, kind, state] of rows) {
      const stating = document.get([state, LICENCE_MARK]);
      const licence = stating ? storedLicence(kind, stating[0]) : null;
      if (licence !== null) put.put([licence, id]);
    }
}

function fillPercents(connection: Connection): void {
  const next = connection.prepare<[crate: string, body: Uint8Array]>(
    "SELECT crate, body FROM score WHERE crate > ? ORDER BY crate LIMIT 1",
  );
  const put = connection.prepare(
    `UPDATE score SET percent = ?2, record = (SELECT id FROM record WHERE key = ?3 AND ark = ?1)
      WHERE crate = ?1`,
  );
  for (let row = next.get([""]); row; row = next.get([row[0]]))
    put.put([row[0], storedPercent(row[1]), arkKey(row[0])]);
}

const list = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(", ");

/**
 * Models, samples, instruments, experiments and annotations of crates have kinds of their own.
 * Their documents and revisions stay; their ETags change, and the graph follows the change log.
 */
function version11(connection: Connection): void {
  const page = connection.prepare<[id: number, ark: string, kind: string, state: number]>(
    `SELECT id, ark, kind, state FROM record WHERE id > ? AND kind IN (${list(FORMER_KINDS)})
      ORDER BY id LIMIT ${TEXTS}`,
  );
  const marks = KIND_MARKS.map((mark) => `instr(document, CAST('${mark}' AS BLOB)) > 0`);
  const stored = connection.prepare<
    [document: Uint8Array, quads: Uint8Array, projected: Uint8Array | null]
  >(`SELECT document, quads, projected FROM state WHERE id = ? AND (${marks.join(" OR ")})`);
  const putQuads = connection.prepare("UPDATE state SET quads = ?2, projected = ?3 WHERE id = ?1");
  const putKind = connection.prepare(
    `UPDATE record SET kind = ?2,
      newest_backlink = CASE WHEN deleted_at IS NULL THEN ?3 ELSE newest_backlink END WHERE id = ?1`,
  );
  const log = connection.prepare(
    `INSERT INTO change_log (sequence, record) SELECT ?2, id FROM record
      WHERE id = ?1 AND deleted_at IS NULL`,
  );
  const vias = connection.prepare(
    `INSERT OR IGNORE INTO via (predicate, kind) SELECT DISTINCT v.predicate, ?2
      FROM link AS l JOIN via AS v ON v.id = l.via WHERE l.source = ?1`,
  );
  const links = connection.prepare(
    `UPDATE link SET via = (SELECT n.id FROM via AS v JOIN via AS n
      ON n.predicate = v.predicate AND n.kind = ?2 WHERE v.id = link.via) WHERE source = ?1`,
  );
  const words = connection.prepare<[words: string]>("SELECT words FROM text WHERE id = ?");
  const putWord = connection.prepare(
    "UPDATE keyword SET kind = ?3 WHERE word = ?2 AND record = ?1",
  );
  let sequence = connection
    .prepare<[number]>("SELECT coalesce(max(sequence), 0) FROM change_log")
    .one()[0];
  // One sequence for each page: a graph index reads the changes of one together.
  for (const rows of pagesOf(page)) {
    let isFirst = true;
    for (const [id, ark, kind, state] of rows) {
      const [document, quads, projected] = stored.get([state]) ?? [];
      const now = document && kindNow({ ark, kind, document }, [quads ?? null, projected ?? null]);
      if (!now) continue;
      if (isFirst) sequence++;
      isFirst = false;
      putQuads.put([state, ...now.quads]);
      putKind.put([id, now.kind, sequence]);
      log.put([id, sequence]);
      vias.put([id, now.kind]);
      links.put([id, now.kind]);
      for (const word of words.get([id])?.[0].split("\n") ?? []) putWord.put([id, word, now.kind]);
    }
  }
  connection.exec(
    `DELETE FROM tally; INSERT INTO tally (kind, live) SELECT kind, count(*) FROM record
      WHERE deleted_at IS NULL GROUP BY kind`,
  );
}

/** Accounts can be disabled; sessions, access tokens and reset tokens are stored by their hash. */
function version12(connection: Connection): void {
  addColumn(connection, "account", "disabled", "INTEGER NOT NULL DEFAULT 0");
  addColumn(connection, "account", "signed_in_at", "INTEGER");
  connection.exec(`
CREATE TABLE IF NOT EXISTS credential (
  hash TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  user TEXT NOT NULL,
  purpose TEXT NOT NULL,
  name TEXT,
  created_at INTEGER NOT NULL,
  used_at INTEGER,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS credential_user ON credential (user, purpose, created_at);`);
}

/** Links of terms whose IRI differed between versions of a context have the one that the graph has. */
function version13(connection: Connection): void {
  const known = connection.prepare<[id: number, predicate: string, kind: string]>(
    "SELECT id, predicate, kind FROM via",
  );
  const add = connection.prepare("INSERT OR IGNORE INTO via (predicate, kind) VALUES (?1, ?2)");
  const move = connection.prepare(
    `UPDATE link SET via = (SELECT id FROM via WHERE predicate = ?2 AND kind = ?3) WHERE via = ?1`,
  );
  const remove = connection.prepare("DELETE FROM via WHERE id = ?");
  for (const [id, predicate, kind] of known.all([])) {
    const now = linkPredicate(predicate);
    if (now === predicate) continue;
    add.put([now, kind]);
    move.put([id, now, kind]);
    remove.put([id]);
  }
}

/**
 * Vectors of searchable text by model, four bytes for each number, and how far they reach in the
 * change log. Before this version their tables were named otherwise, and had columns for a search
 * that held all vectors in memory.
 */
function version14(connection: Connection): void {
  connection.exec(`
CREATE TABLE IF NOT EXISTS embedding (model TEXT NOT NULL, record INTEGER NOT NULL,
  digest BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, record)) STRICT;
CREATE TABLE IF NOT EXISTS embedding_reach (model TEXT PRIMARY KEY, sequence INTEGER NOT NULL,
  record INTEGER NOT NULL) STRICT;`);
  const former = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'vector_reach'");
  if (former.get() === undefined) return;
  connection.exec(`
INSERT INTO embedding SELECT model, record, digest, vector FROM vector WHERE vector IS NOT NULL;
INSERT INTO embedding_reach SELECT model, sequence, record FROM vector_reach;
DROP TABLE vector; DROP TABLE vector_reach;`);
}

/** What an access token may do, and the record that it is bound to. */
function scopedTokens(connection: Connection): void {
  addColumn(connection, "credential", "scopes", "TEXT");
  addColumn(connection, "credential", "bound_to", "TEXT");
}

/**
 * Records that only those see who may change them, and their texts. An index
 * has their owners: those of one viewer are few among all. The other indexes say of each record
 * whether it is private, so that those of others are passed over without being read.
 */
function privateRecords(connection: Connection): void {
  addColumn(connection, "record", "private", "INTEGER NOT NULL DEFAULT 0");
  connection.exec(`
CREATE INDEX IF NOT EXISTS live_private ON record (owner_key, kind, id)
  WHERE private = 1 AND deleted_at IS NULL;
CREATE TABLE IF NOT EXISTS private_text (id INTEGER PRIMARY KEY, name TEXT NOT NULL,
  description TEXT NOT NULL, keywords TEXT NOT NULL, other TEXT NOT NULL,
  words TEXT NOT NULL) STRICT;
DROP INDEX IF EXISTS live_kind;
DROP INDEX IF EXISTS live_kind_name;
DROP INDEX IF EXISTS live_owner;
DROP INDEX IF EXISTS live_crate;
DROP INDEX IF EXISTS live_status;
DROP INDEX IF EXISTS live_created;
DROP INDEX IF EXISTS live_modified;
CREATE INDEX live_kind ON record (kind, id, folded, private) WHERE deleted_at IS NULL;
CREATE INDEX live_kind_name ON record (kind, folded, id, private) WHERE deleted_at IS NULL;
CREATE INDEX live_owner ON record (owner_key, id, kind, private)
  WHERE deleted_at IS NULL AND owner_key IS NOT NULL;
CREATE INDEX live_crate ON record (crate, id, kind, private)
  WHERE deleted_at IS NULL AND crate IS NOT NULL;
CREATE INDEX live_status ON record (status, id, kind, private) WHERE deleted_at IS NULL;
CREATE INDEX live_created ON record (created_at, id, kind, private) WHERE deleted_at IS NULL;
CREATE INDEX live_modified ON record (modified_at, id, kind, status, private)
  WHERE deleted_at IS NULL;`);
}
/** Accounts at issuers of OpenID Connect. */
const IDENTITIES = `
CREATE TABLE IF NOT EXISTS identity (issuer TEXT NOT NULL, subject TEXT NOT NULL,
  user TEXT NOT NULL, linked_at INTEGER NOT NULL, PRIMARY KEY (issuer, subject))
  STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS identity_user ON identity (user, linked_at);`;

/**
 * Words of private records, apart from those that all search. The owner is a word of the index too:
 * a viewer's matches are found without those of others.
 */
function privateWords(connection: Connection): void {
  addColumn(connection, "private_text", "owner", "TEXT NOT NULL DEFAULT ''");
  connection.exec(`
CREATE VIRTUAL TABLE IF NOT EXISTS private_search USING fts5 (name, description, keywords, other,
  owner, content='private_text', content_rowid='id',
  tokenize='porter unicode61 remove_diacritics 2');
${INDEX_PRIVATE_TEXTS}`);
}

/**
 * In indexes that all share, private records stand behind all open ones, so that lists and counts of
 * open records do not read them; `live_open` has what statistics count by. Without `deleted_at`
 * SQLite would read each row.
 */
const PRIVATE_APART = `
DROP INDEX IF EXISTS live_open;
DROP INDEX IF EXISTS live_kind;
DROP INDEX IF EXISTS live_kind_name;
DROP INDEX IF EXISTS live_status;
DROP INDEX IF EXISTS live_licence;
DROP INDEX IF EXISTS live_created;
DROP INDEX IF EXISTS live_modified;
CREATE INDEX live_open ON record (private, id, kind, created_at, status, licence, owner,
  deleted_at) WHERE deleted_at IS NULL;
CREATE INDEX live_kind ON record (private, kind, id, folded, deleted_at) WHERE deleted_at IS NULL;
CREATE INDEX live_kind_name ON record (private, kind, folded, id, deleted_at)
  WHERE deleted_at IS NULL;
CREATE INDEX live_status ON record (private, status, id, kind, deleted_at)
  WHERE deleted_at IS NULL;
CREATE INDEX live_licence ON record (private, licence, id, kind, deleted_at)
  WHERE deleted_at IS NULL AND licence IS NOT NULL;
CREATE INDEX live_created ON record (private, created_at, id, kind, deleted_at)
  WHERE deleted_at IS NULL;
CREATE INDEX live_modified ON record (private, modified_at, id, kind, status, deleted_at)
  WHERE deleted_at IS NULL;`;

/** Indexes all texts of private records; `owner` is as `ownerWord` makes it. */
export const INDEX_PRIVATE_TEXTS = `UPDATE private_text SET owner = coalesce((SELECT 'u' || hex(r.owner_key)
    FROM record AS r WHERE r.id = private_text.id), '');
  INSERT INTO private_search (private_search) VALUES ('rebuild');`;

/** Requests to read the content of a record, and what was decided. */
const ACCESS_REQUESTS = `
CREATE TABLE IF NOT EXISTS access_request (id TEXT NOT NULL PRIMARY KEY, record TEXT NOT NULL,
  requester TEXT NOT NULL, reason TEXT NOT NULL, state TEXT NOT NULL, asked_at INTEGER NOT NULL,
  expires_at INTEGER, message TEXT, decided_at INTEGER, decided_by TEXT,
  UNIQUE (record, requester)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS access_request_requester ON access_request (requester, asked_at, id);
CREATE INDEX IF NOT EXISTS access_request_asked ON access_request (asked_at, id);`;

/** Who did what; rows do not change. `detail` is JSON text. */
const AUDIT = `
CREATE TABLE IF NOT EXISTS audit (number INTEGER PRIMARY KEY, at INTEGER NOT NULL,
  action TEXT NOT NULL, actor TEXT, name TEXT, address TEXT, subject TEXT, detail TEXT NOT NULL)
  STRICT;
CREATE INDEX IF NOT EXISTS audit_at ON audit (at);
CREATE INDEX IF NOT EXISTS audit_actor ON audit (actor, number) WHERE actor IS NOT NULL;
CREATE INDEX IF NOT EXISTS audit_subject ON audit (subject, number) WHERE subject IS NOT NULL;`;

/** Secret addresses that show one record. */
const REVIEW_LINKS = `
CREATE TABLE IF NOT EXISTS review_link (hash TEXT PRIMARY KEY, id TEXT NOT NULL,
  ark TEXT NOT NULL, key TEXT NOT NULL, created_by TEXT NOT NULL, created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL, anonymous INTEGER NOT NULL, uses INTEGER NOT NULL,
  used_at INTEGER) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS review_link_ark ON review_link (ark, created_at);`;

/**
 * Selections by date of publication. `record.stated_at` is as `statedPublication` makes it, of live
 * records only; `published_at` is the first act of publication here.
 */
function publicationDates(connection: Connection): void {
  addColumn(connection, "record", "stated_at", "INTEGER");
  addColumn(connection, "record", "published_at", "INTEGER");
  fillPublications(connection);
  connection.exec(`
DROP INDEX IF EXISTS live_open;
DROP INDEX IF EXISTS live_published;
CREATE INDEX live_open ON record (private, id, kind, created_at, status, licence, owner,
  stated_at, published_at, deleted_at) WHERE deleted_at IS NULL;
CREATE INDEX live_published ON record (private, ${publishedAt()}, id, kind, status, deleted_at)
  WHERE deleted_at IS NULL;`);
}

/** Reads dates of publication from the documents of live records, and from the history. */
export function fillPublications(connection: Connection): void {
  connection.exec(`UPDATE record SET published_at = (SELECT min(v.at) FROM revision AS v
    WHERE v.record = record.id AND v.action = 'publish')`);
  const page = connection.prepare<[id: number, kind: string, state: number, modifiedAt: number]>(
    `SELECT id, kind, state, modified_at FROM record WHERE id > ? AND deleted_at IS NULL
      ORDER BY id LIMIT ${TEXTS}`,
  );
  const document = connection.prepare<[Uint8Array]>(STATING);
  const put = connection.prepare("UPDATE record SET stated_at = ? WHERE id = ?");
  for (const rows of pagesOf(page))
    for (const [id, kind, state, modifiedAt] of rows) {
      const stating = document.get([state, PUBLICATION_MARK]);
      const at = stating ? storedPublication(kind, stating[0], modifiedAt) : null;
      if (at !== null) put.put([at, id]);
    }
}

/**
 * Columns have the names that they have in PostgreSQL, which reserves `user`, so that both databases
 * read the same SQL; so has the condition of an index.
 */
function namesOfBoth(connection: Connection): void {
  const has = connection.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = 'user'");
  for (const table of ["account", "credential", "identity", "submission"])
    if (has.get([table]) !== undefined)
      connection.exec(`ALTER TABLE ${table} RENAME COLUMN user TO person`);
  connection.exec(`DROP INDEX IF EXISTS account_email;
    CREATE UNIQUE INDEX account_email ON account (email) WHERE NOT deleted`);
}

/** SQLite has no ADD COLUMN IF NOT EXISTS. */
function addColumn(connection: Connection, table: string, column: string, type: string): void {
  const has = connection.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  if (has.get([table, column]) === undefined)
    connection.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`);
}

/** Each brings the schema one version further. Only ever add to the end. */
export const MIGRATIONS: readonly (string | ((connection: Connection) => void))[] = [
  VERSION_1,
  VERSION_2,
  VERSION_3,
  VERSION_4,
  // Vectors, which version 14 makes.
  "",
  VERSION_6,
  VERSION_7,
  version8,
  VERSION_9,
  version10,
  version11,
  version12,
  version13,
  version14,
  scopedTokens,
  privateRecords,
  IDENTITIES,
  privateWords,
  ACCESS_REQUESTS,
  AUDIT,
  REVIEW_LINKS,
  PRIVATE_APART,
  publicationDates,
  namesOfBoth,
];
const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Marks a file as ours in its header ("Arkg"), so that another program's database is not taken for
 * an empty one.
 */
const APPLICATION_ID = 0x41726b67;

/**
 * Brings the file to this version's schema.
 * @throws ServiceError `STORE_UNAVAILABLE`: not a database, another program's, or written by a
 * newer version
 */
export function migrate(connection: Connection, file: string): void {
  const refuse = (reason: string): never => {
    throw new ServiceError("STORE_UNAVAILABLE", `The records cannot be opened: ${file} ${reason}.`);
  };
  try {
    const version = Number(connection.pragma("user_version"));
    const empty = connection.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
    if (!empty && Number(connection.pragma("application_id")) !== APPLICATION_ID)
      refuse("is the database of another program");
    if (version > SCHEMA_VERSION)
      refuse(
        `was written by a newer version (its schema is ${version}, this version knows ` +
          `${SCHEMA_VERSION}); start that version, or restore a backup`,
      );
    if (version === SCHEMA_VERSION) return;
    connection.transaction(() => {
      for (const migration of MIGRATIONS.slice(version)) {
        if (typeof migration === "string") connection.exec(migration);
        else migration(connection);
      }
      connection.exec(
        `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`,
      );
    }, "EXCLUSIVE");
  } catch (error) {
    if (error instanceof StatementError && error.code === "SQLITE_NOTADB")
      refuse("is not a database");
    if (error instanceof StatementError && error.code === "SQLITE_CANTOPEN")
      refuse("cannot be opened; check the folder and its permissions");
    throw error;
  }
}

/**
 * Checks that a file which is only read has this version's schema.
 * @throws ServiceError `STORE_UNAVAILABLE`: not a database, another program's, or of another
 * version
 */
export function checkSchema(connection: Connection, file: string): void {
  const refuse = (reason: string): never => {
    throw new ServiceError("STORE_UNAVAILABLE", `The records cannot be opened: ${file} ${reason}.`);
  };
  try {
    const version = Number(connection.pragma("user_version"));
    if (Number(connection.pragma("application_id")) !== APPLICATION_ID) refuse("is no registry's");
    if (version !== SCHEMA_VERSION)
      refuse(
        `has schema ${version}, this version reads ${SCHEMA_VERSION}; ` +
          (version < SCHEMA_VERSION
            ? "start the registry of this version on it once"
            : "use that version"),
      );
  } catch (error) {
    if (error instanceof StatementError && error.code === "SQLITE_NOTADB")
      refuse("is not a database");
    throw error;
  }
}
