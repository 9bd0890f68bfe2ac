import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { ServiceError } from "../../../errors.js";
import { looksLikeArk } from "../../../identifiers/ark.js";
import { collectAll } from "../../../memory.js";
import type { ObjectReader, ObjectStore, StagedObject } from "../../../storage/objects/port.js";
import { buildRecords, type GraphsOf, placeOf } from "../build-records.js";
import { checkClaims, type StoredFile } from "../files/match-files.js";
import { CrateError, crateError, Findings } from "../findings.js";
import { crateCandidates } from "../identifiers/rewrite.js";
import { statedArk } from "../layout.js";
import {
  describeCrate,
  gatherMetadata,
  hasMetadata,
  type LocatedMetadata,
  locateMetadata,
  type MetadataBytes,
  type PreparedCrate,
  type PreparedEntity,
  type PrepareSettings,
  prepareDescribed,
} from "../prepare.js";
import { convertible, isWrittenPage, mayConvert, PREVIEW_PAGE } from "../upload.js";
import { Archive } from "../zip/archive.js";
import type { Member } from "../zip/members.js";
import type { IntakeHost, IntakeInput, IntakeResult } from "./thread.js";

/** Files announced in one transaction. */
const BATCH_FILES = 64;
/** Staged bytes that may await an announcement. */
const BATCH_BYTES = 64 * 2 ** 20;
/**
 * After this number of files their garbage in the old generation is collected: minor collections
 * promote some of it, and V8 itself waits for more.
 */
const COLLECTED_EACH = 2000;
/**
 * Files written at a time, where the store states no number: enough to keep the disk busy while
 * others are inflated.
 */
const AT_A_TIME = 4;

/**
 * Up to this size a file is read into memory first: archives hold the same small file, or an empty
 * one, thousands of times, and each store operation has the same cost.
 */
const MAX_BUFFERED_BYTES = 2 ** 14;

/** What ingesting a crate needs of an object store. */
export type IngestObjects = Pick<ObjectStore, "stage" | "parallel" | "reader" | "readStaged">;

interface StoreFiles {
  archive: Pick<Archive, "read">;
  members: readonly Member[];
  /** Digests besides SHA-256 that an entity states and that must be verified, by member. */
  digests: ReadonlyMap<string, readonly ("md5" | "sha512")[]>;
  objects: Pick<ObjectStore, "stage" | "parallel">;
  intend(sha256s: string[]): Promise<void>;
  /** Called with the number of bytes of each stored file. */
  onStored?: (bytes: number) => void;
}

/**
 * Stores the files of an archive: staged in batches, announced, then published.
 * @throws CrateError for an invalid member; then nothing of its batch remains
 */
async function storeFiles({
  archive,
  members,
  digests,
  objects,
  intend,
  onStored,
}: StoreFiles): Promise<Map<string, StoredFile>> {
  const stored = new Map<string, StoredFile>();
  const files = members
    .filter(({ folder }) => !folder)
    .toSorted((a, b) => a.entry.relativeOffsetOfLocalHeader - b.entry.relativeOffsetOfLocalHeader);
  /** Small contents that are stored, with their sizes. */
  const again = new Map<string, number>();
  let left = 0;
  for (const batch of batches(files)) {
    const staged: [Member, StagedObject][] = [];
    const same: [Member, StoredFile][] = [];
    try {
      await eachOf(batch, objects.parallel, async (member) => {
        const wanted = digests.get(member.name) ?? [];
        const source =
          member.size > MAX_BUFFERED_BYTES
            ? archive.read(member)
            : await gathered(archive.read(member), wanted);
        const known = "digests" in source ? again.get(source.digests.sha256) : undefined;
        if (known !== undefined && "digests" in source)
          same.push([member, { ...source.digests, size: known }]);
        else
          staged.push([
            member,
            await objects.stage(
              "digests" in source ? source.chunks : source,
              wanted.length > 0 ? { digests: [...wanted] } : {},
            ),
          ]);
      });
      await intend([...new Set(staged.map(([, { sha256 }]) => sha256))]);
      await eachOf(staged, objects.parallel, ([, object]) => object.publish());
    } catch (error) {
      await Promise.allSettled(staged.map(([, object]) => object.discard()));
      throw error;
    }
    for (const [member, { sha256, size, digests: further }] of staged) {
      if (size <= MAX_BUFFERED_BYTES) again.set(sha256, size);
      stored.set(member.name, { sha256, size, ...further });
      onStored?.(size);
    }
    for (const [member, file] of same) {
      stored.set(member.name, file);
      onStored?.(file.size);
    }
    left += batch.length;
    if (left < COLLECTED_EACH) continue;
    left = 0;
    collectAll();
  }
  return stored;
}

/** A small file in memory, with its digests. */
async function gathered(
  chunks: AsyncIterable<Uint8Array>,
  further: readonly ("md5" | "sha512")[],
): Promise<{
  chunks: AsyncIterable<Uint8Array>;
  digests: Pick<StoredFile, "sha256" | "md5" | "sha512">;
}> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const bytes = Buffer.concat(parts);
  const digests = Object.fromEntries(
    (["sha256", ...further] as const).map((name) => [
      name,
      createHash(name).update(bytes).digest("hex"),
    ]),
  ) as Pick<StoredFile, "sha256">;
  return { chunks: Readable.from([bytes], { objectMode: true }), digests };
}

/**
 * The same without storing: sizes and digests only, for a dry run. The error of an invalid member
 * is passed to `onBad`.
 */
async function hashFiles({
  archive,
  members,
  digests,
  onStored,
  onBad,
}: Omit<StoreFiles, "objects" | "intend"> & { onBad: (error: CrateError) => void }): Promise<
  Map<string, StoredFile>
> {
  const found = new Map<string, StoredFile>();
  for (const member of members) {
    const hashes = (["sha256", ...(digests.get(member.name) ?? [])] as const).map(
      (name) => [name, createHash(name)] as const,
    );
    let size = 0;
    try {
      for await (const chunk of archive.read(member)) {
        size += chunk.byteLength;
        for (const [, hash] of hashes) hash.update(chunk);
      }
    } catch (error) {
      if (!(error instanceof CrateError)) throw error;
      onBad(error);
      continue;
    }
    found.set(member.name, {
      size,
      ...(Object.fromEntries(hashes.map(([name, hash]) => [name, hash.digest("hex")])) as {
        sha256: string;
      }),
    });
    onStored?.(size);
  }
  return found;
}

function* batches(members: readonly Member[]): Generator<Member[]> {
  let batch: Member[] = [];
  let bytes = 0;
  for (const member of members) {
    batch.push(member);
    bytes += member.size;
    if (batch.length < BATCH_FILES && bytes < BATCH_BYTES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Processes some items at a time; rejects with the first error after all started operations have
 * ended.
 */
async function eachOf<T>(
  items: readonly T[],
  atATime = AT_A_TIME,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed: { error: unknown } | undefined;
  const worker = async () => {
    while (next < items.length && !failed) {
      try {
        await work(items[next++]!);
      } catch (error) {
        failed ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  if (failed) throw failed.error;
}

/** Identifiers in one message: few enough not to block the side that answers. */
const CLAIMED_AT_ONCE = 2000;
/** Members or entities whose reading leaves more garbage than a collection costs. */
const MANY = 2000;
/** Name of a metadata file that was uploaded alone. */
const ALONE = "ro-crate-metadata.json";

/**
 * Unpacks a crate, stores its files and passes on its records; none of them becomes visible.
 * @returns the findings when the crate itself is at fault
 * @throws any error that is not a fault of the crate
 */
export async function ingestCrate(
  input: IntakeInput,
  objects: IngestObjects,
  host: IntakeHost,
  graphsOf: GraphsOf,
): Promise<IntakeResult> {
  const findings = new Findings();
  let reader: ObjectReader | undefined;
  try {
    host.progress({ stage: "reading archive", done: 0, total: null, unit: "members" });
    reader = await openArchive(input, objects);
    return await (input.format === "zip"
      ? fromZip(input, reader, objects, host, graphsOf, findings)
      : fromMetadata(input, reader, host, graphsOf, findings));
  } catch (error) {
    if (error instanceof CrateError)
      return {
        errors: error.findings,
        warnings: error.warnings.length > 0 ? error.warnings : findings.allWarnings(),
      };
    throw error;
  } finally {
    await reader?.close();
  }
}

async function openArchive(
  { archive: { sha256, staged } }: IntakeInput,
  objects: IngestObjects,
): Promise<ObjectReader> {
  return (staged === undefined ? objects.reader(sha256) : objects.readStaged(staged)).catch(
    (error: unknown) => {
      throw error instanceof ServiceError && error.code === "NOT_FOUND"
        ? crateError("ARCHIVE_GONE", "The uploaded file is no longer stored; send it again.")
        : error;
    },
  );
}

async function fromZip(
  input: IntakeInput,
  reader: ObjectReader,
  objects: IngestObjects,
  host: IntakeHost,
  graphsOf: GraphsOf,
  findings: Findings,
): Promise<IntakeResult> {
  const { crate, stored } = await unpack(input, reader, objects, host, findings);
  // The archive's directory is garbage now: JSON-LD needs the memory.
  if (stored.size > MANY) collectAll();
  return handOver(crate, stored, { ...input, size: reader.size }, host, graphsOf);
}

async function unpack(
  input: IntakeInput,
  reader: ObjectReader,
  objects: IngestObjects,
  host: IntakeHost,
  findings: Findings,
): Promise<{ crate: PreparedCrate; stored: Map<string, StoredFile> }> {
  const archive = await Archive.open(reader, input.limits);
  let files = archive.members.filter(({ folder }) => !folder);
  // Garbage of a long directory is collected before more is read, so that the heap does not hold
  // both.
  if (files.length > MANY) collectAll();
  const byName = new Map(files.map((member) => [member.name, member]));
  const names = files.map(({ name }) => name);
  const located = hasMetadata(names)
    ? locateMetadata(names, findings)
    : ((await otherMetadata(archive, byName, input)) ?? locateMetadata(names, findings));
  host.progress({
    stage: "reading metadata",
    done: 0,
    total: 1 + located.nested.length,
    unit: "files",
  });
  const metadata: MetadataBytes[] = [];
  for (const { file, folder } of [located.root, ...located.nested])
    metadata.push({
      file,
      folder,
      bytes: await gatherMetadata(archive.read(byName.get(file)!), file, input.limits),
    });
  const crate = await prepared(
    metadata,
    archive.members,
    { ...input.identify, limits: input.limits, toTheEnd: input.dryRun === true },
    findings,
    host,
  );
  const pages = await writtenPages(crate, archive, byName, input);
  if (pages.size > 0) {
    crate.undescribed = crate.undescribed.filter(({ member }) => !pages.has(member));
    files = files.filter(({ name }) => !pages.has(name));
  }
  await claimIdentifiers(crate, input, host);
  // The texts of the metadata.
  metadata.length = 0;
  if (files.length > MANY || crate.entities.length > MANY) collectAll();

  const total = files.reduce((sum, { size }) => sum + size, 0);
  let done = 0;
  host.progress({ stage: "storing files", done, total, unit: "bytes" });
  const onStored = (bytes: number) =>
    host.progress({ stage: "storing files", done: (done += bytes), total, unit: "bytes" });
  const work = { archive, members: files, digests: wantedDigests(crate), onStored };
  const stored = input.dryRun
    ? await hashFiles({ ...work, onBad: (error) => crate.findings.take(error) })
    : await storeFiles({ ...work, objects, intend: (sha256s) => host.intend(sha256s) });
  return { crate, stored };
}

/**
 * Preview pages that an export has added. They are no part of the crate: an export that is uploaded
 * again changes nothing.
 */
async function writtenPages(
  { undescribed }: PreparedCrate,
  archive: Archive,
  members: ReadonlyMap<string, Member>,
  { limits }: IntakeInput,
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const { member, path, size } of undescribed)
    if (
      path === PREVIEW_PAGE &&
      size <= limits.MAX_METADATA_BYTES &&
      isWrittenPage(await gatherMetadata(archive.read(members.get(member)!), member, limits))
    )
      found.add(member);
  return found;
}

/** A document of another format, in an archive without RO-Crate metadata. */
async function otherMetadata(
  archive: Archive,
  members: ReadonlyMap<string, Member>,
  { limits }: IntakeInput,
): Promise<LocatedMetadata | undefined> {
  for (const file of convertible([...members.keys()])) {
    const member = members.get(file)!;
    if (member.size > limits.MAX_METADATA_BYTES) continue;
    if (mayConvert(file, await gatherMetadata(archive.read(member), file, limits)))
      return { root: { file, folder: file.slice(0, file.lastIndexOf("/") + 1) }, nested: [] };
  }
  return undefined;
}

async function fromMetadata(
  input: IntakeInput,
  reader: ObjectReader,
  host: IntakeHost,
  graphsOf: GraphsOf,
  findings: Findings,
): Promise<IntakeResult> {
  host.progress({ stage: "reading metadata", done: 0, total: 1, unit: "files" });
  const file = /\.json(?:ld)?$/i.test(input.archive.name) ? input.archive.name : ALONE;
  const bytes = await gatherMetadata(wholeOf(reader), file, input.limits);
  const crate = await prepared(
    [{ file, folder: "", bytes }],
    [],
    {
      ...input.identify,
      limits: input.limits,
      withoutFiles: true,
      toTheEnd: input.dryRun === true,
    },
    findings,
    host,
  );
  await claimIdentifiers(crate, input, host);
  return handOver(
    crate,
    new Map([[file, { sha256: input.archive.sha256, size: reader.size }]]),
    { ...input, size: reader.size },
    host,
    graphsOf,
  );
}

/**
 * The crate as {@link prepareDescribed} returns it, with the crates within it that the uploader has
 * already.
 */
async function prepared(
  metadata: readonly MetadataBytes[],
  members: readonly Member[],
  settings: PrepareSettings,
  findings: Findings,
  host: IntakeHost,
): Promise<PreparedCrate> {
  const descriptions = describeCrate(metadata, settings, findings);
  const candidates = crateCandidates(descriptions);
  const found =
    candidates.length === 0
      ? []
      : await host.registered(candidates, settings.crate ?? statedArk(descriptions[0]!));
  return prepareDescribed(
    descriptions,
    metadata,
    members,
    { ...settings, registered: new Map(found.map((crate) => [crate.ark, crate])) },
    findings,
  );
}

async function* wholeOf(reader: ObjectReader): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < reader.size;) {
    const chunk = new Uint8Array(Math.min(2 ** 20, reader.size - at));
    const read = await reader.read(chunk, at);
    if (read === 0) return;
    yield chunk.subarray(0, read);
    at += read;
  }
}

/** Checks early, before anything is stored; the commit checks again. */
async function claimIdentifiers(
  { entities, root, findings }: PreparedCrate,
  { dryRun }: IntakeInput,
  host: IntakeHost,
): Promise<void> {
  for (let start = 0; start < entities.length; start += CLAIMED_AT_ONCE) {
    const batch = entities.slice(start, start + CLAIMED_AT_ONCE);
    const refusals = await host.claim(
      batch.map((entity) => ({
        ark: entity.ark,
        kind: entity.kind,
        root: entity === root,
        id: statedId(entity),
        kept: entity.kept,
        ...(entity.linked ? { linked: entity.linked } : {}),
        ...placeOf(entity),
      })),
    );
    for (const { index, code, message } of refusals)
      findings.error(code, message, placeOf(batch[index]!));
  }
  if (!dryRun) findings.throwIfErrors();
}

/** The `@id` that an identifier is kept from may be in the file of a crate around it. */
const statedId = ({ kept, parts }: PreparedEntity): string =>
  ((kept ? parts.find(({ entity }) => looksLikeArk(entity.id)) : undefined) ?? parts[0]!).entity.id;

function wantedDigests({ entities }: PreparedCrate): Map<string, ("md5" | "sha512")[]> {
  const wanted = new Map<string, ("md5" | "sha512")[]>();
  for (const { file } of entities) {
    const names = file
      ? (["md5", "sha512"] as const).filter((name) => file.claims[name] !== undefined)
      : [];
    if (file && names.length > 0)
      wanted.set(file.file.member, [
        ...new Set([...(wanted.get(file.file.member) ?? []), ...names]),
      ]);
  }
  return wanted;
}

async function handOver(
  crate: PreparedCrate,
  stored: ReadonlyMap<string, StoredFile>,
  input: IntakeInput & { size: number },
  host: IntakeHost,
  graphsOf: GraphsOf,
): Promise<IntakeResult> {
  for (const { file } of crate.entities)
    if (file && stored.has(file.file.member))
      checkClaims(file.file.path, stored.get(file.file.member)!, file.claims, crate.findings);
  if (!input.dryRun) crate.findings.throwIfErrors();
  if (input.update && input.identify.crate === undefined && !crate.root.kept)
    crate.findings.warn(
      "ROOT_WITHOUT_ARK",
      "Neither the upload nor the crate's root says which crate to update, so this became a " +
        "new crate. Upload it with `crate=` and the ARK of the crate, or give the root that " +
        "ARK as its `@id`.",
      placeOf(crate.root),
    );
  const total = crate.entities.length;
  let done = 0;
  host.progress({ stage: "building records", done, total, unit: "records" });
  const { archive, baseUrl, owner, format } = input;
  const reference = {
    sha256: archive.sha256,
    size: input.size,
    mediaType: "application/zip",
    name: archive.name,
    role: "archive" as const,
  };
  for await (const records of buildRecords(
    crate,
    stored,
    {
      limits: input.limits,
      baseUrl,
      owner,
      update: input.update === true,
      ...(format === "zip" ? { archive: reference } : {}),
    },
    graphsOf,
  )) {
    done += records.length;
    host.records(records);
    host.progress({ stage: "building records", done, total, unit: "records" });
  }
  crate.findings.throwIfErrors();
  return { root: crate.root.ark, warnings: crate.findings.allWarnings() };
}
