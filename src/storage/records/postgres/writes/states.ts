import { eventLoop } from "../../../../event-loop-budget.js";
import { packQuads, unpackLinks } from "../../codecs.js";
import type { Commit, RecordState, RecordWrite, SearchText } from "../../port.js";
import { keywordsOf, searchedTextOf } from "../../text.js";
import { type Indexed, indexed, vectorSql } from "../search/words.js";
import { type Database, type Sending, type Statement, statement } from "../statement.js";

/** A write that may store a new state. */
type Stating = Extract<RecordWrite, RecordState>;

const states = (write: RecordWrite): write is Stating =>
  write.op === "create" ||
  (write.op === "replace" && (write.changed.length > 0 || write.revive === true));

/** The stored form of one state of a record, made before its transaction begins. */
export interface Prepared extends Indexed {
  /** Number of its row. */
  state: number;
  kind: string;
  document: Uint8Array;
  quads: Uint8Array;
  text: SearchText;
  keywords: string[];
  /** Of a record that is created as a private one. */
  isPrivate: boolean;
}

/** By the write that states it. */
export type PreparedStates = ReadonlyMap<RecordWrite, Prepared>;

/**
 * Numbers of states taken from the database at a time; those left over at a stop are never used.
 */
const NUMBERS_PER_BATCH = 1000;
/** Entries that are known to be stored; some MiB. */
const MAX_KNOWN = 100_000;
const WORDS_PER_STATEMENT = 5000;

const NEXT_BATCH = statement<[batch: number]>("SELECT nextval('state_lot')");
export const ADD_WORDS = statement(
  "INSERT INTO word (word) SELECT * FROM unnest($1::text[]) ON CONFLICT DO NOTHING",
);
const VIAS = statement<[id: number, predicate: string, kind: string]>(
  "SELECT id, predicate, kind FROM via WHERE predicate = ANY($1::text[])",
);
const ADD_VIAS =
  statement(`INSERT INTO via (id, predicate, kind) SELECT ((SELECT coalesce(max(id), 0)
    FROM via) + row_number() OVER (ORDER BY v.predicate, v.kind))::int, v.predicate, v.kind
    FROM unnest($1::text[], $2::text[]) AS v (predicate, kind) WHERE NOT EXISTS (SELECT 1
    FROM via WHERE predicate = v.predicate AND kind = v.kind) ON CONFLICT DO NOTHING`);

/** Name of a pair of kind and predicate. */
export const viaOf = (kind: string, predicate: string): string => `${kind} ${predicate}`;

/**
 * Packs and indexes records before the transaction that stores them. Words, and pairs of kind and
 * predicate, only grow and belong to no commit, so that commits do not wait for each
 * other's.
 */
export class Preparation {
  /** Numbers of pairs of kind and predicate, by {@link viaOf}. */
  readonly vias = new Map<string, number>();
  readonly #words = new Set<string>();
  #next = 1;
  #end = 0;

  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws StatementError when the database is unavailable */
  async of({ records }: Commit): Promise<PreparedStates> {
    const writes = records.filter(states);
    const prepared = new Map<RecordWrite, Prepared>();
    for (const [index, write] of writes.entries()) {
      if (index > 0) await eventLoop.pause();
      const text = searchedTextOf(write);
      prepared.set(write, {
        state: 0,
        kind: write.kind,
        document: write.document,
        quads: packQuads(write.quads),
        text,
        keywords: keywordsOf(write),
        isPrivate: write.op === "create" && write.private === true,
        ...indexed(text),
      });
    }
    await this.#number([...prepared.values()]);
    await this.#addWords([...prepared.values()].flatMap(({ spellings }) => spellings));
    await this.#addVias(writes);
    return prepared;
  }

  async #number(prepared: readonly Prepared[]): Promise<void> {
    for (const one of prepared) {
      while (this.#next > this.#end) {
        const batch = (await this.#database.one(NEXT_BATCH))[0];
        this.#next = batch * NUMBERS_PER_BATCH;
        this.#end = this.#next + NUMBERS_PER_BATCH - 1;
      }
      one.state = this.#next++;
    }
  }

  async #addWords(words: readonly string[]): Promise<void> {
    // In one order, so that two nodes do not wait for each other's.
    const missing = [...new Set(words)].filter((word) => !this.#words.has(word)).sort();
    for (let at = 0; at < missing.length; at += WORDS_PER_STATEMENT)
      await this.#database.query(ADD_WORDS, [missing.slice(at, at + WORDS_PER_STATEMENT)]);
    if (this.#words.size > MAX_KNOWN) this.#words.clear();
    for (const word of missing) this.#words.add(word);
  }

  async #addVias(writes: readonly Stating[]): Promise<void> {
    const missing = new Map<string, [predicate: string, kind: string]>();
    for (const { kind, links } of writes)
      for (const { predicate } of unpackLinks(links))
        if (!this.vias.has(viaOf(kind, predicate)))
          missing.set(viaOf(kind, predicate), [predicate, kind]);
    // Another node may take the next number meanwhile: both add until all are there.
    while (missing.size > 0) {
      const pairs = [...missing.values()];
      const predicates = pairs.map(([predicate]) => predicate);
      await this.#database.query(ADD_VIAS, [predicates, pairs.map(([, kind]) => kind)]);
      for (const [id, predicate, kind] of await this.#database.query(VIAS, [predicates])) {
        this.vias.set(viaOf(kind, predicate), id);
        missing.delete(viaOf(kind, predicate));
      }
    }
  }
}

const ADD_STATES =
  statement(`INSERT INTO state (id, document, quads) SELECT v.id, substring($1::bytea
    FROM v.d FOR v.dl), substring($1::bytea FROM v.q FOR v.ql)
    FROM unnest($2::bigint[], $3::int[], $4::int[], $5::int[], $6::int[]) AS v (id, d, dl, q, ql)`);
export const addTextsTo = (table: "text" | "private_text"): Statement =>
  statement(`INSERT INTO ${table} (state, kind, name, description, keywords, other, words, search)
      SELECT v.state, v.kind, v.name, v.description, v.keywords, v.other, v.words,
      ${vectorSql(["v.a", "v.b", "v.c", "v.d"])} FROM unnest($1::bigint[], $2::text[], $3::text[],
      $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
      $11::text[]) AS v (state, kind, name, description, keywords, other, words, a, b, c, d)`);

const [ADD_TEXTS, ADD_PRIVATE_TEXTS] = [addTextsTo("text"), addTextsTo("private_text")];

/**
 * States and their texts: the largest part of a commit. They are written before the transaction
 * asks for the lock, since no other writer sees their numbers.
 */
export async function writeStates(sending: Sending, prepared: readonly Prepared[]): Promise<void> {
  await sending.rowsWithBytes(
    ADD_STATES,
    prepared.map(({ state, document, quads }) => ({ columns: [state], bytes: [document, quads] })),
  );
  const texts = (isPrivate: boolean) =>
    prepared
      .filter((one) => one.isPrivate === isPrivate)
      .map(({ state, kind, text, keywords, parts }) => [
        state,
        kind,
        text.name,
        text.description,
        text.keywords,
        text.other,
        keywords.join("\n"),
        ...parts,
      ]);
  await sending.rows(ADD_TEXTS, texts(false));
  await sending.rows(ADD_PRIVATE_TEXTS, texts(true));
}
