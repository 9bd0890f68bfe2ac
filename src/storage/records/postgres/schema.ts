import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "../../../errors.js";
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
import { indexed, makeConfiguration, vectorSql } from "./search/words.js";
import {
  columnsOf,
  type Database,
  failure,
  isCollision,
  type Row,
  type Session,
  type Statement,
  StatementError,
  statement,
  type Value,
} from "./statement.js";
import { ADD_WORDS } from "./writes/states.js";

/**
 * The record store's tables, the same as those of the libSQL adapter (`../sqlite/schema.ts`)
 * wherever PostgreSQL needs nothing else. Times are ms since 1970 UTC. No trigger, function or
 * foreign key, and no extension that is needed. Text is ordered by its bytes
 * (`COLLATE "C"`), whatever the database's locale.
 *
 * `counter` is the one row that every commit locks: numbers are given out under that lock, so none
 * is missing and none is visible before a smaller one.
 */
const VERSION_1 = `
CREATE TABLE counter (id smallint PRIMARY KEY, sequence bigint NOT NULL, record bigint NOT NULL,
  object bigint NOT NULL, submission bigint NOT NULL);
INSERT INTO counter (id, sequence, record, object, submission) VALUES (1, 0, 0, 0, 0);

-- One row for each node: the number of its last transaction, by which it learns whether a COMMIT
-- without an answer was done.
CREATE TABLE writer (id text COLLATE "C" PRIMARY KEY, number bigint NOT NULL, seen_at timestamptz NOT NULL);

CREATE TABLE record (
  id bigint PRIMARY KEY,
  ark text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C",
  folded text COLLATE "C" NOT NULL,    -- the name without case: for the filter by name
  sorted text COLLATE "C" NOT NULL,    -- its beginning: for the order by name
  owner text COLLATE "C",
  owner_key text COLLATE "C",
  created_at bigint NOT NULL,
  modified_at bigint NOT NULL,
  revision bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  embargoed_until text COLLATE "C",
  crate text COLLATE "C",
  newest_backlink bigint NOT NULL,
  state bigint NOT NULL,               -- the current row of state
  deleted_at bigint,
  deleted_by text COLLATE "C",
  delete_reason text COLLATE "C",
  successor text COLLATE "C"
);
CREATE UNIQUE INDEX record_ark ON record (ark);
CREATE INDEX record_key ON record (key);
CREATE UNIQUE INDEX record_state ON record (state);
CREATE INDEX live_kind ON record (kind, id) WHERE deleted_at IS NULL;
CREATE INDEX live_kind_name ON record (kind, sorted, id) WHERE deleted_at IS NULL;
CREATE INDEX live_owner ON record (owner_key, id) WHERE deleted_at IS NULL AND owner_key IS NOT NULL;
CREATE INDEX live_crate ON record (crate, id) WHERE deleted_at IS NULL AND crate IS NOT NULL;

-- What a record said at some time. Revisions that change administration only share one row. Numbers are taken in lots.
CREATE SEQUENCE state_lot START WITH 1;
CREATE TABLE state (
  id bigint PRIMARY KEY,
  document bytea NOT NULL,
  quads bytea NOT NULL,                -- as written
  projected bytea                      -- with link targets spelled as their records spell them, where that differs
);

CREATE TABLE revision (
  record bigint NOT NULL,
  revision bigint NOT NULL,
  at bigint NOT NULL,
  by text COLLATE "C",
  action text COLLATE "C" NOT NULL,
  changed text COLLATE "C",            -- JSON array of pointers
  state bigint NOT NULL,
  PRIMARY KEY (record, revision)
);

-- Pairs of predicate and kind of the source, so that a link's index entry is small.
CREATE TABLE via (id integer PRIMARY KEY, predicate text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL, UNIQUE (predicate, kind));
CREATE TABLE link (
  source bigint NOT NULL,
  position integer NOT NULL,
  via integer NOT NULL,
  target text COLLATE "C" NOT NULL,    -- as written
  target_key text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,            -- of the commit that first stated it
  PRIMARY KEY (source, position)
);
CREATE INDEX link_target ON link (target_key, via, sequence, source, position);

CREATE TABLE keyword (word text COLLATE "C" NOT NULL, record bigint NOT NULL,
  kind text COLLATE "C" NOT NULL, PRIMARY KEY (word, record));
CREATE INDEX keyword_record ON keyword (record);

-- What search sees of live records, by the state it is of.
CREATE TABLE text (
  state bigint PRIMARY KEY,
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  description text COLLATE "C" NOT NULL,
  keywords text COLLATE "C" NOT NULL,
  search tsvector NOT NULL
);
CREATE INDEX text_search ON text USING gin (search);
-- Stems that ever were in search: what near spellings are looked for among.
CREATE TABLE term (length smallint NOT NULL, stem text COLLATE "C" NOT NULL, PRIMARY KEY (length, stem));

CREATE TABLE change_log (sequence bigint NOT NULL, record bigint NOT NULL, PRIMARY KEY (sequence, record));
CREATE TABLE tally (kind text COLLATE "C" PRIMARY KEY, live bigint NOT NULL);

CREATE TABLE account (
  person text COLLATE "C" PRIMARY KEY,
  email text COLLATE "C" NOT NULL,
  password_hash text COLLATE "C" NOT NULL,
  admin boolean NOT NULL,
  tokens_valid_from bigint NOT NULL,
  deleted boolean NOT NULL
);
CREATE UNIQUE INDEX account_email ON account (email) WHERE deleted = false;
CREATE TABLE setting (name text COLLATE "C" PRIMARY KEY, value text COLLATE "C" NOT NULL);

CREATE TABLE submission (
  number bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  type text COLLATE "C" NOT NULL,
  person text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  stage text COLLATE "C",
  attempt bigint NOT NULL,
  interrupted bigint NOT NULL,
  time_created bigint NOT NULL,
  time_started bigint,
  time_finished bigint,
  error text COLLATE "C",              -- this, warnings and input: JSON text
  warnings text COLLATE "C" NOT NULL,
  minted bigint NOT NULL,
  rocrate text COLLATE "C",
  sha256 text COLLATE "C",
  input text COLLATE "C" NOT NULL,
  cancelled boolean NOT NULL,
  updates boolean NOT NULL             -- what is stored already is brought up to date
);
CREATE INDEX submission_person ON submission (person, number);
CREATE INDEX submission_sha256 ON submission (sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX submission_unfinished ON submission (number) WHERE status IN ('queued', 'running');

-- Earlier revisions keep their objects: a reference counts from revision since up to, not including, ended.
CREATE TABLE object_ref (
  id bigint PRIMARY KEY,
  record bigint NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  media_type text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  since bigint NOT NULL,
  ended bigint,
  dropped boolean NOT NULL             -- also earlier revisions lost it
);
CREATE INDEX object_ref_record ON object_ref (record);
CREATE INDEX object_ref_sha256 ON object_ref (sha256) WHERE dropped = false;
-- Times of intents are by the database's clock.
CREATE TABLE intent (sha256 text COLLATE "C" NOT NULL, holder_kind text COLLATE "C" NOT NULL,
  holder text COLLATE "C" NOT NULL, attempt bigint NOT NULL, at bigint NOT NULL,
  PRIMARY KEY (sha256, holder_kind, holder));
CREATE INDEX intent_holder ON intent (holder, holder_kind);
-- Marks of a sweep count while the node that sweeps is seen.
CREATE TABLE object_removal (sha256 text COLLATE "C" PRIMARY KEY, writer text COLLATE "C" NOT NULL);

-- Records that a crate describes and that were not minted for it; rows of deleted crates are gone.
CREATE TABLE crate_use (crate text COLLATE "C" NOT NULL, record bigint NOT NULL, PRIMARY KEY (crate, record));
CREATE INDEX crate_use_record ON crate_use (record, crate);

CREATE TABLE lease (name text COLLATE "C" PRIMARY KEY, holder text COLLATE "C",
  fence bigint NOT NULL, expires_at timestamptz NOT NULL);
`;

/**
 * The data that another store needs to make its own search index: the rest of the text, and the
 * keywords in their order and length, one a line.
 */
const VERSION_2 = `
ALTER TABLE text ADD COLUMN other text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN words text COLLATE "C" NOT NULL DEFAULT '';
UPDATE text SET words = coalesce((SELECT string_agg(k.word, chr(10) ORDER BY k.word)
  FROM record AS r JOIN keyword AS k ON k.record = r.id WHERE r.state = text.state), '');
ALTER TABLE text ALTER COLUMN other DROP DEFAULT, ALTER COLUMN words DROP DEFAULT;
`;

/**
 * From here on a newer program states which older ones may run beside it: those that know this
 * version of the schema. A table of its own, since `arkgraph_schema` and `counter` cannot be
 * altered while others wait for their rows.
 */
const VERSION_3 = `
CREATE TABLE schema_needs (id smallint PRIMARY KEY, version integer NOT NULL);
INSERT INTO schema_needs (id, version) VALUES (1, 2);
`;

/**
 * Derived data; not part of the source of truth. Older programs cannot read quads with short terms,
 * which come with this version.
 */
const VERSION_4 = `
CREATE TABLE score (crate text COLLATE "C" PRIMARY KEY, state text COLLATE "C" NOT NULL,
  whole boolean NOT NULL, body bytea NOT NULL);
`;

/**
 * Archives are deleted with the records they hold; before this version they stayed, and served the
 * deleted content. An archive that came after the deletion does not hold it.
 */
const VERSION_6 = `
WITH gone (crate, at) AS (
    SELECT crate, deleted_at FROM record WHERE crate IS NOT NULL AND deleted_at IS NOT NULL
    UNION ALL SELECT u.crate, m.deleted_at FROM crate_use AS u
      JOIN record AS m ON m.id = u.record WHERE m.deleted_at IS NOT NULL
    UNION ALL SELECT m.crate, v.at FROM object_ref AS o JOIN record AS m ON m.id = o.record
      JOIN revision AS v ON v.record = o.record AND v.revision = o.ended
      WHERE o.role = 'content' AND o.dropped = true AND m.crate IS NOT NULL
    UNION ALL SELECT u.crate, v.at FROM object_ref AS o
      JOIN crate_use AS u ON u.record = o.record JOIN revision AS v ON v.record = o.record AND v.revision = o.ended
      WHERE o.role = 'content' AND o.dropped = true),
  latest (crate, at) AS (SELECT crate, max(at) FROM gone GROUP BY crate)
UPDATE object_ref SET ended = coalesce(ended, since), dropped = true WHERE id IN (
  SELECT a.id FROM latest JOIN record AS c ON c.ark = latest.crate
    JOIN object_ref AS a ON a.record = c.id JOIN revision AS v ON v.record = c.id AND v.revision = a.since
  WHERE a.role = 'archive' AND a.dropped = false AND v.at < latest.at);
`;

/** Texts that are read together. */
const TEXTS = 1000;
const WITH_ARKS = statement<[state: number, other: string]>(
  `SELECT state, other FROM text
    WHERE state > $1 AND other ILIKE '%ark:%' ORDER BY state LIMIT ${TEXTS}`,
);
const CHANGE_OTHERS = statement(
  `UPDATE text SET other = v.other FROM unnest($1::bigint[], $2::text[]) AS v (state, other)
    WHERE text.state = v.state`,
);

/** Pages of what a statement finds behind a value of its first column, until one is empty. */
async function* pagesOf<R extends readonly [number | string, ...Row]>(
  session: Session,
  page: Statement<R>,
  first: R[0],
  more: readonly Value[] = [],
): AsyncGenerator<R[], void, undefined> {
  let rows = await session.query(page, [first, ...more]);
  for (let last = rows.at(-1); last; last = rows.at(-1)) {
    yield rows;
    rows = await session.query(page, [last[0], ...more]);
  }
}

/**
 * Identifiers are no text to search for; before this version search found the words in them.
 * {@link version14} indexes all texts again.
 */
async function version7(session: Session): Promise<void> {
  for await (const rows of pagesOf(session, WITH_ARKS, 0)) {
    await session.query(CHANGE_OTHERS, [
      rows.map(([state]) => state),
      rows.map(([, other]) => withoutArks(other)),
    ]);
  }
}

/** Selections by time and by status. */
const VERSION_8 = `
CREATE INDEX IF NOT EXISTS live_created ON record (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX IF NOT EXISTS live_modified ON record (modified_at, id) WHERE deleted_at IS NULL;
CREATE INDEX IF NOT EXISTS live_status ON record (status, id) WHERE deleted_at IS NULL;
`;

const COLUMNS_10 = `
ALTER TABLE record ADD COLUMN IF NOT EXISTS licence text COLLATE "C";
ALTER TABLE score ADD COLUMN IF NOT EXISTS record bigint, ADD COLUMN IF NOT EXISTS percent smallint;
`;
const INDEXES_10 = `
CREATE INDEX IF NOT EXISTS live_licence ON record (licence, id) WHERE deleted_at IS NULL AND licence IS NOT NULL;
CREATE INDEX IF NOT EXISTS gone ON record (deleted_at, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS score_percent ON score (percent, record);
`;

/**
 * Selections by licence, by score and of deleted records. `record.licence` is as `licenceName`
 * makes it, of live records only; `score.percent` as `percentOf`. Nodes of older versions would
 * write neither.
 */
async function version10(session: Session): Promise<void> {
  await session.exec(COLUMNS_10);
  await fillLicences(session);
  await fillPercents(session);
  await session.exec(INDEXES_10);
}

/** Bytes of documents that are read together. */
const BYTES = 4 * 2 ** 20;
const STATING = statement<[id: number, size: number]>(
  `SELECT r.id, octet_length(s.document) FROM record AS r JOIN state AS s ON s.id = r.state
    WHERE r.id > $1 AND r.deleted_at IS NULL
    AND position(convert_to($2, 'UTF8') IN s.document) > 0 ORDER BY r.id LIMIT ${TEXTS}`,
);
const DOCUMENTS = statement<[id: number, kind: string, document: Uint8Array]>(
  `SELECT r.id, r.kind, s.document FROM record AS r JOIN state AS s ON s.id = r.state
    WHERE r.id = ANY($1::bigint[])`,
);
const PUT_LICENCES = statement(
  `UPDATE record SET licence = v.licence FROM unnest($1::bigint[], $2::text[]) AS v (id, licence)
    WHERE record.id = v.id`,
);

/** Reads the licences of all live records from their documents, a few MiB at a time. */
export async function fillLicences(session: Session): Promise<void> {
  const put = async (ids: readonly number[]): Promise<void> => {
    const found = (await session.query(DOCUMENTS, [ids])).flatMap(([id, kind, document]) => {
      const licence = storedLicence(kind, document);
      return licence === null ? [] : [{ id, licence }];
    });
    await session.query(PUT_LICENCES, [
      found.map(({ id }) => id),
      found.map(({ licence }) => licence),
    ]);
  };
  for await (const rows of pagesOf(session, STATING, 0, [LICENCE_MARK]))
    for (const ids of batches(rows)) await put(ids);
}

/** Records whose documents are read together. */
function* batches(rows: readonly (readonly [id: number, size: number])[]): Generator<number[]> {
  let [ids, bytes]: [number[], number] = [[], 0];
  for (const [id, size] of rows) {
    ids.push(id);
    bytes += size;
    if (bytes < BYTES) continue;
    yield ids;
    [ids, bytes] = [[], 0];
  }
  if (ids.length > 0) yield ids;
}

const SCORES = statement<[crate: string, body: Uint8Array]>(
  "SELECT crate, body FROM score WHERE crate > $1 ORDER BY crate LIMIT 10",
);
const PUT_PERCENT = statement(
  `UPDATE score SET percent = $2, record = (SELECT id FROM record WHERE ark = $1) WHERE crate = $1`,
);

async function fillPercents(session: Session): Promise<void> {
  for await (const rows of pagesOf(session, SCORES, "")) {
    for (const [crate, body] of rows)
      await session.query(PUT_PERCENT, [crate, storedPercent(body)]);
  }
}

const MARKED = KIND_MARKS.map(
  (mark) => `position(convert_to('${mark}', 'UTF8') IN s.document) > 0`,
);
const MAY_CHANGE_KIND = statement<[id: number, size: number]>(
  `SELECT r.id, octet_length(s.document) FROM record AS r JOIN state AS s ON s.id = r.state
    WHERE r.id > $1 AND r.kind = ANY($2::text[]) AND (${MARKED.join(" OR ")})
    ORDER BY r.id LIMIT ${TEXTS}`,
);
const STATES = statement<
  [
    id: number,
    ark: string,
    kind: string,
    state: number,
    document: Uint8Array,
    quads: Uint8Array,
    projected: Uint8Array | null,
  ]
>(
  `SELECT r.id, r.ark, r.kind, s.id, s.document, s.quads, s.projected
    FROM record AS r JOIN state AS s ON s.id = r.state WHERE r.id = ANY($1::bigint[])`,
);
const PUT_QUADS = statement("UPDATE state SET quads = $2, projected = $3 WHERE id = $1");
const KINDS_NOW = "unnest($1::bigint[], $2::text[]) AS v (id, kind)";
/** Each has the records and their kinds; only the first has the sequence too. */
const PUT_KINDS = statement(
  `UPDATE record SET kind = v.kind, newest_backlink = CASE WHEN deleted_at IS NULL THEN $3::bigint
    ELSE newest_backlink END FROM ${KINDS_NOW} WHERE record.id = v.id`,
);
const FOLLOW_KINDS = [
  `INSERT INTO via (id, predicate, kind) SELECT ((SELECT coalesce(max(id), 0) FROM via)
    + row_number() OVER (ORDER BY n.predicate, n.kind))::int, n.predicate, n.kind
    FROM (SELECT DISTINCT o.predicate, v.kind FROM ${KINDS_NOW} JOIN link AS l ON l.source = v.id
    JOIN via AS o ON o.id = l.via) AS n WHERE NOT EXISTS (SELECT 1 FROM via AS t
    WHERE t.predicate = n.predicate AND t.kind = n.kind)`,
  `UPDATE link SET via = n.id FROM ${KINDS_NOW}, via AS o, via AS n WHERE link.source = v.id
    AND o.id = link.via AND n.predicate = o.predicate AND n.kind = v.kind`,
  `UPDATE keyword SET kind = v.kind FROM ${KINDS_NOW} WHERE keyword.record = v.id`,
  `UPDATE text SET kind = v.kind FROM ${KINDS_NOW} JOIN record AS r ON r.id = v.id
    WHERE text.state = r.state`,
].map((sql) => statement(sql));
const LOG_KINDS = statement(
  `INSERT INTO change_log (sequence, record) SELECT $2::bigint, r.id FROM record AS r
    WHERE r.id = ANY($1::bigint[]) AND r.deleted_at IS NULL`,
);
const NEXT_SEQUENCE = statement<[sequence: number]>(
  "UPDATE counter SET sequence = sequence + 1 WHERE id = 1 RETURNING sequence",
);
const TALLY_KINDS = `DELETE FROM tally; INSERT INTO tally (kind, live) SELECT kind, count(*) FROM record
  WHERE deleted_at IS NULL GROUP BY kind;`;

/**
 * Models, samples, instruments, experiments and annotations of crates have kinds of their own,
 * which nodes of older versions do not know. Their documents and revisions stay; their ETags
 * change, and the graph follows the change log.
 */
async function version11(session: Session): Promise<void> {
  for await (const rows of pagesOf(session, MAY_CHANGE_KIND, 0, [FORMER_KINDS]))
    for (const ids of batches(rows)) await putKinds(session, ids);
  await session.exec(TALLY_KINDS);
}

async function putKinds(session: Session, ids: readonly number[]): Promise<void> {
  const [changed, kinds]: [number[], string[]] = [[], []];
  for (const [id, ark, kind, state, document, ...quads] of await session.query(STATES, [ids])) {
    const now = kindNow({ ark, kind, document }, quads);
    if (!now) continue;
    await session.query(PUT_QUADS, [state, ...now.quads]);
    changed.push(id);
    kinds.push(now.kind);
  }
  if (changed.length === 0) return;
  // One sequence for each batch: a graph index reads the changes of one together.
  const sequence = (await session.one(NEXT_SEQUENCE))[0];
  await session.query(PUT_KINDS, [changed, kinds, sequence]);
  for (const follow of FOLLOW_KINDS) await session.query(follow, [changed, kinds]);
  await session.query(LOG_KINDS, [changed, sequence]);
}

/**
 * Accounts can be disabled, which nodes of older versions do not know; sessions, access tokens and
 * reset tokens are stored by their hash.
 */
const VERSION_12 = `
ALTER TABLE account ADD COLUMN IF NOT EXISTS disabled boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS signed_in_at bigint;
CREATE TABLE IF NOT EXISTS credential (
  hash text COLLATE "C" PRIMARY KEY,
  id text COLLATE "C" NOT NULL,
  person text COLLATE "C" NOT NULL,
  purpose text COLLATE "C" NOT NULL,
  name text COLLATE "C",
  created_at bigint NOT NULL,
  used_at bigint,
  expires_at bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS credential_person ON credential (person, purpose, created_at);
`;

/**
 * One version of the schema: what brings the one before to it, and the least version that a program
 * must know to use it.
 */
interface Migration {
  readonly up: string | ((session: Session) => Promise<void>);
  readonly needs: number;
}

const VIAS = statement<[id: number, predicate: string, kind: string]>(
  "SELECT id, predicate, kind FROM via",
);
const ADD_VIA = statement(
  `INSERT INTO via (id, predicate, kind) SELECT (SELECT max(id) + 1 FROM via), $1, $2
    WHERE NOT EXISTS (SELECT 1 FROM via WHERE predicate = $1 AND kind = $2)`,
);
const MOVE_LINKS = statement(
  `UPDATE link SET via = n.id FROM via AS n
    WHERE link.via = $1 AND n.predicate = $2 AND n.kind = $3`,
);
const REMOVE_VIA = statement("DELETE FROM via WHERE id = $1");

/**
 * Links of terms whose IRI differed between versions of a context have the one that the graph has.
 * Nodes of older versions remember numbers of pairs that are gone.
 */
async function version13(session: Session): Promise<void> {
  for (const [id, predicate, kind] of await session.query(VIAS)) {
    const now = linkPredicate(predicate);
    if (now === predicate) continue;
    await session.query(ADD_VIA, [now, kind]);
    await session.query(MOVE_LINKS, [id, now, kind]);
    await session.query(REMOVE_VIA, [id]);
  }
}

const WORDS_14 = `
DROP TABLE IF EXISTS term;
-- Words that ever were in search: what other spellings are looked for among.
CREATE TABLE IF NOT EXISTS word (word text COLLATE "C" PRIMARY KEY);
`;
const AFTER = statement<
  [state: number, name: string, description: string, keywords: string, other: string]
>(
  `SELECT state, name, description, keywords, other FROM text
    WHERE state > $1 ORDER BY state LIMIT ${TEXTS}`,
);
const INDEX_TEXTS = statement(
  `UPDATE text SET search = ${vectorSql(["v.a", "v.b", "v.c", "v.d"])}
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])
    AS v (state, a, b, c, d) WHERE text.state = v.state`,
);

/** The database makes stems itself; nodes of older versions would write others. */
async function version14(session: Session): Promise<void> {
  await makeConfiguration(session);
  await session.exec(WORDS_14);
  for await (const rows of pagesOf(session, AFTER, 0)) {
    const all = rows.map(([, name, description, keywords, other]) =>
      indexed({ name, description, keywords, other }),
    );
    await session.query(INDEX_TEXTS, [
      rows.map(([state]) => state),
      ...columnsOf(
        all.map(({ parts }) => parts),
        4,
      ),
    ]);
    await session.query(ADD_WORDS, [[...new Set(all.flatMap(({ spellings }) => spellings))]]);
  }
}

/** Vectors of searchable text, by model, and how far they reach in the change log. */
const TABLES_15 = `
CREATE TABLE IF NOT EXISTS embedding (model text COLLATE "C" NOT NULL, record bigint NOT NULL,
  digest bytea NOT NULL, vector real[] NOT NULL, PRIMARY KEY (model, record));
CREATE TABLE IF NOT EXISTS embedding_reach (model text COLLATE "C" PRIMARY KEY,
  sequence bigint NOT NULL, record bigint NOT NULL);
`;
const HAS_FORMER = statement<[has: boolean]>(
  `SELECT EXISTS (SELECT 1 FROM pg_class
    WHERE oid = to_regclass('vector_reach') AND relnamespace = current_schema()::regnamespace)`,
);
const FORMER_REACHES = `INSERT INTO embedding_reach SELECT model, sequence, record FROM vector_reach;
  DROP TABLE vector_reach;`;
const FORMER_VECTORS = statement<
  [model: string, record: number, digest: Uint8Array, vector: Uint8Array]
>(
  `SELECT model, record, digest, vector FROM vector WHERE (model, record) > ($1, $2)
    AND vector IS NOT NULL ORDER BY model, record LIMIT ${TEXTS}`,
);
const PUT_VECTOR = statement(
  "INSERT INTO embedding (model, record, digest, vector) VALUES ($1, $2, $3, $4::real[])",
);

/**
 * Vectors are lists of numbers, which pgvector reads; before this version they were bytes in a
 * table named `vector`, as the type of pgvector is.
 */
async function version15(session: Session): Promise<void> {
  await session.exec(TABLES_15);
  if (!(await session.one(HAS_FORMER))[0]) return;
  await session.exec(FORMER_REACHES);
  let rows = await session.query(FORMER_VECTORS, ["", 0]);
  for (let last = rows.at(-1); last; last = rows.at(-1)) {
    for (const [model, record, digest, bytes] of rows) {
      const vector = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
      await session.query(PUT_VECTOR, [model, record, digest, [...vector]]);
    }
    rows = await session.query(FORMER_VECTORS, [last[0], last[1]]);
  }
  await session.exec("DROP TABLE vector");
}

/** What an access token may do, and the record that it is bound to. */
const SCOPED_TOKENS = `
ALTER TABLE credential ADD COLUMN IF NOT EXISTS scopes text COLLATE "C",
  ADD COLUMN IF NOT EXISTS bound_to text COLLATE "C";
`;

/** Accounts at issuers of OpenID Connect. */
const IDENTITIES = `
CREATE TABLE IF NOT EXISTS identity (issuer text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL, person text COLLATE "C" NOT NULL, linked_at bigint NOT NULL,
  PRIMARY KEY (issuer, subject));
CREATE INDEX IF NOT EXISTS identity_person ON identity (person, linked_at);
`;

/** Who did what; rows do not change. `detail` is JSON text. */
const AUDIT = `
CREATE TABLE IF NOT EXISTS audit (number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL, action text COLLATE "C" NOT NULL, actor text COLLATE "C",
  name text COLLATE "C", address text COLLATE "C", subject text COLLATE "C", detail text NOT NULL);
CREATE INDEX IF NOT EXISTS audit_at ON audit (at);
CREATE INDEX IF NOT EXISTS audit_actor ON audit (actor, number) WHERE actor IS NOT NULL;
CREATE INDEX IF NOT EXISTS audit_subject ON audit (subject, number) WHERE subject IS NOT NULL;
`;

/** Secret addresses that show one record. */
const REVIEW_LINKS = `
CREATE TABLE IF NOT EXISTS review_link (hash text COLLATE "C" PRIMARY KEY,
  id text COLLATE "C" NOT NULL, ark text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL,
  created_by text COLLATE "C" NOT NULL, created_at bigint NOT NULL, expires_at bigint NOT NULL,
  anonymous boolean NOT NULL, uses bigint NOT NULL, used_at bigint);
CREATE INDEX IF NOT EXISTS review_link_ark ON review_link (ark, created_at);
`;

/**
 * Records that only those see who may change them, and their texts. Nodes of
 * older versions would show them.
 */
const PRIVATE_RECORDS = `
ALTER TABLE record ADD COLUMN IF NOT EXISTS private smallint NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS live_private ON record (owner_key, kind, id)
  WHERE private = 1 AND deleted_at IS NULL;
CREATE TABLE IF NOT EXISTS private_text (LIKE text INCLUDING DEFAULTS, PRIMARY KEY (state));
`;

/** Words of private records, apart from those that all search. */
const PRIVATE_WORDS = `
CREATE INDEX IF NOT EXISTS private_text_search ON private_text USING gin (search);
`;

/** Requests to read the content of a record, and what was decided. */
const ACCESS_REQUESTS = `
CREATE TABLE IF NOT EXISTS access_request (id text COLLATE "C" NOT NULL PRIMARY KEY,
  record text COLLATE "C" NOT NULL, requester text COLLATE "C" NOT NULL, reason text NOT NULL,
  state text COLLATE "C" NOT NULL, asked_at bigint NOT NULL, expires_at bigint, message text,
  decided_at bigint, decided_by text COLLATE "C", UNIQUE (record, requester));
CREATE INDEX IF NOT EXISTS access_request_requester ON access_request (requester, asked_at, id);
CREATE INDEX IF NOT EXISTS access_request_asked ON access_request (asked_at, id);
`;

/**
 * In indexes that all share, private records stand behind all open ones, so that lists and counts of
 * open records do not read them; `live_open` has what statistics count by.
 */
const PRIVATE_APART = `
DROP INDEX IF EXISTS live_open, live_kind, live_kind_name, live_status, live_licence,
  live_created, live_modified;
CREATE INDEX live_open ON record (private, id) INCLUDE (kind, created_at, status, licence, owner)
  WHERE deleted_at IS NULL;
CREATE INDEX live_kind ON record (private, kind, id) WHERE deleted_at IS NULL;
CREATE INDEX live_kind_name ON record (private, kind, sorted, id) WHERE deleted_at IS NULL;
CREATE INDEX live_status ON record (private, status, id) WHERE deleted_at IS NULL;
CREATE INDEX live_licence ON record (private, licence, id)
  WHERE deleted_at IS NULL AND licence IS NOT NULL;
CREATE INDEX live_created ON record (private, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX live_modified ON record (private, modified_at, id) WHERE deleted_at IS NULL;
`;

/**
 * Selections by date of publication. `record.stated_at` is as `statedPublication` makes it, of live
 * records only; `published_at` is the first act of publication here.
 */
async function publicationDates(session: Session): Promise<void> {
  await session.exec(`ALTER TABLE record ADD COLUMN IF NOT EXISTS stated_at bigint,
    ADD COLUMN IF NOT EXISTS published_at bigint;`);
  await fillPublications(session);
  await session.exec(`
DROP INDEX IF EXISTS live_open, live_published;
CREATE INDEX live_open ON record (private, id)
  INCLUDE (kind, created_at, status, licence, owner, stated_at, published_at)
  WHERE deleted_at IS NULL;
CREATE INDEX live_published ON record (private, ${publishedAt()}, id) WHERE deleted_at IS NULL;`);
}

const PUBLISHED = statement(
  `UPDATE record SET published_at = v.at FROM (SELECT record, min(at) AS at FROM revision
    WHERE action = 'publish' GROUP BY record) AS v WHERE record.id = v.record`,
);
const MODIFIED_DOCUMENTS = statement<
  [id: number, kind: string, document: Uint8Array, modifiedAt: number]
>(
  `SELECT r.id, r.kind, s.document, r.modified_at FROM record AS r JOIN state AS s
    ON s.id = r.state WHERE r.id = ANY($1::bigint[])`,
);
const PUT_STATED = statement(
  `UPDATE record SET stated_at = v.at FROM unnest($1::bigint[], $2::bigint[]) AS v (id, at)
    WHERE record.id = v.id`,
);

/** Reads dates of publication from the documents of live records, and from the history. */
export async function fillPublications(session: Session): Promise<void> {
  await session.query(PUBLISHED);
  for await (const rows of pagesOf(session, STATING, 0, [PUBLICATION_MARK]))
    for (const ids of batches(rows)) {
      const found = (await session.query(MODIFIED_DOCUMENTS, [ids])).flatMap(
        ([id, kind, document, modifiedAt]) => {
          const at = storedPublication(kind, document, modifiedAt);
          return at === null ? [] : [{ id, at }];
        },
      );
      await session.query(PUT_STATED, [found.map(({ id }) => id), found.map(({ at }) => at)]);
    }
}

/**
 * What is published is never private: without this the planner expects a tenth of the open records
 * that a list has, where nine of ten are private, and sorts them in place of reading an index.
 */
const PRIVATE_EXPECTED = `
CREATE STATISTICS IF NOT EXISTS record_private (mcv) ON private, status, kind, licence FROM record;
ANALYZE record;`;

/** The records of texts are found in the index of the open ones, too: in the table, all are read. */
const OPEN_STATES = `
DROP INDEX IF EXISTS live_open;
CREATE INDEX live_open ON record (private, id)
  INCLUDE (kind, created_at, status, licence, owner, stated_at, published_at, state)
  WHERE deleted_at IS NULL;`;

/**
 * Each brings the schema one version further. Only ever add to the end; `needs` is lower than the
 * version only where older programs may read and write as before.
 */
export const MIGRATIONS: readonly Migration[] = [
  { up: VERSION_1, needs: 1 },
  { up: VERSION_2, needs: 2 },
  { up: VERSION_3, needs: 2 },
  { up: VERSION_4, needs: 4 },
  // Vectors, which version 15 makes.
  { up: "", needs: 4 },
  { up: VERSION_6, needs: 6 },
  { up: version7, needs: 6 },
  { up: VERSION_8, needs: 6 },
  // Places of words for phrases, which version 14 makes.
  { up: "", needs: 9 },
  { up: version10, needs: 10 },
  { up: version11, needs: 11 },
  { up: VERSION_12, needs: 12 },
  { up: version13, needs: 13 },
  { up: version14, needs: 14 },
  { up: version15, needs: 15 },
  // An older program would let a token with few scopes do everything.
  { up: SCOPED_TOKENS, needs: 16 },
  { up: PRIVATE_RECORDS, needs: 17 },
  // An older program would leave the identities of a deleted account.
  { up: IDENTITIES, needs: 18 },
  { up: PRIVATE_WORDS, needs: 18 },
  // An older program would leave the requests for deleted records.
  { up: ACCESS_REQUESTS, needs: 20 },
  // An older program records nothing.
  { up: AUDIT, needs: 21 },
  { up: REVIEW_LINKS, needs: 21 },
  { up: PRIVATE_APART, needs: 21 },
  // An older program would leave the dates of changed records.
  { up: publicationDates, needs: 24 },
  { up: PRIVATE_EXPECTED, needs: 24 },
  { up: OPEN_STATES, needs: 24 },
];

/**
 * A name that no other program's tables have: it distinguishes a database of ours from an empty
 * one.
 */
const CREATE =
  "CREATE TABLE IF NOT EXISTS arkgraph_schema (id smallint PRIMARY KEY, version integer NOT NULL)";
const FIRST = statement(
  "INSERT INTO arkgraph_schema (id, version) VALUES (1, 0) ON CONFLICT DO NOTHING",
);
const LOCK = statement<[version: number]>(
  "SELECT version FROM arkgraph_schema WHERE id = 1 FOR UPDATE",
);
const VERSION = statement<[version: number]>("SELECT version FROM arkgraph_schema WHERE id = 1");
const SET = statement("UPDATE arkgraph_schema SET version = $1 WHERE id = 1");
const SET_NEEDS = statement("UPDATE schema_needs SET version = $1 WHERE id = 1");
/** Blocks all writes while it is held. */
const STILL = statement("SELECT 1 FROM counter WHERE id = 1 FOR UPDATE");
/**
 * For databases that were brought to version 3 or a later one. Asked in a transaction that writes,
 * once it has the lock of `counter`, it holds to the end of that: see {@link STILL}.
 */
export const NEEDS = statement<[version: number, needs: number]>(
  `SELECT s.version, n.version FROM arkgraph_schema AS s, schema_needs AS n
    WHERE s.id = 1 AND n.id = 1`,
);

/** Version of the schema that this program makes and knows. */
const KNOWN = MIGRATIONS.length;

/**
 * Two nodes make the first table at the same time: PostgreSQL lets one fail on its own catalogue.
 */
const isMadeByAnother = (error: unknown): boolean =>
  error instanceof StatementError &&
  (["23505", "42P07", "42710"].includes(error.code) || isCollision(error));

const refusal = (reason: string): ServiceError =>
  new ServiceError("STORE_UNAVAILABLE", `The records cannot be opened: the database ${reason}.`);

const isTooNew = (version: number): ServiceError =>
  refusal(
    `was brought to schema ${version} by a newer version, and this version knows schema ` +
      `${KNOWN}; start that version, or restore a backup`,
  );

/**
 * @throws ServiceError `STORE_UNAVAILABLE`: a newer version changed the schema in a way that this
 * one cannot go on with
 */
export function assertKnown([version, needs]: readonly [version: number, needs: number]): void {
  if (needs > KNOWN) throw isTooNew(version);
}

/**
 * Brings the database to this version's schema, once, however many nodes start together: the row of
 * `arkgraph_schema` is locked meanwhile, and no node writes. A newer schema stays unchanged where
 * it states that this version may go on. Tables are made in the first schema of the connection's
 * `search_path`.
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
 * Checks that a database which is only read has this version's schema.
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
  if (version !== KNOWN)
    throw refusal(
      `has schema ${version}, this version reads ${KNOWN}; ` +
        (version < KNOWN ? "start a node of this version once" : "use that version"),
    );
}

async function bringUp(session: Session): Promise<void> {
  const version = (await session.query(LOCK))[0]?.[0] ?? 0;
  if (version > KNOWN) return assertKnown(await session.one(NEEDS));
  if (version === KNOWN) return;
  if (version > 0) await session.query(STILL);
  for (const { up } of MIGRATIONS.slice(version)) {
    try {
      await (typeof up === "string" ? session.exec(up) : up(session));
    } catch (error) {
      if (failure(error).code === "42P07")
        throw refusal(
          `holds tables of another program (${(error as Error).message}); give the registry ` +
            "a database or a schema of its own",
        );
      throw error;
    }
  }
  await session.query(SET, [KNOWN]);
  // oxlint-disable-next-line arkgraph/spread-into-call -- versions of the schema
  await session.query(SET_NEEDS, [Math.max(...MIGRATIONS.map(({ needs }) => needs))]);
}
