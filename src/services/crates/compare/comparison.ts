import { arkKey } from "../../../identifiers/ark.js";
import type { KindName } from "../../../model/kind.js";
import type {
  CrateUses,
  RecordStore,
  RecordWrite,
  StoredRecord,
} from "../../../storage/records/port.js";
import { parseDocument } from "../../records/view.js";
import { isMadeDescriptor } from "../export/metadata.js";
import { describedCrate } from "../layout.js";
import {
  changedMeanwhile,
  conflictOf,
  crateExists,
  differs,
  emptied,
  NewIdentifiers,
  type Reason,
  taken,
  withoutDescriptors,
} from "./conflicts.js";
import { differences, sameObjects, withRunFacts } from "./differences.js";
import { inStore, MAX_RECORDS_PER_READ } from "./stored.js";
import type { Claim, Conflict, CrateRecord, CrateUpload } from "../steps.js";
import { pagesOf } from "../../records/pages.js";

export type ComparedRecords = Pick<
  RecordStore,
  | "accountOf"
  | "findMany"
  | "holders"
  | "select"
  | "objectsOf"
  | "quads"
  | "usedElsewhere"
  | "usesOf"
>;

/** The writes that result from an upload; those without conflicts, where there are conflicts. */
export interface CrateWrites {
  writes: RecordWrite[];
  uses: CrateUses & { released: string[] };
  /** Records to delete. */
  removed: { ark: string; kind: KindName }[];
  conflicts: Conflict[];
  /** Keys above the identifiers without a record: the commit fails if one has a record by then. */
  unheld: string[];
}

/** What a record of the crate is to the stored one. */
type Relation =
  /** `made`: a descriptor that an export created for a crate without one. */
  | { is: "new" | "made" }
  /**
   * Of the crate itself, of a registered crate within it that it changes too (`linked`), or of the
   * uploader's `elsewhere`.
   */
  | { is: "own" | "linked" | "elsewhere"; before: StoredRecord }
  | { is: "conflict"; reason: Reason };

/**
 * Compares a crate with what is stored: first its identifiers ({@link claim}), before anything is
 * stored, then its records ({@link compare}). A changed entity becomes the next revision of its
 * record, a new entity is created, and the record of a missing entity is deleted. Every write names
 * the revision that the record had when the identifiers were looked up, so that a concurrent change
 * is never overwritten. For a new crate the comparison finds only new records, and some that the
 * uploader has already and that state the same.
 */
export class Comparison {
  /** The uploader's records that the crate may share or change, as the identifiers were looked up. */
  readonly #seen = new Map<string, { revision: number; claim?: Claim }>();
  #root = "";
  #isNamed = false;
  /**
   * Crates within the crate that the uploader had uploaded by themselves and that it describes:
   * they are updated too.
   */
  readonly #nested = new Set<string>();
  /** Crates of the uploader's that the crate only names. */
  readonly #named: string[] = [];
  /** Kinds of the owners of records that are not the uploader's. */
  readonly #ownerKinds = new Map<string, KindName | undefined>();
  readonly #identifiers: NewIdentifiers;

  readonly #records: ComparedRecords;
  readonly #upload: CrateUpload;

  constructor(records: ComparedRecords, upload: CrateUpload) {
    this.#records = records;
    this.#upload = upload;
    this.#identifiers = new NewIdentifiers(records, upload.user);
  }

  /** The uploader has this record: the crate may share it, and an update change it. */
  has(ark: string): boolean {
    return this.#seen.has(ark);
  }

  /** The metadata states the identifier of the crate; otherwise one is minted. */
  get isNamed(): boolean {
    return this.#isNamed;
  }

  /** Looks up identifiers of the crate, the root's first. Returns those that it cannot use. */
  async claim(claims: readonly Claim[]): Promise<Conflict[]> {
    const conflicts: Conflict[] = [];
    for await (const batch of inStore(this.#records, claims)) {
      const unknown: Claim[] = [];
      for (const [claim, record] of batch) {
        if (claim.root) [this.#root, this.#isNamed] = [claim.ark, claim.kept];
        if (!record || this.#isOtherMember(claim, record)) unknown.push(claim);
        else if (!this.#isUploaders(claim, record))
          conflicts.push(conflictOf(claim, await this.#takenBy(claim, record)));
        else if (claim.root && !this.#upload.update)
          conflicts.push(conflictOf(claim, crateExists(record)));
        else await this.#see(claim, record);
      }
      for (const conflict of await this.#identifiers.conflicts(unknown)) conflicts.push(conflict);
    }
    return withoutDescriptors(conflicts);
  }

  /** Members of one crate may differ in hyphens only: another member is not a conflict. */
  #isOtherMember(claim: Claim, record: StoredRecord): boolean {
    return (
      this.#upload.update === true && record.ark !== claim.ark && this.#isMember(claim, record)
    );
  }

  #isMember(claim: Claim, { crate }: StoredRecord): boolean {
    return !claim.root && crate === this.#root;
  }

  /**
   * A record of the uploader's that the crate may use. Its kind must not change, except for members
   * of a crate that is updated: the crate defines their kinds. A new crate shares live records, and
   * a nested crate only where it was registered apart from this one.
   */
  #isUploaders(claim: Claim, record: StoredRecord): boolean {
    if (record.owner !== this.#upload.user || record.ark !== claim.ark) return false;
    const isKind = record.kind === claim.kind;
    if (this.#upload.update) return isKind || this.#isMember(claim, record);
    if (claim.root) return record.kind === "rocrate";
    return isKind && record.tombstone === null && (claim.kind !== "rocrate" || !!claim.linked);
  }

  /** Of a private record of others, the finding says no more than that there is one. */
  async #takenBy({ ark, root }: Claim, record: StoredRecord): Promise<Reason> {
    const { kind, owner, tombstone } = record;
    const isOthers = owner !== null && owner !== this.#upload.user;
    if (isOthers && record.private) return taken(ark, undefined, false, { root });
    if (isOthers && !this.#ownerKinds.has(owner))
      this.#ownerKinds.set(owner, (await this.#records.findMany([owner]))[0]?.kind);
    return taken(ark, kind, tombstone !== null, {
      root,
      owner: isOthers ? this.#ownerKinds.get(owner) : undefined,
    });
  }

  async #see(claim: Claim, record: StoredRecord): Promise<void> {
    this.#seen.set(record.ark, { revision: record.revision, claim });
    if (claim.linked === "named") this.#named.push(record.ark);
    else if (claim.linked === "described" && record.crate === null) this.#nested.add(record.ark);
    if (claim.root)
      for await (const { ark, revision } of this.#members()) this.#seen.set(ark, { revision });
  }

  /**
   * The writes for all records of the crate. The same crate again results in no writes. A record
   * that is not among them counts as missing.
   */
  async compare(built: readonly CrateRecord[]): Promise<CrateWrites> {
    const changes: CrateWrites = {
      writes: [],
      uses: { crate: this.#root, arks: [...this.#named], released: [] },
      removed: [],
      conflicts: [],
      // For the crate itself the commit reports that its identifier is taken.
      unheld: (await this.#identifiers.unheld()).filter((key) => key !== arkKey(this.#root)),
    };
    const present = new Set([...built.map(({ ark }) => ark), ...this.#named]);
    const isSmaller = this.#seen.has(this.#root) && (await this.#removeAbsent(present, changes));
    const changedLinked = new Set<string>();
    // The archive and the metadata files are replaced only when their contents differ: packing the
    // same contents again gives other bytes, which are irrelevant. So crates come after the rest.
    const ordered = this.#upload.update
      ? [
          ...built.filter((record) => !hasMetadata(record)),
          ...built.filter(hasMetadata).toReversed(),
        ]
      : built;
    const isCompared = ({ ark }: CrateRecord) =>
      this.has(ark) || this.has(describedCrate(ark) ?? "");
    for await (const batch of inStore(this.#records, ordered, isCompared))
      for (const [record, before] of batch)
        await this.#add(
          record,
          this.#relationOf(record, before),
          isSmaller,
          changedLinked,
          changes,
        );
    return changes;
  }

  /** @param changedLinked linked crates with a change so far */
  async #add(
    record: CrateRecord,
    relation: Relation,
    isSmaller: boolean,
    changedLinked: Set<string>,
    { writes, uses, conflicts }: CrateWrites,
  ): Promise<void> {
    switch (relation.is) {
      case "made":
        return;
      case "new":
        writes.push(record);
        if (record.crate !== undefined && record.crate !== this.#root) {
          uses.arks.push(record.ark);
          changedLinked.add(record.crate);
        }
        return;
      case "own": {
        const isChanged = writes.length > 0 || isSmaller;
        for (const write of await this.#revise(record, relation.before, isSmaller, isChanged))
          writes.push(write);
        return;
      }
      case "linked": {
        const { before } = relation;
        const crate = before.crate ?? before.ark;
        const revised = await this.#revise(record, before, false, changedLinked.has(crate));
        uses.arks.push(record.ark);
        for (const write of revised) writes.push(write);
        if (revised.length > 0) changedLinked.add(crate);
        return;
      }
      case "elsewhere": {
        const { before } = relation;
        if ((await differences(this.#records, before, record)).length === 0)
          uses.arks.push(record.ark);
        else
          conflicts.push(
            this.#conflict(record.ark, differs(record, before, this.#upload.update === true)),
          );
        return;
      }
      case "conflict":
        conflicts.push(this.#conflict(record.ark, relation.reason));
    }
  }

  #conflict(ark: string, reason: Reason): Conflict {
    const claim = this.#seen.get(ark)?.claim;
    return claim ? conflictOf(claim, reason) : { ark, ...reason };
  }

  #relationOf(record: CrateRecord, before: StoredRecord | undefined): Relation {
    if (this.#isMade(record, before)) return { is: "made" };
    const seen = this.#seen.get(record.ark);
    // The commit refuses an identifier that another user registered meanwhile.
    if (seen === undefined || before?.ark !== record.ark) return { is: "new" };
    if (!this.#upload.update) return { is: "elsewhere", before };
    if (before.revision !== seen.revision)
      return { is: "conflict", reason: changedMeanwhile(record.ark) };
    if (before.ark === this.#root || before.tombstone || before.crate === this.#root)
      return { is: "own", before };
    if (!this.#isNested(before)) return { is: "elsewhere", before };
    const reason = this.#upload.emptyLinked ? undefined : emptied(before, record);
    return reason ? { is: "conflict", reason } : { is: "linked", before };
  }

  /** A descriptor that an export created for a crate without one: the crate still has none. */
  #isMade({ ark, document }: CrateRecord, before: StoredRecord | undefined): boolean {
    const crate = this.#upload.update ? describedCrate(ark) : undefined;
    return (
      crate !== undefined &&
      this.#seen.has(crate) &&
      (before === undefined || before.tombstone !== null) &&
      isMadeDescriptor(parseDocument(document), crate)
    );
  }

  /** The record's next state; none when it has the same statements and content. */
  async #revise(
    {
      op: _op,
      key: _key,
      crate,
      mayShareKey: _share,
      publicationStatus,
      objects: brought = [],
      ...built
    }: CrateRecord,
    before: StoredRecord,
    isSmaller: boolean,
    isChanged: boolean,
  ): Promise<RecordWrite[]> {
    const state = await withRunFacts(this.#records, built, before);
    const changed = await differences(this.#records, before, state);
    if (changed.length === 0 && before.kind !== state.kind) changed.push("/@type");
    const stored = await this.#records.objectsOf(before.ark);
    const objects = this.#nested.has(before.ark)
      ? [...stored.filter(({ role }) => role !== "metadata"), ...brought]
      : this.#upload.format === "metadata"
        ? [
            ...stored.filter(
              ({ role }) =>
                role !== (isSmaller ? "archive" : undefined) &&
                (role !== "metadata" || brought.length === 0),
            ),
            ...brought,
          ]
        : brought;
    if (changed.length === 0 && !sameObjects(stored, objects, isChanged))
      changed.push("/contentUrl");
    const revive = before.tombstone !== null;
    const embargo: RecordWrite[] =
      publicationStatus !== undefined && before.publicationStatus === "DRAFT"
        ? [{ op: "publish", ark: before.ark, status: publicationStatus, embargoedUntil: null }]
        : [];
    if (changed.length === 0 && !revive) return embargo;
    return [
      {
        op: "replace",
        ifRevision: before.revision,
        changed,
        objects,
        ...state,
        ...(revive ? { revive } : {}),
        ...(revive && crate !== undefined ? { crate } : {}),
      },
      ...embargo,
    ];
  }

  /**
   * A registered crate within this one, or a record of one: the statements of this crate are its
   * next state.
   */
  #isNested({ ark, crate }: StoredRecord): boolean {
    return this.#nested.has(ark) || (crate !== null && this.#nested.has(crate));
  }

  /**
   * True when the crate gives up members: the old archive holds them, and reading it would no longer
   * check their state.
   */
  async #removeAbsent(
    present: ReadonlySet<string>,
    { writes, uses, conflicts, removed }: CrateWrites,
  ): Promise<boolean> {
    const absent: StoredRecord[] = [];
    for await (const member of this.#members()) if (!present.has(member.ark)) absent.push(member);
    const arks = absent.map(({ ark }) => ark);
    const kept = new Set(await this.#records.usedElsewhere(arks, this.#root));
    for (const { ark, kind, revision } of absent) {
      if (kept.has(ark)) uses.released.push(ark);
      else if (this.#seen.get(ark)?.revision !== revision)
        conflicts.push(this.#conflict(ark, changedMeanwhile(ark)));
      else {
        writes.push({ op: "delete", ark, ifRevision: revision, dropObjects: true });
        removed.push({ ark, kind });
      }
    }
    return (
      removed.length > 0 ||
      uses.released.length > 0 ||
      (await this.#records.usesOf(this.#root)).some((ark) => !present.has(ark))
    );
  }

  async *#members(): AsyncGenerator<StoredRecord> {
    const members = { filter: { crates: [this.#root] } };
    for await (const page of pagesOf(this.#records, members, { limit: MAX_RECORDS_PER_READ }))
      yield* page;
  }
}

/** Whether a record brings the metadata file of a crate. */
const hasMetadata = ({ objects = [] }: CrateRecord): boolean =>
  objects.some(({ role }) => role === "metadata");
