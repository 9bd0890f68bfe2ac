import type { ServiceError } from "../../../errors.js";
import { arkKey, claimableArk, looksLikeArk } from "../../../identifiers/ark.js";
import { listOf } from "../../../model/field.js";
import type { Finding } from "../../../model/findings.js";
import { type KindName, withArticle } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds.js";
import type { RecordStore, StoredRecord } from "../../../storage/records/port.js";
import { Claims } from "../../access/rules.js";
import { changedPointers } from "../../records/state.js";
import { reservedTextOf } from "../../records/reserved.js";
import { parseDocument } from "../../records/view.js";
import type { CrateRecord } from "../build-records.js";
import { finding, type Place, quoted } from "../findings.js";
import type { RegisteredCrate } from "../identifiers/identify.js";
import { describedCrate, SUMMARIZES } from "../layout.js";
import type { Claim, Refusal } from "./thread.js";

/** Identifiers in one query: few enough not to delay readers. */
const BATCH = 500;

/**
 * Finds, before anything is stored, the identifiers of a crate that are taken, and those that the
 * uploader has already, with their places in the crate.
 */
export async function findConflicts(
  records: Pick<RecordStore, "findMany">,
  claims: readonly Claim[],
  user: string,
  identifiers: NewIdentifiers,
): Promise<{ refusals: Refusal[]; own: Map<string, Place> }> {
  const refusals: Refusal[] = [];
  const holders = new OwnerKinds(records, user);
  const own = new Map<string, Place>();
  for (let start = 0; start < claims.length; start += BATCH) {
    const found = await records.findMany(claims.slice(start, start + BATCH).map(({ ark }) => ark));
    const unknown: [number, Claim][] = [];
    for (const [offset, record] of found.entries()) {
      const index = start + offset;
      const claim = claims[index]!;
      if (!record) {
        unknown.push([index, claim]);
        continue;
      }
      if (
        claim.root &&
        record.owner === user &&
        record.ark === claim.ark &&
        record.kind === "rocrate"
      )
        refusals.push({ index, ...crateExists(record) });
      // The uploader's own record of the same kind may state the same; that is known when the
      // crate's record is built.
      else if (isOwn(record, claim, user))
        own.set(claim.ark, { file: claim.file, pointer: claim.pointer });
      else
        refusals.push({
          index,
          ...taken(claim.ark, record.kind, record.tombstone !== null, {
            root: claim.root,
            owner: await holders.of(record),
          }),
        });
    }
    for (const refusal of await identifiers.refusals(unknown)) refusals.push(refusal);
  }
  return { refusals: withoutDescriptors(refusals, claims), own };
}

/** A refused crate's descriptor is refused too: that finding adds no information. */
export function withoutDescriptors(
  refusals: readonly Refusal[],
  claims: readonly Claim[],
): Refusal[] {
  const refused = new Set(refusals.map(({ index }) => claims[index]!.ark));
  return refusals.filter(({ index }) => !refused.has(describedCrate(claims[index]!.ark) ?? ""));
}

/**
 * A record of the uploader's that the crate may share; a nested crate only where it was registered
 * apart from this one.
 */
function isOwn(record: StoredRecord, claim: Claim, user: string): boolean {
  if (claim.root || (claim.kind === "rocrate" && !claim.linked)) return false;
  return (
    record.owner === user &&
    record.kind === claim.kind &&
    record.tombstone === null &&
    record.ark === claim.ark
  );
}

/**
 * Crates of the user's that were registered apart from the crate `root`: a crate that contains them
 * links to them. Crates that came with `root` itself belong to it.
 */
export async function registeredCrates(
  records: Pick<RecordStore, "findMany">,
  arks: readonly string[],
  root: string | undefined,
  user: string,
): Promise<RegisteredCrate[]> {
  const registered: RegisteredCrate[] = [];
  for (let start = 0; start < arks.length; start += BATCH) {
    const batch = arks.slice(start, start + BATCH);
    for (const [index, record] of (await records.findMany(batch)).entries()) {
      if (
        !record ||
        record.ark !== batch[index] ||
        record.kind !== "rocrate" ||
        record.owner !== user ||
        record.tombstone
      )
        continue;
      if (record.ark !== root && (record.crate === null || record.crate !== root))
        registered.push({ ark: record.ark, alone: record.crate === null });
    }
  }
  return registered;
}

/**
 * Leaves out records that the uploader has already and that state the same: a crate may contain an
 * identifier that another of the same owner's crates uses.
 */
export async function withoutKnown(
  records: Pick<RecordStore, "findMany" | "quads">,
  writes: readonly CrateRecord[],
  own: ReadonlyMap<string, Place>,
): Promise<{ writes: CrateRecord[]; errors: Finding[] }> {
  if (own.size === 0) return { writes: [...writes], errors: [] };
  const same = new Set<string>();
  const errors: Finding[] = [];
  const asked = writes.filter(({ ark }) => own.has(ark));
  for (let start = 0; start < asked.length; start += BATCH) {
    const batch = asked.slice(start, start + BATCH);
    const found = await records.findMany(batch.map(({ ark }) => ark));
    for (const [index, write] of batch.entries()) {
      const record = found[index];
      if (record && (await isUnchanged(records, record, write))) same.add(write.ark);
      else if (record) {
        const { code, message } =
          write.kind === "rocrate" && record.kind === "rocrate"
            ? nestedDiffers(record)
            : taken(write.ark, record.kind, record.tombstone !== null);
        errors.push(finding(code, message, own.get(write.ark)));
      }
    }
  }
  return { writes: writes.filter(({ ark }) => !same.has(ark)), errors };
}

/** The finding when the commit refuses an identifier that was taken meanwhile. */
export function takenAtCommit(error: ServiceError, root: string): Finding {
  const { ark, kind, deleted } = error.extra as {
    ark?: string;
    kind?: KindName;
    deleted?: boolean;
  };
  const { code, message } = taken(ark ?? root, kind, deleted === true, {
    root: ark === undefined || ark === root,
  });
  return finding(code, message);
}

/**
 * The finding when the commit refuses a record that was changed since the comparison with the
 * crate.
 */
export function changedAtCommit(error: ServiceError): Finding {
  const { ark = "A record of the crate" } = error.extra as { ark?: string };
  return finding(
    "CHANGED_MEANWHILE",
    `${ark} was changed while the crate was ingested; read it again, and upload the ` +
      "crate with its current version.",
  );
}

/**
 * Top-level members in which a crate's record differs from the stored one. Key order is ignored: a
 * crate that was edited and packed again has another order.
 */
export async function differences(
  records: Pick<RecordStore, "quads">,
  before: StoredRecord,
  after: Pick<CrateRecord, "document" | "quads">,
): Promise<string[]> {
  if (Buffer.compare(before.document, after.document) === 0) return [];
  const [then, now] = [parseDocument(before.document), parseDocument(after.document)];
  // Summaries have the order of the entities in their metadata file, which means nothing.
  const summaries = [then, now].map((document) =>
    listOf(document[SUMMARIZES])
      .map((value) => JSON.stringify(value))
      .toSorted()
      .join("\n"),
  );
  const changed = changedPointers(then, now).filter(
    (pointer) => pointer !== `/${SUMMARIZES}` || summaries[0] !== summaries[1],
  );
  // An exported crate states its context once for all entities: only the effect of the context on
  // the record counts.
  return changed.length === 1 &&
    changed[0] === "/@context" &&
    (await records.quads(before.ark)) === reservedTextOf(after.quads)
    ? []
    : changed;
}

export const isUnchanged = async (
  records: Pick<RecordStore, "quads">,
  before: StoredRecord,
  after: Pick<CrateRecord, "document" | "quads">,
): Promise<boolean> => (await differences(records, before, after)).length === 0;

/**
 * @param who whether the record is the crate's own, and the kind of another owner: the only facts
 * about the owner that the finding reports
 */
export function taken(
  ark: string,
  kind: KindName | undefined,
  deleted: boolean,
  { root = false, owner }: { root?: boolean; owner?: KindName | undefined } = {},
): { code: "IDENTIFIER_TAKEN"; message: string } {
  const holder =
    (kind ? withArticle(KINDS[kind].typeName) : "another record") +
    (owner ? ` of another ${KINDS[owner].typeName}` : "");
  const why = deleted
    ? " that was deleted, and identifiers are not used again"
    : kind === "rocrate"
      ? " that exists already"
      : owner
        ? ""
        : " whose content differs";
  const fix = root
    ? "give the crate another @id, and take the identifier out of its descriptor"
    : kind === "rocrate" && !deleted
      ? "give the nested crate another @id, or leave it out and refer to it"
      : "give the entity another @id";
  return {
    code: "IDENTIFIER_TAKEN",
    message: `${quoted(ark)} is the identifier of ${holder}${why}; ${fix}.`,
  };
}

/** Kinds of the owners of records that are not the uploader's. */
export class OwnerKinds {
  readonly #known = new Map<string, KindName | undefined>();

  readonly #records: Pick<RecordStore, "findMany">;
  readonly #user: string;

  constructor(records: Pick<RecordStore, "findMany">, user: string) {
    this.#records = records;
    this.#user = user;
  }

  /** Undefined for the uploader's own records, and for records without an owner. */
  async of({ owner }: StoredRecord): Promise<KindName | undefined> {
    if (owner === null || owner === this.#user) return undefined;
    if (!this.#known.has(owner))
      this.#known.set(owner, (await this.#records.findMany([owner]))[0]?.kind);
    return this.#known.get(owner);
  }
}

/** A nested crate that is registered and differs from its metadata file in this crate. */
const nestedDiffers = ({ ark }: StoredRecord): { code: "IDENTIFIER_TAKEN"; message: string } => ({
  code: "IDENTIFIER_TAKEN",
  message:
    `The nested crate ${quoted(ark)} is a crate of yours already and its content ` +
    "differs; upload with ?update=true to make this its next revision, or give the " +
    "nested crate another @id.",
});

function crateExists({ ark, tombstone }: StoredRecord): { code: "CRATE_EXISTS"; message: string } {
  return tombstone
    ? {
        code: "CRATE_EXISTS",
        message: `You deleted the crate ${ark}; upload with ?update=true to restore it.`,
      }
    : {
        code: "CRATE_EXISTS",
        message:
          `You have the crate ${ark} already; upload with ?update=true to make this its next ` +
          "revision.",
      };
}

/**
 * Checks, by the rules for all records, whether the uploader may register the identifiers of a
 * crate.
 */
export class NewIdentifiers {
  #claims: Promise<Claims> | undefined;

  readonly #records: Pick<RecordStore, "accountOf" | "findMany" | "holders">;
  readonly #user: string;

  constructor(records: Pick<RecordStore, "accountOf" | "findMany" | "holders">, user: string) {
    this.#records = records;
    this.#user = user;
  }

  /** Keys above the identifiers without a record, for the commit. */
  async unheld(): Promise<string[]> {
    return (await this.#claims)?.unheld ?? [];
  }

  /** @param claims those of unregistered identifiers, with their places among all claims */
  async refusals(claims: readonly (readonly [index: number, claim: Claim])[]): Promise<Refusal[]> {
    if (claims.length === 0) return [];
    this.#claims ??= this.#records
      .accountOf(this.#user)
      .then(
        (account) =>
          new Claims(this.#records, { user: this.#user, admin: account?.admin === true }),
      );
    const above = await (await this.#claims).refusals(claims.map(([, { ark }]) => arkKey(ark)));
    return claims.flatMap(([index, { ark, id, kept }], at): Refusal[] => {
      // The archive of a crate states its ARK beside the root's own `@id`.
      const problem = kept ? claimableArk(looksLikeArk(id) ? id : ark) : undefined;
      if (typeof problem === "string")
        return [{ index, code: "INVALID_ID", message: `${shown(ark)}: ${problem}.` }];
      const holder = above[at];
      return holder
        ? [
            {
              index,
              code: "IDENTIFIER_BELOW",
              message:
                `${quoted(ark)} lies below ${quoted(holder.ark)}, which you may not change; ` +
                "give the entity another @id.",
            },
          ]
        : [];
    });
  }
}

/** Invisible characters are shown by number, so that a message is not itself misleading. */
const shown = (ark: string): string =>
  quoted(
    ark.replace(
      /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Z}]/gu,
      (character) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`,
    ),
  );

/** Most crates with the same name that are compared, newest first. */
const MOST_ALIKE = 20;

/**
 * A warning for a crate that gets a new identifier although its uploader has a crate of the same
 * name: most likely the upload was meant as an update of that crate.
 */
export async function alike(
  records: Pick<RecordStore, "list">,
  { ark, name }: Pick<CrateRecord, "ark" | "name">,
  user: string,
): Promise<Finding | undefined> {
  if (name === null || name.trim() === "") return undefined;
  const { items } = await records.list({
    kind: "rocrate",
    name,
    ownerKey: arkKey(user),
    order: "-created",
    limit: MOST_ALIKE,
  });
  const other = items.find(
    (record) => record.name === name && record.crate === null && record.ark !== ark,
  );
  return (
    other &&
    finding(
      "CRATE_ALIKE",
      `You have a crate named ${JSON.stringify(quoted(name))} already, ${other.ark}; this ` +
        "is another one. To make it the next revision of that crate, upload it with " +
        `?update=true&crate=${other.ark} (arkgraph upload --update ${other.ark}).`,
    )
  );
}
