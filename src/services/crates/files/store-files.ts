/** Stores the files of a crate, and compares them with what the metadata states of them. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { collectAll } from "../../../memory.js";
import { type ObjectStore, receive, type StagedObject } from "../../../storage/objects/port.js";
import { CrateError } from "../findings.js";
import { readFile } from "../read.js";
import { type CrateLimits, isWrittenPage, PREVIEW_PAGE } from "../upload.js";
import type { Archive } from "../zip/archive.js";
import type { Member } from "../zip/members.js";
import { checkClaims, type CrateFile, type StoredFile } from "./match-files.js";
import type { IntakeHost, IntakeInput, ReadCrate, ResolvedCrate } from "../steps.js";

/** Files announced in one transaction. */
const MAX_FILES_PER_BATCH = 64;
/** Staged bytes that may await an announcement. */
const MAX_BYTES_PER_BATCH = 64 * 2 ** 20;
/**
 * After this number of files their garbage in the old generation is collected: minor collections
 * promote some of it, and V8 itself waits for more.
 */
const FILES_PER_COLLECTION = 2000;
/**
 * Files written at a time, where the store states no number: enough to keep the disk busy while
 * others are inflated.
 */
const PARALLEL_FILES = 4;
/**
 * Up to this size a file is read into memory first: archives hold the same small file, or an empty
 * one, thousands of times, and each store operation has the same cost.
 */
const MAX_BUFFERED_BYTES = 2 ** 14;

/** Digests beside SHA-256 that an entity may state. */
const FURTHER_DIGESTS = ["md5", "sha512"] as const;
type FurtherDigest = (typeof FURTHER_DIGESTS)[number];

/** Where the bytes of files go. */
interface Destination extends Pick<ObjectStore, "stage"> {
  parallel: number;
  /** Whether files leave garbage that is collected here: buffers and handles of what is written. */
  leavesGarbage: boolean;
  /** Resolves when these objects may be published. */
  announce(sha256s: string[]): Promise<void>;
}

/** For a dry run: files are read and hashed, one after the other, and stored nowhere. */
const HASHED_ONLY: Destination = {
  parallel: 1,
  leavesGarbage: false,
  announce: async () => {},
  async stage(source, options = {}) {
    const received = await receive(source, options, async () => {});
    return { ...received, place: "", publish: async () => {}, discard: async () => {} };
  },
};

/**
 * Stores the files of an archive; a dry run only reads them. Compares them with what the metadata
 * states.
 * @returns the files, by member of the archive
 * @throws CrateError for an invalid member; then nothing of its batch remains
 */
export async function storeFiles(
  read: ReadCrate,
  crate: ResolvedCrate,
  input: IntakeInput,
  objects: Pick<ObjectStore, "stage" | "parallel">,
  host: Pick<IntakeHost, "intend" | "progress">,
): Promise<ReadonlyMap<string, StoredFile>> {
  const destination: Destination = input.dryRun
    ? HASHED_ONLY
    : {
        parallel: objects.parallel ?? PARALLEL_FILES,
        leavesGarbage: true,
        announce: (sha256s) => host.intend(sha256s),
        stage: (source, options) => objects.stage(source, options),
      };
  const stored = read.archive
    ? await storeMembers(read.archive, read.members, crate, input.limits, destination, host)
    : new Map(read.metadata.map((file) => [file, { sha256: input.sha256, size: read.size }]));
  for (const { file } of crate.entities) {
    const found = file && stored.get(file.file.member);
    if (found) checkClaims(file.file.path, found, file.claims, crate.findings);
  }
  crate.findings.endStep();
  return stored;
}

async function storeMembers(
  archive: Archive,
  members: readonly Member[],
  crate: ResolvedCrate,
  limits: CrateLimits,
  { parallel, leavesGarbage, announce, stage }: Destination,
  host: Pick<IntakeHost, "progress">,
): Promise<Map<string, StoredFile>> {
  const pages = await writtenPages(crate.undescribed, archive, members, limits);
  crate.undescribed = crate.undescribed.filter(({ member }) => !pages.has(member));
  const files = members
    .filter(({ folder, name }) => !folder && !pages.has(name))
    .toSorted((a, b) => a.entry.relativeOffsetOfLocalHeader - b.entry.relativeOffsetOfLocalHeader);
  const digests = wantedDigests(crate);
  const stored = new Map<string, StoredFile>();
  /** Small contents that are stored, with their sizes. */
  const known = new Map<string, number>();
  const total = files.reduce((sum, { size }) => sum + size, 0);
  let done = 0;
  const advance = (bytes: number) =>
    host.progress({ stage: "storing files", done: (done += bytes), total, unit: "bytes" });
  advance(0);
  let uncollected = 0;
  for (const batch of batches(files)) {
    const staged: [Member, StagedObject][] = [];
    const again: [Member, StoredFile][] = [];
    const stageOne = async (member: Member) => {
      const wanted = [...(digests.get(member.name) ?? [])];
      const small =
        member.size > MAX_BUFFERED_BYTES ? undefined : await gathered(archive.read(member), wanted);
      const size = small && known.get(small.digests.sha256);
      if (small && size !== undefined) again.push([member, { ...small.digests, size }]);
      else
        staged.push([
          member,
          await stage(
            small?.chunks ?? archive.read(member),
            wanted.length > 0 ? { digests: wanted } : {},
          ),
        ]);
    };
    try {
      await eachOf(batch, parallel, (member) =>
        stageOne(member).catch((error: unknown) => {
          if (!(error instanceof CrateError)) throw error;
          crate.findings.take(error);
          crate.findings.endStep();
        }),
      );
      await announce([...new Set(staged.map(([, { sha256 }]) => sha256))]);
      await eachOf(staged, parallel, ([, object]) => object.publish());
    } catch (error) {
      await Promise.allSettled(staged.map(([, object]) => object.discard()));
      throw error;
    }
    for (const [member, { sha256, size, digests: further }] of staged) {
      if (size <= MAX_BUFFERED_BYTES) known.set(sha256, size);
      stored.set(member.name, { sha256, size, ...further });
      advance(size);
    }
    for (const [member, file] of again) {
      stored.set(member.name, file);
      advance(file.size);
    }
    uncollected += batch.length;
    if (!leavesGarbage || uncollected < FILES_PER_COLLECTION) continue;
    uncollected = 0;
    collectAll();
  }
  return stored;
}

/**
 * Preview pages that an export has added. They are no part of the crate: an export that is uploaded
 * again changes nothing.
 */
async function writtenPages(
  undescribed: readonly CrateFile[],
  archive: Archive,
  members: readonly Member[],
  limits: CrateLimits,
): Promise<Set<string>> {
  const pages = new Set(
    undescribed.flatMap(({ member, path, size }) =>
      path === PREVIEW_PAGE && size <= limits.MAX_METADATA_BYTES ? [member] : [],
    ),
  );
  for (const member of pages.size === 0 ? [] : members)
    if (pages.has(member.name) && !isWrittenPage(await readFile(archive, member, limits)))
      pages.delete(member.name);
  return pages;
}

function wantedDigests({ entities }: ResolvedCrate): Map<string, Set<FurtherDigest>> {
  const wanted = new Map<string, Set<FurtherDigest>>();
  for (const { file } of entities)
    for (const name of FURTHER_DIGESTS) {
      if (file?.claims[name] === undefined) continue;
      const { member } = file.file;
      wanted.set(member, (wanted.get(member) ?? new Set()).add(name));
    }
  return wanted;
}

/** A small file in memory, with its digests. */
async function gathered(
  chunks: AsyncIterable<Uint8Array>,
  further: readonly FurtherDigest[],
): Promise<{
  chunks: AsyncIterable<Uint8Array>;
  digests: Pick<StoredFile, "sha256" | FurtherDigest>;
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

function* batches(members: readonly Member[]): Generator<Member[]> {
  let batch: Member[] = [];
  let bytes = 0;
  for (const member of members) {
    batch.push(member);
    bytes += member.size;
    if (batch.length < MAX_FILES_PER_BATCH && bytes < MAX_BYTES_PER_BATCH) continue;
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
  atATime: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  let failed: { error: unknown } | undefined;
  const worker = async () => {
    for (const item of left) {
      if (failed) return;
      try {
        await work(item);
      } catch (error) {
        failed ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  if (failed) throw failed.error;
}
