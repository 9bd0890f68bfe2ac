import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { packageRoot } from "../../src/package-root.js";

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), "arkgraph-secrets-"))));
afterEach(() => rm(folder, { recursive: true, force: true }));

const make = (file: string, env: NodeJS.ProcessEnv = process.env) =>
  spawnSync("/bin/sh", [join(packageRoot, "deploy/make-secrets.sh"), file], {
    env,
    encoding: "utf8",
  });
const values = (text: string) =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map((match) => [match[1]!, match[2]!]));

test("secrets are readable by their owner only, each different, and fit their place", async () => {
  const [one, two] = [join(folder, "one"), join(folder, "two")];
  expect([make(one).status, make(two).status]).toEqual([0, 0]);
  expect((await stat(one)).mode & 0o777).toBe(0o600);
  const [first, second] = [
    values(await readFile(one, "utf8")),
    values(await readFile(two, "utf8")),
  ];
  expect(Object.keys(first).sort()).toEqual([
    "GARAGE_RPC_SECRET",
    "JWT_SECRET",
    "POSTGRES_PASSWORD",
    "REDIS_PASSWORD",
    "S3_ACCESS_KEY",
    "S3_SECRET_KEY",
  ]);
  const all = [...Object.values(first), ...Object.values(second)];
  expect(new Set(all).size).toBe(all.length);
  for (const [name, value] of Object.entries(first))
    expect([name, value]).toEqual([
      name,
      expect.stringMatching(name === "S3_ACCESS_KEY" ? /^GK[0-9a-f]{32}$/ : /^[0-9a-f]{64}$/),
    ]);
  expect(readConfig({ JWT_SECRET: first["JWT_SECRET"]! }).JWT_SECRET).toBe(first["JWT_SECRET"]);
  expect(await readdir(folder)).toHaveLength(2);
});

test("existing secrets are never overwritten, nor written through a link", async () => {
  const file = join(folder, ".env");
  await writeFile(file, "JWT_SECRET=mine\n");
  await symlink(join(folder, "elsewhere"), join(folder, "link"));
  for (const name of [".env", "link"])
    expect(make(join(folder, name))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("nothing was changed"),
    });
  expect(await readFile(file, "utf8")).toBe("JWT_SECRET=mine\n");
  expect((await readdir(folder)).sort()).toEqual([".env", "link"]);
});

test("secrets can be created without openssl", async () => {
  const bin = join(folder, "bin");
  spawnSync("sh", [
    "-c",
    `mkdir ${bin} && for p in od tr mktemp ln rm dirname; do ln -s "$(command -v $p)" ` +
      `${bin}/$p; done`,
  ]);
  const file = join(folder, ".env");
  expect(make(file, { PATH: bin })).toMatchObject({ status: 0, stderr: "" });
  expect(values(await readFile(file, "utf8"))["JWT_SECRET"]).toMatch(/^[0-9a-f]{64}$/);
});
