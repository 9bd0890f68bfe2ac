import { describe, expect, it } from "vitest";
import { PACKAGED_SCHEMAS } from "../../src/tabular/schema/packaged.js";
import { readSchema } from "../../src/tabular/schema/table-schema.js";
import { useFolder } from "./terminal.js";

const { run, write } = useFolder();

describe("the packaged schemas", () => {
  it("are eleven, each listed with its name", async () => {
    const { status, stdout } = await run("schema list");
    expect(status).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(11);
    for (const [at, schema] of PACKAGED_SCHEMAS.entries())
      expect(lines[at]).toMatch(new RegExp(`^${schema["@id"]} +${schema.name}$`));
  });

  it("are all valid", () => {
    for (const schema of PACKAGED_SCHEMAS) expect(() => readSchema(schema)).not.toThrow();
  });

  it("are shown as JSON, whatever hyphens or slash the identifier has", async () => {
    const schema = PACKAGED_SCHEMAS.find(
      ({ name }) => name === "CM4AI Schema IF Image Labels Probability",
    )!;
    for (const ark of [
      schema["@id"],
      schema["@id"].replace("ark:", "ark:/"),
      schema["@id"].replaceAll("-", ""),
    ]) {
      const { status, stdout } = await run(["schema", "show", ark]);
      expect(status).toBe(0);
      expect(JSON.parse(stdout)).toEqual(schema);
    }
    expect(await run("schema show ark:59852/none")).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "arkgraph: ark:59852/none: no packaged schema has this identifier; arkgraph " +
        "schema list shows all packaged schemas\n",
    });
  });

  it("check a table by their identifier", async () => {
    await write(
      "edges.tsv",
      "bait\tprey\nBRCA1\tTP53\nBRCA1\tensembl:ENSG00000141510\nBRCA1\tlower\n",
    );
    const { status, stdout } = await run(
      "schema validate --data edges.tsv --schema ark:59852/schema-cm4ai-apmsloader-ppi-edgelist",
    );
    expect(status).toBe(1);
    expect(stdout).toContain(
      "|  2  | ValidationError |    pattern     | 'lower' does not match " +
        "'^[A-Z0-9orf/-]*$|^ensembl:(?:ENSG[0-9]{11})(;?ENSG[0-9]{11})*$' |",
    );
  });

  it("are used only if no file has the same name", async () => {
    await write("ark:59852/schema-cm4ai-coembedding", "{");
    expect(
      (await run("schema validate --data x --schema ark:59852/schema-cm4ai-coembedding")).stderr,
    ).toContain("the schema is not JSON");
  });
});
