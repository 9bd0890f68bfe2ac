import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Failure } from "./failure.js";

/**
 * The error of opening a file for writing. If its folder is missing, the error says so and how to
 * fix it.
 */
export async function writeFailure(target: string, error: unknown): Promise<unknown> {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "ENOENT" && code !== "ENOTDIR") return error;
  const folder = dirname(target);
  // Any part of the path may be a file.
  for (let at = folder; ; at = dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (found && !found.isDirectory())
      return new Failure(`${at}: it is a file, not a folder; write to another path`, {
        cause: error,
      });
    if (found || at === dirname(at)) break;
  }
  if (await stat(folder).catch(() => undefined)) return error;
  return new Failure(
    `${folder}: there is no such folder; create it first (mkdir -p), or write to another path`,
    { cause: error },
  );
}
