import { packQuads } from "../../src/storage/records/codecs.js";
import type { RecordWrite } from "../../src/storage/records/port.js";
import { indexed, vectorSql } from "../../src/storage/records/postgres/search/words.js";

type Created = Extract<RecordWrite, { op: "create" }>;

/** A record's rows, made before anything is timed. */
export interface Rows {
  write: Created;
  quads: Buffer;
  /** As the record store gives the words of the text to PostgreSQL. */
  parts: string[];
}

/** The statements that every record needs, in one transaction. */
export const INSERTS = {
  state: "INSERT INTO state (id, document, quads) VALUES ($1, $2, $3)",
  text: `INSERT INTO text (state, kind, name, description, keywords, other, words, search)
      VALUES ($1, $2, $3, $4, $5, $6, $7, ${vectorSql(["$8", "$9", "$10", "$11"])})`,
  record: `INSERT INTO record (id, ark, key, kind, name, folded, sorted, owner, owner_key, created_at,
      modified_at, revision, status, newest_backlink, state)
      VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $9, 1, 'DRAFT', 0, $1)`,
  revision:
    "INSERT INTO revision (record, revision, at, action, state) VALUES ($1, 1, $2, 'create', $1)",
  keyword: `INSERT INTO keyword (word, record, kind) SELECT w.word, $2, $3
      FROM unnest($1::text[]) AS w (word)`,
  link: `INSERT INTO link (source, position, via, target, target_key, sequence)
      SELECT $1, l.position, 1, l.target, l.target_key, $1
      FROM unnest($2::int[], $3::text[], $4::text[]) AS l (position, target, target_key)`,
  log: "INSERT INTO change_log (sequence, record) VALUES ($1, $1)",
} as const;
export const FIND = `SELECT r.ark, r.key, r.kind, r.name, r.owner, r.revision, r.created_at, r.modified_at, r.status,
    r.newest_backlink, s.document FROM record AS r JOIN state AS s ON s.id = r.state
    WHERE r.ark = $1`;

/** The rows of one record, and the words of its text as the record store would index them. */
export const rowsOf = (write: Created): Rows => ({
  write,
  quads: Buffer.from(packQuads(write.quads)),
  parts: indexed(write.text).parts,
});
