import { accessSync, constants, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Where a program is: on PATH, or in the folder that TEST_SERVERS names. */
export function findProgram(name: string): string | undefined {
  const folder = process.env["TEST_SERVERS"];
  for (const place of [
    ...(folder === undefined ? [] : [folder, join(folder, "bin")]),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ]) {
    try {
      accessSync(join(place, name), constants.X_OK);
      return join(place, name);
    } catch {
      // Not there.
    }
  }
  return undefined;
}

/** A file in the folder that TEST_SERVERS names; the last by name where several fit. */
export function findFile(pattern: RegExp): string | undefined {
  const folder = process.env["TEST_SERVERS"];
  if (folder === undefined) return undefined;
  try {
    const name = readdirSync(folder)
      .filter((file) => pattern.test(file))
      .sort()
      .at(-1);
    return name === undefined ? undefined : join(folder, name);
  } catch {
    return undefined;
  }
}
