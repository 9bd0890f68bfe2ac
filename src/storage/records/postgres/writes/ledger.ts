import { arkKey } from "../../../../identifiers/ark.js";
import { COLLECTIVES } from "../../../../model/kinds.js";
import { unpackLinks } from "../../codecs.js";
import type { Account, Commit, ObjectReference, RecordState, RecordWrite } from "../../port.js";
import type { StatedLink } from "../../rows.js";
import type { Submission, SubmissionClose } from "../../submissions-port.js";
import { ACCOUNT_COLUMNS, type AccountRow, accountOf } from "../accounts.js";
import { type Row, type Sending, statement } from "../statement.js";

/** A write that stores a new state. */
export type Stating = Extract<RecordWrite, RecordState>;

/** Whether a write may store a new state. */
export const states = (write: RecordWrite): write is Stating =>
  write.op === "create" ||
  (write.op === "replace" && (write.changed.length > 0 || write.revive === true));

/** A row of `object_ref` that still counts, or one that the group adds. */
export interface HeldObject extends ObjectReference {
  id: number;
  since: number;
  ended: number | null;
  dropped: boolean;
  isNew: boolean;
}

/** Numbers that the row `counter` gives out. */
export interface Counters {
  sequence: number;
  record: number;
  object: number;
  submission: number;
}

/**
 * The state that a group of commits found in the database, and the changes it makes: the commits
 * are decided here one after the other, under the lock of `counter`, and written together. A
 * refused commit is undone here, and nothing of it is ever sent.
 */
export class Ledger {
  readonly byArk = new Map<string, Held>();
  readonly byKey = new Map<string, Held[]>();
  /** Links of records that change, as they were and as they are now. */
  readonly storedLinks = new Map<number, readonly StatedLink[]>();
  readonly links = new Map<number, readonly StatedLink[]>();
  readonly objects = new Map<number, readonly HeldObject[]>();
  /** Record → revision from which on it lost its objects, those of earlier revisions too. */
  readonly drops = new Map<number, number>();
  /** Key → newest of the links that wait for a record that is new. */
  readonly waiting = new Map<string, number>();
  /** Key of a link's target → the identifiers that own it. */
  readonly owners = new Map<string, string[]>();
  readonly vias = new Map<string, number>();
  readonly accounts = new Map<string, Account>();
  readonly settings = new Map<string, string>();
  readonly submissions = new Map<string, Pick<Submission, "status" | "attempt" | "cancelled">>();

  /** Key → number of the newest commit that gave it a link, or took one. */
  readonly touched = new Map<string, number>();
  readonly tally = new Map<string, number>();
  /**
   * Links of these changed, or their record is new. Record → its quads as written, where they are.
   */
  readonly quads = new Map<number, string>();
  readonly revisions: (readonly [
    record: number,
    revision: number,
    at: number,
    by: string | null,
    action: string,
    changed: string | null,
    state: number,
  ])[] = [];
  readonly log: [sequence: number, record: number][] = [];
  readonly created: Held[] = [];
  /**
   * Live records by key of their owner: all of owners that a commit deletes, of others those of this
   * group.
   */
  readonly owned = new Map<string, number>();
  /** New records that links had waited for. */
  readonly arrived: { record: Held; sequence: number; sharesKey: boolean }[] = [];
  readonly deleted: string[] = [];
  /**
   * Records whose objects a commit dropped, and the newest object at that time: the archives of
   * their crates go up to that one.
   */
  readonly dropped: [ark: string, upTo: number][] = [];
  readonly closed: { close: SubmissionClose; at: number }[] = [];
  readonly changedAccounts = new Set<string>();
  /** Users whose credentials end. */
  readonly endedCredentials = new Map<string, true>();
  readonly spent: string[] = [];
  readonly #undo: (() => void)[] = [];

  constructor(readonly counters: Counters) {}

  /** Does all of `work` or, when that throws, nothing. */
  async attempt<T>(work: () => Promise<T>): Promise<T> {
    const lists: unknown[][] = [
      this.revisions,
      this.log,
      this.created,
      this.arrived,
      this.deleted,
      this.dropped,
      this.closed,
      this.spent,
    ];
    const lengths = lists.map(({ length }) => length);
    const counters = { ...this.counters };
    this.#undo.length = 0;
    try {
      return await work();
    } catch (error) {
      for (let undo = this.#undo.pop(); undo; undo = this.#undo.pop()) undo();
      for (const [index, list] of lists.entries()) list.length = lengths[index]!;
      Object.assign(this.counters, counters);
      throw error;
    }
  }

  /** Sets an entry so that it can be undone. */
  set<K, V>(map: Map<K, V>, key: K, value: V): void {
    const [had, before] = [map.has(key), map.get(key)];
    this.#undo.push(() => void (had ? map.set(key, before as V) : map.delete(key)));
    map.set(key, value);
  }

  /** Changes a record so that it can be undone. */
  edit(record: Held, change: Partial<Held>): void {
    const before = { ...record };
    this.#undo.push(() => void Object.assign(record, before));
    Object.assign(record, change);
  }

  hold(record: Held): void {
    this.set(this.byArk, record.ark, record);
    this.set(this.byKey, record.key, [...(this.byKey.get(record.key) ?? []), record]);
  }

  /** The link to this key, or the end of one, of commit `sequence`, is its newest. */
  touch(key: string, sequence: number): void {
    this.set(this.touched, key, sequence);
    for (const record of this.byKey.get(key) ?? [])
      if (record.stored === undefined) this.edit(record, { newestBacklink: sequence });
  }

  /** Live records that a group, organization or project has more, or fewer, by key of the owner. */
  own(owner: string | null, by: number): void {
    if (owner === null) return;
    const key = arkKey(owner);
    this.set(this.owned, key, (this.owned.get(key) ?? 0) + by);
  }

  count(kind: string, by: number): void {
    this.set(this.tally, kind, (this.tally.get(kind) ?? 0) + by);
  }

  /** Identifiers that own a key, including those of this group. */
  ownersOf(key: string): string[] {
    const stored = this.owners.get(key) ?? [];
    const mine = (this.byKey.get(key) ?? [])
      .filter(({ ark, stored: was }) => was === undefined && !stored.includes(ark))
      .map(({ ark }) => ark);
    return mine.length === 0 ? stored : [...stored, ...mine];
  }
}

/** A record as its row holds it, without the columns that follow from others. */
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

const ROW_COLUMNS =
  "id, ark, key, kind, name, owner, created_at, modified_at, revision, status, " +
  "embargoed_until, crate, newest_backlink, state, deleted_at, deleted_by, delete_reason, " +
  "successor, licence";

function rowOf(columns: Row): RecordRow {
  const [
    id,
    ark,
    key,
    kind,
    name,
    owner,
    createdAt,
    modifiedAt,
    revision,
    status,
    embargoedUntil,
    crate,
    newestBacklink,
    state,
    deletedAt,
    deletedBy,
    reason,
    successor,
    licence,
  ] = columns;
  return {
    id,
    ark,
    key,
    kind,
    name,
    owner,
    createdAt,
    modifiedAt,
    revision,
    status,
    embargoedUntil,
    crate,
    newestBacklink,
    state,
    deletedAt,
    deletedBy,
    reason,
    successor,
    licence,
  } as RecordRow;
}

/** A record that a group of commits reads or writes. */
export interface Held extends RecordRow {
  /** As it was when the group began; absent: it is new. */
  stored?: Readonly<RecordRow>;
}

export const LOCK = statement<
  [sequence: number, record: number, object: number, submission: number]
>("SELECT sequence, record, object, submission FROM counter WHERE id = 1 FOR UPDATE");

const BY_KEY = statement(
  `SELECT ${ROW_COLUMNS} FROM record WHERE key = ANY($1::text[]) ORDER BY id`,
);
const BY_ARK = statement(
  `SELECT ${ROW_COLUMNS} FROM record WHERE ark = ANY($1::text[]) ORDER BY id`,
);
const OWNERS = statement<[key: string, ark: string]>(
  "SELECT key, ark FROM record WHERE key = ANY($1::text[])",
);
const WAITING = statement<[key: string, newest: number]>(
  `SELECT target_key, max(sequence) FROM link WHERE target_key = ANY($1::text[])
    GROUP BY target_key`,
);
const LINKS = statement<
  [source: number, via: number, target: string, targetKey: string, sequence: number]
>(
  `SELECT l.source, l.via, l.target, l.target_key, l.sequence FROM record AS r JOIN link AS l
    ON l.source = r.id WHERE r.ark = ANY($1::text[]) ORDER BY l.source, l.position`,
);
const OBJECTS = statement<
  [
    record: number,
    id: number,
    sha256: string,
    size: number,
    mediaType: string,
    name: string,
    role: string,
    since: number,
  ]
>(
  `SELECT o.record, o.id, o.sha256, o.size, o.media_type, o.name, o.role, o.since
    FROM record AS r JOIN object_ref AS o ON o.record = r.id
    WHERE r.ark = ANY($1::text[]) AND o.ended IS NULL ORDER BY o.id`,
);
const ADD_VIAS =
  statement(`INSERT INTO via (id, predicate, kind) SELECT ((SELECT coalesce(max(id), 0)
    FROM via) + row_number() OVER (ORDER BY v.predicate, v.kind))::int, v.predicate, v.kind
    FROM unnest($1::text[], $2::text[]) AS v (predicate, kind) WHERE NOT EXISTS (SELECT 1
    FROM via WHERE predicate = v.predicate AND kind = v.kind)`);
const VIAS = statement<[id: number, predicate: string, kind: string]>(
  "SELECT id, predicate, kind FROM via WHERE predicate = ANY($1::text[])",
);
const ACCOUNTS = statement<AccountRow>(
  `SELECT ${ACCOUNT_COLUMNS} FROM account WHERE person = ANY($1::text[]) OR (email =
    ANY($2::text[]) AND deleted = false)`,
);
const SETTINGS = statement<[name: string, value: string]>(
  "SELECT name, value FROM setting WHERE name = ANY($1::text[]) FOR UPDATE",
);
const OWNED = statement<[key: string, owned: number]>(`SELECT o.key, count(*)::int FROM record AS o
    JOIN record AS r ON r.owner_key = o.key AND r.deleted_at IS NULL WHERE o.ark = ANY($1::text[])
    AND o.kind IN (${[...COLLECTIVES].map((kind) => `'${kind}'`).join()}) GROUP BY o.key`);
const SUBMISSIONS = statement<[id: string, status: string, attempt: number, cancelled: boolean]>(
  "SELECT id, status, attempt, cancelled FROM submission WHERE id = ANY($1::text[]) FOR UPDATE",
);

/**
 * Reads the rows that the commits concern, all at once. Call it under the lock of {@link LOCK}: no
 * other writer changes records meanwhile.
 * @param vias numbers that are known already, by kind and predicate
 */
export async function load(
  sending: Sending,
  counters: Counters,
  commits: readonly Commit[],
  vias: ReadonlyMap<string, number>,
): Promise<Ledger> {
  const ledger = new Ledger(counters);
  const writes = commits.flatMap(({ records }) => records);
  const ask = <R extends Row>(
    asked: ReturnType<typeof statement<R>>,
    lists: string[][],
    take: (row: R) => void,
  ): void => {
    const distinct = lists.map((list) => [...new Set(list)]);
    if (distinct.some((list) => list.length > 0))
      void sending.send(asked, distinct).then(
        (rows) => rows.forEach(take),
        () => {},
      );
  };
  const created = writes.flatMap((write) => (write.op === "create" ? [write.key] : []));
  const changed = writes.filter((write) => write.op !== "create");
  const restated = changed.filter(({ op }) => op !== "publish").map(({ ark }) => ark);
  const hold = (row: Row): void => {
    const stored = rowOf(row);
    if (!ledger.byArk.has(stored.ark)) ledger.hold({ ...stored, stored });
  };
  const owners = writes.flatMap((write) =>
    "owner" in write && write.owner !== null ? [arkKey(write.owner)] : [],
  );
  ask(BY_KEY, [[...created, ...owners, ...commits.flatMap(({ unheld = [] }) => unheld)]], hold);
  ask(OWNED, [changed.flatMap(({ op, ark }) => (op === "delete" ? [ark] : []))], ([key, owned]) =>
    ledger.owned.set(key, owned),
  );
  ask(BY_ARK, [changed.map(({ ark }) => ark)], hold);
  ask(WAITING, [created], ([key, newest]) => ledger.waiting.set(key, newest));
  ask(LINKS, [restated], ([source, via, target, targetKey, sequence]) =>
    ledger.storedLinks.set(source, [
      ...(ledger.storedLinks.get(source) ?? []),
      { via, target, targetKey, sequence },
    ]),
  );
  ask(OBJECTS, [restated], ([record, id, sha256, size, mediaType, name, role, since]) =>
    ledger.objects.set(record, [
      ...(ledger.objects.get(record) ?? []),
      {
        id,
        sha256,
        size,
        mediaType,
        name,
        role: role as ObjectReference["role"],
        since,
        ended: null,
        dropped: false,
        isNew: false,
      },
    ]),
  );
  ask(
    OWNERS,
    [
      writes
        .filter(states)
        .flatMap(({ links }) => unpackLinks(links).map(({ targetKey }) => targetKey)),
    ],
    ([key, ark]) => ledger.owners.set(key, [...(ledger.owners.get(key) ?? []), ark]),
  );
  loadVias(sending, ledger, writes, vias);
  const accounts = commits.flatMap(({ account }) => (account ? [account] : []));
  const withFields = accounts.filter((change) => change.op !== "delete");
  ask(
    ACCOUNTS,
    [
      accounts.map(({ user }) => user),
      withFields.flatMap(({ email }) => (email === undefined ? [] : [email])),
    ],
    (row) => ledger.accounts.set(row[0], accountOf(row)),
  );
  ask(
    SETTINGS,
    [withFields.flatMap(({ spends }) => (spends ? [spends.name] : []))],
    ([name, value]) => ledger.settings.set(name, value),
  );
  ask(
    SUBMISSIONS,
    [commits.flatMap(({ submission }) => (submission ? [submission.id] : []))],
    ([id, status, attempt, cancelled]) =>
      ledger.submissions.set(id, { status: status as Submission["status"], attempt, cancelled }),
  );
  await sending.settle();
  return ledger;
}

/** Gives numbers to pairs of predicate and kind that have none. */
function loadVias(
  sending: Sending,
  ledger: Ledger,
  writes: readonly RecordWrite[],
  known: ReadonlyMap<string, number>,
): void {
  const missing = new Map<string, [predicate: string, kind: string]>();
  for (const write of writes) {
    if (!("links" in write)) continue;
    for (const { predicate } of unpackLinks(write.links)) {
      const name = `${write.kind} ${predicate}`;
      const number = known.get(name);
      if (number === undefined) missing.set(name, [predicate, write.kind]);
      else ledger.vias.set(name, number);
    }
  }
  if (missing.size === 0) return;
  const pairs = [...missing.values()];
  void sending.send(ADD_VIAS, [
    pairs.map(([predicate]) => predicate),
    pairs.map(([, kind]) => kind),
  ]);
  void sending.send(VIAS, [pairs.map(([predicate]) => predicate)]).then(
    (rows) => {
      for (const [id, predicate, kind] of rows) ledger.vias.set(`${kind} ${predicate}`, id);
    },
    () => {},
  );
}
