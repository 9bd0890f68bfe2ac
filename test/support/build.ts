import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../../src/package-root.js";

/**
 * Threads run the built code; a test run begins with a fresh build, and a folder for files that its
 * processes prepare once.
 */
export default async function build(): Promise<(() => Promise<void>) | undefined> {
  // Vitest calls it for each project of a run.
  if (process.env["TEST_RUN"] !== undefined) return undefined;
  execFileSync("npm", ["run", "-s", "build"], { cwd: packageRoot, stdio: "inherit" });
  const folder = await mkdtemp(join(tmpdir(), "arkgraph-run-"));
  // Servers that run as another user read below it.
  await chmod(folder, 0o711);
  process.env["TEST_RUN"] = folder;
  return () => rm(folder, { recursive: true, force: true });
}
