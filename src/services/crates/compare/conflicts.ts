/** Identifiers that a crate cannot use and records that it cannot write, with the reasons. */
import { arkKey, claimableArk, codePointName, looksLikeArk } from "../../../identifiers/ark.js";
import { type KindName, withArticle } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds.js";
import type { RecordStore, StoredRecord } from "../../../storage/records/port.js";
import { Claims } from "../../access/rules.js";
import { parseDocument } from "../../records/view.js";
import { quoted } from "../findings.js";
import { describedCrate } from "../layout.js";
import type { Claim, Conflict, CrateRecord } from "../steps.js";

export type Reason = Pick<Conflict, "code" | "message">;

export const conflictOf = ({ ark, file, pointer }: Claim, reason: Reason): Conflict => ({
  ark,
  file,
  pointer,
  ...reason,
});

/** A refused crate's descriptor is refused too: that finding adds no information. */
export function withoutDescriptors(conflicts: readonly Conflict[]): Conflict[] {
  const refused = new Set(conflicts.map(({ ark }) => ark));
  return conflicts.filter(({ ark }) => !refused.has(describedCrate(ark) ?? ""));
}

/**
 * The identifier belongs to another record.
 * @param kind absent where the uploader may not know it
 * @param who whether the record is the crate's own, and the kind of another owner: the only facts
 * about the owner that the finding reports
 */
export function taken(
  ark: string,
  kind: KindName | undefined,
  isDeleted: boolean,
  { root = false, owner }: { root?: boolean; owner?: KindName | undefined } = {},
): Reason {
  const holder =
    (kind ? withArticle(KINDS[kind].typeName) : "another record") +
    (owner ? ` of another ${KINDS[owner].typeName}` : "");
  const why = isDeleted
    ? " that was deleted, and identifiers are not used again"
    : kind === "rocrate"
      ? " that exists already"
      : owner || kind === undefined
        ? ""
        : " whose content differs";
  const fix = root
    ? "give the crate another @id, and take the identifier out of its descriptor"
    : kind === "rocrate" && !isDeleted
      ? "give the nested crate another @id, or leave it out and refer to it"
      : "give the entity another @id";
  return {
    code: "IDENTIFIER_TAKEN",
    message: `${quoted(ark)} is the identifier of ${holder}${why}; ${fix}.`,
  };
}

/** The uploader has the crate, and did not ask for an update. */
export const crateExists = ({ ark, tombstone }: StoredRecord): Reason => ({
  code: "CRATE_EXISTS",
  message: tombstone
    ? `You deleted the crate ${ark}; upload with ?update=true to restore it.`
    : `You have the crate ${ark} already; upload with ?update=true to make this its next ` +
      "revision.",
});

/** A record of the uploader's outside of this crate states something else. */
export function differs(record: CrateRecord, before: StoredRecord, isUpdate: boolean): Reason {
  const { ark, kind, crate, tombstone } = before;
  if (isUpdate)
    return {
      code: "IDENTIFIER_TAKEN",
      message:
        `${ark} is a record of yours that belongs to ` +
        `${crate === null ? "no crate" : `the crate ${crate}`} and its content differs; ` +
        "change it there first, or give the entity another @id.",
    };
  if (record.kind !== "rocrate" || kind !== "rocrate")
    return taken(record.ark, kind, tombstone !== null);
  return {
    code: "IDENTIFIER_TAKEN",
    message:
      `The nested crate ${quoted(ark)} is a crate of yours already and its content ` +
      "differs; upload with ?update=true to make this its next revision, or give the " +
      "nested crate another @id.",
  };
}

export const changedMeanwhile = (ark: string): Reason => ({
  code: "CHANGED_MEANWHILE",
  message:
    `${ark} was changed while the crate was ingested; read it again, and upload the ` +
    "crate with its current version.",
});

/**
 * Whether nothing of what a linked crate states would be left. Its metadata file is then most
 * likely a stub, such as a tool writes for a crate that it does not read.
 */
export function emptied(before: StoredRecord, after: CrateRecord): Reason | undefined {
  if (before.kind !== "rocrate") return undefined;
  const stated = statedIn(before.document);
  const now = new Set(statedIn(after.document));
  if (stated.length === 0 || stated.some((name) => now.has(name))) return undefined;
  const { ark, name } = before;
  return {
    code: "CRATE_EMPTIED",
    message:
      `The crate states nothing about the linked crate ${ark}` +
      `${name === null ? "" : ` (${JSON.stringify(quoted(name))})`}: all ` +
      `${stated.length} properties of its record would be removed. State them in the ` +
      "metadata file of the linked crate, leave that file out, or upload with emptyLinked=true " +
      "to remove them.",
  };
}

const statedIn = (document: Uint8Array): string[] =>
  Object.keys(parseDocument(document)).filter((name) => !name.startsWith("@"));

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

  /** @param claims those of unregistered identifiers */
  async conflicts(claims: readonly Claim[]): Promise<Conflict[]> {
    if (claims.length === 0) return [];
    this.#claims ??= this.#records
      .accountOf(this.#user)
      .then(
        (account) =>
          new Claims(this.#records, { user: this.#user, admin: account?.admin === true }),
      );
    const above = await (await this.#claims).refusals(claims.map(({ ark }) => arkKey(ark)));
    return claims.flatMap((claim, index): Conflict[] => {
      const { ark, id, kept } = claim;
      // The archive of a crate states its ARK beside the root's own `@id`.
      const problem = kept ? claimableArk(looksLikeArk(id) ? id : ark) : undefined;
      if (typeof problem === "string")
        return [conflictOf(claim, { code: "INVALID_ID", message: `${shown(ark)}: ${problem}.` })];
      const holder = above[index];
      return holder
        ? [
            conflictOf(claim, {
              code: "IDENTIFIER_BELOW",
              message:
                `${quoted(ark)} lies below ${quoted(holder.ark)}, which you may not change; ` +
                "give the entity another @id.",
            }),
          ]
        : [];
    });
  }
}

/** Invisible characters are shown by number, so that a message is not itself misleading. */
const shown = (ark: string): string =>
  quoted(ark.replace(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Z}]/gu, codePointName));
