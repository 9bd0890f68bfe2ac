import { setImmediate as turn } from "node:timers/promises";
import { arkKey } from "../../../../identifiers/ark.js";
import type { KindName } from "../../../../model/kind.js";
import { COLLECTIVES } from "../../../../model/kinds.js";
import { unpackLinks } from "../../codecs.js";
import type {
  Account,
  AccountChange,
  Commit,
  Committed,
  CommittedRecord,
  ObjectReference,
  RecordWrite,
} from "../../port.js";
import {
  checkFence,
  duplicate,
  emailTaken,
  gone,
  hasAccount,
  hasChanged,
  heldMeanwhile,
  isSpent,
  noAccount,
  notStored,
  ownerIsGone,
  ownsRecords,
  takesTooLong,
} from "../../refusals.js";
import { restate } from "../../rows.js";
import type { Held, HeldObject, Ledger } from "./ledger.js";
import type { Prepared } from "./prepare.js";

/** Changes an account, in memory. @throws the port's errors */
function applyAccount(ledger: Ledger, change: AccountChange): void {
  const { user } = change;
  if (change.op !== "delete" && change.spends) {
    const { name, value } = change.spends;
    if (value === "" || ledger.settings.get(name) !== value) throw isSpent(name);
    ledger.set(ledger.settings, name, "");
    ledger.spent.push(name);
  }
  const before = ledger.accounts.get(user);
  if (change.op === "create" && before) throw hasAccount(user);
  if (change.op !== "create" && (!before || before.deleted)) throw noAccount(user);
  const after = changed(change, before);
  if (
    !after.deleted &&
    [...ledger.accounts.values()].some(
      (other) => !other.deleted && other.user !== user && other.email === after.email,
    )
  )
    throw emailTaken();
  ledger.set(ledger.accounts, user, after);
  ledger.changedAccounts.add(user);
  // Not by the time of either: nodes' clocks differ.
  if (change.op === "delete" || (change.op === "update" && change.tokensValidFrom !== undefined))
    ledger.set(ledger.endedCredentials, user, true);
}

function changed(change: AccountChange, before: Account | undefined): Account {
  const { user } = change;
  switch (change.op) {
    case "create":
      return {
        user,
        email: change.email,
        passwordHash: change.passwordHash,
        admin: change.admin,
        tokensValidFrom: 0,
        disabled: false,
        deleted: false,
      };
    case "update": {
      const { email, passwordHash, admin, tokensValidFrom, disabled } = change;
      return {
        ...before!,
        ...(email === undefined ? {} : { email }),
        ...(passwordHash === undefined ? {} : { passwordHash }),
        ...(admin === undefined ? {} : { admin }),
        ...(tokensValidFrom === undefined ? {} : { tokensValidFrom }),
        ...(disabled === undefined ? {} : { disabled }),
      };
    }
    case "delete":
      // All private data are removed; the row stays, so that tokens of the account are known to be
      // ended.
      return { ...before!, email: "", passwordHash: "", admin: false, deleted: true };
  }
}

function addObjects(
  ledger: Ledger,
  record: number,
  objects: readonly ObjectReference[],
  revision: number,
): void {
  const added = objects.map((object): HeldObject => ({
    ...object,
    id: ++ledger.counters.object,
    since: revision,
    ended: null,
    dropped: false,
    isNew: true,
  }));
  ledger.set(ledger.objects, record, [...(ledger.objects.get(record) ?? []), ...added]);
}

/** The references from this revision on; existing ones that stay are not changed. */
function replaceObjects(
  ledger: Ledger,
  record: number,
  objects: readonly ObjectReference[],
  revision: number,
): void {
  const wanted = new Map(objects.map((object) => [identity(object), object]));
  const before = ledger.objects.get(record) ?? [];
  ledger.set(
    ledger.objects,
    record,
    before.map((held) =>
      held.ended !== null || wanted.delete(identity(held)) ? held : { ...held, ended: revision },
    ),
  );
  addObjects(ledger, record, [...wanted.values()], revision);
}

/**
 * Ends all references with this revision; `drop` takes them from earlier revisions too, so that the
 * bytes may go.
 */
function endObjects(ledger: Ledger, record: number, revision: number, drop: boolean): void {
  const before = ledger.objects.get(record) ?? [];
  ledger.set(
    ledger.objects,
    record,
    before.map((held) => ({
      ...held,
      ended: held.ended ?? revision,
      dropped: held.dropped || drop,
    })),
  );
  if (drop) ledger.set(ledger.drops, record, revision);
}

const identity = ({ sha256, size, mediaType, name, role }: ObjectReference): string =>
  JSON.stringify([sha256, size, mediaType, name, role]);

type Write<Op extends RecordWrite["op"]> = Extract<RecordWrite, { op: Op }>;

/** The state of one running commit. */
interface Step {
  ledger: Ledger;
  prepared: ReadonlyMap<RecordWrite, Prepared>;
  sequence: number;
  at: number;
  by: string | null;
  changed: Set<number>;
  arrived: Map<string, number>;
  links: { record: Held; write: RecordWrite }[];
  breathe(): Promise<void>;
}

/** Records that are decided in one iteration of the event loop. */
const AT_ONCE = 1000;

/**
 * Decides one commit, in memory. @throws the port's errors; call it within {@link Ledger.attempt}
 * @param isLate whether the commit has blocked others for as long as it may
 */
export async function applyCommit(
  ledger: Ledger,
  commit: Commit,
  prepared: ReadonlyMap<RecordWrite, Prepared>,
  isLate: () => boolean,
): Promise<Committed> {
  const { at, by, submission } = commit;
  if (submission) checkFence(ledger.submissions.get(submission.id), submission);
  for (const key of commit.unheld ?? []) {
    const [holder] = ledger.byKey.get(key) ?? [];
    if (holder) throw heldMeanwhile(holder.ark);
  }
  // An archive that comes with the commit stays.
  for (const write of commit.records)
    if ("dropObjects" in write && write.dropObjects)
      ledger.dropped.push([write.ark, ledger.counters.object]);
  let decided = 0;
  const breathe = async (): Promise<void> => {
    if (isLate()) throw takesTooLong();
    if (++decided % AT_ONCE === 0) await turn();
  };
  const step: Step = {
    ledger,
    prepared,
    sequence: ledger.counters.sequence + 1,
    at,
    by,
    changed: new Set(),
    arrived: new Map(),
    links: [],
    breathe,
  };
  const records = await applyRecords(commit.records, step);
  checkDeletedOwners(step);
  for (const { record, write } of step.links) {
    await breathe();
    writeLinks(step, record, write);
  }
  for (const write of commit.records) if (write.op === "delete") ledger.deleted.push(write.ark);
  if (commit.account) applyAccount(ledger, commit.account);
  if (submission) {
    ledger.closed.push({ close: submission, at });
    ledger.set(ledger.submissions, submission.id, {
      ...ledger.submissions.get(submission.id)!,
      status: submission.status,
    });
  }
  // A number is used only by commits that changed records, so that none is missing from the log.
  if (step.changed.size > 0) {
    for (const id of step.changed) ledger.log.push([step.sequence, id]);
    ledger.counters.sequence = step.sequence;
  }
  return { sequence: ledger.counters.sequence, records };
}

/**
 * New records are numbered in the order of their identifiers, which is the order lists have within
 * a commit.
 */
async function applyRecords(
  writes: readonly RecordWrite[],
  step: Step,
): Promise<CommittedRecord[]> {
  const creates = writes
    .filter((write) => write.op === "create")
    .sort((a, b) => (a.ark < b.ark ? -1 : 1));
  for (const write of creates) {
    await step.breathe();
    createOne(step, write);
  }
  const done: CommittedRecord[] = [];
  for (const write of writes) {
    if (write.op === "create") {
      const newestBacklink = step.arrived.get(write.ark);
      done.push({
        ark: write.ark,
        revision: 1,
        ...(newestBacklink === undefined ? {} : { newestBacklink }),
      });
    } else {
      await step.breathe();
      done.push({ ark: write.ark, revision: change(step, write) });
    }
  }
  return done;
}

function createOne(step: Step, write: Write<"create">): void {
  const { ledger, at, sequence } = step;
  const holders = ledger.byKey.get(write.key) ?? [];
  const holder =
    holders.find(({ ark }) => ark === write.ark) ?? (write.mayShareKey ? undefined : holders[0]);
  if (holder)
    throw duplicate(write.ark, {
      ark: holder.ark,
      kind: holder.kind,
      deleted: holder.deletedAt !== null,
    });
  // Links of earlier commits: the stored ones, and those of this group.
  const waiting = ledger.touched.get(write.key) ?? ledger.waiting.get(write.key);
  const { state } = step.prepared.get(write)!;
  const record: Held = {
    id: ++ledger.counters.record,
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
    state,
    deletedAt: null,
    deletedBy: null,
    reason: null,
    successor: null,
    licence: write.licence ?? null,
  };
  ledger.hold(record);
  ledger.created.push(record);
  ledger.count(write.kind, 1);
  checkOwner(ledger, write.owner, null);
  ledger.own(write.owner, 1);
  if (waiting !== undefined) {
    step.arrived.set(write.ark, waiting);
    ledger.arrived.push({ record, sequence, sharesKey: holders.length > 0 });
  }
  addRevision(step, record, "create", []);
  if (write.objects) addObjects(ledger, record.id, write.objects, 1);
  step.changed.add(record.id);
  step.links.push({ record, write });
}

function change(step: Step, write: Exclude<RecordWrite, { op: "create" }>): number {
  const { ledger, at, by } = step;
  const record = ledger.byArk.get(write.ark);
  if (!record) throw notStored(write.ark);
  const wasDeleted = record.deletedAt !== null;
  if (wasDeleted && !(write.op === "replace" && write.revive === true)) throw gone(write.ark);
  if (write.ifRevision !== undefined && write.ifRevision !== record.revision)
    throw hasChanged(write.ark, record.revision, write.ifRevision);
  const revision = record.revision + 1;
  switch (write.op) {
    case "replace": {
      if (write.changed.length === 0 && !wasDeleted) return record.revision;
      if (!wasDeleted && record.kind !== write.kind) ledger.count(record.kind, -1);
      if (wasDeleted || record.kind !== write.kind) ledger.count(write.kind, 1);
      const { kind, name, owner } = write;
      checkOwner(ledger, owner, wasDeleted ? null : record.owner);
      if (!wasDeleted) ledger.own(record.owner, -1);
      ledger.own(owner, 1);
      ledger.edit(record, {
        kind,
        name,
        owner,
        modifiedAt: at,
        revision,
        state: step.prepared.get(write)!.state,
        crate: write.crate ?? record.crate,
        deletedAt: null,
        deletedBy: null,
        reason: wasDeleted ? null : record.reason,
        successor: wasDeleted ? null : record.successor,
        licence: write.licence ?? null,
      });
      addRevision(step, record, "update", write.changed);
      if (write.dropObjects) endObjects(ledger, record.id, revision, true);
      if (write.objects) replaceObjects(ledger, record.id, write.objects, revision);
      step.links.push({ record, write });
      break;
    }
    case "delete":
      ledger.count(record.kind, -1);
      ledger.own(record.owner, -1);
      ledger.edit(record, {
        modifiedAt: at,
        deletedAt: at,
        revision,
        deletedBy: by,
        reason: write.reason ?? null,
        successor: write.successor ?? null,
        licence: null,
      });
      addRevision(step, record, "delete", []);
      endObjects(ledger, record.id, revision, write.dropObjects === true);
      step.links.push({ record, write });
      break;
    case "publish": {
      const { status, embargoedUntil, reason = null, successor = null } = write;
      if (
        record.status === status &&
        record.embargoedUntil === embargoedUntil &&
        record.reason === reason &&
        record.successor === successor
      )
        return record.revision;
      ledger.edit(record, { modifiedAt: at, revision, status, embargoedUntil, reason, successor });
      // Record administration: the document is that of the revision before, but clients see a new
      // ETag.
      addRevision(step, record, "publish", []);
      break;
    }
  }
  step.changed.add(record.id);
  return revision;
}

/** @param before the owner of a live record that is replaced */
function checkOwner(ledger: Ledger, owner: string | null, before: string | null): void {
  if (owner === null || (before !== null && arkKey(before) === arkKey(owner))) return;
  for (const { ark, kind, deletedAt } of ledger.byKey.get(arkKey(owner)) ?? [])
    if (deletedAt !== null && isCollective(kind)) throw ownerIsGone(ark);
}

const isCollective = (kind: string): boolean => COLLECTIVES.has(kind as KindName);

/** After all records of the commit, which may hand over or delete what an owner had. */
function checkDeletedOwners({ ledger, links }: Step): void {
  for (const { record, write } of links) {
    if (write.op !== "delete" || !isCollective(record.kind)) continue;
    const owned = ledger.owned.get(record.key) ?? 0;
    if (owned > 0) throw ownsRecords(record.ark, owned);
  }
}

function addRevision(
  { ledger, at, by }: Step,
  record: Held,
  action: string,
  changed: readonly string[],
): void {
  ledger.revisions.push([
    record.id,
    record.revision,
    at,
    by,
    action,
    changed.length > 0 ? JSON.stringify(changed) : null,
    record.state,
  ]);
}

/**
 * After all records of the commit, so that a link finds its target whichever of the two comes
 * first.
 */
function writeLinks({ ledger, sequence }: Step, record: Held, write: RecordWrite): void {
  const links = "links" in write ? unpackLinks(write.links) : [];
  const now = links.map(({ predicate, target, targetKey }) => ({
    via: ledger.vias.get(`${record.kind} ${predicate}`)!,
    target,
    targetKey,
  }));
  const touch = (key: string): void => {
    if (key !== record.key) ledger.touch(key, sequence);
  };
  ledger.set(
    ledger.links,
    record.id,
    restate(
      ledger.links.get(record.id) ?? ledger.storedLinks.get(record.id) ?? [],
      now,
      sequence,
      touch,
    ),
  );
  if ("quads" in write) ledger.set(ledger.quads, record.id, write.quads);
}
