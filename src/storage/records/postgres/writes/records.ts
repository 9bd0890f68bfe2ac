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
import { fold, indexable, shortWord, sortedName } from "../../text.js";
import { type Row, type Sending, statement } from "../statement.js";
import type { PreparedStates } from "./states.js";
import type { Step } from "./step.js";

/** A record as its row holds it, without the columns that are derived from others. */
interface RecordRow {
  id: number;
  ark: string;
  key: string;
  kind: string;
  name: string | null;
  owner: string | null;
  createdAt: number;
  modifiedAt: number;
  revision: number;
  status: string;
  embargoedUntil: string | null;
  crate: string | null;
  newestBacklink: number;
  state: number;
  deletedAt: number | null;
  deletedBy: string | null;
  reason: string | null;
  successor: string | null;
  licence: string | null;
}

/** A record that a commit reads or writes. */
export interface Held extends RecordRow {
  /** As it was before the commit; absent: it is new. */
  stored?: Readonly<RecordRow>;
}

const COLUMN_OF = {
  id: "id",
  ark: "ark",
  key: "key",
  kind: "kind",
  name: "name",
  owner: "owner",
  createdAt: "created_at",
  modifiedAt: "modified_at",
  revision: "revision",
  status: "status",
  embargoedUntil: "embargoed_until",
  crate: "crate",
  newestBacklink: "newest_backlink",
  state: "state",
  deletedAt: "deleted_at",
  deletedBy: "deleted_by",
  reason: "delete_reason",
  successor: "successor",
  licence: "licence",
} as const satisfies Record<keyof RecordRow, string>;
const FIELDS = Object.keys(COLUMN_OF) as (keyof RecordRow)[];
const READ_COLUMNS = FIELDS.map((field) => COLUMN_OF[field]).join(", ");

const rowOf = (row: Row): RecordRow =>
  Object.fromEntries(FIELDS.map((field, index) => [field, row[index]])) as unknown as RecordRow;

function valuesOf(record: Held): unknown[] {
  const folded = indexable(fold(record.name ?? ""));
  const ownerKey = record.owner === null ? null : arkKey(record.owner);
  return [...FIELDS.map((field) => record[field]), folded, sortedName(folded), ownerKey];
}

const COLUMNS = [...FIELDS.map((field) => COLUMN_OF[field]), "folded", "sorted", "owner_key"];
const NUMBERS = new Set<string>([
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
const FIXED = new Set<string>(["id", "ark", "key", "created_at", "newest_backlink"]);

const BY_KEY = statement(
  `SELECT ${READ_COLUMNS} FROM record WHERE key = ANY($1::text[]) ORDER BY id`,
);
const BY_ARK = statement(
  `SELECT ${READ_COLUMNS} FROM record WHERE ark = ANY($1::text[]) ORDER BY id`,
);
const WAITING = statement<[key: string, newest: number]>(
  `SELECT target_key, max(sequence) FROM link WHERE target_key = ANY($1::text[])
    GROUP BY target_key`,
);
const OWNED = statement<[ark: string, owned: number]>(
  `SELECT o.ark, count(*)::int FROM record AS o JOIN record AS r ON r.owner_key = o.key
    AND r.deleted_at IS NULL WHERE o.ark = ANY($1::text[])
    AND o.kind IN (${[...COLLECTIVES].map((kind) => `'${kind}'`).join()}) GROUP BY o.ark`,
);
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
const DROP_STATES = statement("DELETE FROM state WHERE id = ANY($1::bigint[])");
const DROP_TEXTS = statement("DELETE FROM text WHERE state = ANY($1::bigint[])");
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
  records: readonly Row[];
  waiting: readonly [key: string, newest: number][];
}

export async function loadRecords(sending: Sending, commits: readonly Commit[]): Promise<Loaded> {
  const writes = commits.flatMap(({ records }) => records);
  const created = writes.flatMap((write) => (write.op === "create" ? [write.key] : []));
  const owners = writes.flatMap((write) =>
    "owner" in write && write.owner !== null ? [arkKey(write.owner)] : [],
  );
  const unheld = commits.flatMap(({ unheld: keys = [] }) => keys);
  const [byKey, byArk, waiting] = await Promise.all([
    sending.ask(BY_KEY, [...created, ...owners, ...unheld]),
    sending.ask(
      BY_ARK,
      writes.flatMap(({ op, ark }) => (op === "create" ? [] : [ark])),
    ),
    sending.ask(WAITING, created),
  ]);
  return { records: [...byKey, ...byArk], waiting };
}

/** Rows of records, their revisions, keywords and texts. */
export class RecordWrites {
  /** New records that links of earlier commits had waited for. */
  readonly arrived: { record: Held; sequence: number }[] = [];
  readonly #byArk = new Map<string, Held>();
  readonly #byKey = new Map<string, Held[]>();
  /** Key → newest of the links that wait for a record that is new. */
  readonly #waiting: ReadonlyMap<string, number>;
  readonly #revisions: unknown[][] = [];
  readonly #usedStates = new Set<number>();
  readonly #tally = new Map<string, number>();
  readonly #changed = new Set<Held>();

  readonly #prepared: PreparedStates;

  constructor({ records, waiting }: Loaded, prepared: PreparedStates) {
    this.#prepared = prepared;
    this.#waiting = new Map(waiting);
    for (const row of records) {
      const stored = rowOf(row);
      if (!this.#byArk.has(stored.ark)) this.#hold({ ...stored, stored });
    }
  }

  holdersOf = (key: string): readonly Held[] => this.#byKey.get(key) ?? [];

  /** @throws ServiceError `CHANGED_MEANWHILE` */
  checkUnheld(keys: readonly string[]): void {
    for (const key of keys) {
      const [holder] = this.holdersOf(key);
      if (holder) throw heldMeanwhile(holder.ark);
    }
  }

  /**
   * @param touched newest link to each key, of commits before this one that are not stored yet
   * @returns the record, and the newest link of an earlier commit that waited for it
   */
  create(
    step: Step,
    write: Write<"create">,
    id: number,
    touched: ReadonlyMap<string, number>,
  ): { record: Held; waiting: number | undefined } {
    const { at } = step;
    const holders = this.holdersOf(write.key);
    const holder =
      holders.find(({ ark }) => ark === write.ark) ?? (write.mayShareKey ? undefined : holders[0]);
    if (holder)
      throw duplicate(write.ark, {
        ark: holder.ark,
        kind: holder.kind,
        deleted: holder.deletedAt !== null,
      });
    this.#checkOwner(write.owner, null);
    const waiting = touched.get(write.key) ?? this.#waiting.get(write.key);
    const record: Held = {
      id,
      ark: write.ark,
      key: write.key,
      kind: write.kind,
      name: write.name,
      owner: write.owner,
      createdAt: at,
      modifiedAt: at,
      revision: 1,
      status: write.publicationStatus ?? "DRAFT",
      embargoedUntil: null,
      crate: write.crate ?? null,
      newestBacklink: waiting ?? 0,
      state: this.#prepared.get(write)!.state,
      deletedAt: null,
      deletedBy: null,
      reason: null,
      successor: null,
      licence: write.licence ?? null,
    };
    this.#hold(record);
    this.#count(write.kind, 1);
    if (waiting !== undefined) this.arrived.push({ record, sequence: step.sequence });
    this.#addRevision(step, record, "create", []);
    return { record, waiting };
  }

  /** The record with its next revision; it has the one before when nothing differs. */
  change(step: Step, write: Exclude<RecordWrite, { op: "create" }>): Held {
    const { at, by } = step;
    const record = this.#byArk.get(write.ark);
    if (!record) throw notStored(write.ark);
    if (record.deletedAt !== null && !(write.op === "replace" && write.revive === true))
      throw gone(write.ark);
    if (write.ifRevision !== undefined && write.ifRevision !== record.revision)
      throw hasChanged(write.ark, record.revision, write.ifRevision);
    switch (write.op) {
      case "replace":
        this.#replace(step, record, write);
        break;
      case "delete": {
        const { reason = null, successor = null } = write;
        this.#count(record.kind, -1);
        Object.assign(record, { deletedAt: at, deletedBy: by, reason, successor, licence: null });
        this.#addRevision(step, record, "delete", []);
        break;
      }
      case "publish": {
        const { status, embargoedUntil, reason = null, successor = null } = write;
        const isSame =
          record.status === status &&
          record.embargoedUntil === embargoedUntil &&
          record.reason === reason &&
          record.successor === successor;
        if (isSame) break;
        Object.assign(record, { status, embargoedUntil, reason, successor });
        // Record administration: the document is that of the revision before, but clients see a new
        // ETag.
        this.#addRevision(step, record, "publish", []);
        break;
      }
    }
    return record;
  }

  /** @param touched newest link to each key, of these commits */
  async write(sending: Sending, touched: ReadonlyMap<string, number>): Promise<void> {
    const created = [...this.#changed].filter(({ stored }) => !stored);
    const changed = [...this.#changed].filter(({ stored }) => stored);
    for (const record of created)
      record.newestBacklink = touched.get(record.key) ?? record.newestBacklink;
    await sending.rows(ADD, created.map(valuesOf));
    await sending.rows(CHANGE, changed.map(valuesOf));
    await sending.rows(ADD_REVISIONS, this.#revisions);
    await this.#writeTexts(sending);
    await sending.rows(
      TALLY,
      [...this.#tally].filter(([, by]) => by !== 0),
    );
  }

  #replace(step: Step, record: Held, write: Write<"replace">): void {
    const wasDeleted = record.deletedAt !== null;
    if (write.changed.length === 0 && !wasDeleted) return;
    const { kind, name, owner } = write;
    this.#checkOwner(owner, wasDeleted ? null : record.owner);
    if (!wasDeleted) this.#count(record.kind, -1);
    this.#count(kind, 1);
    Object.assign(record, {
      kind,
      name,
      owner,
      state: this.#prepared.get(write)!.state,
      crate: write.crate ?? record.crate,
      licence: write.licence ?? null,
    });
    if (wasDeleted)
      Object.assign(record, { deletedAt: null, deletedBy: null, reason: null, successor: null });
    this.#addRevision(step, record, "update", write.changed);
  }

  /** @param before the owner of a live record that is replaced */
  #checkOwner(owner: string | null, before: string | null): void {
    if (owner === null || (before !== null && arkKey(before) === arkKey(owner))) return;
    for (const { ark, kind, deletedAt } of this.holdersOf(arkKey(owner)))
      if (deletedAt !== null && isCollective(kind)) throw ownerIsGone(ark);
  }

  #addRevision(step: Step, record: Held, action: string, changed: readonly string[]): void {
    const { at, by } = step;
    if (action !== "create") record.revision++;
    record.modifiedAt = at;
    this.#changed.add(record);
    step.changed.add(record.id);
    this.#usedStates.add(record.state);
    this.#revisions.push([
      record.id,
      record.revision,
      at,
      by,
      action,
      changed.length > 0 ? JSON.stringify(changed) : null,
      record.state,
    ]);
  }

  /** Keywords and texts are of live records' current states only. */
  async #writeTexts(sending: Sending): Promise<void> {
    const byState = new Map([...this.#prepared.values()].map((one) => [one.state, one]));
    const moved = [...this.#changed].filter(
      ({ state, deletedAt, stored }) => state !== stored?.state || deletedAt !== null,
    );
    const before = moved.flatMap(({ stored }) => (stored ? [stored] : []));
    const live = moved.filter(({ deletedAt }) => deletedAt === null);
    const current = new Set(live.map(({ state }) => state));
    const made = [...byState.keys()];
    const rowsOf = (numbers: readonly number[]): number[][] => numbers.map((number) => [number]);
    await sending.rows(DROP_STATES, rowsOf(made.filter((state) => !this.#usedStates.has(state))));
    const unused = made.filter((state) => !current.has(state));
    await sending.rows(DROP_TEXTS, rowsOf([...unused, ...before.map(({ state }) => state)]));
    await sending.rows(DROP_KEYWORDS, rowsOf(before.map(({ id }) => id)));
    await sending.rows(
      ADD_KEYWORDS,
      live.flatMap(({ id, state, kind }) =>
        [...new Set(byState.get(state)!.keywords.map(shortWord))].map((word) => [word, id, kind]),
      ),
    );
  }

  #hold(record: Held): void {
    this.#byArk.set(record.ark, record);
    this.#byKey.set(record.key, [...this.holdersOf(record.key), record]);
  }

  #count(kind: string, by: number): void {
    this.#tally.set(kind, (this.#tally.get(kind) ?? 0) + by);
  }
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
