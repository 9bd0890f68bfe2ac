import { ServiceError } from "../../../errors.js";
import { looksLikeArk, parseArk } from "../../../identifiers/ark.js";
import { collectAll } from "../../../memory.js";
import type { ObjectReader, ObjectStore } from "../../../stores/objects/port.js";
import { buildRecords, placeOf } from "../build-records.js";
import { checkClaims, type StoredFile } from "../files/check-claims.js";
import { CrateError, Findings, crateError } from "../findings.js";
import { crateCandidates } from "../identifiers/linked.js";
import { locateMetadata } from "../metadata/locate.js";
import { gatherMetadata } from "../metadata/read.js";
import { describeCrate, prepareDescribed, type MetadataBytes, type PrepareSettings, type PreparedCrate } from "../prepare.js";
import type { GraphsOf } from "../records/mend.js";
import { Archive } from "../zip/archive.js";
import type { Member } from "../zip/member.js";
import type { IntakeHost, IntakeInput, IntakeResult } from "./protocol.js";
import { hashFiles, storeFiles } from "./store-files.js";

/** Identifiers asked about in one message: few enough not to hold up the side that answers. */
const CLAIMED_AT_ONCE = 2000;
/** Members or entities whose reading leaves more garbage than a collection costs. */
const MANY = 2000;
/** Name under which a metadata file that came alone is known. */
const ALONE = "ro-crate-metadata.json";

/**
 * Takes a crate apart, stores its files and hands over its records; nothing becomes visible by it.
 * @returns what was found when the crate itself is at fault
 * @throws whatever is no fault of the crate
 */
export async function takeIn(input: IntakeInput, objects: ObjectStore, host: IntakeHost, graphsOf: GraphsOf): Promise<IntakeResult> {
  const findings = new Findings();
  let reader: ObjectReader | undefined;
  try {
    host.progress({ stage: "reading archive", done: 0, total: null, unit: "members" });
    reader = await openArchive(input, objects);
    return await (input.format === "zip" ? fromZip(input, reader, objects, host, graphsOf, findings) : fromMetadata(input, reader, host, graphsOf, findings));
  } catch (error) {
    if (error instanceof CrateError) return { errors: error.findings, warnings: error.warnings.length > 0 ? error.warnings : findings.allWarnings() };
    throw error;
  } finally {
    await reader?.close();
  }
}

async function openArchive({ archive: { sha256, staged } }: IntakeInput, objects: ObjectStore): Promise<ObjectReader> {
  return (staged === undefined ? objects.reader(sha256) : objects.readStaged(staged)).catch((error: unknown) => {
    throw error instanceof ServiceError && error.code === "NOT_FOUND" ? crateError("ARCHIVE_GONE", "The uploaded file is no longer stored; send it again.") : error;
  });
}

async function fromZip(input: IntakeInput, reader: ObjectReader, objects: ObjectStore, host: IntakeHost, graphsOf: GraphsOf, findings: Findings): Promise<IntakeResult> {
  const { crate, stored } = await unpack(input, reader, objects, host, findings);
  // The archive's directory is dead now: what JSON-LD needs takes its place.
  if (stored.size > MANY) collectAll();
  return handOver(crate, stored, { ...input, size: reader.size }, host, graphsOf);
}

async function unpack(input: IntakeInput, reader: ObjectReader, objects: ObjectStore, host: IntakeHost, findings: Findings): Promise<{ crate: PreparedCrate; stored: Map<string, StoredFile> }> {
  const archive = await Archive.open(reader, input.limits);
  const files = archive.members.filter(({ folder }) => !folder);
  // What reading a long directory left is gone before more is read, so that the heap does not grow by both.
  if (files.length > MANY) collectAll();
  const located = locateMetadata(files.map(({ name }) => name), findings);
  host.progress({ stage: "reading metadata", done: 0, total: 1 + located.nested.length, unit: "files" });
  const byName = new Map(files.map((member) => [member.name, member]));
  const metadata: MetadataBytes[] = [];
  for (const { file, folder } of [located.root, ...located.nested])
    metadata.push({ file, folder, bytes: await gatherMetadata(archive.read(byName.get(file)!), file, input.limits) });
  const crate = await prepared(metadata, archive.members, { ...input.identify, limits: input.limits, toTheEnd: input.dryRun === true }, findings, host);
  await claimIdentifiers(crate, input, host);
  // The texts of the metadata.
  metadata.length = 0;
  if (files.length > MANY || crate.entities.length > MANY) collectAll();

  const total = files.reduce((sum, { size }) => sum + size, 0);
  let done = 0;
  host.progress({ stage: "storing files", done, total, unit: "bytes" });
  const onStored = (bytes: number) => host.progress({ stage: "storing files", done: (done += bytes), total, unit: "bytes" });
  const work = { archive, members: files, digests: wantedDigests(crate), onStored };
  const stored = input.dryRun ? await hashFiles({ ...work, onBad: (error) => crate.findings.take(error) }) : await storeFiles({ ...work, objects, intend: (sha256s) => host.intend(sha256s) });
  return { crate, stored };
}

async function fromMetadata(input: IntakeInput, reader: ObjectReader, host: IntakeHost, graphsOf: GraphsOf, findings: Findings): Promise<IntakeResult> {
  host.progress({ stage: "reading metadata", done: 0, total: 1, unit: "files" });
  const bytes = await gatherMetadata(wholeOf(reader), ALONE, input.limits);
  const crate = await prepared([{ file: ALONE, folder: "", bytes }], [], { ...input.identify, limits: input.limits, withoutFiles: true, toTheEnd: input.dryRun === true }, findings, host);
  await claimIdentifiers(crate, input, host);
  return handOver(crate, new Map([[ALONE, { sha256: input.archive.sha256, size: reader.size }]]), { ...input, size: reader.size }, host, graphsOf);
}

/** The crate as {@link prepareDescribed} has it, with the crates within it that the uploader has already. */
async function prepared(metadata: readonly MetadataBytes[], members: readonly Member[], settings: PrepareSettings, findings: Findings, host: IntakeHost): Promise<PreparedCrate> {
  const descriptions = describeCrate(metadata, settings, findings);
  const candidates = crateCandidates(descriptions);
  const found = candidates.length === 0 ? [] : await host.registered(candidates, settings.crate ?? parseArk(descriptions[0]!.root.id)?.stored);
  return prepareDescribed(descriptions, metadata, members, { ...settings, registered: new Map(found.map((crate) => [crate.ark, crate])) }, findings);
}

async function* wholeOf(reader: ObjectReader): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < reader.size; ) {
    const chunk = new Uint8Array(Math.min(2 ** 20, reader.size - at));
    const read = await reader.read(chunk, at);
    if (read === 0) return;
    yield chunk.subarray(0, read);
    at += read;
  }
}

/** Asks early, before anything is stored; the commit asks again. */
async function claimIdentifiers({ entities, root, findings }: PreparedCrate, { dryRun }: IntakeInput, host: IntakeHost): Promise<void> {
  for (let start = 0; start < entities.length; start += CLAIMED_AT_ONCE) {
    const batch = entities.slice(start, start + CLAIMED_AT_ONCE);
    const refusals = await host.claim(batch.map((entity) => ({ ark: entity.ark, kind: entity.kind, root: entity === root, id: entity.parts[0]!.entity.id, kept: entity.kept, ...(entity.linked ? { linked: entity.linked } : {}), ...placeOf(entity) })));
    for (const { index, code, message } of refusals) findings.error(code, message, placeOf(batch[index]!));
  }
  if (!dryRun) findings.throwIfErrors();
}

function wantedDigests({ entities }: PreparedCrate): Map<string, ("md5" | "sha512")[]> {
  const wanted = new Map<string, ("md5" | "sha512")[]>();
  for (const { file } of entities) {
    const names = file ? (["md5", "sha512"] as const).filter((name) => file.claims[name] !== undefined) : [];
    if (file && names.length > 0) wanted.set(file.file.member, [...new Set([...(wanted.get(file.file.member) ?? []), ...names])]);
  }
  return wanted;
}

async function handOver(crate: PreparedCrate, stored: ReadonlyMap<string, StoredFile>, input: IntakeInput & { size: number }, host: IntakeHost, graphsOf: GraphsOf): Promise<IntakeResult> {
  for (const { file } of crate.entities) if (file && stored.has(file.file.member)) checkClaims(stored.get(file.file.member)!, file.claims, crate.findings);
  if (!input.dryRun) crate.findings.throwIfErrors();
  if (input.update && input.identify.crate === undefined && crate.root.parts.every(({ entity }) => !looksLikeArk(entity.id)))
    crate.findings.warn("ROOT_WITHOUT_ARK", "Neither the upload nor the crate's root says which crate to update, so this became a new crate. Upload it with `crate=` and the ARK of the crate, or give the root that ARK as its `@id`.", placeOf(crate.root));
  const total = crate.entities.length;
  let done = 0;
  host.progress({ stage: "building records", done, total, unit: "records" });
  const { archive, baseUrl, owner, format } = input;
  const reference = { sha256: archive.sha256, size: input.size, mediaType: "application/zip", name: archive.name, role: "archive" as const };
  for await (const records of buildRecords(crate, stored, { limits: input.limits, baseUrl, owner, update: input.update === true, ...(format === "zip" ? { archive: reference } : {}) }, graphsOf)) {
    done += records.length;
    host.records(records);
    host.progress({ stage: "building records", done, total, unit: "records" });
  }
  crate.findings.throwIfErrors();
  return { root: crate.root.ark, warnings: crate.findings.allWarnings() };
}
