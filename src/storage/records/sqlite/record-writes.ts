import { isDeepStrictEqual } from "node:util";
import { arkKey } from "../../../identifiers/ark.js";
import type { KindName } from "../../../model/kind.js";
import { OPENING } from "../visibility.js";
import { duplicate, gone, hasChanged, notStored } from "../refusals.js";
import type { ObjectWrites } from "./objects.js";
import {
  checkDeadline,
  type PreparedState,
  type PreparedWrite,
  type Projection,
  type Step,
} from "./requests.js";
import { type Connection, textArray } from "./statement.js";

type Write<Op extends PreparedWrite["op"]> = Extract<PreparedWrite, { op: Op }>;
type Holder = [ark: string, kind: string, deletedAt: number | null, isPrivate: number];
type Stored = [
  id: number,
  key: string,
  kind: string,
  revision: number,
  state: number,
  deletedAt: number | null,
  status: string,
  embargoedUntil: string | null,
  reason: string | null,
  successor: string | null,
  isPrivate: number,
];

/** Rows of records, their states and revisions. Links wait in the {@link Step}. */
export class RecordWrites {
  readonly #holders;
  readonly #holdersOfMany;
  readonly #stored;
  readonly #insert;
  readonly #replace;
  readonly #delete;
  readonly #publish;
  readonly #state;
  readonly #revision;
  readonly #newest;
  #newestId = 0;
  #nextState: number;

  readonly #text: TextWrites;
  readonly #objects: ObjectWrites;
  readonly #projection: Projection;

  constructor(
    connection: Connection,
    text: TextWrites,
    objects: ObjectWrites,
    projection: Projection,
  ) {
    this.#text = text;
    this.#objects = objects;
    this.#projection = projection;

    this.#holders = connection.prepare<Holder>(
      "SELECT ark, kind, deleted_at, private FROM record WHERE key = ?",
    );
    this.#holdersOfMany = connection.prepare<[string, ...Holder]>(
      `SELECT r.key, r.ark, r.kind, r.deleted_at, r.private FROM json_each(?) AS asked CROSS
        JOIN record AS r ON r.key = asked.value`,
    );
    this.#stored = connection.prepare<Stored>(
      `SELECT id, key, kind, revision, state, deleted_at, status, embargoed_until, delete_reason,
        successor, private FROM record WHERE key = ? AND ark = ?`,
    );
    this.#insert =
      connection.prepare(`INSERT INTO record (id, ark, key, kind, name, folded, owner, owner_key, created_at,
          modified_at, revision, status, crate, newest_backlink, state, licence,
          private, stated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?9, ?9, 1, ?, ?, ?, ?, ?, ?, ?)`);
    this.#replace =
      connection.prepare(`UPDATE record SET kind = ?2, name = ?3, folded = ?4, owner = ?5, owner_key = ?6,
          modified_at = ?7, revision = ?8, state = ?9, crate = coalesce(?10, crate), licence = ?11,
          stated_at = ?12, deleted_at = NULL, deleted_by = NULL,
          delete_reason = iif(deleted_at IS NULL, delete_reason, NULL),
          successor = iif(deleted_at IS NULL, successor, NULL) WHERE id = ?1`);
    this.#delete = connection.prepare(
      `UPDATE record SET modified_at = ?2, deleted_at = ?2, revision = ?3, deleted_by = ?4,
        delete_reason = ?5, successor = ?6, licence = NULL, stated_at = NULL WHERE id = ?1`,
    );
    this.#publish = connection.prepare(
      `UPDATE record SET modified_at = ?2, revision = ?3, status = ?4, embargoed_until = ?5,
        delete_reason = ?6, successor = ?7, private = ?8,
        published_at = coalesce(published_at, ?2) WHERE id = ?1`,
    );
    this.#state = connection.prepare("INSERT INTO state (id, document, quads) VALUES (?, ?, ?)");
    this.#revision = connection.prepare(
      `INSERT INTO revision (record, revision, at, by, action, changed, state)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#newest = connection.prepare<[number]>("SELECT coalesce(max(id), 0) FROM record");
    this.rolledBack();
    this.#nextState = connection
      .prepare<[number]>("SELECT coalesce(max(id), 0) + 1 FROM state")
      .one()[0];
  }

  /**
   * Writes all records of a commit; answers the revision of each. New records are numbered in the
   * order of their identifiers, which is the order lists have within a commit, and written first,
   * in that order: rows and the entries of most indexes then go to the end of their tables.
   */
  apply(writes: readonly PreparedWrite[], step: Step): { ark: string; revision: number }[] {
    const creates = writes.filter((write) => write.op === "create");
    if (creates.length > 1) creates.sort((a, b) => (a.ark < b.ark ? -1 : 1));
    const holdersOf = this.#holdersFor(creates);
    const isLinked = linkedBy(creates);
    const first = this.#newestId + 1;
    for (const write of creates) {
      checkDeadline(step);
      if (!write.private) addTo(step.live, write.kind, 1);
      this.#createOne(write, ++this.#newestId, step, holdersOf(write), isLinked(write));
    }
    this.#text.index(first, this.#newestId, step);
    return writes.map((write) => {
      if (write.op === "create") return { ark: write.ark, revision: 1 };
      checkDeadline(step);
      return { ark: write.ark, revision: this.#change(write, step) };
    });
  }

  /**
   * Returns the holders of a new record's key at the time it is written. One query serves many
   * records.
   */
  #holdersFor(creates: readonly Write<"create">[]): (write: Write<"create">) => readonly Holder[] {
    // Mostly there is no holder, and asking for one row takes 7 µs and a walk 18.
    if (creates.length < 2)
      return ({ key }) => (this.#holders.get([key]) === undefined ? [] : this.#holders.all([key]));
    const known = new Map<string, Holder[]>();
    const add = (key: string, holder: Holder) =>
      known.set(key, [...(known.get(key) ?? []), holder]);
    for (const [key, ...holder] of this.#holdersOfMany.all([
      textArray([...new Set(creates.map((write) => write.key))]),
    ]))
      add(key, holder);
    return ({ key, ark, kind, private: isPrivate }) => {
      const before = known.get(key) ?? [];
      add(key, [ark, kind, null, Number(isPrivate === true)]);
      return before;
    };
  }

  /** Call after a rollback: the numbers given out ahead are read again from the tables. */
  rolledBack(): void {
    this.#newestId = this.#newest.one()[0];
  }

  #change(write: Exclude<PreparedWrite, { op: "create" }>, step: Step): number {
    const row = this.#stored.get([arkKey(write.ark), write.ark]);
    if (!row) throw notStored(write.ark);
    const [id, key, kind, revision, state, deletedAt, status, until, reason, successor, hidden] =
      row;
    const published = [status, until, reason, successor];
    const isPrivate = hidden === 1;
    const count = (of: string, by: number): void => addTo(step.live, of, isPrivate ? 0 : by);
    const revives = write.op === "replace" && write.revive === true;
    if (deletedAt !== null && !revives) throw gone(write.ark);
    if (write.ifRevision !== undefined && write.ifRevision !== revision)
      throw hasChanged(write.ark, revision, write.ifRevision);
    const next = revision + 1;
    switch (write.op) {
      case "replace":
        if (write.changed.length === 0 && deletedAt === null) return revision;
        if (deletedAt !== null) count(write.kind, 1);
        else if (kind !== write.kind) {
          count(kind, -1);
          count(write.kind, 1);
        }
        this.#replaceOne(write, { id, key, isPrivate }, next, step, kind !== write.kind);
        break;
      case "delete":
        count(kind, -1);
        this.#delete.put([
          id,
          step.at,
          next,
          step.by,
          write.reason ?? null,
          write.successor ?? null,
        ]);
        this.#addRevision(id, next, step, "delete", [], state);
        this.#text.remove(id, isPrivate);
        this.#objects.end(id, next, write.dropObjects === true);
        step.links.push({
          source: id,
          ark: write.ark,
          key,
          kind: kind as KindName,
          links: [],
          isNew: false,
          isPrivate,
          quads: null,
          state,
        });
        break;
      case "publish": {
        const opens = isPrivate && OPENING.has(write.status);
        if (!opens && isDeepStrictEqual(published, publishedBy(write))) return revision;
        this.#publishOne(write, { id, kind: kind as KindName, isPrivate, opens }, next, step);
        // Record administration: the document is that of the revision before, but clients see a new
        // ETag.
        this.#addRevision(id, next, step, "publish", [], state);
        break;
      }
    }
    step.changed.add(id);
    return next;
  }

  /** @param opens a private record is one of all from now on */
  #publishOne(
    write: Write<"publish">,
    record: { id: number; kind: KindName; isPrivate: boolean; opens: boolean },
    revision: number,
    step: Step,
  ): void {
    const { id, kind, isPrivate, opens } = record;
    const stays = Number(isPrivate && !opens);
    this.#publish.put([id, step.at, revision, ...publishedBy(write), stays]);
    if (!opens) return;
    addTo(step.live, kind, 1);
    this.#text.open(id, kind, step);
    step.opened.push(id);
  }

  /** @param isLinked another new record of the commit links to it */
  #createOne(
    write: Write<"create">,
    id: number,
    step: Step,
    holders: readonly Holder[],
    isLinked: boolean,
  ): void {
    const holder =
      holders.find(([ark]) => ark === write.ark) ?? (write.mayShareKey ? undefined : holders[0]);
    if (holder) {
      const [ark, kind, deletedAt, isPrivate] = holder;
      throw duplicate(write.ark, {
        ark,
        kind,
        deleted: deletedAt !== null,
        private: isPrivate === 1,
      });
    }
    // Where an older record holds the key too, both are updated later.
    const isPrivate = write.private === true;
    if (isLinked && holders.length === 0) step.linked.add(write.key);
    const state = this.#addState(write);
    this.#insert.put([
      id,
      write.ark,
      write.key,
      write.kind,
      write.name,
      write.folded,
      write.owner,
      write.ownerKey,
      step.at,
      write.publicationStatus ?? "DRAFT",
      write.crate ?? null,
      step.linked.has(write.key) ? step.sequence : 0,
      state,
      write.licence ?? null,
      Number(isPrivate),
      write.statedAt ?? null,
    ]);
    this.#addRevision(id, 1, step, "create", [], state);
    this.#text.add(id, write, isPrivate);
    if (write.objects) this.#objects.add(id, write.objects, 1);
    this.#projection.owns(write.key, write.ark, holders.length > 0);
    step.changed.add(id);
    step.arrived.push({
      id,
      ark: write.ark,
      key: write.key,
      sharesKey: holders.length > 0,
      isPrivate,
    });
    step.links.push({
      source: id,
      ark: write.ark,
      key: write.key,
      kind: write.kind,
      links: write.links,
      isNew: true,
      isPrivate,
      quads: write.quads,
      state,
    });
  }

  #replaceOne(
    write: Write<"replace">,
    { id, key, isPrivate }: { id: number; key: string; isPrivate: boolean },
    revision: number,
    step: Step,
    kindChanged: boolean,
  ): void {
    const state = this.#addState(write);
    this.#replace.put([
      id,
      write.kind,
      write.name,
      write.folded,
      write.owner,
      write.ownerKey,
      step.at,
      revision,
      state,
      write.crate ?? null,
      write.licence ?? null,
      write.statedAt ?? null,
    ]);
    this.#addRevision(id, revision, step, "update", write.changed, state);
    this.#text.replace(id, write, isPrivate, kindChanged, step);
    if (write.dropObjects) this.#objects.end(id, revision, true);
    if (write.objects) this.#objects.replace(id, write.objects, revision);
    step.links.push({
      source: id,
      ark: write.ark,
      key,
      kind: write.kind,
      links: write.links,
      isNew: false,
      isPrivate,
      quads: write.quads,
      state,
    });
  }

  #addState({ document, quads }: PreparedState): number {
    const id = this.#nextState++;
    this.#state.put([id, document, quads]);
    return id;
  }

  #addRevision(
    record: number,
    revision: number,
    step: Step,
    action: string,
    changed: readonly string[],
    state: number,
  ): void {
    this.#revision.put([
      record,
      revision,
      step.at,
      step.by,
      action,
      changed.length > 0 ? JSON.stringify(changed) : null,
      state,
    ]);
  }
}

const publishedBy = (write: Extract<PreparedWrite, { op: "publish" }>) => [
  write.status,
  write.embargoedUntil,
  write.reason ?? null,
  write.successor ?? null,
];

const addTo = (counts: Map<string, number>, kind: string, by: number): void =>
  void counts.set(kind, (counts.get(kind) ?? 0) + by);

/** Whether a new record of these is linked to by another one, which it may notice. */
function linkedBy(creates: readonly Write<"create">[]): (write: Write<"create">) => boolean {
  if (creates.length < 2) return () => false;
  const [open, all] = [new Set<string>(), new Set<string>()];
  for (const { key, links, private: isPrivate } of creates)
    for (const { targetKey } of links) {
      if (targetKey === key) continue;
      all.add(targetKey);
      if (!isPrivate) open.add(targetKey);
    }
  return ({ key, private: isPrivate }) => (isPrivate ? all : open).has(key);
}

/** Between two statements the deadline of a commit is checked. */
const TEXTS_PER_STATEMENT = 1000;

/** Texts in the order of columns, the last one the keywords, one a line. */
type Texts = readonly string[];

/** A table of texts, and the search index of all its columns but the last. */
class IndexedTexts {
  readonly stored;
  readonly insert;
  readonly drop;
  /** Adds stored texts, from one number to another. */
  readonly index;
  readonly unindex;

  constructor(connection: Connection, table: string, search: string, columns: string) {
    this.stored = connection.prepare<Texts>(`SELECT ${columns}, words FROM ${table} WHERE id = ?`);
    const values = columns.replace(/\w+/g, "?");
    this.insert = connection.prepare(
      `INSERT INTO ${table} (id, ${columns}, words) VALUES (?, ${values}, ?)`,
    );
    this.drop = connection.prepare(`DELETE FROM ${table} WHERE id = ?`);
    this.index = connection.prepare(
      `INSERT INTO ${search} (rowid, ${columns})
        SELECT id, ${columns} FROM ${table} WHERE id BETWEEN ? AND ? ORDER BY id`,
    );
    // External content: the index needs exactly the text that it indexed.
    this.unindex = connection.prepare(
      `INSERT INTO ${search} (${search}, rowid, ${columns}) VALUES ('delete', ?, ${values})`,
    );
  }

  remove(record: number): Texts | undefined {
    const stored = this.stored.get([record]);
    if (!stored) return undefined;
    this.drop.put([record]);
    this.unindex.put([record, ...stored.slice(0, -1)]);
    return stored;
  }
}

/**
 * Keywords for the filter of lists, and the text that keyword search sees. Both hold live records
 * only. What is private has its text and its search index apart, and no keywords: nothing that is
 * derived from all texts, such as corrections, ever knows it.
 */
export class TextWrites {
  readonly #addWord;
  readonly #dropWord;
  readonly #open;
  readonly #private;

  constructor(connection: Connection) {
    const columns = "name, description, keywords, other";
    this.#open = new IndexedTexts(connection, "text", "search", columns);
    this.#private = new IndexedTexts(
      connection,
      "private_text",
      "private_search",
      `${columns}, owner`,
    );
    this.#addWord = connection.prepare("INSERT INTO keyword (word, record, kind) VALUES (?, ?, ?)");
    this.#dropWord = connection.prepare("DELETE FROM keyword WHERE word = ? AND record = ?");
  }

  /** Adds stored texts to the search indexes. */
  index(first: number, last: number, step: Step): void {
    for (let from = first; from <= last; from += TEXTS_PER_STATEMENT) {
      checkDeadline(step);
      const range = [from, Math.min(last, from + TEXTS_PER_STATEMENT - 1)];
      this.#open.index.put(range);
      this.#private.index.put(range);
    }
  }

  /** Stores the text of a record; {@link index} adds it to a search index. */
  add(record: number, state: PreparedState, isPrivate: boolean): void {
    const { insert } = isPrivate ? this.#private : this.#open;
    insert.put([record, ...textsOf(state, isPrivate)]);
    if (!isPrivate) this.#addWords(record, state.keywords, state.kind);
  }

  replace(
    record: number,
    state: PreparedState,
    isPrivate: boolean,
    kindChanged: boolean,
    step: Step,
  ): void {
    const { stored: read } = isPrivate ? this.#private : this.#open;
    const stored = read.get([record]);
    const same =
      stored && !kindChanged && textsOf(state, isPrivate).every((part, i) => part === stored[i]);
    if (same) return;
    this.remove(record, isPrivate);
    this.add(record, state, isPrivate);
    this.index(record, record, step);
  }

  remove(record: number, isPrivate: boolean): void {
    if (isPrivate) this.#private.remove(record);
    else
      for (const word of wordsIn(this.#open.remove(record)?.at(-1)))
        this.#dropWord.put([word, record]);
  }

  /** A private record is open from now on. */
  open(record: number, kind: KindName, step: Step): void {
    const stored = this.#private.remove(record);
    if (!stored) return;
    const [name, description, keywords, other, , words] = stored as string[];
    this.#open.insert.put([record, name!, description!, keywords!, other!, words!]);
    this.#addWords(record, wordsIn(words), kind);
    this.index(record, record, step);
  }

  #addWords(record: number, words: readonly string[], kind: KindName): void {
    for (const word of words) this.#addWord.put([word, record, kind]);
  }
}

const wordsIn = (lines = ""): string[] => (lines === "" ? [] : lines.split("\n"));

/** The word by which the index of private texts finds those of an owner. */
export const ownerWord = (key: string | null): string =>
  key === null ? "" : `u${Buffer.from(key).toString("hex").toUpperCase()}`;

const textsOf = ({ text, keywords, ownerKey }: PreparedState, isPrivate: boolean): string[] => [
  text.name,
  text.description,
  text.keywords,
  text.other,
  ...(isPrivate ? [ownerWord(ownerKey)] : []),
  keywords.join("\n"),
];
