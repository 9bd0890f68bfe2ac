import { unpackLinks } from "../../links-codec.js";
import type { Commit, RecordWrite } from "../../port.js";
import type { ObjectReference } from "../../objects-port.js";
import type { Submission } from "../../submissions-port.js";
import { ACCOUNT_COLUMNS, accountOf, type AccountRow } from "../reads/account-row.js";
import { type Row, statement } from "../statement.js";
import { type Counters, Ledger } from "./ledger.js";
import { states } from "./prepare.js";
import { rowOf, ROW_COLUMNS } from "./record-row.js";
import type { Sending } from "./sending.js";

export const LOCK = statement<[sequence: number, record: number, object: number, submission: number]>("SELECT sequence, record, object, submission FROM counter WHERE id = 1 FOR UPDATE");

const BY_KEY = statement(`SELECT ${ROW_COLUMNS} FROM record WHERE key = ANY($1::text[]) ORDER BY id`);
const BY_ARK = statement(`SELECT ${ROW_COLUMNS} FROM record WHERE ark = ANY($1::text[]) ORDER BY id`);
const OWNERS = statement<[key: string, ark: string]>("SELECT key, ark FROM record WHERE key = ANY($1::text[])");
const WAITING = statement<[key: string, newest: number]>("SELECT target_key, max(sequence) FROM link WHERE target_key = ANY($1::text[]) GROUP BY target_key");
const LINKS = statement<[source: number, via: number, target: string, targetKey: string, sequence: number]>(
  "SELECT l.source, l.via, l.target, l.target_key, l.sequence FROM record AS r JOIN link AS l ON l.source = r.id WHERE r.ark = ANY($1::text[]) ORDER BY l.source, l.position");
const OBJECTS = statement<[record: number, id: number, sha256: string, size: number, mediaType: string, name: string, role: string, since: number]>(
  "SELECT o.record, o.id, o.sha256, o.size, o.media_type, o.name, o.role, o.since FROM record AS r JOIN object_ref AS o ON o.record = r.id WHERE r.ark = ANY($1::text[]) AND o.ended IS NULL ORDER BY o.id");
const ADD_VIAS = statement(`INSERT INTO via (id, predicate, kind)
  SELECT ((SELECT coalesce(max(id), 0) FROM via) + row_number() OVER (ORDER BY v.predicate, v.kind))::int, v.predicate, v.kind FROM unnest($1::text[], $2::text[]) AS v (predicate, kind)
  WHERE NOT EXISTS (SELECT 1 FROM via WHERE predicate = v.predicate AND kind = v.kind)`);
const VIAS = statement<[id: number, predicate: string, kind: string]>("SELECT id, predicate, kind FROM via WHERE predicate = ANY($1::text[])");
const ACCOUNTS = statement<AccountRow>(`SELECT ${ACCOUNT_COLUMNS} FROM account WHERE person = ANY($1::text[]) OR (email = ANY($2::text[]) AND deleted = false)`);
const SETTINGS = statement<[name: string, value: string]>("SELECT name, value FROM setting WHERE name = ANY($1::text[]) FOR UPDATE");
const SUBMISSIONS = statement<[id: string, status: string, attempt: number, cancelled: boolean]>("SELECT id, status, attempt, cancelled FROM submission WHERE id = ANY($1::text[]) FOR UPDATE");

/**
 * Reads what the commits are about, all at once. Call it under the lock of {@link LOCK}: nobody changes records meanwhile.
 * @param vias numbers that are known already, by kind and predicate
 */
export async function load(sending: Sending, counters: Counters, commits: readonly Commit[], vias: ReadonlyMap<string, number>): Promise<Ledger> {
  const ledger = new Ledger(counters);
  const writes = commits.flatMap(({ records }) => records);
  const ask = <R extends Row>(asked: ReturnType<typeof statement<R>>, lists: string[][], take: (row: R) => void): void => {
    const distinct = lists.map((list) => [...new Set(list)]);
    if (distinct.some((list) => list.length > 0)) void sending.send(asked, distinct).then((rows) => rows.forEach(take), () => {});
  };
  const created = writes.flatMap((write) => (write.op === "create" ? [write.key] : []));
  const changed = writes.filter((write) => write.op !== "create");
  const restated = changed.filter(({ op }) => op !== "publish").map(({ ark }) => ark);
  const hold = (row: Row): void => {
    const stored = rowOf(row);
    if (!ledger.byArk.has(stored.ark)) ledger.hold({ ...stored, stored });
  };
  ask(BY_KEY, [[...created, ...commits.flatMap(({ unheld = [] }) => unheld)]], hold);
  ask(BY_ARK, [changed.map(({ ark }) => ark)], hold);
  ask(WAITING, [created], ([key, newest]) => ledger.waiting.set(key, newest));
  ask(LINKS, [restated], ([source, via, target, targetKey, sequence]) => ledger.storedLinks.set(source, [...(ledger.storedLinks.get(source) ?? []), { via, target, targetKey, sequence }]));
  ask(OBJECTS, [restated], ([record, id, sha256, size, mediaType, name, role, since]) =>
    ledger.objects.set(record, [...(ledger.objects.get(record) ?? []), { id, sha256, size, mediaType, name, role: role as ObjectReference["role"], since, ended: null, dropped: false, isNew: false }]));
  ask(OWNERS, [writes.filter(states).flatMap(({ links }) => unpackLinks(links).map(({ targetKey }) => targetKey))], ([key, ark]) => ledger.owners.set(key, [...(ledger.owners.get(key) ?? []), ark]));
  loadVias(sending, ledger, writes, vias);
  const accounts = commits.flatMap(({ account }) => (account ? [account] : []));
  const withFields = accounts.filter((change) => change.op !== "delete");
  ask(ACCOUNTS, [accounts.map(({ user }) => user), withFields.flatMap(({ email }) => (email === undefined ? [] : [email]))], (row) => ledger.accounts.set(row[0], accountOf(row)));
  ask(SETTINGS, [withFields.flatMap(({ spends }) => (spends ? [spends.name] : []))], ([name, value]) => ledger.settings.set(name, value));
  ask(SUBMISSIONS, [commits.flatMap(({ submission }) => (submission ? [submission.id] : []))], ([id, status, attempt, cancelled]) =>
    ledger.submissions.set(id, { status: status as Submission["status"], attempt, cancelled }));
  await sending.settle();
  return ledger;
}

/** Gives numbers to pairs of predicate and kind that have none. */
function loadVias(sending: Sending, ledger: Ledger, writes: readonly RecordWrite[], known: ReadonlyMap<string, number>): void {
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
  void sending.send(ADD_VIAS, [pairs.map(([predicate]) => predicate), pairs.map(([, kind]) => kind)]);
  void sending.send(VIAS, [pairs.map(([predicate]) => predicate)]).then((rows) => {
    for (const [id, predicate, kind] of rows) ledger.vias.set(`${kind} ${predicate}`, id);
  }, () => {});
}
