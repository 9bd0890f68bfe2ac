import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { runScript } from "../support/run-script.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-cli-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const arkgraph = (args: string[], env?: Record<string, string>) =>
  runScript(folder, join(packageRoot, "bin/arkgraph.js"), args, env);
const oneLine = /^arkgraph: [^\n]+\n$/;

describe("arkgraph", () => {
  test("lists its commands without loading the service", async () => {
    const covered = await mkdtemp(join(tmpdir(), "arkgraph-loaded-"));
    const { status, stdout } = await arkgraph(["--help"], { NODE_V8_COVERAGE: covered });
    expect(status).toBe(0);
    for (const command of ["serve", "check", "demo", "demo-crate"])
      expect(stdout).toContain(`\n  ${command} `);
    const [report] = await readdir(covered);
    const loaded = await readFile(join(covered, report!), "utf8");
    expect(loaded).toContain("/bin/arkgraph.js");
    expect(loaded).not.toMatch(/\/src\/app\/|@apollo|better-sqlite3/);
    await rm(covered, { recursive: true });
  });

  test("shows the help of a command behind help, too", async () => {
    const shown = await arkgraph(["help", "schema", "infer"]);
    expect(shown).toEqual(await arkgraph(["schema", "infer", "--help"]));
    expect([shown.status, shown.stdout]).toEqual([
      0,
      expect.stringContaining("Usage: arkgraph schema infer") as string,
    ]);
  });

  test.each(["--version", "-V"])("prints the version of its package: %s", async (flag) => {
    const { version } = JSON.parse(await readFile(join(packageRoot, "package.json"), "utf8")) as {
      version: string;
    };
    expect(await arkgraph([flag])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: "" });
  });

  test.each([
    [["nonsense"]],
    [["check", "--nonsense"]],
    [["demo-crate"]],
    [["demo-crate", "a", "b"]],
    [[]],
  ])("refuses %j with status 2", async (args) => {
    const { status, stdout, stderr } = await arkgraph(args);
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).not.toBe("");
  });

  test.each([
    [
      ["demo-crate", "/no/such/folder/crate.zip"],
      / \/no\/such\/folder: there is no such folder; create it first/,
    ],
    [["check", "--data", "/no/such/folder"], /\/no\/such\/folder holds no registry/],
  ])("fails with status 1 and one line: %j", async (args, expected) => {
    const { status, stdout, stderr } = await arkgraph(args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(oneLine);
    expect(stderr).toMatch(expected);
  });

  test.each(["serve", "demo", "check"])(
    "says in one line which setting is wrong: %s",
    async (command) => {
      const { status, stderr } = await arkgraph([command], { PORT: "banana" });
      expect(status).toBe(1);
      expect(stderr).toMatch(/^arkgraph: PORT "banana" is not valid: [^\n]+\n$/);
    },
  );

  test("says how to build it when it is not built", async () => {
    const copy = join(folder, "unbuilt", "bin");
    await mkdir(copy, { recursive: true });
    for (const file of ["arkgraph.js", "package.json"])
      await copyFile(join(packageRoot, "bin", file), join(copy, file));
    const { status, stderr } = await runScript(folder, join(copy, "arkgraph.js"), ["--help"]);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^arkgraph: .*npm run build.*\n$/),
    });
  });

  test("writes the same example crate in both ways", async () => {
    const [one, two] = [join(folder, "one.zip"), join(folder, "two.zip")];
    const [first, second] = await Promise.all([
      arkgraph(["demo-crate", one]),
      runScript(folder, join(packageRoot, "dist/cli/demo/crate.js"), [two]),
    ]);
    expect([first.status, second.status]).toEqual([0, 0]);
    expect(first.stdout).toBe(`Wrote ${one}\n`);
    expect((await stat(one)).size).toBeGreaterThan(10_000);
    expect(Buffer.compare(await readFile(one), await readFile(two))).toBe(0);
  });
});

describe("arkgraph serve", () => {
  test("listens, prints its address, and ends with status 0 on a signal", async () => {
    const { status, stdout } = await runScript(
      folder,
      join(packageRoot, "bin/arkgraph.js"),
      ["serve"],
      { PORT: "0", DATA_DIR: join(folder, "served"), LOG_LEVEL: "warn" },
      (text, kill) => {
        if (text.includes("listens at")) kill("SIGTERM");
      },
    );
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Arkgraph listens at http:\/\/127\.0\.0\.1:\d+$/m);
  });
});
