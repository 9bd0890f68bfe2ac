import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";

const read = (path: string): string => readFileSync(join(packageRoot, path), "utf8");
const FILES = execFileSync("git", ["ls-files", "test"], { cwd: packageRoot, encoding: "utf8" })
  .split("\n")
  .filter((path) => path.endsWith(".test.ts"));
const isSlow = (path: string): boolean => path.endsWith(".slow.test.ts");

/** The files that Vitest runs for a script of package.json. */
function filesOf(script: string): string[] {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const args = scripts[script]!.split(" ");
  expect(args.slice(0, 2)).toEqual(["vitest", "run"]);
  const vitest = join(packageRoot, "node_modules/vitest/vitest.mjs");
  const listed = execFileSync(
    process.execPath,
    [vitest, "list", "--filesOnly", "--json", ...args.slice(2)],
    { cwd: packageRoot, encoding: "utf8" },
  );
  return (JSON.parse(listed) as { file: string }[])
    .map(({ file }) => relative(packageRoot, file).replaceAll("\\", "/"))
    .toSorted();
}

describe("the suites of tests", () => {
  it("are run by CI, the quick one and the slow one", () => {
    const commands = read(".ci/run").split("\n");
    expect(commands).toContain("tests npm test");
    expect(commands).toContain("tests npm run -s test:slow");
  });

  it("hold every file, by its name", () => {
    expect(FILES.length).toBeGreaterThan(300);
    expect(filesOf("test")).toEqual(FILES.filter((path) => !isSlow(path)));
    expect(filesOf("test:slow")).toEqual(FILES.filter(isSlow));
  });

  it("are described in CONTRIBUTING.md where they are slow", () => {
    const folders = new Set(FILES.filter(isSlow).map((path) => path.split("/", 2).join("/")));
    const page = read("CONTRIBUTING.md");
    const table = page.slice(page.indexOf("| slow tests in"), page.indexOf("### Servers"));
    const named = [...table.matchAll(/`(test\/[\w-]+)`/g)].map(([, folder]) => folder);
    expect(named.toSorted()).toEqual([...folders].toSorted());
  });
});
