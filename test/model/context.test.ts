import jsonld from "jsonld";
import { describe, expect, it } from "vitest";
import { EXAMPLES } from "../../src/model/examples.js";
import { expandCurie, type JsonObject } from "../../src/model/field.js";
import { withDefaults } from "../../src/model/json-schema.js";
import { KIND_NAMES, type KindName } from "../../src/model/kind.js";
import { KINDS } from "../../src/model/kinds.js";
import { jsonLdContext } from "../../src/model/shapes.js";

async function expanded(
  kind: KindName,
  changes: JsonObject = {},
): Promise<Record<string, unknown>> {
  const document = {
    ...withDefaults(KINDS[kind], { ...EXAMPLES[kind], ...changes }),
    ...jsonLdContext(),
  };
  const [node] = await jsonld.expand(document, { base: "" });
  return node as Record<string, unknown>;
}

describe("the JSON-LD context", () => {
  it.each(KIND_NAMES)("explains every public field of a %s by its declared term", async (kind) => {
    const node = await expanded(kind);
    for (const [name, field] of Object.entries(KINDS[kind].fields)) {
      const value = EXAMPLES[kind][name];
      if (
        name.startsWith("@") ||
        name === "metadataType" ||
        field.secret ||
        value === undefined ||
        value === null
      )
        continue;
      expect(node).toHaveProperty([expandCurie(field.term)]);
      if (field.ark)
        expect(node[expandCurie(field.term)], name).toEqual(
          [value].flat().map((id) => ({ "@id": id })),
        );
    }
  });

  it("leaves text as text where the contract requires no ARK", async () => {
    const node = await expanded("dataset", { sourceOrganization: "The Institute" });
    expect(node[expandCurie("schema:sourceOrganization")]).toEqual([{ "@value": "The Institute" }]);
  });

  it("reads the type of software from metadataType", async () => {
    expect((await expanded("software"))["@type"]).toEqual([expandCurie("evi:Software")]);
  });

  it("reads the columns of a schema as one value", async () => {
    const node = await expanded("schema");
    expect(node[expandCurie("evi:properties")]).toEqual([
      { "@type": "@json", "@value": EXAMPLES.schema["properties"] },
    ]);
  });
});
