import { DataFactory, Parser, Store } from "n3";
import { type Report, Validator } from "shacl-engine";
import { describe, expect, it } from "vitest";
import { EXAMPLES } from "../../src/model/examples.js";
import { expandCurie, type JsonObject, type JsonValue } from "../../src/model/field.js";
import { withDefaults, withoutSecrets } from "../../src/model/json-schema.js";
import { KIND_NAMES, type KindName } from "../../src/model/kind.js";
import { KINDS } from "../../src/model/kinds.js";
import { type ShapeUse, shaclShapes, shapeOf } from "../../src/model/shapes.js";
import { graphOf } from "../../src/rdf/graph.js";

const turtle = shaclShapes();
const validator = new Validator(new Store(new Parser().parse(turtle)), { factory: DataFactory });

/** The record's stated triples; what was inferred stands in a graph of its own and is left out. */
async function check(
  kind: KindName,
  changes: JsonObject = {},
  gone: string[] = [],
  use: ShapeUse = "sent",
): Promise<Report> {
  const claimed = Object.fromEntries<JsonValue>(
    Object.entries({ ...EXAMPLES[kind], ...changes }).filter(([name]) => !gone.includes(name)),
  );
  const document = withDefaults(KINDS[kind], withoutSecrets(KINDS[kind], claimed));
  const ark = document["@id"] as string;
  const { quads } = await graphOf({
    ark,
    kind,
    document,
    ...(KINDS[kind].loose ? { fromCrate: true } : {}),
  });
  const stated = new Parser({ format: "N-Quads" })
    .parse(quads)
    .filter((quad) => quad.graph.value === ark);
  const dataset = new Store(
    stated.map((quad) => DataFactory.quad(quad.subject, quad.predicate, quad.object)),
  );
  // Stored records are found by their class.
  if (use === "stored") return validator.validate({ dataset });
  return validator.validate({ dataset, terms: [DataFactory.namedNode(ark)] }, [
    { terms: [DataFactory.namedNode(expandCurie(shapeOf(KINDS[kind], use)))] },
  ]);
}
const broken = (report: Report) =>
  report.results.map(
    (result) =>
      `${result.path?.[0]?.predicates[0]?.value.replace(/.*[/#]/, "")} ` +
      result.constraintComponent.value.replace(/.*#/, ""),
  );

describe("the SHACL shapes", () => {
  it("are the same each time", () => {
    expect(shaclShapes()).toBe(turtle);
  });

  it("use no group that SPARQL's regular expressions do not support", () => {
    expect(turtle).not.toContain("(?:");
  });

  it.each(KIND_NAMES)("accept the graph of a valid %s", async (kind) => {
    expect(broken(await check(kind))).toEqual([]);
  });

  it.each(KIND_NAMES.filter((kind) => KINDS[kind].fields["name"]?.required))(
    "reject the graph of a %s without a name",
    async (kind) => {
      expect(new Set(broken(await check(kind, {}, ["name"])))).toEqual(
        new Set(["name MinCountConstraintComponent"]),
      );
    },
  );

  it.each<[string, JsonObject, string]>([
    ["a name of 201 characters", { name: "x".repeat(201) }, "name MaxLengthConstraintComponent"],
    [
      "a description of four characters",
      { description: "four" },
      "description MinLengthConstraintComponent",
    ],
    ["an owner that is not a reference", { owner: "ada" }, "owner NodeKindConstraintComponent"],
    ["a date in words", { dateCreated: "in May" }, "dateCreated PatternConstraintComponent"],
  ])("reject %s", async (_what, changes, expected) => {
    expect(broken(await check("dataset", changes))).toEqual([expected]);
  });

  it.each(KIND_NAMES)(
    "accept the graph of a stored %s from a crate, without required fields of requests",
    async (kind) => {
      const fields = KINDS[kind].fields;
      const required = Object.keys(fields).filter(
        (name) => fields[name]!.required && !name.startsWith("@"),
      );
      const brought = {
        ...("license" in fields && {
          license: { "@id": "https://creativecommons.org/licenses/by/4.0/" },
        }),
        ...("description" in fields && { description: "few" }),
      } as JsonObject;
      expect(
        broken(
          await check(
            kind,
            brought,
            required.filter((name) => name !== "description"),
            "stored",
          ),
        ),
      ).toEqual([]);
    },
  );

  it("reject a stored record with a date in words, and text where a reference belongs", async () => {
    expect(
      broken(
        await check("dataset", { dateCreated: "in May", owner: "ada" }, [], "stored"),
      ).toSorted(),
    ).toEqual(["dateCreated PatternConstraintComponent", "owner NodeKindConstraintComponent"]);
  });

  it("accept text in a language and an empty list of results", async () => {
    expect(broken(await check("computation", { generated: [] }))).toEqual([]);
    expect(
      broken(
        await check("dataset", {
          "@context": { "@vocab": "https://schema.org/", name: "https://schema.org/name" },
        }),
      ),
    ).toEqual([]);
  });
});
