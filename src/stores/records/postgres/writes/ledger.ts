import type { ObjectReference } from "../../objects-port.js";
import type { StatedLink } from "../../restate.js";
import type { Account } from "../../accounts-port.js";
import type { Submission, SubmissionClose } from "../../submissions-port.js";
import type { Held } from "./record-row.js";

/** A row of `object_ref` that still counts, or one that the group adds. */
export interface HeldObject extends ObjectReference { id: number; since: number; ended: number | null; dropped: boolean; isNew: boolean }

/** Numbers that the row `counter` gives out. */
export interface Counters { sequence: number; record: number; object: number; submission: number }

/**
 * What a group of commits found in the database, and what it makes of it: the commits are decided here one after the
 * other, under the lock of `counter`, and written together. One that is refused is undone here, and nothing of it is
 * ever sent.
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
  /** Links of these changed, or their record is new. Record → its quads as written, where they are. */
  readonly quads = new Map<number, string>();
  readonly revisions: (readonly [record: number, revision: number, at: number, by: string | null, action: string, changed: string | null, state: number])[] = [];
  readonly log: [sequence: number, record: number][] = [];
  readonly created: Held[] = [];
  /** New records that links had waited for. */
  readonly arrived: { record: Held; sequence: number; sharesKey: boolean }[] = [];
  readonly deleted: string[] = [];
  /** Records whose objects a commit dropped, and the newest object at that moment: the archives of their crates go up to that one. */
  readonly dropped: [ark: string, upTo: number][] = [];
  readonly closed: { close: SubmissionClose; at: number }[] = [];
  readonly changedAccounts = new Set<string>();
  readonly spent: string[] = [];
  readonly #undo: (() => void)[] = [];

  constructor(readonly counters: Counters) {}

  /** Does all of `work` or, when that throws, nothing. */
  async attempt<T>(work: () => Promise<T>): Promise<T> {
    const lists: unknown[][] = [this.revisions, this.log, this.created, this.arrived, this.deleted, this.dropped, this.closed, this.spent];
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
    for (const record of this.byKey.get(key) ?? []) if (record.stored === undefined) this.edit(record, { newestBacklink: sequence });
  }

  count(kind: string, by: number): void {
    this.set(this.tally, kind, (this.tally.get(kind) ?? 0) + by);
  }

  /** Identifiers that own a key, those of this group included. */
  ownersOf(key: string): string[] {
    const stored = this.owners.get(key) ?? [];
    const mine = (this.byKey.get(key) ?? []).filter(({ ark, stored: was }) => was === undefined && !stored.includes(ark)).map(({ ark }) => ark);
    return mine.length === 0 ? stored : [...stored, ...mine];
  }
}
