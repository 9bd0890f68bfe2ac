import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import type * as declared from "../../index.js";
import { start } from "../../src/app/service.js";
import { packageRoot } from "../../src/package-root.js";
import { findFile } from "../support/servers/programs.js";

const run = promisify(execFile);

/** npm asks the registry for newer versions of itself otherwise. */
const NPM = { npm_config_update_notifier: "false", npm_config_audit: "false" };

/** The folder of a Node.js of this major version: `.ci/run` installs it, or these tests run on it. */
function nodeFolder(major: number): string | undefined {
  const installed = findFile(new RegExp(`^node-${major}\\.`));
  if (installed !== undefined) return join(installed, "bin");
  return process.versions.node.startsWith(`${major}.`) ? dirname(process.execPath) : undefined;
}

interface Packed {
  filename: string;
  size: number;
  files: { path: string }[];
}
let folder: string;
let packed: Packed;
let installed: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-package-"));
  const env = { ...process.env, ...NPM };
  // The test run has built: without scripts, nothing is built again under tests that run beside.
  const { stdout } = await run(
    "npm",
    ["pack", "--json", "--ignore-scripts", "--pack-destination", folder],
    { cwd: packageRoot, env, maxBuffer: 2 ** 24 },
  );
  packed = (JSON.parse(stdout) as [Packed])[0];
  await mkdir(join(folder, "empty"));
  await run("npm", ["install", "--prefer-offline", "--no-fund", join(folder, packed.filename)], {
    cwd: join(folder, "empty"),
    env,
  });
  installed = join(folder, "empty", "node_modules", "arkgraph");
}, 600_000);
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

describe("the packed package", () => {
  it("contains compiled modules with their source maps, and neither sources, tests nor benches", () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(["dist/src/app/main.js", "dist/src/app/main.js.map"]),
    );
    expect(
      paths.filter((path) => /^(?!dist|bin|src\/web\/assets).*\.[cm]?[jt]s$/.test(path)),
    ).toEqual(["index.d.ts"]);
    expect(
      paths.filter((path) => /\.test\.|(^|\/)(test|bench)\/|^dist\/src\/generate/.test(path)),
    ).toEqual([]);
  });

  it("contains the licences of what pages and the command line bundle, and installs the rest", () => {
    const notices = readFileSync(join(installed, "dist", "THIRD-PARTY-NOTICES.txt"), "utf8");
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(packageRoot, "package.json"), "utf8"),
    ) as Record<"dependencies" | "devDependencies", Record<string, string>>;
    for (const name of ["commander", "graphiql", "react"])
      expect(notices).toContain(`${name} ${{ ...dependencies, ...devDependencies }[name]}`);
    expect(notices).toMatch(/swagger-ui-dist [\d.]+\n\n[^-]*Apache License/);
    for (const name of Object.keys(dependencies))
      expect(existsSync(join(folder, "empty", "node_modules", name)), name).toBe(true);
  });

  it("declares the type of the function that it exports", () => {
    expectTypeOf(start).toEqualTypeOf<typeof declared.start>();
  });

  it("starts a registry in the process that imports it", async () => {
    const script = join(folder, "empty", "start.mjs");
    await writeFile(
      script,
      `import { start } from "arkgraph";
      const registry = await start({ DATA_DIR: "data-imported", PORT: "0", LOG_LEVEL: "silent" });
      console.log((await fetch(registry.url + "/healthz")).status, typeof registry.adminToken);
      await registry.stop();`,
    );
    const { stdout } = await run(process.execPath, [script], { cwd: join(folder, "empty") });
    expect(stdout.trim()).toBe("200 string");
  });
});

describe.each([20, 22, 24])("the installed package on Node.js %i", (major) => {
  const node = nodeFolder(major);
  if (node === undefined)
    process.stderr.write(
      `\n!! SKIPPED: Node.js ${major} is not installed; .ci/run shows how to install it into ` +
        "TEST_SERVERS.\n\n",
    );

  it.skipIf(node === undefined)(
    "ingests the example crate of npx arkgraph demo",
    async () => {
      const { stdout } = await run("npx", ["arkgraph", "demo", "--exit"], {
        cwd: join(folder, "empty"),
        env: Npx.env(node!),
      });
      expect(stdout).toContain("ark:");
    },
    60_000,
  );

  it.skipIf(node === undefined)(
    "serves every page by npx arkgraph serve, and stops cleanly on SIGTERM",
    async () => {
      const registry = await Npx.serve(node!, `data-${major}`);
      try {
        await registry.expectPages();
        expect(registry.version).toMatch(new RegExp(`^v${major}\\.`));
        // To all processes of the group, as a terminal does: the shell that npx starts passes no
        // signal on (docs/deployment.md).
        process.kill(-registry.npx.pid!, "SIGTERM");
        // npx ends before the registry, which holds the output open until it has stopped.
        await once(registry.npx, "close");
        expect(registry.output).toContain('"stopping"');
        expect(registry.output).not.toMatch(/"level":50|ENOENT/);
        await expect(fetch(`${registry.url}/healthz`)).rejects.toThrow();
        expect(existsSync(join(folder, "empty", `data-${major}`, "records.db.pid"))).toBe(false);
      } finally {
        registry.kill();
      }
    },
    60_000,
  );
});

/** The package as its users start it. */
class Npx {
  output = "";
  url = "";

  private constructor(
    readonly npx: ChildProcess,
    readonly version: string,
  ) {
    for (const stream of [npx.stdout!, npx.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => (this.output += text));
  }

  /** The environment of a user who has this Node.js. */
  static env(node: string): NodeJS.ProcessEnv {
    return {
      PATH: [node, process.env["PATH"]].join(delimiter),
      HOME: process.env["HOME"],
      ...NPM,
    };
  }

  static async serve(node: string, data: string): Promise<Npx> {
    const env = { ...this.env(node), PORT: "0", DATA_DIR: data };
    const { stdout } = await run("node", ["--version"], { env });
    // A group of its own, of which nothing remains after the test.
    const npx = spawn("npx", ["arkgraph", "serve"], {
      cwd: join(folder, "empty"),
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const registry = new Npx(npx, stdout);
    for (const last = Date.now() + 30_000; registry.url === ""; await sleep(20)) {
      registry.url = /listens at (\S+)/.exec(registry.output)?.[1] ?? "";
      if (npx.exitCode === null && Date.now() < last) continue;
      registry.kill();
      throw new Error(`it did not start: ${registry.output}`);
    }
    return registry;
  }

  /** All that the service reads from its package is there. */
  async expectPages(): Promise<void> {
    const headers = { Accept: "text/html, */*" };
    const pages = await Promise.all(
      ["/docs", "/graphql", "/help/tutorials/researcher"].map(async (path) =>
        (await fetch(`${this.url}${path}`, { headers })).text(),
      ),
    );
    const assets = pages.flatMap((page) =>
      [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => match[1]!),
    );
    expect(assets.join()).toMatch(/swagger-ui-bundle.*graphiql\.min.*help\/upload\.png/);
    for (const path of [
      "/",
      "/docs",
      "/openapi.yaml",
      "/ontology/evi",
      "/ontology/shapes",
      "/ontology/context",
      "/sparql",
      "/help",
      ...assets,
    ])
      expect([path, (await fetch(`${this.url}${path}`, { headers })).status]).toEqual([path, 200]);
    const answer = await fetch(`${this.url}/graphql`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ query: "{ datasets(first: 1) { nodes { id } } }" }),
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { data: { datasets: { nodes: [] } } },
    ]);
  }

  kill(): void {
    try {
      process.kill(-this.npx.pid!, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}
