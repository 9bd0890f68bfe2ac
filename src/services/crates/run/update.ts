import { eventLoop } from "../../../event-loop-budget.js";
import type { Finding } from "../../../model/findings.js";
import type { KindName } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds.js";
import type {
  CrateUses,
  ObjectReference,
  RecordState,
  RecordStore,
  RecordWrite,
  StoredRecord,
} from "../../../storage/records/port.js";
import { reservedFields, reservedIn, reservedTextOf } from "../../records/reserved.js";
import { parseDocument } from "../../records/view.js";
import type { CrateRecord } from "../build-records.js";
import { isMadeDescriptor } from "../export/metadata.js";
import { CrateError, Findings, quoted } from "../findings.js";
import { describedCrate } from "../layout.js";
import {
  differences,
  isUnchanged,
  type NewIdentifiers,
  OwnerKinds,
  taken,
  withoutDescriptors,
} from "./conflicts.js";
import type { Claim, Refusal } from "./thread.js";

/** Records that are compared before other requests may run. */
const BATCH = 200;

/** The writes that result from an upload. */
export interface CrateWrites {
  writes: RecordWrite[];
  uses: CrateUses;
  errors: Finding[];
}

/** In case of errors, the writes are those without conflicts. */
export interface PlannedUpdate extends CrateWrites {
  conflicts: UpdateConflict[];
  /** Records to delete. */
  removed: { ark: string; kind: KindName }[];
}
/** A record that an update cannot write, and the reason. */
export interface UpdateConflict {
  ark: string;
  code: "IDENTIFIER_TAKEN" | "CHANGED_MEANWHILE" | "CRATE_EMPTIED";
  message: string;
}

/** What an update may do, beside what its crate states. */
export interface UpdateRules {
  /** The crate came as metadata alone: its files remain stored. */
  keepsFiles: boolean;
  /** The uploader asked for it: the update may remove all statements of a linked crate. */
  mayEmptyLinked: boolean;
}

/**
 * Updates a crate that the uploader has: a changed entity becomes the next revision of its record,
 * a new entity is created, and the record of a missing entity is deleted. Every write names the
 * revision that the record had when the upload's identifiers were looked up, so that a concurrent
 * change is never overwritten.
 */
export class CrateUpdate {
  /**
   * Revisions of the uploader's records that the crate may change, at the time when the crate was
   * read.
   */
  readonly #seen = new Map<string, number>();
  #root = "";
  /**
   * Crates within the crate that the uploader had uploaded by themselves and that it describes:
   * they are updated too.
   */
  readonly #nested = new Set<string>();
  /** Crates of the uploader's that the crate only names. */
  readonly #named: string[] = [];
  readonly #owners: OwnerKinds;

  readonly #records: Pick<
    RecordStore,
    "findMany" | "list" | "objectsOf" | "quads" | "usedElsewhere" | "usesOf"
  >;
  readonly #user: string;
  readonly #keepsFiles: boolean;
  readonly #mayEmptyLinked: boolean;
  readonly #identifiers: NewIdentifiers;

  constructor(
    records: Pick<
      RecordStore,
      "findMany" | "list" | "objectsOf" | "quads" | "usedElsewhere" | "usesOf"
    >,
    user: string,
    { keepsFiles, mayEmptyLinked }: UpdateRules,
    identifiers: NewIdentifiers,
  ) {
    this.#records = records;
    this.#user = user;
    this.#keepsFiles = keepsFiles;
    this.#mayEmptyLinked = mayEmptyLinked;
    this.#identifiers = identifiers;

    this.#owners = new OwnerKinds(records, user);
  }

  /** The uploader has this record: the crate may change it. */
  has(ark: string): boolean {
    return this.#seen.has(ark);
  }

  /**
   * Which identifiers cannot be used: those of other owners, and those of records of another kind.
   */
  async claim(claims: readonly Claim[]): Promise<Refusal[]> {
    const refusals: Refusal[] = [];
    for (let start = 0; start < claims.length; start += BATCH) {
      const batch = claims.slice(start, start + BATCH);
      const found = await this.#records.findMany(batch.map(({ ark }) => ark));
      const unknown: [number, Claim][] = [];
      for (const [offset, claim] of batch.entries()) {
        const record = found[offset];
        if (claim.root) this.#root = claim.ark;
        // Members of one crate may differ in hyphens only: another member is not a conflict.
        if (!record || (!claim.root && record.ark !== claim.ark && record.crate === this.#root))
          unknown.push([start + offset, claim]);
        else if (!this.#isOwn(record, claim))
          refusals.push({
            index: start + offset,
            ...taken(claim.ark, record.kind, record.tombstone !== null, {
              root: claim.root,
              owner: await this.#owners.of(record),
            }),
          });
        else {
          this.#seen.set(record.ark, record.revision);
          if (claim.linked === "named") this.#named.push(record.ark);
          else if (claim.linked === "described" && record.crate === null)
            this.#nested.add(record.ark);
          if (claim.root)
            for await (const member of this.#members()) this.#seen.set(member.ark, member.revision);
        }
      }
      for (const refusal of await this.#identifiers.refusals(unknown)) refusals.push(refusal);
      await eventLoop.nextTurn();
    }
    return withoutDescriptors(refusals, claims);
  }

  /**
   * The record's kind must not change, except for members of this crate: the crate defines their
   * kinds.
   */
  #isOwn(record: StoredRecord, claim: Claim): boolean {
    return (
      record.owner === this.#user &&
      record.ark === claim.ark &&
      (record.kind === claim.kind || (!claim.root && record.crate === this.#root))
    );
  }

  /** The writes for the records of the crate. The same crate again results in no writes. */
  async plan(built: readonly CrateRecord[]): Promise<PlannedUpdate> {
    const conflicts: UpdateConflict[] = [];
    const writes: RecordWrite[] = [];
    const uses: CrateUses = { crate: this.#root, arks: [...this.#named], released: [] };
    const present = new Set([...built.map(({ ark }) => ark), ...this.#named]);
    const removed = await this.#removeAbsent(present, writes, uses, conflicts);
    // True when the crate gives up members: the old archive holds them, and reading it would no
    // longer check their state.
    const isSmaller =
      removed.length > 0 ||
      uses.released!.length > 0 ||
      (this.#seen.has(this.#root) &&
        (await this.#records.usesOf(this.#root)).some((ark) => !present.has(ark)));
    // The archive and the metadata files are replaced only when their contents differ: packing the
    // same contents again gives other bytes, which are irrelevant. So crates come after the rest.
    const ordered = [
      ...built.filter((record) => !hasMetadata(record)),
      ...built.filter(hasMetadata).toReversed(),
    ];
    const isChanged = (): boolean => writes.length > 0 || isSmaller;
    const changedLinked = new Set<string>();
    for (let start = 0; start < ordered.length; start += BATCH) {
      const batch = ordered.slice(start, start + BATCH);
      const found = await this.#records.findMany(batch.map(({ ark }) => ark));
      for (const [offset, record] of batch.entries()) {
        const before = found[offset];
        const relation = this.#relationOf(record, before);
        switch (relation) {
          case "made":
            break;
          case "new":
            writes.push(record);
            if (record.crate !== undefined && record.crate !== this.#root) {
              uses.arks.push(record.ark);
              changedLinked.add(record.crate);
            }
            break;
          case "own":
            for (const write of await this.#revise(record, before!, isSmaller, isChanged()))
              writes.push(write);
            break;
          case "linked": {
            uses.arks.push(record.ark);
            const crate = before!.crate ?? before!.ark;
            const revised = await this.#revise(record, before!, false, changedLinked.has(crate));
            for (const write of revised) writes.push(write);
            if (revised.length > 0) changedLinked.add(crate);
            break;
          }
          case "elsewhere":
            if (await isUnchanged(this.#records, before!, record)) uses.arks.push(record.ark);
            else conflicts.push(differsElsewhere(before!));
            break;
          default:
            conflicts.push(relation);
        }
      }
      await eventLoop.nextTurn();
    }
    const findings = new Findings();
    for (const { code, message } of conflicts) findings.error(code, message);
    try {
      findings.throwIfErrors();
    } catch (error) {
      if (error instanceof CrateError)
        return { writes, uses, errors: error.findings, conflicts, removed };
      throw error;
    }
    return { writes, uses, errors: [], conflicts, removed };
  }

  /**
   * What a record of the crate is to the stored one: a descriptor that an export `made`; `new`; the
   * crate's `own`; of a registered crate within it that it changes too (`linked`); the uploader's
   * `elsewhere`; or why it can't be changed.
   */
  #relationOf(
    record: CrateRecord,
    before: StoredRecord | undefined,
  ): "made" | "new" | "own" | "linked" | "elsewhere" | UpdateConflict {
    if (this.#isMade(record, before)) return "made";
    const seen = this.#seen.get(record.ark);
    // The commit refuses an identifier that another user registered meanwhile.
    if (seen === undefined || before?.ark !== record.ark) return "new";
    if (before.revision !== seen) return changedMeanwhile(record.ark);
    if (before.ark === this.#root || before.tombstone || before.crate === this.#root) return "own";
    if (!this.#isNested(before)) return "elsewhere";
    return !this.#mayEmptyLinked && isEmptied(before, record) ? emptied(before) : "linked";
  }

  /** A descriptor that an export created for a crate without one: the crate still has none. */
  #isMade({ ark, document }: CrateRecord, before: StoredRecord | undefined): boolean {
    const crate = describedCrate(ark);
    return (
      crate !== undefined &&
      this.#seen.has(crate) &&
      (before === undefined || before.tombstone !== null) &&
      isMadeDescriptor(parseDocument(document), crate)
    );
  }

  /** The record's next state; undefined when it has the same statements and content. */
  async #revise(
    {
      op: _op,
      key: _key,
      crate,
      mayShareKey: _share,
      publicationStatus,
      objects: brought = [],
      ...state
    }: CrateRecord,
    before: StoredRecord,
    isSmaller: boolean,
    isChanged: boolean,
  ): Promise<RecordWrite[]> {
    const changed = await differences(this.#records, before, await this.#withFacts(state, before));
    if (changed.length === 0 && before.kind !== state.kind) changed.push("/@type");
    const stored = await this.#records.objectsOf(before.ark);
    const objects = this.#nested.has(before.ark)
      ? [...stored.filter(({ role }) => role !== "metadata"), ...brought]
      : this.#keepsFiles
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
        ...(await this.#withFacts(state, before)),
        ...(revive ? { revive } : {}),
        ...(revive && crate !== undefined ? { crate } : {}),
      },
      ...embargo,
    ];
  }

  /**
   * Statements of a run in this registry remain, as long as the upload repeats these fields of the
   * document unchanged.
   */
  async #withFacts<T extends RecordState>(state: T, before: StoredRecord): Promise<T> {
    const [now, then] = [parseDocument(state.document), parseDocument(before.document)];
    const names = reservedFields(KINDS[state.kind]).filter((name) => then[name] !== undefined);
    if (names.length === 0 || names.some((name) => now[name] !== then[name])) return state;
    const facts = reservedIn((await this.#records.quads(before.ark)) ?? "");
    return facts.length === 0
      ? state
      : {
          ...state,
          quads: [...reservedTextOf(state.quads).split("\n"), ...facts]
            .filter((line) => line !== "")
            .toSorted()
            .join("\n"),
        };
  }

  /**
   * A registered crate within this one, or a record of one: the statements of this crate are its
   * next state.
   */
  #isNested({ ark, crate }: StoredRecord): boolean {
    return this.#nested.has(ark) || (crate !== null && this.#nested.has(crate));
  }

  async #removeAbsent(
    present: ReadonlySet<string>,
    writes: RecordWrite[],
    uses: CrateUses,
    conflicts: UpdateConflict[],
  ): Promise<PlannedUpdate["removed"]> {
    const absent: StoredRecord[] = [];
    if (this.#seen.has(this.#root))
      for await (const member of this.#members()) if (!present.has(member.ark)) absent.push(member);
    const kept = new Set(
      await this.#records.usedElsewhere(
        absent.map(({ ark }) => ark),
        this.#root,
      ),
    );
    const removed: PlannedUpdate["removed"] = [];
    for (const { ark, kind, revision } of absent) {
      if (kept.has(ark)) uses.released!.push(ark);
      else if (this.#seen.get(ark) !== revision) conflicts.push(changedMeanwhile(ark));
      else {
        writes.push({ op: "delete", ark, ifRevision: revision, dropObjects: true });
        removed.push({ ark, kind });
      }
    }
    return removed;
  }

  async *#members(): AsyncGenerator<StoredRecord> {
    let after: string | undefined;
    do {
      const page = await this.#records.list({
        crate: this.#root,
        limit: BATCH,
        ...(after === undefined ? {} : { after }),
      });
      yield* page.items;
      after = page.next;
      await eventLoop.nextTurn();
    } while (after !== undefined);
  }
}

/**
 * Whether nothing of what a crate states would be left. Its metadata file is then most likely a
 * stub, such as a tool writes for a crate that it does not read.
 */
function isEmptied({ kind, document }: StoredRecord, after: CrateRecord): boolean {
  if (kind !== "rocrate") return false;
  const before = statedIn(document);
  const now = new Set(statedIn(after.document));
  return before.length > 0 && !before.some((name) => now.has(name));
}

const statedIn = (document: Uint8Array): string[] =>
  Object.keys(parseDocument(document)).filter((name) => !name.startsWith("@"));

const emptied = ({ ark, name, document }: StoredRecord): UpdateConflict => ({
  ark,
  code: "CRATE_EMPTIED",
  message:
    `The crate states nothing about the linked crate ${ark}` +
    `${name === null ? "" : ` (${JSON.stringify(quoted(name))})`}: all ` +
    `${statedIn(document).length} properties of its record would be removed. State them in the ` +
    "metadata file of the linked crate, leave that file out, or upload with emptyLinked=true to " +
    "remove them.",
});

const changedMeanwhile = (ark: string): UpdateConflict => ({
  ark,
  code: "CHANGED_MEANWHILE",
  message:
    `${ark} was changed while the crate was ingested; read it again, and upload the ` +
    "crate with its current version.",
});

const differsElsewhere = ({ ark, crate }: StoredRecord): UpdateConflict => ({
  ark,
  code: "IDENTIFIER_TAKEN",
  message:
    `${ark} is a record of yours that belongs to ` +
    `${crate === null ? "no crate" : `the crate ${crate}`} and its content differs; ` +
    "change it there first, or give the entity another @id.",
});

/** Whether a record brings the metadata file of a crate. */
const hasMetadata = ({ objects = [] }: CrateRecord): boolean =>
  objects.some(({ role }) => role === "metadata");

/**
 * An archive is compared by its bytes, whatever its name; names that differ in Unicode
 * normalisation are equal (no archive may hold both). As long as no record of the crate changes, an
 * archive and a metadata file may have other bytes: they have the same statements.
 */
function sameObjects(
  before: readonly ObjectReference[],
  after: readonly ObjectReference[],
  isChanged: boolean,
): boolean {
  const identity = ({ sha256, mediaType, name, role }: ObjectReference) =>
    (role === "archive" ? [role, sha256] : [role, sha256, mediaType, name.normalize("NFC")]).join(
      "\n",
    );
  const identities = (objects: readonly ObjectReference[]) =>
    objects
      .filter(({ role }) => isChanged || (role !== "metadata" && role !== "archive"))
      .map(identity)
      .toSorted();
  const left = identities(before);
  const right = identities(after);
  return left.length === right.length && left.every((text, index) => text === right[index]);
}
