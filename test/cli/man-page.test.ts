import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildProgram } from "../../cli/program.js";
import { placesOf } from "../../cli/tool-command.js";
import { packageRoot } from "../../src/package-root.js";

const { man, files } = JSON.parse(await readFile(join(packageRoot, "package.json"), "utf8"));
const page = join(packageRoot, man);
const hasGroff = spawnSync("groff", ["--version"]).status === 0;
if (!hasGroff)
  process.stderr.write("\n!! SKIPPED: the man page needs groff; install it to run this test.\n\n");

describe("the man page", () => {
  it("is part of the package and names every command and option", async () => {
    expect(files).toContain("/man");
    const text = (await readFile(page, "utf8")).replaceAll("\\-", "-");
    for (const { path, words } of placesOf(buildProgram()))
      for (const word of words.filter((each) => each !== "--help" && each !== "-h"))
        expect(text, path).toContain(word);
  });

  it.skipIf(!hasGroff)("is formatted without warnings", () => {
    const { stdout, stderr } = spawnSync(
      "groff",
      ["-ww", "-k", "-man", "-Tutf8", "-P-cbou", page],
      {
        encoding: "utf8",
      },
    );
    expect(stderr).toBe("");
    expect(stdout).toContain("EXIT STATUS");
    // As it is typed: no curly quotes or other dashes.
    expect(stdout).toContain("--pattern '^[A-Z0-9]+$'");
  });
});
