import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasTerminals, inTerminal, schemaOf, useFolder } from "./terminal.js";

const folder = useFolder();
const SCHEMA = schemaOf({
  id: { description: "d", index: 0, type: "string", pattern: "^A" },
  n: { description: "d", index: 1, type: "integer" },
});
const terminal = (args: string[], env: Record<string, string> = {}) =>
  inTerminal(args, { cwd: folder.path(), env });

describe.skipIf(!hasTerminals)("schema validate on a terminal", () => {
  it("colours kinds of errors and success, but not where colours are switched off", async () => {
    await folder.write("s.json", SCHEMA);
    await folder.write("bad.csv", "B,1\nA,x\n");
    await folder.write("good.csv", "A,1\n");
    const bad = await terminal(["schema", "validate", "--data", "bad.csv", "--schema", "s.json"]);
    expect(bad.status).toBe(1);
    const line = (words: string) => bad.shown.split("\n").find((text) => text.includes(words));
    expect(line("ParsingError")).toContain("\u001b[31m");
    expect(line("ValidationError")).toContain("\u001b[33m");
    expect(
      (await terminal(["schema", "validate", "--data", "good.csv", "--schema", "s.json"])).shown,
    ).toBe("\u001b[32mValidation Success\u001b[39m\n");
    expect(
      (
        await terminal(["schema", "validate", "--data", "good.csv", "--schema", "s.json"], {
          NO_COLOR: "1",
        })
      ).shown,
    ).toBe("Validation Success\n");
    expect(
      (await folder.run("schema validate --data bad.csv --schema s.json")).stdout,
    ).not.toContain("\u001b");
  });

  it("shows the progress of a long file, and clears the bar before the result", async () => {
    await folder.write("s.json", SCHEMA);
    await writeFile(
      join(folder.path(), "long.csv"),
      "A_row_of_a_long_table,12345\n".repeat(1_000_000),
    );
    const { status, shown } = await terminal([
      "schema",
      "validate",
      "--data",
      "long.csv",
      "--schema",
      "s.json",
    ]);
    expect(status).toBe(0);
    expect(shown).toMatch(/checking .*█.* of 28\.0 MB · long\.csv/);
    expect(shown).toMatch(/Validation Success\S*\n$/);
    expect(
      (
        await terminal([
          "schema",
          "validate",
          "--data",
          "long.csv",
          "--schema",
          "s.json",
          "--quiet",
        ])
      ).shown,
    ).toBe("");
  });
});

describe("bad input to the other schema commands", () => {
  it.each([
    ["infer none.csv --output made.json", "none.csv: there is no such file or folder"],
    ["infer empty.csv --output made.json", /empty\.csv: .+/],
    ["infer binary.csv --output made.json", "binary.csv: it is binary, not a text table"],
    ["infer utf16.csv --output made.json", /utf16\.csv: it is UTF-16 text: .+/],
    [
      "infer open.csv --output made.json",
      /open\.csv: a quoted cell in row \d+ \(line \d+\) is never closed/,
    ],
    ["check broken.json", /broken\.json: the schema is not JSON: .+/],
    ["export broken.json --to csvw --output made.json", /broken\.json: the schema is not JSON: .+/],
    [
      "import broken.json --from frictionless --output made.json",
      /broken\.json: it is not JSON: .+/,
    ],
    [
      "add-property string --name a --index 0 --description d broken.json",
      /broken\.json: the schema is not JSON: .+/,
    ],
    ["show ark:59852/none", /ark:59852\/none: no packaged schema has this identifier.*/],
  ])("schema %s: one line, status 1, nothing written", async (command, message) => {
    await folder.write("empty.csv", "");
    await folder.write("binary.csv", new Uint8Array([0x89, 0, 1, 2]));
    await folder.write("utf16.csv", new Uint8Array([0xff, 0xfe, 0x41, 0]));
    await folder.write("open.csv", 'a,"b\nc,d\n');
    await folder.write("broken.json", "{");
    const { status, stdout, stderr } = await folder.run(`schema ${command}`);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(
      typeof message === "string"
        ? new RegExp(`^arkgraph: ${message.replaceAll(".", "\\.")}\\n$`)
        : new RegExp(`^arkgraph: ${message.source}\\n$`),
    );
    expect((await folder.run("schema check made.json")).stderr).toBe(
      "arkgraph: made.json: there is no such file or folder\n",
    );
  });

  it.each([
    "schema vaildate",
    "schema add-property date",
    "schema check",
    "schema export s.json --to xml",
    "upload --nonsense",
    "nonsense",
  ])("reports a refusal of the option parser in one line with status 2: %s", async (command) => {
    const { status, stdout, stderr } = await folder.run(command);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^arkgraph: [^\n]+ \(--help lists commands and options\)\n$/);
  });
});
