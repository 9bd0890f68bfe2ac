import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { describe, expect, test } from "vitest";
import { ERRORS } from "../../src/errors.js";
import { packageRoot } from "../../src/package-root.js";
import { BOUNDS } from "../../src/config/bounds.js";
import { unknownSettings } from "../support/deployment.js";

// What it says of backups and of the drill is run by test/deploy/restore.slow.test.ts, of nginx by
// test/deploy/proxy.slow.test.ts.
const file = join(packageRoot, "docs/deployment.md");
const page = readFileSync(file, "utf8");
const blocks = [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((match) => ({
  language: match[1]!,
  text: match[2]!,
}));

describe("docs/deployment.md", () => {
  test("has links that lead to existing files and headings", () => {
    const links = [...page.matchAll(/\]\(([^)#]+)\)/g)];
    expect(links.length).toBeGreaterThan(5);
    for (const [, target] of links)
      expect([target, existsSync(join(dirname(file), target!))]).toEqual([target, true]);
    for (const [, path] of page.matchAll(/(?<![\w/])((?:deploy|docs)\/[\w@./-]*\w)/g))
      expect([path, existsSync(join(packageRoot, path!))]).toEqual([path, true]);
  });

  test("names existing settings and codes", () => {
    const allowed = [
      "DATA",
      "BACKUP",
      "LISTEN",
      "DOORS_SUBNET",
      "NAME",
      "PWD",
      "TLS",
      "HTTP",
      "S3",
      "CPU",
      "SPARQL",
      "BEGIN",
      "CRASHED_REPEATEDLY",
      "NODE_EXTRA_CA_CERTS",
      "MALLOC_ARENA_MAX",
    ];
    const words = [...page.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)(?:=[^`]*)?`/g)]
      .map((match) => match[1]!)
      .filter((word) => !allowed.includes(word) && !(word in ERRORS || word in BOUNDS));
    expect(unknownSettings(words)).toEqual([]);
    const own = blocks.find(({ text }) => text.startsWith("# common.env"))!.text;
    expect(unknownSettings([...own.matchAll(/^(\w+)=/gm)].map((match) => match[1]!))).toEqual([]);
  });

  test("prints commands that a shell can read", () => {
    const commands = blocks.filter(({ language }) => language.startsWith("sh"));
    expect(commands.length).toBeGreaterThan(5);
    for (const { text } of commands)
      expect([
        text,
        spawnSync("bash", ["-n"], {
          input: text,
          encoding: "utf8",
          env: { PATH: process.env["PATH"], LC_ALL: "C" },
        }).stderr,
      ]).toEqual([text, ""]);
  });

  test("requires of Compose what the Compose files contain", () => {
    const services = parse(readFileSync(join(packageRoot, "docker-compose.yml"), "utf8"), {
      merge: true,
    }).services as Record<
      string,
      {
        image: string;
        deploy: { replicas?: number; resources: { limits: { memory: string; cpus: string } } };
      }
    >;
    const rows = [
      ...page.matchAll(/^\| `(\w+)`(?: × (\d))? \| ([^|]+) \| [^|]+ \| (\d+) ([MG])B, (\d)/gm),
    ].map(([, name, count = "1", , size, unit, cpus]) => [
      name,
      Number(count),
      `${size}${unit!.toLowerCase()}`,
      cpus,
    ]);
    expect(rows).toEqual(
      ["web", "api", "worker", "postgres", "objects", "oxigraph", "redis"].map((name) => [
        name,
        services[name]!.deploy.replicas ?? 1,
        services[name]!.deploy.resources.limits.memory,
        services[name]!.deploy.resources.limits.cpus,
      ]),
    );
  });

  test("has a unit that systemd accepts", async () => {
    const verify = spawnSync("systemd-analyze", ["--version"]);
    if (verify.status !== 0)
      return void process.stderr.write("systemd-analyze is not here: the unit was not looked at\n");
    const folder = await mkdtemp(join(tmpdir(), "arkgraph-unit-"));
    const { status, stderr } = spawnSync(
      "systemd-analyze",
      ["verify", "--man=no", join(packageRoot, "deploy/systemd/arkgraph@.service")],
      { encoding: "utf8", cwd: folder },
    );
    await rm(folder, { recursive: true, force: true });
    expect(
      stderr
        .split("\n")
        .filter((line) => line.includes("arkgraph@") && !line.includes("is not executable")),
    ).toEqual([]);
    expect([0, 1]).toContain(status);
  });
});
