import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";

/** The last stage is what runs. Built as a whole it is by deploy/try-image.sh. */
const dockerfile = await readFile(join(packageRoot, "Dockerfile"), "utf8");
const last = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
const health = JSON.parse(/^HEALTHCHECK .*?CMD (\[.*\])$/m.exec(last)![1]!) as string[];

describe("what the image holds", () => {
  let folder: string;
  let output = "";
  let child: ReturnType<typeof spawn>;
  let port: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-image-"));
    for (const [, sources, target] of last.matchAll(/^COPY --from=build (.+) (\S+)$/gm)) {
      for (const source of sources!.split(" ").map((path) => path.replace(/^\/app\//, ""))) {
        const to = target === "./" ? join(folder, source) : join(folder, target!);
        if (source === "node_modules") await symlink(join(packageRoot, source), to);
        else await cp(join(packageRoot, source), to, { recursive: true });
      }
    }
    const command = JSON.parse(/^CMD (\[.*\])$/m.exec(last)![1]!) as string[];
    child = spawn("setpriv", ["--pdeathsig", "KILL", ...command], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        NODE_ENV: "production",
        PORT: "0",
        DATA_DIR: join(folder, "data"),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout!, child.stderr!])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    for (let waited = 0; !/listens at http:\/\/127\.0\.0\.1:(\d+)/.test(output); waited += 50) {
      if (waited > 20_000 || child.exitCode !== null)
        throw new Error(`it did not start: ${output}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    port = /listens at http:\/\/127\.0\.0\.1:(\d+)/.exec(output)![1]!;
  });
  afterAll(async () => {
    if (child?.exitCode === null) {
      child.kill();
      await once(child, "exit");
    }
    await rm(folder, { recursive: true, force: true });
  });

  test("is all that the service reads", async () => {
    const assets = [
      ...(await (await fetch(`http://127.0.0.1:${port}/docs`)).text()).matchAll(
        /(?:src|href)="(\/assets\/[^"]+)"/g,
      ),
    ].map((match) => match[1]!);
    expect(assets.length).toBeGreaterThan(1);
    for (const path of [
      "/",
      "/docs",
      "/openapi.yaml",
      "/ontology/evi",
      "/ontology/shapes",
      "/ontology/context",
      "/sparql",
      ...assets,
    ]) {
      const { status } = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { Accept: "text/html, */*" },
      });
      expect([path, status]).toEqual([path, 200]);
    }
    expect(
      (await fetch(`http://127.0.0.1:${port}/graphql`, { headers: { Accept: "text/html" } }))
        .status,
    ).toBe(200);
    expect(output).not.toMatch(/"level":50|ENOENT/);
  });

  test("checks its own health", async () => {
    const run = async (at: string) =>
      (
        await once(
          spawn(health[0]!, health.slice(1), {
            env: { PATH: process.env["PATH"], PORT: at },
            stdio: "ignore",
          }),
          "exit",
        )
      )[0] as number;
    expect([await run(port), await run("1")]).toEqual([0, 1]);
  });
});

test(
  "the image runs as no root, on a version that is named, and is asked for its health as " +
    "Compose asks it",
  async () => {
    expect(dockerfile).toMatch(/^ARG NODE=node:\d+\.\d+\.\d+-/m);
    expect(last).toMatch(/^USER node$/m);
    for (const file of ["docker-compose.yml", "deploy/compose.single.yml"]) {
      expect(await readFile(join(packageRoot, file), "utf8")).toContain(
        health[2]!.replace("' + process.env.PORT + '", "8080"),
      );
    }
  },
);

test("no secret gets into the image or the repository", async () => {
  const [docker, git] = await Promise.all(
    [".dockerignore", ".gitignore"].map(async (name) =>
      (await readFile(join(packageRoot, name), "utf8")).split("\n"),
    ),
  );
  expect(docker).toEqual(expect.arrayContaining([".env*", "**/.env*", "data", ".git"]));
  expect(git).toEqual(expect.arrayContaining([".env", ".env.*"]));
});
