/** Crates, suites and inputs of others: they lie beside a checkout and are no part of the project. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/package-root.js";

const FOLDER = join(packageRoot, "..", "shared", "data");

/** Where a file or folder of the shared data is, if it is there. */
export const sharedPath = (path: string): string => join(FOLDER, path);

/**
 * The path of a file or folder of the shared data; without it, tests are skipped and a line says
 * so: `const CASES = sharedData("cases/api"); describe.skipIf(!CASES)(…)`.
 * @throws Error in CI, which skips nothing
 */
export function sharedData(path: string): string | undefined {
  const found = sharedPath(path);
  if (existsSync(found)) return found;
  if (process.env["CI"] !== undefined)
    throw new Error(`CI skips no test: put the data of these tests into ${found}`);
  process.stderr.write(
    `\n!! SKIPPED: tests that read ../shared/data/${path}, which is not there.\n\n`,
  );
  return undefined;
}
