import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/model/field.js";
import { type Json, zip } from "../../support/crates.js";
import { ingestHere, type Taken } from "../../support/intake-here.js";
import { sharedData } from "../../support/shared-data.js";
import { cpuTimeOf } from "../../support/cpu.js";

const take = (document: unknown, limits = {}): Promise<Taken> =>
  ingestHere(Buffer.from(JSON.stringify(document)), { format: "metadata", limits });
const documentsOf = ({ records }: Taken): JsonObject[] =>
  records.map(({ document }) => JSON.parse(Buffer.from(document).toString("utf8")) as JsonObject);
const named = (taken: Taken, name: string): JsonObject =>
  documentsOf(taken).find((document) => document["name"] === name)!;
const errorsOf = ({ result }: Taken): [code: string, pointer: string | null][] =>
  ("errors" in result ? result.errors : []).map(({ code, pointer }) => [code, pointer]);
const advicesOf = ({ result }: Taken): [code: string, pointer: string | null][] =>
  ("warnings" in result ? result.warnings : []).map(({ code, pointer }) => [code, pointer]);
const messagesOf = ({ result }: Taken): string =>
  ("errors" in result ? result.errors : []).map(({ message }) => message).join("\n");

const croissant = (more: Json = {}): JsonObject => ({
  "@context": {
    "@vocab": "https://schema.org/",
    sc: "https://schema.org/",
    ex: "https://example.org/",
  },
  "@type": "sc:Dataset",
  conformsTo: "http://mlcommons.org/croissant/1.1",
  name: "Cells",
  description: "Cells by plate.",
  license: "https://spdx.org/licenses/CC-BY-4.0",
  datePublished: "2026-11-24",
  ...(more as JsonObject),
});
const file = (more: Json = {}): Json => ({
  "@type": "cr:FileObject",
  "@id": "counts",
  contentUrl: "counts.csv",
  encodingFormat: "text/csv",
  ...(more as JsonObject),
});
const recordSet = (fields: Json[], more: Json = {}): Json => ({
  "@type": "cr:RecordSet",
  "@id": "rows",
  field: fields,
  ...(more as JsonObject),
});
const pack = (more: Json = {}): JsonObject => ({
  name: "cells",
  title: "Cells",
  resources: [{ name: "counts", path: "counts.csv" }],
  ...(more as JsonObject),
});

describe("what a document states of files", () => {
  const hex = "0123456789abcdef".repeat(4);
  const checksums = ["DIGEST_INVALID", "SIZE_INVALID", "FORMAT_INVALID", "CROISSANT_VERSION"];
  const advised = (taken: Taken): [code: string, pointer: string | null][] =>
    advicesOf(taken).filter(([code]) => checksums.includes(code));

  it("is left out with advice where a hash is none, and read without its algorithm", async () => {
    const taken = await take(
      croissant({
        distribution: [
          file({ "@id": "a", contentUrl: "https://example.org/a", sha256: "sha256" }),
          file({ "@id": "b", contentUrl: "https://example.org/b", sha256: hex.slice(1) }),
          file({ "@id": "c", contentUrl: "https://example.org/c", sha256: `sha256:${hex}` }),
          file({ "@id": "d", contentUrl: "https://example.org/d", sha256: [hex, hex] }),
          file({ "@id": "e", contentUrl: "https://example.org/e", sha256: hex }),
        ],
      }),
    );
    expect(advised(taken)).toEqual([
      ["DIGEST_INVALID", "/distribution/0/sha256"],
      ["DIGEST_INVALID", "/distribution/1/sha256"],
      ["DIGEST_INVALID", "/distribution/2/sha256"],
      ["DIGEST_INVALID", "/distribution/3/sha256"],
    ]);
    expect(
      documentsOf(taken)
        .filter(({ contentUrl }) => contentUrl !== undefined)
        .map(({ sha256 }) => sha256),
    ).toEqual([undefined, undefined, hex, undefined, hex]);
  });

  it("is advised about in a Data Package too", async () => {
    const taken = await take(
      pack({
        resources: [
          { name: "counts", path: "https://example.org/counts.csv", hash: "foo", bytes: "many" },
          { name: "more", path: "https://example.org/more.csv", hash: `sha256:${hex}`, bytes: 12 },
        ],
      }),
    );
    expect(advised(taken).map(([code]) => code)).toEqual(["DIGEST_INVALID", "SIZE_INVALID"]);
    expect(named(taken, "more")["sha256"]).toBe(hex);
  });

  it("is of an older Croissant where the document says so, or says no version", async () => {
    const old = croissant({
      conformsTo: "http://mlcommons.org/croissant/0.8",
      distribution: [file({ contentUrl: "https://example.org/a.csv" })],
    });
    expect(advised(await take(old))).toEqual([["CROISSANT_VERSION", "/conformsTo"]]);
    const { conformsTo: _, ...unsaid } = croissant();
    const first = await take({
      ...unsaid,
      "@context": {
        ...(unsaid["@context"] as JsonObject),
        ml: "http://mlcommons.org/schema/",
      },
    });
    expect(errorsOf(first)).toEqual([]);
    expect(advised(first)).toEqual([["CROISSANT_VERSION", "/@context"]]);
    for (const version of ["1.0", "1.1"])
      expect(
        advised(await take(croissant({ conformsTo: `http://mlcommons.org/croissant/${version}` }))),
      ).toEqual([]);
  });
});

describe("a Croissant document", () => {
  it("keeps its files, record sets, people and further terms", async () => {
    const taken = await take(
      croissant({
        creator: [{ "@type": "sc:Person", name: "Ada" }],
        "ex:plate": "P1",
        "rai:dataBiases": "One lab only.",
        citeAs: "Ada 2026",
        distribution: [
          file(),
          {
            "@type": "cr:FileSet",
            "@id": "images",
            containedIn: { "@id": "archive" },
            includes: "*.png",
          },
          file({ "@id": "archive", contentUrl: "https://example.org/a.zip" }),
          file({ "@id": "inner", containedIn: { "@id": "archive" }, contentUrl: "in/a.csv" }),
        ],
        recordSet: [
          recordSet([
            {
              "@id": "rows/image",
              dataType: "sc:Text",
              description: "Image.",
              source: { fileObject: { "@id": "counts" }, extract: { column: "image" } },
            },
            { "@id": "rows/cells", dataType: ["cr:Int64"] },
            { "@id": "rows/area", dataType: "sc:Float", equivalentProperty: "ex:area" },
          ]),
        ],
      }),
    );
    expect(errorsOf(taken)).toEqual([]);
    const [root] = documentsOf(taken);
    expect(root).toMatchObject({
      name: "Cells",
      citeAs: "Ada 2026",
      "ex:plate": "P1",
      "rai:dataBiases": "One lab only.",
    });
    expect(root!["hasPart"]).toHaveLength(4);
    const schema = named(taken, "rows");
    expect(schema["properties"]).toMatchObject({
      image: { type: "string", index: 0, description: "Image." },
      cells: { type: "integer", index: 1 },
      area: { type: "number", index: 2, valueURL: "ex:area" },
    });
    expect(named(taken, "counts")["hasSchema"]).toEqual([{ "@id": schema["@id"] }]);
    expect(named(taken, "images")).toMatchObject({ includes: "*.png" });
    expect(named(taken, "inner")).not.toHaveProperty("contentUrl");
    expect(named(taken, "Ada")["@type"]).toBe("Person");
    const quads = taken.records.map((record) => record.quads as string).join("\n");
    for (const iri of [
      "https://example.org/plate",
      "http://mlcommons.org/croissant/RAI/dataBiases",
      "http://mlcommons.org/croissant/citeAs",
      "https://w3id.org/EVI#hasSchema",
    ])
      expect(quads).toContain(iri);
  });

  it("is refused with the place of what is wrong", async () => {
    const taken = await take(
      croissant({
        distribution: [
          "text",
          file({ "@id": "a", contentUrl: "../../etc/passwd" }),
          file({ "@id": "a" }),
          file({ "@id": "b", contentUrl: null }),
          file({ "@id": null, name: 3 }),
          { "@type": "cr:FileObject" },
        ],
        recordSet: [
          recordSet([{ "@id": "rows/a" }, { "@id": "rows/a" }]),
          recordSet([]),
          { field: [{}] },
        ],
      }),
    );
    expect(errorsOf(taken).toSorted()).toEqual(
      [
        ["CROISSANT_INVALID", "/distribution/0"],
        ["CROISSANT_INVALID", "/distribution/2"],
        ["CROISSANT_INVALID", "/distribution/3"],
        ["CROISSANT_INVALID", "/distribution/5"],
        ["CROISSANT_INVALID", "/recordSet/0/field"],
        ["CROISSANT_INVALID", "/recordSet/1"],
        ["CROISSANT_INVALID", "/recordSet/2"],
        ["INVALID_ID", "/distribution/1"],
      ].toSorted(),
    );
  });

  it("names the file of the archive and the resource when a file is missing", async () => {
    const taken = await ingestHere(
      await zip({ "data/croissant.json": croissant({ distribution: [file()] }) }),
    );
    expect(taken.result).toMatchObject({
      errors: [{ code: "FILE_MISSING", file: "data/croissant.json", pointer: "/distribution/0" }],
    });
  });

  it("with many fields, files or levels stays bounded", async () => {
    const fields = Array.from({ length: 10_000 }, (_, at) => ({ "@id": `rows/${at}` }));
    const wide = await take(croissant({ recordSet: [recordSet(fields)] }));
    expect(errorsOf(wide)).toEqual([]);
    expect(Object.keys(named(wide, "rows")["properties"] as object)).toHaveLength(10_000);
    const files = Array.from({ length: 60 }, (_, at) => file({ "@id": `f${at}` }));
    expect(
      errorsOf(await take(croissant({ distribution: files }), { MAX_CRATE_ENTITIES: 50 })),
    ).toEqual([["TOO_MANY_ENTITIES", null]]);
    expect(
      errorsOf(await take(croissant({ distribution: files }), { MAX_CRATE_REFERENCES: 50 })),
    ).toEqual([["TOO_MANY_REFERENCES", "/distribution"]]);
    let deep: Json = { "@id": "x" };
    for (let level = 0; level < 150; level++) deep = { "@id": `x${level}`, subField: [deep] };
    const nested = await take(croissant({ recordSet: [recordSet([deep])] }));
    expect(errorsOf(nested).length).toBeGreaterThan(0);
    const creators = Array.from({ length: 20_000 }, () => ({ "@type": "Person", name: "Ada" }));
    const many = () => take(croissant({ creator: creators }), { MAX_CRATE_ENTITIES: 10 });
    expect(await cpuTimeOf(many)).toBeLessThan(20_000);
  });
});

describe("a Data Package", () => {
  const schema = {
    fields: [
      { name: "image", type: "string" },
      { name: "cells", type: "integer", constraints: { required: true, minimum: 0 } },
    ],
    missingValues: [],
    primaryKey: "image",
    fieldsMatch: "exact",
  };

  it("becomes a crate with its files, schemas, licence and contributors", async () => {
    const taken = await ingestHere(
      await zip({
        "datapackage.json": pack({
          description: "Cells by plate.",
          version: "1.2",
          created: "2026-11-24T10:00:00Z",
          licenses: [{ name: "CC-BY-4.0", path: "https://spdx.org/licenses/CC-BY-4.0" }],
          contributors: [
            { title: "Ada", role: "author", organization: "Lab" },
            { title: "Grace", roles: ["wrangler"] },
          ],
          resources: [
            {
              name: "counts",
              path: "data/counts.csv",
              bytes: 18,
              hash: "sha256:" + "0".repeat(64),
              schema,
              dialect: { delimiter: ";" },
            },
            { name: "remote", path: "https://example.org/more.csv", schema: "schema.json" },
            { name: "parts", path: ["data/a.csv", "data/b.csv"] },
            { name: "inline", data: [{ a: 1 }] },
          ],
        }),
        "data/counts.csv": "image;cells\na;1\n",
        "data/a.csv": "a",
        "data/b.csv": "b",
        "schema.json": "{}",
      }),
    );
    expect(errorsOf(taken)).toEqual([["DIGEST_MISMATCH", "/resources/0"]]);
    const [root] = documentsOf(taken);
    expect(root).toMatchObject({
      name: "Cells",
      alternateName: "cells",
      version: "1.2",
      license: { "@id": "https://spdx.org/licenses/CC-BY-4.0" },
      author: [{ "@id": named(taken, "Ada")["@id"] }],
      contributor: [{ "@id": named(taken, "Grace")["@id"] }],
    });
    const counts = named(taken, "counts");
    expect(counts).toMatchObject({ encodingFormat: "text/csv" });
    const table = named(taken, "Schema of counts");
    expect(counts["hasSchema"]).toEqual({ "@id": table["@id"] });
    expect(table).toMatchObject({
      separator: ";",
      primaryKey: ["image"],
      properties: { cells: { type: "integer", index: 1, minimum: 0 } },
    });
    expect(named(taken, "parts")["hasPart"]).toHaveLength(2);
    expect(named(taken, "inline")).toMatchObject({ data: [{ a: 1 }] });
    const kinds = taken.records.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "datadownload")).toHaveLength(4);
    expect(
      "warnings" in taken.result && taken.result.warnings.map(({ message }) => message).join("\n"),
    ).toContain("fieldsMatch has no counterpart");
  });

  it("is accepted with statistics, whose fields are a number", async () => {
    const taken = await take(
      pack({
        resources: [
          {
            name: "counts",
            path: "https://example.org/counts.csv",
            bytes: 12,
            hash: "0".repeat(32),
            fields: 2,
            rows: 1,
            schema: { fields: [{ name: "taxon" }, { name: "count", type: "integer" }] },
          },
        ],
      }),
    );
    expect(messagesOf(taken)).toBe("");
    expect(taken.result.warnings.map(({ code }) => code)).not.toContain("SCHEMA_PART_LEFT_OUT");
    expect(named(taken, "Schema of counts")["properties"]).toMatchObject({
      taxon: { type: "string", index: 0 },
      count: { type: ["integer", "null"], index: 1 },
    });
  });

  it("is refused with the place of what is wrong", async () => {
    const taken = await take(
      pack({
        resources: [
          "text",
          { name: "a", path: "../secret.csv" },
          { name: "b", path: "/etc/passwd" },
          { name: "c", path: ["ok.csv", "x/../../y.csv"] },
          { name: "d" },
          { name: "e", path: "e.csv", schema: { fields: [{ name: "x" }, { name: "x" }] } },
          { name: "f", path: "f.csv" },
          { name: "f", path: "g.csv" },
          { name: "h", path: "..\\h.csv" },
        ],
      }),
    );
    expect(errorsOf(taken)).toEqual([
      ["DATA_PACKAGE_INVALID", "/resources/0"],
      ["DATA_PACKAGE_INVALID", "/resources/1/path"],
      ["DATA_PACKAGE_INVALID", "/resources/2/path"],
      ["DATA_PACKAGE_INVALID", "/resources/3/path/1"],
      ["DATA_PACKAGE_INVALID", "/resources/4"],
      ["DATA_PACKAGE_INVALID", "/resources/5/schema"],
      ["DATA_PACKAGE_INVALID", "/resources/7/name"],
      ["DATA_PACKAGE_INVALID", "/resources/8/path"],
    ]);
    expect(messagesOf(taken)).toContain("two columns are named x");
  });
});

it("an archive without any metadata says what it may have", async () => {
  const taken = await ingestHere(await zip({ "metadata.json": { a: 1 }, "a.csv": "a" }));
  expect(errorsOf(taken)).toEqual([["NO_METADATA", null]]);
});

it("an archive with RO-Crate metadata ignores other documents", async () => {
  const { metadata } = await import("../../support/crates.js");
  const taken = await ingestHere(
    await zip({ "ro-crate-metadata.json": metadata(), "datapackage.json": pack() }),
  );
  expect(errorsOf(taken)).toEqual([]);
  expect(documentsOf(taken)[0]).toMatchObject({ name: "A crate" });
});

it("no document of either format ends in a fault", async () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom("a", "../a", "https://a.b/c", ""),
  );
  const item = fc.dictionary(
    fc.constantFrom(
      "@id",
      "@type",
      "name",
      "contentUrl",
      "path",
      "schema",
      "field",
      "fields",
      "source",
      "dataType",
      "containedIn",
      "subField",
      "bytes",
      "hash",
      "licenses",
      "data",
      "__proto__",
    ),
    value,
  );
  const list = fc.oneof(value, fc.array(item, { maxLength: 4 }));
  await fc.assert(
    fc.asyncProperty(list, list, list, fc.boolean(), async (one, two, three, isPack) => {
      const taken = await take(
        isPack
          ? pack({
              resources: Array.isArray(one) ? (one as Json[]) : [one as Json],
              contributors: two as Json,
              licenses: three as Json,
            })
          : croissant({
              distribution: one as Json,
              recordSet: two as Json,
              creator: three as Json,
            }),
      );
      expect(taken.result).toBeDefined();
    }),
    { numRuns: 150 },
  );
});

const CASE = sharedData("cases/crates/datapackage-fields-count/crate");
describe.skipIf(!CASE)("a Data Package that frictionless-py describes with statistics", () => {
  it("becomes a crate", async () => {
    const files = Object.fromEntries(
      ["datapackage.json", "counts.csv"].map((name) => [name, readFileSync(join(CASE!, name))]),
    );
    const taken = await ingestHere(await zip(files));
    expect(messagesOf(taken)).toBe("");
    expect(named(taken, "Schema of counts")["properties"]).toMatchObject({
      count: { type: ["integer", "null"] },
    });
  });
});
