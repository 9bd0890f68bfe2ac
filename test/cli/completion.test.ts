import { execFileSync, spawnSync } from "node:child_process";
import { beforeAll, describe, expect, it } from "vitest";
import { buildProgram } from "../../cli/program.js";
import { placesOf } from "../../cli/tool-command.js";
import { useFolder } from "./terminal.js";

const { run, write, path } = useFolder();
const has = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;
const SHELLS = ["bash", "zsh", "fish"];
for (const shell of SHELLS)
  if (!has(shell))
    process.stderr.write(
      `\n!! SKIPPED: the completion of ${shell} needs ${shell}; install it to run these tests.\n\n`,
    );

let scripts: Record<string, string>;
beforeAll(async () => {
  scripts = {};
  for (const shell of SHELLS) scripts[shell] = (await run(`completion ${shell}`)).stdout;
  for (const shell of SHELLS) await write(`completion.${shell}`, scripts[shell]!);
});

describe("arkgraph completion", () => {
  it("supports the shells that it lists", async () => {
    expect((await run("completion tcsh")).status).toBe(2);
    expect((await run("completion")).status).toBe(2);
  });

  it("knows every command and option of the program", () => {
    const words = placesOf(buildProgram()).flatMap((place) => place.words);
    expect(words.length).toBeGreaterThan(100);
    for (const word of words) for (const shell of SHELLS) expect(scripts[shell]).toContain(word);
  });
});

describe.skipIf(!has("bash"))("in bash", () => {
  /** What a press of Tab after these words offers. */
  const complete = (...words: string[]): string[] =>
    execFileSync(
      "bash",
      [
        "-c",
        `set -u; source completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); ` +
          `_arkgraph; printf '%s\\n' "\${COMPREPLY[@]-}"`,
        "bash",
        "arkgraph",
        ...words,
      ],
      { cwd: path(), encoding: "utf8" },
    )
      .split("\n")
      .filter((line) => line !== "");

  it("offers commands, then those below them, then options", () => {
    expect(complete("up")).toEqual(["upload"]);
    expect(complete("")).toEqual(
      expect.arrayContaining(["schema", "search", "login", "completion"]),
    );
    expect(complete("schema", "va")).toEqual(["validate"]);
    expect(complete("schema", "add-property", "str")).toEqual(["string"]);
    expect(complete("schema", "add-property", "string", "--min")).toEqual(["--min-length"]);
    expect(complete("upload", "--")).toEqual(
      expect.arrayContaining(["--server", "--no-wait", "--json"]),
    );
  });

  it("offers the values that an option or argument accepts, and leaves files to the shell", () => {
    expect(complete("evidence", "ark:99999/x", "--format", "")).toEqual([
      "tree",
      "json",
      "prov-json",
      "turtle",
      "dot",
      "mermaid",
    ]);
    expect(complete("publish", "--status", "EM")).toEqual(["EMBARGOED"]);
    expect(complete("completion", "")).toEqual(expect.arrayContaining(["bash", "zsh"]));
    expect(complete("schema", "validate", "--data", "")).toEqual([]);
    expect(complete("upload", "cra")).toEqual([]);
  });

  it("is loaded by bash as it is printed", () => {
    expect(
      execFileSync("bash", ["-c", "source completion.bash; complete -p arkgraph"], {
        cwd: path(),
        encoding: "utf8",
      }),
    ).toBe("complete -o default -F _arkgraph arkgraph\n");
  });
});

describe.skipIf(!has("zsh"))("in zsh", () => {
  it("offers commands and values", () => {
    // compadd is what the shell's own machinery would be given.
    const complete = (...words: string[]): string =>
      execFileSync(
        "zsh",
        [
          "-fc",
          `compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _files() { print ` +
            `FILES; }; source completion.zsh; words=("$@"); CURRENT=$#; _arkgraph`,
          "zsh",
          "arkgraph",
          ...words,
        ],
        { cwd: path(), encoding: "utf8" },
      );
    expect(complete("").split("\n")).toEqual(expect.arrayContaining(["schema", "upload"]));
    expect(complete("schema", "").split("\n")).toContain("validate");
    expect(
      complete("publish", "--status", "")
        .split("\n")
        .filter((line) => line !== ""),
    ).toEqual(["PUBLISHED", "DRAFT", "EMBARGOED", "ARCHIVED"]);
    expect(complete("upload", "")).toContain("FILES");
  });
});

describe.skipIf(!has("fish"))("in fish", () => {
  it("offers commands, values and files", async () => {
    await write("crate.zip", "");
    /** What a press of Tab behind this line offers. */
    const complete = (line: string): string[] =>
      execFileSync("fish", ["--no-config", "-c", `source completion.fish; complete -C '${line}'`], {
        cwd: path(),
        encoding: "utf8",
      })
        .split("\n")
        .filter((word) => word !== "")
        .map((word) => word.split("\t")[0]!);
    expect(complete("arkgraph up")).toEqual(["upload"]);
    expect(complete("arkgraph schema va")).toEqual(["validate"]);
    expect(complete("arkgraph schema add-property string --min")).toEqual(["--min-length"]);
    expect(complete("arkgraph publish --status EM")).toEqual(["EMBARGOED"]);
    expect(complete("arkgraph publish --status ")).toHaveLength(4);
    expect(complete("arkgraph completion f")).toEqual(["fish"]);
    expect(complete("arkgraph upload cra")).toEqual(["crate.zip"]);
    expect(complete("arkgraph schema validate --data cra")).toEqual(["crate.zip"]);
  });
});
