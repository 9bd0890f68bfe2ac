import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/model/field.js";
import type { KindName } from "../../src/model/kind.js";
import { DEFAULT_LICENSE, KINDS } from "../../src/model/kinds.js";
import { JsonLdError } from "../../src/rdf/emit.js";
import { graphOf, graphsOf, keepContext } from "../../src/rdf/graph.js";

const ME = "ark:99999/me";
const VOCAB = { "@vocab": "https://schema.org/" };
const graph = (document: JsonObject, kind: KindName = "dataset", more = {}) =>
  graphOf({ ark: ME, kind, document: { "@id": ME, ...document }, ...more });
/** The record's statements without the graph, terms shortened. */
const lines = async (document: JsonObject, kind: KindName = "dataset", more = {}) =>
  (await graph(document, kind, more)).quads
    .trim()
    .split("\n")
    .map((line) =>
      line
        .replace(/ <[^>]*> \.$/, "")
        .replaceAll("https://schema.org/", "schema:")
        .replaceAll("http://www.w3.org/2001/XMLSchema#", "xsd:"),
    );

describe("a record's graph", () => {
  it("names the record's kind, once, and nothing more for an empty document", async () => {
    for (const { name, rdfClass } of Object.values(KINDS)) {
      const { quads, links, lostTerms } = await graph({}, name);
      expect(quads.trim().split("\n")).toHaveLength(1);
      expect(quads).toContain(rdfClass.split(":")[1]!);
      expect(links).toEqual([]);
      expect(lostTerms).toEqual([]);
    }
  });
  it("contains the licence without the contract's leading space", async () => {
    const found = await lines({ "@context": VOCAB, license: DEFAULT_LICENSE });
    expect(found.filter((line) => line.includes("license"))).toEqual([
      `<${ME}> <schema:license> "https://creativecommons.org/licenses/by/4.0/"`,
    ]);
  });
  it("gives unnamed nodes an IRI below the record, and the same one each time", async () => {
    const document = {
      "@context": VOCAB,
      author: { name: "Ada", affiliation: { name: "Lab" } },
      about: [{ "@id": "_:x", name: "X" }, { "@id": "_:x" }],
    } as JsonObject;
    const { quads } = await graph(document, "dataset");
    expect(quads).not.toContain("_:");
    expect(quads).toBe((await graph(document, "dataset")).quads);
    expect(quads.match(/<ark:99999\/me> <https:\/\/schema.org\/about>/g)).toHaveLength(1);
    expect(quads).toContain(`"Lab"`);
  });
  it("writes numbers, booleans, languages, types and JSON as RDF defines them", async () => {
    const found = await lines({
      "@context": {
        ...VOCAB,
        whole: { "@type": "https://schema.org/Integer" },
        raw: { "@type": "@json" },
      },
      a: 1,
      b: 1.5,
      c: 1e30,
      d: true,
      e: { "@value": "sí", "@language": "ES-mx" },
      f: { "@value": "2024-01-01", "@type": "https://schema.org/Date" },
      g: -0,
      raw: { b: [1, null], a: "x" },
      h: null,
      i: [],
      j: 'a\n"b"\\c\u0001\u007f\u0085é',
    });
    const object = (name: string) =>
      found
        .find((line) => line.includes(`/${name}>`) || line.includes(`:${name}>`))
        ?.split("> ")
        .slice(2)
        .join("> ");
    expect([..."abcdefg"].map(object)).toEqual([
      `"1"^^<xsd:integer>`,
      `"1.5E0"^^<xsd:double>`,
      `"1.0E30"^^<xsd:double>`,
      `"true"^^<xsd:boolean>`,
      `"sí"@es-mx`,
      `"2024-01-01"^^<schema:Date>`,
      `"0"^^<xsd:integer>`,
    ]);
    expect(object("raw")).toBe(
      `"{\\"a\\":\\"x\\",\\"b\\":[1,null]}"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>`,
    );
    expect([object("h"), object("i")]).toEqual([undefined, undefined]);
    expect(object("j")).toBe(`"a\\n\\"b\\"\\\\c\\u0001\\u007F\u0085é"`);
  });
  it("preserves the order of a list", async () => {
    const found = await lines({ "@context": VOCAB, step: { "@list": ["b", "a"] } });
    expect(
      found.filter((line) => line.includes("#first>")).map((line) => line.split("> ").at(-1)),
    ).toEqual(expect.arrayContaining([`"a"`, `"b"`]));
    expect(found.filter((line) => line.includes("#rest>"))).toHaveLength(2);
    expect(found.some((line) => line.endsWith("#nil>"))).toBe(true);
  });
  it("preserves terms that no context explains, and reports them", async () => {
    const { quads, lostTerms } = await graph(
      { "@context": {}, odd: "x", "also odd": "y" },
      "entity",
      { fromCrate: true },
    );
    expect(lostTerms.toSorted()).toEqual(["also odd", "odd"]);
    expect(quads).toContain('<urn:arkgraph:term:odd> "x"');
    expect(quads).toContain('<urn:arkgraph:term:also%20odd> "y"');
  });
  it("contains statements with a space in a name or an id", async () => {
    const { quads } = await graph({
      "@context": { ...VOCAB, "my term": "https://own.example/term" },
      "also odd": "y",
      "my term": "z",
      hasPart: { "@id": "ark:99999/a b" },
      about: { "@id": "https://x.example/a b" },
    });
    for (const stated of [
      '<https://schema.org/also%20odd> "y"',
      '<https://own.example/term> "z"',
      "hasPart> <ark:99999/a%20b>",
      "about> <https://x.example/a%20b>",
    ])
      expect(quads).toContain(stated);
    const { quads: schema } = await graph(
      { properties: { "cell count": { "@id": "a b" } } },
      "schema",
    );
    expect(schema).toContain("cell count");
  });
  it("is not affected by @base", async () => {
    for (const base of [null, "https://evil.example/", "ark:12345/other", "not a base"]) {
      const { quads } = await graph({
        "@context": { ...VOCAB, "@base": base },
        hasPart: { "@id": "data/a b.csv" },
      });
      expect(quads, String(base)).toContain("hasPart> <");
      expect(quads, String(base)).toMatch(/^<ark:99999\/me> .* <ark:99999\/me> \.$/m);
      expect(
        quads
          .split("\n")
          .filter((line) => line !== "")
          .every((line) => line.endsWith(`<${ME}> .`)),
      ).toBe(true);
    }
  });
  it("contains __proto__ and constructor like any other key", async () => {
    const document = JSON.parse(
      `{"@context":{"@vocab":"https://schema.org/"},"__proto__":{"name":"hidden"},"constructor":"c",` +
        `"toString":"t"}`,
    ) as JsonObject;
    const { quads } = await graph(document, "dataset");
    expect(quads).toContain('constructor> "c"');
    expect(quads).toContain('toString> "t"');
    expect(({} as { name?: string }).name).toBeUndefined();
  });
  it("of a user contains nothing private", async () => {
    const { quads } = await graph(
      {
        "@type": "Person",
        name: "Ada",
        email: "ada@example.org",
        password: "secret",
        adminToken: "t",
        phone: "1",
        datasets: ["ark:99999/d"],
      },
      "user",
    );
    expect(quads).toContain("Ada");
    expect(quads).toContain("ark:99999/d");
    for (const hidden of ["ada@example.org", "secret", "phone", "adminToken"])
      expect(quads).not.toContain(hidden);
  });
  it("names an entity that is known by a URL", async () => {
    const { quads } = await graph({ "@context": VOCAB, name: "Ada" }, "entity", {
      subject: "https://orcid.org/0000-0001",
      fromCrate: true,
    });
    expect(quads).toContain('<https://orcid.org/0000-0001> <https://schema.org/name> "Ada"');
    expect(quads).toContain(`<${ME}> <https://schema.org/sameAs> <https://orcid.org/0000-0001>`);
  });
  it("is the same whether a crate's entities are read one by one or together", async () => {
    const entities = ["a", "b"].map((name) => ({
      ark: `ark:99999/${name}`,
      kind: "entity" as const,
      fromCrate: true,
      document: {
        "@id": `ark:99999/${name}`,
        "@type": "Thing",
        name,
        about: { name: "x" },
      } as JsonObject,
    }));
    const together = await graphsOf(VOCAB, entities);
    const alone = await Promise.all(
      entities.map((entity) =>
        graphOf({ ...entity, document: { "@context": VOCAB, ...entity.document } }),
      ),
    );
    expect(together.map(({ quads }) => quads)).toEqual(alone.map(({ quads }) => quads));
  });
});

describe("links", () => {
  it(
    "are read from the record's own statements: ARKs in any spelling, by predicate, " +
      "without itself",
    async () => {
      const { links } = await graph({
        "@context": VOCAB,
        owner: "https://n2t.net/ark:/99999/user-ada",
        hasPart: [{ "@id": "ark:99999/a-b" }, { "@id": "https://x.example/" }],
        about: { "@id": ME },
        keywords: ["ark:99999/no"],
      });
      expect(links).toEqual(
        [
          {
            predicate: "schema:owner",
            target: "ark:99999/user-ada",
            targetKey: "ark:99999/userada",
          },
          { predicate: "schema:hasPart", target: "ark:99999/a-b", targetKey: "ark:99999/ab" },
        ].toSorted(
          (a, b) =>
            JSON.stringify(links).indexOf(a.target) - JSON.stringify(links).indexOf(b.target),
        ),
      );
    },
  );
  it("are not read from statements about other subjects", async () => {
    const { links } = await graph({
      "@context": VOCAB,
      author: { "@id": "https://orcid.org/1", worksFor: { "@id": "ark:99999/lab" } },
    });
    expect(links).toEqual([]);
  });
});

describe("contexts of RO-Crate", () => {
  it.each([
    "https://w3id.org/ro/crate/1.1/context",
    "http://w3id.org/ro/crate/1.1/context/",
    "https://w3id.org/ro/crate/1.2-DRAFT/context",
    "https://w3id.org/ro/crate/0.2/context",
    "https://w3id.org/ro/crate/0.3-DRAFT/context",
    "https://researchobject.github.io/ro-crate/0.2/context.json",
    "https://researchobject.github.io/ro-crate/1.1/context.jsonld",
    "https://www.researchobject.org/ro-crate/specification/1.1/context.jsonld",
    "https://raw.githubusercontent.com/ResearchObject/ro-crate/master/docs/0.2-DRAFT/context.json",
  ])("are recognized as %s", async (context) => {
    const { quads } = await graph({ "@context": context, "@type": "File", author: "Ada" });
    expect(quads).toContain("<https://schema.org/author>");
    expect(quads).not.toContain("urn:arkgraph:term");
  });
});

describe("contexts beside those of RO-Crate", () => {
  it("explain the terms of workflow tests and of language data", async () => {
    const tests = await graph({
      "@context": ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/test"],
      "@type": "TestSuite",
      runsOn: "x",
    });
    expect(tests).toMatchObject({
      lostTerms: [],
      quads: expect.stringContaining('<https://w3id.org/ro/terms/test#runsOn> "x"'),
    });
    expect(tests.quads).toContain("<https://w3id.org/ro/terms/test#TestSuite>");
    const language = await graph({
      "@context": ["https://w3id.org/ro/crate/1.2/context", "https://w3id.org/ldac/context"],
      speaker: "x",
    });
    expect(language).toMatchObject({
      lostTerms: [],
      quads: expect.stringContaining('<https://w3id.org/ldac/terms#speaker> "x"'),
    });
  });
});

describe("invalid JSON-LD", () => {
  it.each([
    "https://evil.example/context",
    "http://localhost:1/",
    "file:///etc/passwd",
    "relative",
    "https://w3id.org/ro/crate/9.9/context",
  ])("the context %s explains nothing and is not fetched", async (context) => {
    const kept = async (document: JsonObject) => {
      const { quads, lostTerms } = await graph({ x: { y: 1 }, name: "N", ...document });
      expect(quads).toContain('"N"');
      return lostTerms;
    };
    expect(await kept({ "@context": context })).toContain("x");
    expect(await kept({ "@context": [VOCAB, context] })).toEqual([]);
    expect(await kept({ "@context": { "@import": context } })).toContain("x");
    expect(
      await kept({
        "@context": { x: { "@id": "https://x.example/", "@context": [context] } },
      }),
    ).toContain("y");
    expect(await kept({ "@context": VOCAB, x: { "@context": context, y: 1 } })).toEqual([]);
    expect(
      await kept({
        "@context": VOCAB,
        x: { "@context": { "@context": context }, y: 1 },
      }),
    ).toEqual([]);
  });
  it.each([
    { "@context": { "@vocab": 5 } },
    { "@context": { "@version": 2 } },
    { "@context": { a: { "@id": "b", "@wrong": 1 } } },
    { "@context": { a: "b:c", b: "a:c" } },
    { "@type": 5 },
    { x: { "@value": {} } },
    { x: { "@value": "a", "@language": 5 } },
    { x: { "@value": "a", "@type": ["https://x.example/a", "https://x.example/b"] } },
  ])("%j is refused with a message", async (document) => {
    await expect(graph({ ...VOCAB, ...document })).rejects.toThrow(JsonLdError);
  });
  it("in one of a crate's entities is reported with that entity", async () => {
    const entity = (name: string, more: JsonObject) => ({
      ark: `ark:99999/${name}`,
      kind: "entity" as const,
      fromCrate: true,
      document: { "@id": name, ...more },
    });
    await expect(
      graphsOf(VOCAB, [entity("a", { name: "fine" }), entity("b", { name: { "@value": {} } })]),
    ).rejects.toMatchObject({ entity: 1 });
    await expect(
      graphsOf(VOCAB, [
        entity("a", { name: "fine" }),
        entity("b", { name: { "@value": "", "@type": ["./", ""] } }),
      ]),
    ).rejects.toMatchObject({ entity: 1 });
  });
});

describe("a context that removes the meaning of terms", () => {
  const quadsOf = async (document: JsonObject, fromCrate = true) =>
    (await graphOf({ ark: "ark:99999/x", kind: "entity", document, fromCrate })).quads;
  it("leaves them the fallback vocabulary, wherever it is", async () => {
    const vocabulary = { "@vocab": "https://schema.org/" };
    for (const context of [
      null,
      [vocabulary, null],
      [vocabulary, { "@vocab": null }],
      [vocabulary, { term: null }],
      [vocabulary, { term: { "@id": null } }],
    ] as JsonValue[]) {
      expect(
        await quadsOf({ "@context": context, term: "kept" }),
        JSON.stringify(context),
      ).toContain('<urn:arkgraph:term:term> "kept"');
    }
    expect(
      await quadsOf({ "@context": vocabulary, about: { "@context": null, term: "inside" } }),
    ).toContain('<urn:arkgraph:term:term> "inside"');
    expect(
      await quadsOf({
        "@context": [
          vocabulary,
          { about: { "@id": "https://schema.org/about", "@context": { term: null } } },
        ],
        about: { term: "scoped" },
      }),
    ).toContain('<urn:arkgraph:term:term> "scoped"');
  });
  it("is unchanged when it removes nothing", () => {
    const context = [
      {
        "@vocab": "https://schema.org/",
        "@base": null,
        ex: "https://example.org/",
        term: { "@id": "ex:term", "@context": { inner: "ex:inner" } },
      },
    ];
    expect(keepContext(context)).toBe(context);
  });
  it("does not remove keys that look like keywords", async () => {
    const quads = await quadsOf({
      "@context": { "@vocab": "https://schema.org/" },
      "@label": "a",
      "@version": "b",
      about: { "@preview": "c" },
    });
    for (const [key, value] of [
      ["%40label", "a"],
      ["%40version", "b"],
      ["%40preview", "c"],
    ])
      expect(quads).toContain(`<urn:arkgraph:term:${key}> "${value}"`);
  });
  it.each<[string, JsonObject]>([
    ["of a node", { about: { "@type": "@A", name: "b" } }],
    ["of a node in lists", { about: [[{ "@type": ["@A", "Thing"], name: "b" }]] }],
    ["of the document", { "@type": "@A", name: "b" }],
    [
      "under an alias",
      {
        "@context": { "@vocab": "https://schema.org/", kind: "@type" },
        about: { kind: "@A", name: "b" },
      },
    ],
    ["of a value", { name: { "@value": "b", "@type": "@A" } }],
  ])("is not stopped by a type that looks like a keyword, %s", async (where, body) => {
    const quads = await quadsOf({ "@context": { "@vocab": "https://schema.org/" }, ...body });
    expect(quads).toContain('<https://schema.org/name> "b"');
    // What the context makes a type of is the processor's, which drops it.
    if (where !== "under an alias") expect(quads).toMatch(/urn:arkgraph:term:(?:%40|@)A>/);
  });
  it("does not let a URL with spaces break the statements", async () => {
    const { quads } = await graphOf({
      ark: "ark:99999/x",
      kind: "entity",
      document: { "@context": { "@vocab": "https://schema.org/" }, name: "N" },
      subject: "http://example.org/a b",
      fromCrate: true,
    });
    expect(quads).toContain('<http://example.org/a%20b> <https://schema.org/name> "N"');
    expect(quads).toContain("<ark:99999/x> <https://schema.org/sameAs> <http://example.org/a%20b>");
  });
});
