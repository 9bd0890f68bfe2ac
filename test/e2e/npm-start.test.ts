import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";

test("npm start passes SIGTERM on: the registry ends with it and nothing is left running", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "arkgraph-npm-"));
  const child = spawn("npm", ["-s", "start"], { cwd: packageRoot, env: { PATH: process.env["PATH"], HOME: process.env["HOME"], PORT: "0", HOST: "127.0.0.1", DATA_DIR: dataDir }, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  let registry: number | undefined;
  try {
    const deadline = Date.now() + 20_000;
    while (!stdout.includes("listens at") && Date.now() < deadline) await pause(20);
    const url = /listens at (\S+)/.exec(stdout)![1]!;
    // Its log says which process it is, whatever npm put in between.
    while (registry === undefined && Date.now() < deadline) {
      registry = Number(/"pid":(\d+)/.exec(stderr)?.[1]) || undefined;
      await pause(20);
    }
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
    let alive = true;
    for (const last = Date.now() + 10_000; alive && Date.now() < last; await pause(50)) alive = isAlive(registry!);
    expect(alive).toBe(false);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  } finally {
    if (registry !== undefined && isAlive(registry)) process.kill(registry, "SIGKILL");
    await rm(dataDir, { recursive: true, force: true });
  }
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
