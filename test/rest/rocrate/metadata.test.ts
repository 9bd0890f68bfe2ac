import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../../../src/model/field.js";
import { metadata, type Json } from "../../support/crates.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";
import { AS_CREATED } from "../../../src/services/records/pages.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer({ MAX_BODY_BYTES: "2K" });
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const send = (body: Json, type = "application/ld+json") =>
  server.request("POST", "/rocrate/metadata", {
    token: ada.token,
    headers: { "Content-Type": type },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

describe("POST /rocrate/metadata", () => {
  it(
    "creates a crate from its metadata document alone, in any media type, beyond the " +
      "limit of other bodies",
    async () => {
      const people = Array.from({ length: 50 }, (_, n) => ({
        "@id": `#p${n}`,
        "@type": "Person",
        name: `Person ${n}`,
      }));
      const { status, body, text } = await send(
        metadata([{ "@id": "data/a.csv", "@type": "File", name: "A" }, ...people], {
          name: "Alone",
          hasPart: [{ "@id": "data/a.csv" }],
        }),
      );
      expect(status, text).toBe(200);
      expect(body).toMatchObject({
        "@id": expect.stringMatching(/^ark:99999\/rocrate-alone-/),
        name: "Alone",
        submission: { status: "finished", identifiersMinted: 52, error: null },
      });
      expect((body["submission"] as JsonObject)["warnings"]).toContainEqual(
        expect.objectContaining({ code: "FILE_NOT_IN_ARCHIVE", pointer: "/@graph/2" }),
      );
      expect(
        (await server.request("GET", `/${body["@id"] as string}/data/a.csv`)).body,
      ).toMatchObject({ "@type": "File", name: "A" });
      const [original] = await server.deps.records.objectsOf(body["@id"] as string, {
        role: "metadata",
      });
      expect(original).toMatchObject({
        mediaType: "application/ld+json",
        name: "ro-crate-metadata.json",
      });
      expect((await send(metadata([], { name: "As JSON" }), "application/json")).status).toBe(200);
    },
  );

  it("accepts the same document again as the same crate", async () => {
    const document = metadata([], { name: "Twice" });
    const first = await send(document);
    const registered =
      `This archive is already registered as ${first.body["@id"] as string}, now at revision ` +
      "1.";
    const submission = first.body["submission"] as JsonObject;
    expect((await send(document)).body).toEqual({
      ...first.body,
      submission: {
        ...submission,
        warnings: [
          ...(submission["warnings"] as JsonObject[]),
          { file: null, pointer: null, code: "ALREADY_REGISTERED", message: registered },
        ],
      },
    });
  });

  it("updates the crate that `crate` names, over REST and GraphQL, and refuses other crates", async () => {
    const first = await send(metadata([], { name: "To be named" }));
    const crate = first.body["@id"] as string;
    const named = (id: string, body: Json, path = "metadata", token = ada.token) =>
      server.request("POST", `/rocrate/${path}?crate=${encodeURIComponent(id)}`, {
        token,
        headers: { "Content-Type": "application/ld+json" },
        body: JSON.stringify(body),
      });
    const second = metadata([], { name: "Named", description: "The second edition" });
    expect((await named(crate, second, "validate")).body).toMatchObject({
      conforms: true,
      rocrateIdentifier: crate,
      changes: { counts: { changed: 1, created: 0 } },
    });
    expect(await named(crate.replace("ark:", "ark:/"), second)).toMatchObject({
      status: 200,
      body: { "@id": crate, name: "Named" },
    });
    await server.graphql(
      "mutation ($m: JSON!, $c: ID) { uploadCrate(input: { source: { metadata: $m }, crate: $c }) " +
        "{ submission { id } } }",
      { m: metadata([], { name: "Third" }), c: crate },
      ada.token,
    );
    await vi.waitFor(
      async () =>
        expect((await server.request("GET", `/${crate}`)).body).toMatchObject({ name: "Third" }),
      100_000,
    );
    const bob = await server.person("bob");
    expect(await named(crate, second, "metadata", bob.token)).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN" },
    });
    expect(await named("ark:99999/nothing", second)).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
    expect(await named(ada.id, second)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    expect(server.faults).toEqual([]);
  });

  it("reports errors with their place in the body, and creates nothing", async () => {
    const before = (
      await server.deps.records.select({ filter: {}, order: AS_CREATED, limit: 1000 })
    ).items.length;
    expect(await send('{"@graph": [')).toMatchObject({
      status: 422,
      body: {
        detail: [
          {
            loc: ["body", "@graph", 0],
            type: "json_invalid",
            msg: expect.stringContaining("line 1"),
          },
        ],
      },
    });
    expect(
      await send(metadata([{ "@id": 5 }, { "@id": "#a", "@context": { x: 1 } }])),
    ).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "@graph", 2, "@id"], type: "INVALID_ID" }] },
    });
    expect(await send([])).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body"], type: "METADATA_SHAPE" }] },
    });
    await send(metadata([], { "@id": "ark:59852/rocrate-alone" }));
    expect(
      await send(metadata([], { "@id": "ark:59852/rocrate-alone", name: "changed" })),
    ).toMatchObject({ status: 409, body: { code: "CRATE_EXISTS" } });
    expect(await server.request("POST", "/rocrate/metadata", { json: {} })).toMatchObject({
      status: 401,
    });
    expect(await server.request("POST", "/rocrate/metadata", { token: ada.token })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body"], type: "missing" }] },
    });
    expect(await send("x", "application/zip")).toMatchObject({ status: 415 });
    expect(
      (await server.deps.records.select({ filter: {}, order: AS_CREATED, limit: 1000 })).items
        .length,
    ).toBe(before + 2);
    expect(server.faults).toEqual([]);
  });

  it("answers with the document and its submission, once each", async () => {
    for (const own of [{}, { submission: "of the crate itself" }]) {
      const { status, text, body } = await send(metadata([], { name: "Answered", ...own }));
      expect(status, text).toBe(200);
      expect(text.split('"submission":')).toHaveLength(2);
      const { submission, ...document } = body;
      expect(submission).toMatchObject({ status: "finished" });
      const stored = await server.request("GET", `/${String(body["@id"])}`, {});
      const { submission: _own, ...rest } = stored.body;
      expect(document).toEqual(rest);
    }
  });

  it(
    "preserves a context that is not bundled when it is read, changed, exported and " +
      "uploaded again",
    async () => {
      const context = ["https://w3id.org/ro/crate/1.1/context", "https://example.org/ctx"];
      const { body } = await send(
        metadata(
          [{ "@id": "ark:59852/bee", "@type": "Person", name: "Bee", odd: "x" }],
          { name: "Odd" },
          context,
        ),
      );
      expect((body["submission"] as JsonObject)["warnings"]).toContainEqual(
        expect.objectContaining({ code: "UNKNOWN_CONTEXT", pointer: "/@context" }),
      );
      const crate = body["@id"] as string;
      const { body: member } = await server.request("GET", "/ark:59852/bee");
      const put = (document: JsonObject) =>
        server.request("PUT", "/ark:59852/bee", { token: ada.token, json: document });
      expect(await put({ ...member, "@context": "https://example.org/another" })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["body", "@context"] }] },
      });
      const changed = await put({ ...member, name: "Bumblebee" });
      expect(changed.status, changed.text).toBe(200);
      const exported = await server.request("GET", `/rocrate/${crate}`);
      expect(exported.status, exported.text).toBe(200);
      expect(exported.text).toContain("https://example.org/ctx");
      const created = await server.request("POST", "/dataset", {
        token: ada.token,
        json: {
          "@context": "https://example.org/ctx",
          "@type": "evi:Dataset",
          name: "N",
          description: "A dataset",
          owner: ada.id,
        },
      });
      expect(created).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["body", "@context"] }] },
      });
      expect(server.faults).toEqual([]);
    },
  );

  it("answers a refusal with the code that docs/crates.md gives it, whatever its status", async () => {
    const bob = await server.person("bob-of-codes");
    const own = { "@id": "ark:59852/codes-of-ada", "@type": "Dataset", name: "Ada's" };
    await send(metadata([own], { name: "Codes" }));
    const refused = async (body: Json): Promise<unknown> => {
      const answer = await server.request("POST", "/rocrate/metadata", {
        token: bob.token,
        headers: { "Content-Type": "application/ld+json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      return [
        answer.status,
        answer.body["code"] ?? (answer.body["detail"] as JsonObject[])[0]!["type"],
      ];
    };
    expect(await refused(metadata([own]))).toEqual([409, "IDENTIFIER_TAKEN"]);
    expect(
      await refused(metadata([{ "@id": "ark:59852/codes-of-ada/below", "@type": "Dataset" }])),
    ).toEqual([409, "IDENTIFIER_BELOW"]);
    expect(
      await refused(
        metadata([
          { "@id": "#a", "@type": "Thing", about: Array.from({ length: 100_001 }, () => 1) },
        ]),
      ),
    ).toEqual([413, "TOO_MANY_REFERENCES"]);
    expect(
      await refused(`{"@context": {}, "@graph": ${"[".repeat(300)}${"]".repeat(300)}}`),
    ).toEqual([413, "too_deep"]);
    expect(await refused({ "@context": {} })).toEqual([422, "NO_ROOT"]);
    expect(await refused({ "@context": 5, "@graph": metadata()["@graph"]! })).toEqual([
      422,
      "CONTEXT_INVALID",
    ]);
  });

  it("is a source of uploadCrate over GraphQL", async () => {
    const { body } = await server.graphql<{
      uploadCrate: { submission: { status: string; sha256: string } };
    }>(
      "mutation ($m: JSON!) { uploadCrate(input: { source: { metadata: $m } }) { submission { sha256 } } }",
      { m: metadata([], { name: "By GraphQL" }) },
      ada.token,
    );
    expect(body.data.uploadCrate.submission).toMatchObject({
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });
});
