import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { runScript } from "../support/run-script.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-demo-test-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the demo", () => {
  const demo = (
    args: string[],
    env?: Record<string, string>,
    onOutput?: Parameters<typeof runScript>[4],
  ) => runScript(folder, join(packageRoot, "bin/arkgraph.js"), ["demo", ...args], env, onOutput);
  const leftovers = async () =>
    (await readdir(folder)).filter((name) => name.startsWith("arkgraph-demo-"));

  test("goes through every step and ends with status 0, leaving nothing", async () => {
    const { status, stdout, stderr } = await demo(["--exit"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    for (const step of [
      "Registry",
      "Account",
      "Token",
      "Upload",
      "Processing",
      "Crate",
      "Resolved",
      "Score",
      "File",
      "Published",
      "Evidence",
    ])
      expect(stdout).toMatch(new RegExp(`^ {2}✓ ${step} `, "m"));
    // A score that was computed before the crate changed is shown nowhere.
    expect(stdout.indexOf("✓ Score")).toBeGreaterThan(stdout.indexOf("✓ Published"));
    expect(stdout).toMatch(/├─ generatedBy: Clustering /);
    expect(stdout).toMatch(/curl -s http:\/\/127\.0\.0\.1:\d+\/ark:99999\/rocrate-/);
    // eslint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/\u001b/);
    expect(await leftovers()).toEqual([]);
  });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "stays up until %s, then ends with status 0 and removes its data",
    async (signal) => {
      let logged = false;
      let up = false;
      const { status, stderr } = await demo([], {}, (text, kill) => {
        if (logged || !text.includes("Ctrl+C")) return;
        logged = true;
        up = existsSync(/data in (\S+)/.exec(text)![1]!);
        kill(signal);
      });
      expect({ status, up, stderr }).toEqual({ status: 0, up: true, stderr: "" });
      expect(await leftovers()).toEqual([]);
    },
  );

  test("also ends and removes its data when it is stopped in the middle of a step", async () => {
    let logged = false;
    const { status } = await demo([], {}, (text, kill) => {
      if (logged || !text.includes("✓ Registry")) return;
      logged = true;
      kill("SIGINT");
    });
    expect(status).toBe(0);
    expect(await leftovers()).toEqual([]);
  });

  test("fails with one line and status 1 on a port that is in use", async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port)),
    );
    const { status, stderr } = await demo(["--exit"], { PORT: String(port) });
    server.close();
    expect(status).toBe(1);
    expect(stderr).toMatch(/^arkgraph: [^\n]+\n$/);
    expect(await leftovers()).toEqual([]);
  });
});
