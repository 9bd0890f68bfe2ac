import pg from "pg";
import { arkKey } from "../../src/identifiers/ark.js";
import { packQuads, unpackLinks } from "../../src/storage/records/codecs.js";
import type { RecordWrite } from "../../src/storage/records/port.js";
import { Analyzer } from "../../src/storage/records/postgres/search/analyzer.js";

type Created = Extract<RecordWrite, { op: "create" }>;

/** A record's rows, made before anything is timed. */
export interface Rows {
  id: number;
  write: Created;
  quads: Buffer;
  vector: string;
}

/** The statements that every record needs, in one transaction. */
export const INSERTS = {
  state: "INSERT INTO state (id, document, quads) VALUES ($1, $2, $3)",
  text: `INSERT INTO text (state, kind, name, description, keywords, other, words, search)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8::tsvector)`,
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

/**
 * The statements that PostgreSQL has to do for a record in any case, through the bare driver: a
 * transaction for each, prepared statements, the registry's own tables. Nothing is checked, nothing
 * numbered in order, nothing spelled.
 */
export class BareStatements {
  readonly #pool: pg.Pool;
  readonly #analyzer = new Analyzer();

  constructor(url: string, connections: number) {
    this.#pool = new pg.Pool({ connectionString: url, max: connections });
  }

  rowsOf(id: number, write: Created): Rows {
    return {
      id,
      write,
      quads: Buffer.from(packQuads(write.quads)),
      vector: this.#analyzer.analyze([write.text])[0]!.vector,
    };
  }

  async create({ id, write, quads, vector }: Rows): Promise<void> {
    const { ark, key, kind, name, owner, text, links } = write;
    const client = await this.#pool.connect();
    const insert = (into: keyof typeof INSERTS, values: unknown[]) =>
      client.query({ name: into, text: INSERTS[into], values });
    try {
      const stated = unpackLinks(links);
      await client.query("BEGIN");
      await insert("state", [id, Buffer.from(write.document), quads]);
      await insert("text", [
        id,
        kind,
        text.name,
        text.description,
        text.keywords,
        text.other,
        write.keywords.join("\n"),
        vector,
      ]);
      await insert("record", [
        id,
        ark,
        key,
        kind,
        name,
        name?.toLowerCase() ?? "",
        owner,
        owner && arkKey(owner),
        Date.now(),
      ]);
      await insert("revision", [id, Date.now()]);
      await insert("keyword", [write.keywords, id, kind]);
      await insert("link", [
        id,
        stated.map((_, position) => position),
        stated.map(({ target }) => target),
        stated.map(({ targetKey }) => targetKey),
      ]);
      await insert("log", [id]);
      await client.query("COMMIT");
    } finally {
      client.release();
    }
  }

  async find(ark: string): Promise<boolean> {
    return (await this.document(ark)) !== undefined;
  }

  async document(ark: string): Promise<Buffer | undefined> {
    const { rows } = await this.#pool.query<unknown[]>({
      name: "find",
      text: FIND,
      values: [ark],
      rowMode: "array",
    });
    return rows[0]?.at(-1) as Buffer | undefined;
  }

  async close(): Promise<void> {
    await this.#pool.end();
    this.#analyzer.close();
  }
}
