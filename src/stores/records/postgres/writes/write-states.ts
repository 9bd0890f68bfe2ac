import { type Database, statement } from "../statement.js";
import type { Prepared } from "./prepare.js";
import type { Sending } from "./sending.js";

const ADD_STATES = statement(`INSERT INTO state (id, document, quads)
  SELECT v.id, substring($1::bytea FROM v.d FOR v.dl), substring($1::bytea FROM v.q FOR v.ql) FROM unnest($2::bigint[], $3::int[], $4::int[], $5::int[], $6::int[]) AS v (id, d, dl, q, ql)`);
export const ADD_TEXTS = statement(`INSERT INTO text (state, kind, name, description, keywords, other, words, search)
  SELECT v.state, v.kind, v.name, v.description, v.keywords, v.other, v.words, v.search::tsvector
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[]) AS v (state, kind, name, description, keywords, other, words, search)`);
const DROP_STATES = statement("DELETE FROM state WHERE id = ANY($1::bigint[])");
const DROP_TEXTS = statement("DELETE FROM text WHERE state = ANY($1::bigint[])");
export const ADD_TERMS = statement("INSERT INTO term (length, stem) SELECT * FROM unnest($1::smallint[], $2::text[]) ON CONFLICT DO NOTHING");

/** States and their texts: the most of what a commit writes. They are written before the lock is asked for, since nobody else sees their numbers. */
export async function writeStates(sending: Sending, prepared: Iterable<Prepared>): Promise<void> {
  const all = [...prepared];
  await sending.rowsWithBytes(ADD_STATES, all.map(({ state, document, quads }) => ({ columns: [state], bytes: [document, quads] })));
  await sending.rows(ADD_TEXTS, all.map(({ state, kind, text, keywords, vector }) => [state, kind, text.name, text.description, text.keywords, text.other, keywords.join("\n"), vector]));
}

/** Takes out what no record came to need: states of commits that were refused, texts of states that are not current. */
export async function dropStates(sending: Sending, states: readonly number[], texts: readonly number[]): Promise<void> {
  if (states.length > 0) await sending.rows(DROP_STATES, states.map((state) => [state]));
  if (texts.length > 0) await sending.rows(DROP_TEXTS, texts.map((state) => [state]));
}

/** Stems known to be in the dictionary; some MiB. */
const MOST_KNOWN = 100_000;
const AT_ONCE = 5000;

/** The dictionary of stems. It only grows and belongs to no commit, so that commits do not wait for each other's words. */
export class Terms {
  readonly #known = new Set<string>();

  constructor(private readonly database: Database) {}

  async add(stems: Iterable<string>): Promise<void> {
    const missing = [...new Set(stems)].filter((stem) => !this.#known.has(stem)).sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
    if (missing.length === 0) return;
    for (let at = 0; at < missing.length; at += AT_ONCE) {
      const some = missing.slice(at, at + AT_ONCE);
      await this.database.query(ADD_TERMS, [some.map(({ length }) => length), some]);
    }
    if (this.#known.size > MOST_KNOWN) this.#known.clear();
    for (const stem of missing) this.#known.add(stem);
  }
}
