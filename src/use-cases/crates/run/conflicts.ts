import type { ServiceError } from "../../../errors.js";
import type { KindName } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds/index.js";
import type { RecordStore, StoredRecord } from "../../../stores/records/port.js";
import type { CrateRecord } from "../build-records.js";
import { finding, quoted, type Place } from "../findings.js";
import type { Finding } from "../../../model/finding.js";
import type { Claim, Refusal } from "./protocol.js";

/** Identifiers asked about at a time: few enough not to hold up readers. */
const BATCH = 500;

/**
 * Which identifiers of a crate are taken, seen before anything is stored, and which are the uploader's own already,
 * with the place in the crate.
 */
export async function findConflicts(records: Pick<RecordStore, "findMany">, claims: readonly Claim[], user: string): Promise<{ refusals: Refusal[]; own: Map<string, Place> }> {
  const refusals: Refusal[] = [];
  const own = new Map<string, Place>();
  for (let start = 0; start < claims.length; start += BATCH) {
    const found = await records.findMany(claims.slice(start, start + BATCH).map(({ ark }) => ark));
    for (const [offset, record] of found.entries()) {
      if (!record) continue;
      const index = start + offset;
      const claim = claims[index]!;
      if (claim.root && record.owner === user && record.ark === claim.ark) refusals.push({ index, ...crateExists(record) });
      // The uploader's own record of the same kind may say the same; known when the crate's is built.
      else if (isOwn(record, claim, user)) own.set(claim.ark, { file: claim.file, pointer: claim.pointer });
      else refusals.push({ index, ...taken(claim.ark, record.kind, record.tombstone !== null) });
    }
  }
  return { refusals, own };
}

/** A crate is taken in once: nested in another it would have two archives. */
function isOwn(record: StoredRecord, claim: Claim, user: string): boolean {
  return !claim.root && claim.kind !== "rocrate" && record.owner === user && record.kind === claim.kind && record.tombstone === null && record.ark === claim.ark;
}

/**
 * Leaves out records that the uploader has already and that say the same: a crate may bring along an
 * identifier that another of the same owner's crates uses.
 */
export async function withoutKnown(records: Pick<RecordStore, "findMany">, writes: readonly CrateRecord[], own: ReadonlyMap<string, Place>): Promise<{ writes: CrateRecord[]; errors: Finding[] }> {
  if (own.size === 0) return { writes: [...writes], errors: [] };
  const same = new Set<string>();
  const errors: Finding[] = [];
  const asked = writes.filter(({ ark }) => own.has(ark));
  for (let start = 0; start < asked.length; start += BATCH) {
    const batch = asked.slice(start, start + BATCH);
    const found = await records.findMany(batch.map(({ ark }) => ark));
    for (const [index, write] of batch.entries()) {
      const record = found[index];
      if (record && Buffer.compare(record.document, write.document) === 0) same.add(write.ark);
      else if (record) {
        const { code, message } = taken(write.ark, record.kind, record.tombstone !== null);
        errors.push(finding(code, message, own.get(write.ark)));
      }
    }
  }
  return { writes: writes.filter(({ ark }) => !same.has(ark)), errors };
}

/** The commit's refusal of an identifier that was taken meanwhile. */
export function takenAtCommit(error: ServiceError, root: string): Finding {
  const { ark, kind, deleted } = error.extra as { ark?: string; kind?: KindName; deleted?: boolean };
  const { code, message } = taken(ark ?? root, kind, deleted === true);
  return finding(code, message);
}

function taken(ark: string, kind: KindName | undefined, deleted: boolean): { code: "IDENTIFIER_TAKEN"; message: string } {
  const holder = kind ? `${/^[AEIOU]/.test(KINDS[kind].typeName) ? "an" : "a"} ${KINDS[kind].typeName}` : "another record";
  const why = deleted ? " that was deleted, and identifiers are not used again" : kind === "rocrate" ? " that is here already, and a crate is taken in once" : " that says something else";
  const fix = kind === "rocrate" && !deleted ? "give the nested crate another @id, or leave it out and refer to it" : "give the entity another @id";
  return { code: "IDENTIFIER_TAKEN", message: `${quoted(ark)} is the identifier of ${holder}${why}; ${fix}.` };
}

function crateExists({ ark, tombstone }: StoredRecord): { code: "CRATE_EXISTS"; message: string } {
  return tombstone
    ? { code: "CRATE_EXISTS", message: `You deleted the crate ${ark}; upload with ?update=true to revive it.` }
    : { code: "CRATE_EXISTS", message: `You have the crate ${ark} already; upload with ?update=true to make this its next revision.` };
}
