import { randomUUID } from "node:crypto";
import { mkdir, open, rename, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { StagedObject } from "../port.js";
import { giveUp, receive, type StageOptions } from "../receive.js";
import { STAGING, asStoreError, codeOf, fanOut } from "./layout.js";

/** Streams a source into a temporary file while hashing; durable when it resolves. */
export async function stageFile(folder: string, source: Readable | AsyncIterable<Uint8Array>, options: StageOptions): Promise<StagedObject> {
  const place = randomUUID();
  const path = join(folder, STAGING, place);
  let file: FileHandle | undefined;
  try {
    const made = (file = await open(path, "wx", 0o600).catch((error: unknown) => {
      throw asStoreError(error);
    }));
    const { sha256, size, digests } = await receive(source, options, async (bytes) => {
      for (let done = 0; done < bytes.byteLength; ) done += (await made.write(bytes, done)).bytesWritten;
    });
    await file.sync();
    await file.close();
    return {
      sha256, size, digests, place,
      publish: () => publish(folder, path, sha256),
      discard: () => removeFile(path),
    };
  } catch (error) {
    giveUp(source);
    await file?.close().catch(() => {});
    await removeFile(path);
    throw asStoreError(error);
  }
}

async function publish(folder: string, path: string, sha256: string): Promise<void> {
  const { outer, inner, file } = fanOut(folder, sha256);
  try {
    // Over an equal object: same bytes, and a damaged one is healed.
    await rename(path, file).catch(async (error: unknown) => {
      if (codeOf(error) !== "ENOENT") throw error;
      await mkdir(inner, { recursive: true, mode: 0o700 });
      await syncFolder(folder);
      await syncFolder(outer);
      await rename(path, file);
    });
    await syncFolder(inner);
  } catch (error) {
    throw asStoreError(error);
  }
}

/** Makes names in a folder durable; where a folder cannot be opened for that (Windows) the system does it. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw asStoreError(error);
  });
}
