import { Parser, Store } from "n3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXAMPLES } from "../../../src/model/examples.js";
import type { JsonObject } from "../../../src/model/field.js";
import type { ShapeReport } from "../../../src/services/validation/document.js";
import { crate, metadata } from "../../support/crates.js";
import { startServer, type TestServer } from "../../support/server.js";
import { AS_CREATED } from "../../../src/services/records/pages.js";

let server: TestServer;
/** With as many results as there are. */
let wide: TestServer;
let token: string;
let user: string;
beforeAll(async () => {
  server = await startServer({ VALIDATE_MAX_RESULTS: "3" });
  wide = await startServer();
  ({ token, id: user } = await server.person("Ada"));
});
afterAll(() => Promise.all([server.stop(), wide.stop()]));

const validate = async (json: unknown, query = "") =>
  server.request<ShapeReport & JsonObject>("POST", `/validate${query}`, { json });
const dataset = {
  "@type": "evi:Dataset",
  name: "Counts",
  description: "One row per image.",
  owner: "ark:99999/user-ada",
};

describe("POST /validate", () => {
  // validate.slow.test.ts has all kinds.
  it.each(["dataset", "rocrate", "user"] as const)(
    "finds no violation in the example of a %s",
    async (kind) => {
      const answer = await validate(EXAMPLES[kind], `?kind=${kind}`);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toEqual({ conforms: true, results: [], checked: 1, truncated: false });
    },
  );

  it("names node, path, value and the expected value", async () => {
    const { body } = await validate({
      ...dataset,
      "@id": "ark:99999/dataset-x",
      description: "four",
    });
    expect(body).toEqual({
      conforms: false,
      checked: 1,
      truncated: false,
      results: [
        {
          node: "ark:99999/dataset-x",
          kind: "dataset",
          path: "https://schema.org/description",
          value: "four",
          severity: "Violation",
          constraint: "MinLengthConstraintComponent",
          shape: "https://w3id.org/EVI#DatasetShape",
          message: expect.stringContaining(
            "description: Description, at least 5 characters",
          ) as string,
        },
      ],
    });
  });

  it("recognizes the kind by @type in any spelling", async () => {
    for (const type of ["evi:Software", "https://w3id.org/EVI#Software", "SoftwareSourceCode"]) {
      const { body } = await validate({
        "@type": type,
        description: "A script that counts.",
        owner: "ark:99999/user-ada",
      });
      expect(body.results.map(({ kind, path }) => `${kind} ${path}`)).toContain(
        "software https://schema.org/name",
      );
    }
  });

  it("truncates a long list of results and says so", async () => {
    const { body } = await validate({
      ...dataset,
      name: "x".repeat(201),
      description: "four",
      owner: "nobody",
      dateCreated: "in May",
    });
    expect(body.conforms).toBe(false);
    expect(body.results).toHaveLength(3);
    expect(body.truncated).toBe(true);
  });

  it("answers a SHACL report in Turtle", async () => {
    const answer = await server.request("POST", "/validate", {
      json: { ...dataset, "@id": "ark:99999/dataset-x", name: 5 },
      headers: { Accept: "text/turtle" },
    });
    expect(answer.headers.get("content-type")).toBe("text/turtle; charset=utf-8");
    const report = new Store(new Parser().parse(answer.text));
    const sh = "http://www.w3.org/ns/shacl#";
    expect(report.getObjects(null, `${sh}conforms`, null).map(({ value }) => value)).toEqual([
      "false",
    ]);
    expect(report.getObjects(null, `${sh}focusNode`, null).map(({ value }) => value)).toContain(
      "ark:99999/dataset-x",
    );
    expect(report.getObjects(null, `${sh}resultPath`, null).map(({ value }) => value)).toContain(
      "https://schema.org/name",
    );
  });

  it("validates the record of an identifier, in any spelling", async () => {
    const { body: stored } = await server.request("POST", "/dataset", {
      token,
      json: { ...dataset, owner: user },
    });
    const { body } = await validate({
      "@id": `https://example.org/${(stored["@id"] as string).replace("ark:", "ark:/")}`,
    });
    expect(body).toEqual({ conforms: true, results: [], checked: 1, truncated: false });
  });

  it("validates the members of a stored crate with it, also one that its crate knows by a URL", async () => {
    const form = new FormData();
    form.set(
      "file",
      new Blob([
        new Uint8Array(
          await crate([
            {
              "@id": "data/",
              "@type": "Dataset",
              name: "Short of a description",
              license: { "@id": "https://creativecommons.org/licenses/by/4.0/" },
            },
            { "@id": "old/", "@type": "Dataset", name: "From long ago", dateCreated: "in May" },
            {
              "@id": "https://example.org/tool",
              "@type": "SoftwareApplication",
              name: "A tool",
              description: "few",
            },
          ]),
        ),
      ]),
      "crate.zip",
    );
    const { body: uploaded } = await server.request("POST", "/rocrate/upload", {
      token,
      body: form,
    });
    const root = uploaded["@id"] as string;
    const { body } = await validate({ "@id": root });
    expect(body.checked).toBe(4);
    // What requests must hold, and how long text may be, is asked of no crate.
    expect(body.results.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      "dataset https://schema.org/dateCreated",
    ]);
    const tool = (
      await server.deps.records.select({
        filter: { crates: [root], kinds: ["software"] },
        order: AS_CREATED,
        limit: 10,
      })
    ).items[0]!;
    expect((await validate({ "@id": tool.ark })).body).toMatchObject({
      conforms: true,
      checked: 1,
    });
  });

  it("validates each entity of crate metadata as its record, under its @id in the crate", async () => {
    const { body } = await validate(
      metadata([
        {
          "@id": "data/a b.csv",
          "@type": "File",
          name: "Table",
          description: "four",
          uploadDate: "in May",
        },
        {
          "@id": "#run",
          "@type": "CreateAction",
          name: "Run",
          object: { "@id": "data/a b.csv" },
          instrument: { "@id": "https://example.org/tool" },
        },
        {
          "@id": "ark:99999/dataset-own",
          "@type": "Dataset",
          name: "x".repeat(201),
          dateCreated: "in May",
          dateModified: "in June",
          hasPart: [{ "@id": "data/a b.csv" }, { "@id": "ark:99999/dataset-other" }],
        },
      ]),
    );
    expect(body.checked).toBe(4);
    expect(body.truncated).toBe(true);
    const whole = await wide.request<ShapeReport & JsonObject>("POST", "/validate", {
      json: metadata([
        {
          "@id": "data/a b.csv",
          "@type": "File",
          name: "Table",
          description: "four",
          uploadDate: "in May",
        },
        {
          "@id": "ark:99999/dataset-own",
          "@type": "Dataset",
          name: "x".repeat(201),
          dateCreated: "in May",
        },
      ]),
    });
    expect(whole.body.results.map(({ node, kind, path }) => `${node} ${kind} ${path}`)).toEqual(
      expect.arrayContaining([
        "data/a b.csv datadownload https://schema.org/uploadDate",
        "ark:99999/dataset-own dataset https://schema.org/dateCreated",
      ]),
    );
    const broken = await validate({ ...metadata([]), "@context": 5 });
    expect(broken.status).toBe(422);
  });

  it("stores nothing", async () => {
    const before = await server.deps.records.sequence();
    await validate({ ...dataset, "@id": "ark:99999/dataset-never" });
    expect(await server.deps.records.sequence()).toBe(before);
    expect((await server.request("GET", "/ark:99999/dataset-never")).status).toBe(404);
  });

  it.each<[string, unknown, string, number, unknown]>([
    ["no kind to be found", { name: "x" }, "", 422, ["query", "kind"]],
    ["an unknown kind", dataset, "?kind=table", 422, ["query", "kind"]],
    ["nothing at all", {}, "", 422, ["body", "@id"]],
    [
      "crate metadata without an entity",
      { "@context": [], "@graph": [] },
      "",
      422,
      ["body", "@graph"],
    ],
    [
      "crate metadata with something that is no entity",
      metadata(["nothing" as never]),
      "",
      422,
      ["body", "@graph", 2],
    ],
    ["a list", [dataset], "", 422, ["body"]],
    ["an identifier that is no ARK", { "@id": "table 1" }, "", 422, ["body", "@id"]],
    [
      "a context that is not bundled",
      { ...dataset, "@context": "https://example.org/context" },
      "",
      422,
      ["body", "@context"],
    ],
  ])("refuses %s with its place", async (_what, json, query, status, loc) => {
    const answer = await validate(json, query);
    expect(answer.status, answer.text).toBe(status);
    expect((answer.body["detail"] as { loc: unknown }[])[0]!.loc).toEqual(loc);
  });

  it("answers 404 and 410 for missing and deleted records", async () => {
    expect((await validate({ "@id": "ark:99999/nothing" })).status).toBe(404);
    const { body: gone } = await server.request("POST", "/dataset", {
      token,
      json: { ...dataset, owner: user },
    });
    await server.request("DELETE", `/dataset/${gone["@id"] as string}`, { token });
    expect((await validate({ "@id": gone["@id"] })).status).toBe(410);
  });

  it("returns the same over GraphQL", async () => {
    const document = { ...dataset, description: "four" };
    const { body: rest } = await validate(document);
    const { body } = await server.graphql<{ validate: ShapeReport }>(
      "query ($document: JSON!) { validate(document: $document) { conforms checked " +
        "truncated results { node kind path value message severity constraint shape } } }",
      { document },
    );
    expect(body.data.validate).toEqual({
      ...rest,
      results: rest.results.map((result) => ({
        ...result,
        kind: result.kind.toUpperCase(),
        severity: result.severity.toUpperCase(),
      })),
    });
  });
});

describe("GET /ontology", () => {
  it.each(["evi", "shapes", "context"])("serves %s in every supported form", async (name) => {
    const forms =
      name === "context"
        ? ["application/ld+json"]
        : ["text/turtle", "application/n-triples", "application/ld+json"];
    for (const accept of forms) {
      const answer = await server.request("GET", `/ontology/${name}`, {
        headers: { Accept: accept },
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toContain(accept);
      if (accept.includes("json")) expect(JSON.parse(answer.text)).toBeTypeOf("object");
      else expect(new Parser({ format: accept }).parse(answer.text).length).toBeGreaterThan(100);
    }
  });

  it("lists the vocabularies when another is requested", async () => {
    const answer = await server.request("GET", "/ontology/foaf");
    expect(answer.status).toBe(404);
    expect(answer.body["detail"]).toContain("evi, shapes, context");
    expect(
      (await server.request("GET", "/ontology/evi", { headers: { Accept: "image/png" } })).status,
    ).toBe(406);
  });
});
