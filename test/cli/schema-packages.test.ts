import { beforeAll, describe, expect, it } from "vitest";
import { schemaOf, useFolder } from "./terminal.js";

const { run, write } = useFolder();
const validate = (schema: string, ...more: string[]) =>
  run(["schema", "validate", "--schema", schema, ...more]);

describe("a Data Package as the schema", () => {
  const genes = {
    name: "genes",
    path: "genes.csv",
    schema: {
      fields: [
        { name: "id", type: "integer" },
        { name: "kind", type: "string" },
      ],
      primaryKey: "id",
      foreignKeys: [{ fields: "kind", reference: { resource: "kinds", fields: "name" } }],
    },
  };
  const kinds = {
    name: "kinds",
    path: "kinds.csv",
    dialect: { delimiter: ";" },
    schema: { fields: [{ name: "name", type: "string" }] },
  };
  const packageOf = (...resources: object[]): object => ({ name: "p", resources });

  beforeAll(async () => {
    await write("p.json", packageOf(genes, kinds));
    await write("genes.csv", "id,kind\n1,a\n1,b\n");
    await write("kinds.csv", "name\na\n");
  });

  it("checks all of its tables, and the keys between them", async () => {
    const { status, stdout, stderr } = await validate("p.json", "--format", "json");
    const { files } = JSON.parse(stdout) as { files: { file: string; errors: object[] }[] };
    expect([status, stderr]).toEqual([1, ""]);
    expect(files).toMatchObject([
      {
        file: "genes.csv",
        errors: [
          { row: 1, failed_keyword: "primaryKey", message: "'1' is in row 0 too" },
          { row: 1, failed_keyword: "foreignKeys", message: "'b' is not in name of kinds" },
        ],
      },
      { file: "kinds.csv", errors: [] },
    ]);
    await write("genes.csv", "id,kind\n1,a\n2,a\n");
    expect(await validate("p.json")).toEqual({
      status: 0,
      stdout: "genes.csv: Validation Success\nkinds.csv: Validation Success\n",
      stderr: "",
    });
  });

  it.each([["semi.csv"], [["semi.csv"]]])("is a Data Resource alone, too: %j", async (path) => {
    await write("semi.resource.json", {
      name: "semi",
      path,
      dialect: { csv: { delimiter: ";" } },
      schema: { fields: [{ name: "id", type: "integer" }] },
    });
    await write("semi.csv", "id;x\n1;a\nb;c\n");
    const { status, stdout } = await validate("semi.resource.json", "--format", "json");
    expect([status, JSON.parse(stdout)]).toMatchObject([
      1,
      { files: [{ file: "semi.csv", errors: [{ row: 1, property: "id" }] }] },
    ]);
  });

  it("is not a Table Schema alone: the message names the command that converts it", async () => {
    await write("fields.json", { fields: [{ name: "id", type: "integer" }] });
    expect(await validate("fields.json", "--data", "genes.csv")).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "arkgraph: fields.json: it is a Table Schema: convert it with arkgraph schema import " +
        "--from frictionless\n",
    });
  });

  it("checks the data that are given, found by their name", async () => {
    await write("other/kinds.csv", "name;x\n");
    expect((await validate("p.json", "--data", "other/kinds.csv")).stdout).toBe(
      "Validation Success\n",
    );
    const { status, stderr } = await validate("p.json", "--data", "none.csv");
    expect([status, stderr]).toEqual([1, "arkgraph: p.json: it describes no table none.csv\n"]);
  });

  it("names what says nothing at the top of the package, and where it belongs", async () => {
    const sentence =
      "missingValues at the top of the package has no effect: it belongs in the schema of a resource";
    await write("top.json", { ...packageOf(kinds), missingValues: ["-"] });
    const { status, stdout } = await validate("top.json", "--format", "json");
    expect([status, stdout]).toEqual([0, expect.stringContaining(`"message":"${sentence}"`)]);
    expect((await validate("top.json", "--strict")).status).toBe(1);
    const made = await run(["schema", "import", "top.json", "--from", "frictionless"]);
    expect([made.status, made.stderr]).toEqual([0, `arkgraph: top.json: ${sentence}\n`]);
  });

  it("may have foreign keys in a circle", async () => {
    const circle = {
      ...kinds,
      schema: {
        ...kinds.schema,
        foreignKeys: [{ fields: "name", reference: { resource: "genes", fields: "kind" } }],
      },
    };
    await write("circle.json", packageOf(genes, circle));
    expect((await validate("circle.json")).status).toBe(0);
  });

  it.each([
    ["../genes.csv", "are not in the folder of the package"],
    ["/etc/passwd", "are not in the folder of the package"],
    ["https://example.org/genes.csv", "download them, and give --data"],
  ])("reads no data at %s", async (path, message) => {
    await write("far.json", packageOf({ ...genes, path }));
    const { status, stderr } = await validate("far.json");
    expect([status, stderr]).toEqual([1, expect.stringContaining(message) as string]);
  });

  it("names keys that are not checked", async () => {
    await write("one.json", packageOf(genes));
    const { status, stderr } = await validate("one.json");
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining("FOREIGN_KEY_UNCHECKED") as string,
    ]);
    expect((await validate("one.json", "--strict")).status).toBe(1);
  });
});

describe("CSVW metadata as the schema", () => {
  it("checks all tables of the group", async () => {
    await write("csvw.json", {
      "@context": "http://www.w3.org/ns/csvw",
      tables: [
        {
          url: "a.csv",
          tableSchema: {
            columns: [{ name: "code", titles: "Code" }],
            foreignKeys: [
              {
                columnReference: "code",
                reference: { resource: "b.csv", columnReference: "key" },
              },
            ],
          },
        },
        { url: "b.csv", tableSchema: { columns: [{ name: "key", titles: "The key" }] } },
      ],
    });
    await write("a.csv", "Code\nx\ny\n");
    await write("b.csv", "The key\nx\n");
    const { status, stdout } = await validate("csvw.json", "--format", "ndjson");
    expect([status, JSON.parse(stdout)]).toMatchObject([
      1,
      { file: "a.csv", row: 1, failed_keyword: "foreignKeys" },
    ]);
  });
});

describe("a schema with a key of its own table", () => {
  it("is checked against a file, and names what it cannot check", async () => {
    const properties = {
      id: { description: "", index: 0, type: "string" },
      parent: { description: "", index: 1, type: "string" },
    };
    const foreignKeys = [{ fields: ["parent"], reference: { resource: "", fields: ["id"] } }];
    await write("tree.json", schemaOf(properties, { foreignKeys }));
    await write("tree.csv", "a,a\nb,a\nc,x\n");
    const { status, stdout } = await validate("tree.json", "--data", "tree.csv");
    expect([status, stdout]).toEqual([
      1,
      expect.stringContaining("'x' is not in id of the table") as string,
    ]);
    const piped = await run("schema validate --data - --schema tree.json", "a,x\n");
    expect(piped).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("FOREIGN_KEY_UNCHECKED") as string,
    });
  });
});

describe("a data contract as the schema", () => {
  const contract = `apiVersion: v3.1.0
kind: DataContract
id: shop
version: 1.0.0
status: active
servers:
  - { server: here, type: local, path: "{model}.csv", format: csv }
schema:
  - name: orders
    properties:
      - { name: id, logicalType: integer, primaryKey: true }
      - name: kind
        logicalType: string
        relationships:
          - to: kinds.name
  - name: kinds
    physicalName: kinds.tsv
    customProperties:
      - { property: separator, value: "\\t" }
    properties:
      - { name: name, logicalType: string, required: true }
`;

  it("checks all of its tables in their formats, and the keys between them", async () => {
    await write("c/shop.odcs.yaml", contract);
    await write("c/orders.csv", "id,kind\n1,a\nx,b\n2,b\n");
    await write("c/kinds.tsv", "name\na\n");
    const all = await validate("c/shop.odcs.yaml", "--format", "json");
    const { files } = JSON.parse(all.stdout) as { files: { file: string; errors: object[] }[] };
    expect(files).toMatchObject([
      {
        file: "c/orders.csv",
        errors: [
          { row: 1, error_type: "ParsingError" },
          { row: 2, failed_keyword: "foreignKeys", message: "'b' is not in name of kinds" },
        ],
      },
      { file: "c/kinds.tsv", errors: [] },
    ]);
    await write("c/orders.jsonl", '{"kind":"a","id":7}\n');
    expect(await validate("c/shop.odcs.yaml", "--data", "c/orders.jsonl")).toEqual({
      status: 0,
      stdout: "Validation Success\n",
      stderr: "",
    });
  });

  it("comes from schema export, and goes to schema import", async () => {
    await write("s.json", schemaOf({ id: { description: "d", index: 0, type: "integer" } }));
    expect(
      await run("schema export s.json --to odcs --url id.csv --output s.odcs.yaml"),
    ).toMatchObject({ status: 0, stdout: "Wrote data contract: s.odcs.yaml\n" });
    const { stdout } = await run("schema import s.odcs.yaml --from odcs --strict");
    expect(JSON.parse(stdout)).toMatchObject({ properties: { id: { index: 0, type: "integer" } } });
    await write("id.csv", "1\n2\n");
    expect((await validate("s.odcs.yaml")).stdout).toBe("Validation Success\n");
  });
});
