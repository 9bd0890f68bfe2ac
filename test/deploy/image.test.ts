import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { packageRoot } from "../../src/package-root.js";
import { RegistryProcess } from "../support/registry-process.js";

/** The last stage is what runs. Built as a whole it is by deploy/try-image.sh. */
const dockerfile = await readFile(join(packageRoot, "Dockerfile"), "utf8");
const last = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
const health = JSON.parse(/^HEALTHCHECK .*?CMD (\[.*\])$/m.exec(last)![1]!) as string[];

test("the image checks its own health", async () => {
  const registry = await RegistryProcess.start();
  try {
    const run = async (port: string) =>
      (
        await once(
          spawn(health[0]!, health.slice(1), {
            env: { PATH: process.env["PATH"], PORT: port },
            stdio: "ignore",
          }),
          "exit",
        )
      )[0] as number;
    expect([await run(new URL(registry.url).port), await run("1")]).toEqual([0, 1]);
  } finally {
    await registry.stop();
  }
});

test("the image contains what the packed package contains, and the packages that it installs", () => {
  expect(dockerfile).toMatch(/npm pack .*--pack-destination \/tmp/);
  expect(dockerfile).toMatch(/tar -xzf \/tmp\/arkgraph-\S+ -C \/package/);
  expect(dockerfile).toContain("mv node_modules /package/");
  expect(last.match(/^COPY .*$/gm)).toEqual(["COPY --from=build /package ./"]);
});

test("the image runs a version of Node.js that CI runs the whole suite on", async () => {
  const version = /^ARG NODE=node:([\d.]+)-/m.exec(dockerfile)![1]!;
  const major = version.split(".")[0]!;
  const ci = parse(await readFile(join(packageRoot, ".github/workflows/ci.yml"), "utf8")) as {
    jobs: { suite: { strategy: { matrix: { node: number[] } } } };
  };
  expect(ci.jobs.suite.strategy.matrix.node).toContain(Number(major));
  // Each job of the matrix runs the newest release of its line. Elsewhere, a test run may be on an
  // older one.
  const [ours] = process.versions.node.split(".");
  if (process.env["CI"] !== undefined && ours === major)
    expect(version).toBe(process.versions.node);
});

test("the labels of the image are those of the package", async () => {
  const { version, license, description, homepage } = JSON.parse(
    await readFile(join(packageRoot, "package.json"), "utf8"),
  ) as Record<string, string>;
  const label = (name: string) =>
    new RegExp(`org\\.opencontainers\\.image\\.${name}="([^"]*)"`).exec(last)?.[1];
  expect(label("version")).toBe(version);
  expect(label("licenses")).toBe(license);
  expect(label("description")).toBe(description);
  expect(homepage).toBe(`${label("source")}#readme`);
});

test("the image runs without root, on a pinned version, with the health check of Compose", async () => {
  expect(dockerfile).toMatch(/^ARG NODE=node:\d+\.\d+\.\d+-/m);
  expect(last).toMatch(/^USER node$/m);
  for (const file of ["docker-compose.yml", "deploy/compose.single.yml"]) {
    expect(await readFile(join(packageRoot, file), "utf8")).toContain(
      health[2]!.replace("' + process.env.PORT + '", "8080"),
    );
  }
});

test("no secret gets into the image or the repository", async () => {
  const [docker, git] = await Promise.all(
    [".dockerignore", ".gitignore"].map(async (name) =>
      (await readFile(join(packageRoot, name), "utf8")).split("\n"),
    ),
  );
  expect(docker).toEqual(expect.arrayContaining([".env*", "**/.env*", "data", ".git"]));
  expect(git).toEqual(expect.arrayContaining([".env", ".env.*"]));
});
