import { join } from "node:path";
import { ServiceError } from "../../../errors.js";

/** Folder of temporary names; on the same filesystem as the objects, so that a rename is atomic. */
export const STAGING = "staging";
export const isKey = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

/** Two levels of 256 folders each keep folders small up to many millions of objects. */
export function fanOut(folder: string, sha256: string): { outer: string; inner: string; file: string } {
  const outer = join(folder, sha256.slice(0, 2));
  const inner = join(outer, sha256.slice(2, 4));
  return { outer, inner, file: join(inner, sha256) };
}

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | null)?.code;

/** What the disk says when it is full, gone or closed to us; worth trying again once somebody has seen to it. */
const UNAVAILABLE = new Set(["ENOENT", "ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "EIO", "EMFILE", "ENFILE", "ENOTDIR"]);

/** A fault of the disk as the error every store gives; anything else as it is. */
export function asStoreError(error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined || !UNAVAILABLE.has(code)) return error;
  return new ServiceError("STORE_UNAVAILABLE", `The object store cannot be used (${code}); look at the disk and the permissions of DATA_DIR, then try again.`);
}
