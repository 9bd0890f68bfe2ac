import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";

describe.runIf(process.platform !== "win32")("npm start", () => {
  let folder: string;
  let registry: ChildProcess;
  let output: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-launch-"));
    const { scripts } = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as {
      scripts: { start: string };
    };
    const [command, ...args] = scripts.start.split(" ");
    output = "";
    registry = spawn(command!, args, {
      cwd: packageRoot,
      env: { PATH: process.env["PATH"], PORT: "0", DATA_DIR: folder, HOST: "127.0.0.1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [registry.stdout!, registry.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    for (const last = Date.now() + 100_000; !output.includes("listens at"); await sleep(20))
      if (Date.now() > last) throw new Error(`it does not start: ${output}`);
  });
  afterEach(async () => {
    registry.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "runs the registry in its own process, which stops cleanly on %s",
    async (signal) => {
      registry.kill(signal);
      expect(await once(registry, "close")).toEqual([0, null]);
      expect(output.match(/"stopping"/g)).toHaveLength(1);
      expect(existsSync(join(folder, "records.db.pid"))).toBe(false);
    },
  );
});
