import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { collectAll } from "../../../memory.js";
import type { ObjectStore, StagedObject } from "../../../stores/objects/port.js";
import { CrateError } from "../findings.js";
import type { StoredFile } from "../files/check-claims.js";
import type { Archive } from "../zip/archive.js";
import type { Member } from "../zip/member.js";

/** Files announced in one transaction. */
const BATCH_FILES = 64;
/** Staged bytes that may wait for an announcement. */
const BATCH_BYTES = 64 * 2 ** 20;
/** After so many files what they left in the old generation is collected: minor collections promote some of it, and V8 itself waits for more. */
const COLLECTED_EACH = 2000;
/** Files written at a time, where the store does not say otherwise: enough to keep the disk busy while others are inflated. */
const AT_A_TIME = 4;

/** Up to this size a file is looked at in memory first: archives hold the same small file, or nothing, thousands of times, and storing it costs the same each time. */
const SMALL = 2 ** 14;

export interface StoreFiles {
  archive: Pick<Archive, "read">;
  members: readonly Member[];
  /** Digests besides SHA-256 that an entity wants to see checked, by member. */
  digests: ReadonlyMap<string, readonly ("md5" | "sha512")[]>;
  objects: Pick<ObjectStore, "stage" | "parallel">;
  intend(sha256s: string[]): Promise<void>;
  /** Told of the bytes of each file when it is stored. */
  onStored?: (bytes: number) => void;
}

/**
 * Stores the files of an archive: staged in batches, announced, then published.
 * @throws CrateError for what is wrong with a member; then nothing of its batch stays behind
 */
export async function storeFiles({ archive, members, digests, objects, intend, onStored }: StoreFiles): Promise<Map<string, StoredFile>> {
  const stored = new Map<string, StoredFile>();
  const files = members.filter(({ folder }) => !folder).toSorted((a, b) => a.entry.relativeOffsetOfLocalHeader - b.entry.relativeOffsetOfLocalHeader);
  /** Small contents that are stored, with their sizes. */
  const again = new Map<string, number>();
  let left = 0;
  for (const batch of batches(files)) {
    const staged: [Member, StagedObject][] = [];
    const same: [Member, StoredFile][] = [];
    try {
      await eachOf(batch, objects.parallel, async (member) => {
        const wanted = digests.get(member.name) ?? [];
        const source = member.size > SMALL ? archive.read(member) : await gathered(archive.read(member), wanted);
        const known = "digests" in source ? again.get(source.digests.sha256) : undefined;
        if (known !== undefined && "digests" in source) same.push([member, { ...source.digests, size: known }]);
        else staged.push([member, await objects.stage("digests" in source ? source.chunks : source, wanted.length > 0 ? { digests: [...wanted] } : {})]);
      });
      await intend([...new Set(staged.map(([, { sha256 }]) => sha256))]);
      await eachOf(staged, objects.parallel, ([, object]) => object.publish());
    } catch (error) {
      await Promise.allSettled(staged.map(([, object]) => object.discard()));
      throw error;
    }
    for (const [member, { sha256, size, digests: further }] of staged) {
      if (size <= SMALL) again.set(sha256, size);
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
async function gathered(chunks: AsyncIterable<Uint8Array>, further: readonly ("md5" | "sha512")[]): Promise<{ chunks: AsyncIterable<Uint8Array>; digests: Pick<StoredFile, "sha256" | "md5" | "sha512"> }> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const bytes = Buffer.concat(parts);
  const digests = Object.fromEntries((["sha256", ...further] as const).map((name) => [name, createHash(name).update(bytes).digest("hex")])) as Pick<StoredFile, "sha256">;
  return { chunks: Readable.from([bytes], { objectMode: true }), digests };
}

/** The same without storing: sizes and digests only, to see what an upload would come to. What is wrong with a member is handed to `onBad`. */
export async function hashFiles({ archive, members, digests, onStored, onBad }: Omit<StoreFiles, "objects" | "intend"> & { onBad: (error: CrateError) => void }): Promise<Map<string, StoredFile>> {
  const found = new Map<string, StoredFile>();
  for (const member of members) {
    const hashes = (["sha256", ...(digests.get(member.name) ?? [])] as const).map((name) => [name, createHash(name)] as const);
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
    found.set(member.name, { size, ...(Object.fromEntries(hashes.map(([name, hash]) => [name, hash.digest("hex")])) as { sha256: string }) });
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

/** Works on some items at a time; rejects with the first error once all that was begun has ended. */
async function eachOf<T>(items: readonly T[], atATime = AT_A_TIME, work: (item: T) => Promise<void>): Promise<void> {
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
