import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { yamlDocuments } from "../support/deployment.js";
import { freePort } from "../support/servers/program.js";

const installed = spawnSync("redis-server", ["--version"]).status === 0;
if (!installed)
  process.stderr.write(
    "\n!! SKIPPED: no redis-server here; install the Debian package redis-server to run " +
      "these tests.\n\n",
  );

describe.skipIf(!installed)("Redis as docker-compose.yml starts it", () => {
  test("requires the password, persists its data, and refuses writes instead of evicting", async () => {
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-redis-"));
    const port = String(await freePort());
    // Compose writes $$ for a dollar of the shell.
    const [program, flag, script] = (
      yamlDocuments("docker-compose.yml")[0]!["services"].redis.command as string[]
    ).map((part) => part.replaceAll("$$", "$"));
    const here = script!.replace("dir /data\n", `dir ${folder}\nport ${port}\nbind 127.0.0.1\n`);
    expect(here).not.toBe(script);
    const env = { PATH: process.env["PATH"], REDISCLI_AUTH: "a-password-of-this-test" };
    const child = spawn("setpriv", ["--pdeathsig", "KILL", program!, flag!, here], {
      env,
      stdio: "ignore",
    });
    const ask = (args: string[], password = env.REDISCLI_AUTH) =>
      spawnSync("redis-cli", ["-p", port, ...args], {
        env: { ...env, REDISCLI_AUTH: password },
        encoding: "utf8",
      }).stdout.trim();
    try {
      for (let tries = 0; ask(["ping"]) !== "PONG"; tries++) {
        if (tries > 200) throw new Error("Redis did not start");
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      expect(
        spawnSync("redis-cli", ["-p", port, "get", "x"], {
          env: { PATH: env.PATH },
          encoding: "utf8",
        }).stdout,
      ).toMatch(/NOAUTH/);
      expect(ask(["config", "get", "maxmemory-policy"])).toMatch(/noeviction$/);
      expect(ask(["config", "get", "maxmemory"])).toMatch(new RegExp(`${384 * 2 ** 20}$`));
      expect(ask(["config", "get", "appendonly"])).toMatch(/yes$/);
      // Nobody on the machine reads the password off the list of processes.
      expect(
        spawnSync("ps", ["-o", "args=", "-p", String(child.pid)], { encoding: "utf8" }).stdout,
      ).not.toContain(env.REDISCLI_AUTH);
    } finally {
      child.kill();
      await once(child, "exit");
      await rm(folder, { recursive: true, force: true });
    }
  });
});
