import { isDeepStrictEqual } from "node:util";
import { arkKey } from "../../../../identifiers/ark.js";
import type { KindName } from "../../../../model/kind.js";
import { COLLECTIVES } from "../../../../model/kinds.js";
import type { Commit, RecordWrite } from "../../port.js";
import {
  duplicate,
  gone,
  hasChanged,
  heldMeanwhile,
  notStored,
  ownerIsGone,
  ownsRecords,
} from "../../refusals.js";
import type { StatedLink } from "../../rows.js";
import { fold, indexable, MAX_KEYWORD_CHARS, shortWord, sortedName } from "../../text.js";
import { OPENING } from "../../visibility.js";
import { type Sending, type Statement, statement } from "../statement.js";
import type { PreparedStates } from "./states.js";

/** One commit while it is decided. */
export interface Step {
  /** Number of the commit, if it changes records. */
  readonly sequence: number;
  readonly at: number;
  readonly by: string | null;
  /** Records that it changes. */
  readonly changed: Set<number>;
}

/** Key → newest link to it: one that all notice, and one that private records alone notice. */
interface NewestLinks {
  readonly touched: ReadonlyMap<string, number>;
  readonly touchedPrivately: ReadonlyMap<string, number>;
}

/** A row of `record`, without the columns that follow from others. */
export interface RecordRow {
  id: number;
  ark: string;
  key: string;
  kind: string;
  name: string | null;
  owner: string | null;
  created_at: number;
  modified_at: number;
  revision: number;
  status: string;
  embargoed_until: string | null;
  crate: string | null;
  newest_backlink: number;
  state: number;
  deleted_at: number | null;
  deleted_by: string | null;
  delete_reason: string | null;
  successor: string | null;
  licence: string | null;
  /** 1: it is private. */
  private: number;
  /** The stated day of publication, and the first act of publication here. */
  stated_at: number | null;
  published_at: number | null;
}

/** A record that a commit reads or writes. */
export interface Held {
  /** As it is from now on. */
  row: Readonly<RecordRow>;
  /** Those that it states; read for records that may state others. */
  links: readonly StatedLink[];
  /** As it was before the commit; absent: it is new. */
  readonly stored?: Readonly<RecordRow>;
}

/**
 * OFFSET keeps the plan: each key is looked up in the index, also before PostgreSQL has statistics
 * of the table.
 */
const BY_KEY = statement<[row: string]>(
  `SELECT to_jsonb(r) FROM unnest($1::text[]) AS v (key) CROSS JOIN LATERAL
    (SELECT * FROM record WHERE key = v.key OFFSET 0) AS r ORDER BY r.id`,
);
const LINKS = statement<
  [source: number, via: number, target: string, targetKey: string, sequence: number]
>(
  `SELECT l.source, l.via, l.target, l.target_key, l.sequence FROM record AS r JOIN link AS l
    ON l.source = r.id WHERE r.ark = ANY($1::text[]) ORDER BY l.source, l.position`,
);
const WAITING = statement<[key: string, newest: number]>(
  `SELECT l.target_key, max(l.sequence) FROM link AS l JOIN record AS r ON r.id = l.source
    WHERE l.target_key = ANY($1::text[]) AND r.private = 0 GROUP BY l.target_key`,
);
const ALL_WAITING = statement<[key: string, newest: number]>(
  `SELECT target_key, max(sequence) FROM link WHERE target_key = ANY($1::text[])
    GROUP BY target_key`,
);
const OWNED = statement<[ark: string, owned: number]>(
  `SELECT o.ark, count(*)::int FROM record AS o JOIN record AS r ON r.owner_key = o.key
    AND r.deleted_at IS NULL WHERE o.ark = ANY($1::text[])
    AND o.kind IN (${[...COLLECTIVES].map((kind) => `'${kind}'`).join()}) GROUP BY o.ark`,
);
const PUT = statement(
  `INSERT INTO record (id, ark, key, kind, name, folded, sorted, owner, owner_key, created_at,
    modified_at, revision, status, embargoed_until, crate, newest_backlink, state, deleted_at,
    deleted_by, delete_reason, successor, licence, private, stated_at, published_at)
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS v (id bigint, ark text, key text, kind text,
    name text, folded text, sorted text, owner text, owner_key text, created_at bigint,
    modified_at bigint, revision bigint, status text, embargoed_until text, crate text,
    newest_backlink bigint, state bigint, deleted_at bigint, deleted_by text, delete_reason text,
    successor text, licence text, private smallint, stated_at bigint,
    published_at bigint)
    ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name,
    folded = excluded.folded, sorted = excluded.sorted, owner = excluded.owner,
    owner_key = excluded.owner_key, modified_at = excluded.modified_at,
    revision = excluded.revision, status = excluded.status,
    embargoed_until = excluded.embargoed_until, crate = excluded.crate, state = excluded.state,
    deleted_at = excluded.deleted_at, deleted_by = excluded.deleted_by,
    delete_reason = excluded.delete_reason, successor = excluded.successor,
    licence = excluded.licence, private = excluded.private, stated_at = excluded.stated_at,
    published_at = excluded.published_at`,
);
const ADD_REVISIONS = statement(
  `INSERT INTO revision (record, revision, at, by, action, changed, state) SELECT *
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[],
    $7::bigint[])`,
);
const DROP_STATES = statement("DELETE FROM state WHERE id = ANY($1::bigint[])");
const DROP_TEXTS = statement("DELETE FROM text WHERE state = ANY($1::bigint[])");
const DROP_PRIVATE_TEXTS = statement("DELETE FROM private_text WHERE state = ANY($1::bigint[])");
const TEXT_COLUMNS = "state, kind, name, description, keywords, other, words, search";
const move = (from: string, to: string): Statement =>
  statement(
    `WITH moved AS (DELETE FROM ${from} WHERE state = ANY($1::bigint[]) RETURNING ${TEXT_COLUMNS})
      INSERT INTO ${to} (${TEXT_COLUMNS}) SELECT ${TEXT_COLUMNS} FROM moved`,
  );
const HIDE_TEXTS = move("text", "private_text");
const OPEN_TEXTS = move("private_text", "text");
const OPEN_KEYWORDS = statement(
  `INSERT INTO keyword (word, record, kind) SELECT DISTINCT left(w.word, ${MAX_KEYWORD_CHARS}), r.id,
    r.kind
    FROM text AS t JOIN record AS r ON r.state = t.state
    CROSS JOIN LATERAL unnest(string_to_array(t.words, chr(10))) AS w (word)
    WHERE t.state = ANY($1::bigint[]) AND w.word <> ''`,
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

type Write<Op extends RecordWrite["op"]> = Extract<RecordWrite, { op: Op }>;

/** The rows that commits concern, as they were before them. */
interface Loaded {
  records: readonly Held[];
  /**
   * Key of a record that is new → newest of the links that wait for it; for a private one those that
   * private records state count too.
   */
  waiting: ReadonlyMap<string, number>;
}

export async function loadRecords(sending: Sending, commits: readonly Commit[]): Promise<Loaded> {
  const writes = commits.flatMap(({ records }) => records);
  const keysOf = (isPrivate: boolean): string[] =>
    writes.flatMap((write) =>
      write.op === "create" && (write.private ?? false) === isPrivate ? [write.key] : [],
    );
  const [created, hidden] = [keysOf(false), keysOf(true)];
  const existing = writes.flatMap(({ op, ark }) => (op === "create" ? [] : [ark]));
  const owners = writes.flatMap((write) => ("owner" in write && write.owner ? [write.owner] : []));
  const unheld = commits.flatMap(({ unheld: keys = [] }) => keys);
  const keys = [...created, ...hidden, ...existing.map(arkKey), ...owners.map(arkKey), ...unheld];
  const [rows, stated, waiting, all] = await Promise.all([
    sending.ask(BY_KEY, keys),
    sending.ask(LINKS, existing),
    sending.ask(WAITING, created),
    sending.ask(ALL_WAITING, hidden),
  ]);
  const links = new Map<number, StatedLink[]>();
  for (const [source, via, target, targetKey, sequence] of stated) {
    const list = links.get(source) ?? [];
    if (list.push({ via, target, targetKey, sequence }) === 1) links.set(source, list);
  }
  const records = rows.map(([text]): Held => {
    const stored = JSON.parse(text) as RecordRow;
    return { row: stored, stored, links: links.get(stored.id) ?? [] };
  });
  return { records, waiting: new Map([...waiting, ...all]) };
}

/** Rows of records, their revisions, keywords and texts. */
export class RecordWrites {
  /** New records that links of earlier commits had waited for. */
  readonly arrived: { row: RecordRow; sequence: number }[] = [];
  readonly #byArk = new Map<string, Held>();
  readonly #byKey = new Map<string, Held[]>();
  readonly #changed = new Set<Held>();
  readonly #revisions: unknown[][] = [];
  readonly #usedStates = new Set<number>();
  /** Kind → how many live open records more there are. */
  readonly #tally = new Map<string, number>();

  readonly #waiting: Loaded["waiting"];
  readonly #prepared: PreparedStates;

  constructor({ records, waiting }: Loaded, prepared: PreparedStates) {
    this.#waiting = waiting;
    this.#prepared = prepared;
    for (const held of records) this.#hold(held);
  }

  /** @throws ServiceError `CHANGED_MEANWHILE` */
  checkUnheld(keys: readonly string[]): void {
    for (const key of keys) {
      const [holder] = this.#holdersOf(key);
      if (holder) throw heldMeanwhile(holder.row.ark);
    }
  }

  /**
   * @param links newest ones to each key, of commits before this one that are not stored yet
   * @returns the record, and the newest link of an earlier commit that waited for it
   */
  create(
    step: Step,
    write: Write<"create">,
    id: number,
    links: NewestLinks,
  ): { held: Held; waiting: number | undefined } {
    const holders = this.#holdersOf(write.key).map(({ row }) => row);
    const holder =
      holders.find(({ ark }) => ark === write.ark) ?? (write.mayShareKey ? undefined : holders[0]);
    if (holder) {
      const { ark, kind, deleted_at } = holder;
      const isPrivate = holder.private === 1;
      throw duplicate(write.ark, { ark, kind, deleted: deleted_at !== null, private: isPrivate });
    }
    this.#checkOwner(write.owner, null);
    const waiting = newestOf(write, links) ?? this.#waiting.get(write.key);
    const row: RecordRow = {
      id,
      ark: write.ark,
      key: write.key,
      kind: write.kind,
      name: write.name,
      owner: write.owner,
      created_at: step.at,
      modified_at: step.at,
      revision: 0,
      status: write.publicationStatus ?? "DRAFT",
      embargoed_until: null,
      crate: write.crate ?? null,
      newest_backlink: waiting ?? 0,
      state: this.#prepared.get(write)!.state,
      deleted_at: null,
      deleted_by: null,
      delete_reason: null,
      successor: null,
      licence: write.licence ?? null,
      private: write.private ? 1 : 0,
      stated_at: write.statedAt ?? null,
      published_at: null,
    };
    const held: Held = { row, links: [] };
    this.#hold(held);
    this.#count(row, 1);
    this.#revise(step, held, row, "create");
    if (waiting !== undefined) this.arrived.push({ row, sequence: step.sequence });
    return { held, waiting };
  }

  /** The record with its next revision; it has the one before when nothing differs. */
  change(step: Step, write: Exclude<RecordWrite, { op: "create" }>): Held {
    const held = this.#byArk.get(write.ark);
    if (!held) throw notStored(write.ark);
    const { row } = held;
    if (row.deleted_at !== null && !(write.op === "replace" && write.revive === true))
      throw gone(write.ark);
    if (write.ifRevision !== undefined && write.ifRevision !== row.revision)
      throw hasChanged(write.ark, row.revision, write.ifRevision);
    switch (write.op) {
      case "replace":
        this.#replace(step, held, write);
        break;
      case "delete": {
        this.#count(row, -1);
        const tombstone = {
          deleted_at: step.at,
          deleted_by: step.by,
          delete_reason: write.reason ?? null,
          successor: write.successor ?? null,
        };
        const unstated = { licence: null, stated_at: null };
        this.#revise(step, held, { ...row, ...tombstone, ...unstated }, "delete");
        break;
      }
      case "publish": {
        const published = {
          ...row,
          status: write.status,
          embargoed_until: write.embargoedUntil,
          delete_reason: write.reason ?? null,
          successor: write.successor ?? null,
          private: OPENING.has(write.status) ? 0 : row.private,
        };
        if (published.private !== row.private) this.#count(published, 1);
        // Record administration: the document is that of the revision before, but clients see a new
        // ETag.
        if (isDeepStrictEqual(published, row)) break;
        const published_at = row.published_at ?? step.at;
        this.#revise(step, held, { ...published, published_at }, "publish");
        break;
      }
    }
    return held;
  }

  /** @param links newest ones to each key, of these commits */
  async write(sending: Sending, links: NewestLinks): Promise<void> {
    await sending.objects(
      PUT,
      [...this.#changed].map(({ row, stored }) => {
        const folded = indexable(fold(row.name ?? ""));
        return {
          ...row,
          // That of a record which was stored before is updated with its links.
          newest_backlink:
            (stored ? undefined : newestOf({ key: row.key, private: row.private === 1 }, links)) ??
            row.newest_backlink,
          folded,
          sorted: sortedName(folded),
          owner_key: row.owner === null ? null : arkKey(row.owner),
        };
      }),
    );
    await sending.rows(ADD_REVISIONS, this.#revisions);
    await this.#writeTexts(sending);
    await sending.rows(
      TALLY,
      [...this.#tally].filter(([, by]) => by !== 0),
    );
  }

  #replace(step: Step, held: Held, write: Write<"replace">): void {
    const { row } = held;
    const wasDeleted = row.deleted_at !== null;
    if (write.changed.length === 0 && !wasDeleted) return;
    const { kind, name, owner } = write;
    this.#checkOwner(owner, wasDeleted ? null : row.owner);
    if (!wasDeleted) this.#count(row, -1);
    this.#count({ ...row, kind }, 1);
    const now = {
      ...row,
      kind,
      name,
      owner,
      state: this.#prepared.get(write)!.state,
      crate: write.crate ?? row.crate,
      licence: write.licence ?? null,
      stated_at: write.statedAt ?? null,
    };
    const live = { deleted_at: null, deleted_by: null, delete_reason: null, successor: null };
    this.#revise(step, held, wasDeleted ? { ...now, ...live } : now, "update", write.changed);
  }

  /** @param before the owner of a live record that is replaced */
  #checkOwner(owner: string | null, before: string | null): void {
    if (owner === null || (before !== null && arkKey(before) === arkKey(owner))) return;
    for (const { row } of this.#holdersOf(arkKey(owner)))
      if (row.deleted_at !== null && isCollective(row.kind)) throw ownerIsGone(row.ark);
  }

  #revise(
    step: Step,
    held: Held,
    row: Readonly<RecordRow>,
    action: string,
    changed: readonly string[] = [],
  ): void {
    const { at, by } = step;
    const revision = row.revision + 1;
    held.row = { ...row, revision, modified_at: at };
    this.#changed.add(held);
    step.changed.add(row.id);
    this.#usedStates.add(row.state);
    const pointers = changed.length > 0 ? JSON.stringify(changed) : null;
    this.#revisions.push([row.id, revision, at, by, action, pointers, row.state]);
  }

  /**
   * Keywords and texts are of live records' current states only. Those of private records have texts
   * apart, and no keywords: nothing that is derived from all texts ever knows them.
   */
  async #writeTexts(sending: Sending): Promise<void> {
    const byState = new Map([...this.#prepared.values()].map((one) => [one.state, one]));
    const moved = [...this.#changed].filter(
      ({ row, stored }) => row.state !== stored?.state || row.deleted_at !== null,
    );
    const before = moved.flatMap(({ stored }) => (stored ? [stored] : []));
    const live = moved.map(({ row }) => row).filter(({ deleted_at }) => deleted_at === null);
    const current = new Set(live.map(({ state }) => state));
    const made = [...byState.keys()];
    void sending.ask(
      DROP_STATES,
      made.filter((state) => !this.#usedStates.has(state)),
    );
    const dropped = [
      ...made.filter((state) => !current.has(state)),
      ...before.map(({ state }) => state),
    ];
    void sending.ask(DROP_TEXTS, dropped);
    void sending.ask(DROP_PRIVATE_TEXTS, dropped);
    // They were written before it was known whether a stored record is private, or a new one opened.
    const misplaced = (isPrivate: boolean) =>
      live
        .filter((row) => (row.private === 1) === isPrivate)
        .map(({ state }) => state)
        .filter((state) => byState.get(state)?.isPrivate !== isPrivate);
    void sending.ask(HIDE_TEXTS, misplaced(true));
    const opened = [...this.#changed]
      .filter(({ row, stored }) => row.state === stored?.state && row.private < stored.private)
      .map(({ row }) => row.state);
    void sending.ask(OPEN_TEXTS, [...opened, ...misplaced(false)]);
    void sending.ask(OPEN_KEYWORDS, opened);
    void sending.ask(
      DROP_KEYWORDS,
      before.map(({ id }) => id),
    );
    await sending.rows(
      ADD_KEYWORDS,
      live
        .filter((row) => row.private === 0)
        .flatMap(({ id, state, kind }) =>
          [...new Set(byState.get(state)!.keywords.map(shortWord))].map((word) => [word, id, kind]),
        ),
    );
  }

  #holdersOf = (key: string): readonly Held[] => this.#byKey.get(key) ?? [];

  #hold(held: Held): void {
    this.#byArk.set(held.row.ark, held);
    this.#byKey.set(held.row.key, [...this.#holdersOf(held.row.key), held]);
  }

  /** Private records are not counted. */
  #count({ kind, private: isPrivate }: Pick<RecordRow, "kind" | "private">, by: number): void {
    if (isPrivate === 1) return;
    this.#tally.set(kind, (this.#tally.get(kind) ?? 0) + by);
  }
}

/** The newest link to a new record that it may notice. */
function newestOf(
  { key, private: isPrivate = false }: { key: string; private?: boolean },
  { touched, touchedPrivately }: NewestLinks,
): number | undefined {
  const open = touched.get(key);
  const hidden = isPrivate ? touchedPrivately.get(key) : undefined;
  return open === undefined ? hidden : Math.max(open, hidden ?? 0);
}

/**
 * After all records were written: the commit may hand over or delete what an owner had.
 * @throws ServiceError `OWNS_RECORDS` for a deleted owner with live records
 */
export async function checkDeletedOwners(
  sending: Sending,
  deleted: readonly string[],
): Promise<void> {
  const [found] = await sending.ask(OWNED, deleted);
  if (found) throw ownsRecords(found[0], found[1]);
}

const isCollective = (kind: string): boolean => COLLECTIVES.has(kind as KindName);
