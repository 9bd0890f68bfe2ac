import { beforeAll, describe, expect, it } from "vitest";
import { arkgraph, schemaOf, useFolder } from "./terminal.js";

const { write, path } = useFolder();
const SCHEMA = JSON.stringify(
  schemaOf({ a: { description: "d", index: 0, type: "integer", pattrn: "x" } }),
);
const from = (input: string, line: string) =>
  arkgraph(`schema ${line}`.split(" "), { cwd: path(), input });

beforeAll(async () => {
  await write("d.csv", "1\nx\n");
  await write("s.json", SCHEMA);
});

describe("- is standard input", () => {
  it("for the schema of a check, with its findings", async () => {
    const { status, stdout } = await from(SCHEMA, "validate --data d.csv --schema - --format json");
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      files: [{ errors: [{ row: 1 }] }],
      findings: [{ code: "KEYWORD_UNKNOWN" }],
    });
  });

  it("for a package, whose data are in the current folder", async () => {
    const schema = { fields: [{ name: "a", type: "integer" }] };
    const dialect = { header: false };
    const resources = [{ name: "t", path: "d.csv", schema, dialect }];
    const { stdout } = await from(
      JSON.stringify({ resources }),
      "validate --schema - --format json",
    );
    expect(JSON.parse(stdout)).toMatchObject({ files: [{ file: "d.csv", errors: [{ row: 1 }] }] });
  });

  it("for schemas that are checked, compared, exported and imported", async () => {
    const twice = SCHEMA.replace('"a":{', '"a":{"type":"string","index":0},"a":{');
    expect((await from(twice, "check -")).stdout).toContain("/properties/a occurs twice");
    expect((await from(SCHEMA, "diff s.json -")).status).toBe(0);
    const exported = await from(SCHEMA, "export - --to frictionless");
    expect(exported.status).toBe(0);
    const imported = await from(exported.stdout, "import - --from frictionless");
    expect(JSON.parse(imported.stdout).properties.a.type).toBe("integer");
  });

  it("for one file of a command only", async () => {
    for (const line of ["validate --data - --schema -", "diff - -", "check - --data -"])
      expect(await from(SCHEMA, line)).toEqual({
        status: 1,
        stdout: "",
        stderr: "arkgraph: standard input can be only one of the files: give the others by name\n",
      });
  });
});
