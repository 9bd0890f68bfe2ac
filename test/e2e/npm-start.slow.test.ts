import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { startKillable, type Killable } from "../support/killable.js";
import { ROLES } from "../support/roles.js";

let stores: Killable;
beforeAll(async () => {
  stores = await startKillable({});
});
afterAll(() => stores?.remove());

test.each(ROLES)(
  "a signal to npm start and its shell, as a terminal sends it, ends the registry and leaves " +
    "nothing running, in the role %s",
  async (role) => {
    const dataDir = await mkdtemp(join(tmpdir(), "arkgraph-npm-"));
    // A group of their own: whatever npm puts in between is in it.
    const child = spawn("npm", ["-s", "start"], {
      cwd: packageRoot,
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        PORT: "0",
        HOST: "127.0.0.1",
        DATA_DIR: dataDir,
        ...stores.besides(role),
      },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    try {
      for (const last = Date.now() + 100_000; !stdout.includes("listens at") && Date.now() < last;)
        await pause(20);
      const url = /listens at (\S+)/.exec(stdout)?.[1];
      expect(url, stderr).toBeDefined();
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      const gone = once(child, "exit");
      // npm passes a signal on to its shell, which passes none on: docs/deployment.md.
      process.kill(-child.pid!, "SIGTERM");
      await gone;
      for (const last = Date.now() + 100_000; isAlive(-child.pid!) && Date.now() < last;)
        await pause(50);
      expect(isAlive(-child.pid!)).toBe(false);
      await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    } finally {
      if (isAlive(-child.pid!)) process.kill(-child.pid!, "SIGKILL");
      await rm(dataDir, { recursive: true, force: true });
    }
  },
);

/** @param pid that of a process, or below zero that of a group */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
