import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/model/field.js";
import { KINDS } from "../../../src/model/kinds.js";
import { WRITABLE, bodyOf, unnamed } from "../../support/bodies.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());
const post = (kind: string, json: unknown) =>
  server.request<JsonObject & { detail?: { loc: JsonValue[]; type: string; msg: string }[] }>(
    "POST",
    `/${kind}`,
    { token: ada.token, json },
  );

describe.each(WRITABLE)("POST /%s", (kind) => {
  it("returns the record as sent, with its defaults, its ETag and its status", async () => {
    const body = bodyOf(kind, ada.id);
    const answer = await post(kind, body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("etag")).toBe('"1-0"');
    expect(answer.headers.get("x-publication-status")).toBe("DRAFT");
    expect(answer.headers.get("x-visibility")).toBe("open");
    expect(answer.headers.get("content-type")).toBe("application/json");
    const defaults = Object.fromEntries(
      Object.entries(KINDS[kind].fields)
        .filter(([, field]) => field.default !== undefined)
        .map(([name, field]) => [name, field.default]),
    );
    expect(answer.body).toEqual({ ...defaults, ...body });
    expect(
      JSON.parse((await server.request("GET", `/${kind}/${String(body["@id"])}`)).text),
    ).toEqual(answer.body);
  });
  it("writes the licence as the contract does, and missing lists as empty", async () => {
    const { license: _license, keywords: _keywords, ...body } = bodyOf(kind, ada.id);
    const answer = await post(kind, body);
    expect(answer.body["license"]).toBe(" https://creativecommons.org/licenses/by/4.0/");
    expect(answer.body["keywords"]).toEqual([]);
    expect(answer.body["@context"]).toEqual(KINDS[kind].fields["@context"]!.default);
  });
  it("preserves every key and value, in their order", async () => {
    const odd =
      `{"zebra":{"b":[null,1.50,-0.0,1e3],"a":{}},"":"empty","a ` +
      `b":[],"__proto__":{"x":1},"constructor":"c","@unknown":"kept","ünï":"😀\\u2028","n":null,` +
      `"apple":false}`;
    const { "@id": id, ...body } = bodyOf(kind, ada.id);
    const text = `{"@id":${JSON.stringify(id)},${odd.slice(1, -1)},${JSON.stringify(body).slice(1)}`;
    const answer = await server.request("POST", `/${kind}`, {
      token: ada.token,
      body: text,
      headers: { "Content-Type": "application/json; charset=utf-8" },
    });
    expect(answer.status, answer.text).toBe(200);
    const sent = JSON.parse(text) as JsonObject;
    const read = JSON.parse(
      (await server.request("GET", `/${kind}/${String(id)}`)).text,
    ) as JsonObject;
    expect(Object.keys(read).filter((key) => Object.hasOwn(sent, key))).toEqual(Object.keys(sent));
    for (const key of Object.keys(sent))
      expect(JSON.stringify(Object.getOwnPropertyDescriptor(read, key)?.value), key).toBe(
        JSON.stringify(Object.getOwnPropertyDescriptor(sent, key)?.value),
      );
  });
  it("mints an identifier from the names of the kind and the record", async () => {
    const answer = await post(kind, unnamed(kind, ada.id, { name: "Ein Über-Name" }));
    expect(answer.body["@id"]).toMatch(
      new RegExp(`^ark:99999/${kind}-ein-uber-name-[0-9b-z]{10}$`),
    );
    expect((await post(kind, { ...unnamed(kind, ada.id), "@id": undefined })).status).toBe(200);
  });
  it("accepts an identifier in any spelling and stores one", async () => {
    const { "@id": id, ...body } = bodyOf(kind, ada.id);
    const answer = await post(kind, {
      ...body,
      "@id": String(id).replace("ark:", "https://n2t.net/ark:/") + "/",
    });
    expect(answer.body["@id"]).toBe(id);
  });
  it("refuses an identifier that is taken, also when only hyphens differ", async () => {
    const body = bodyOf(kind, ada.id);
    await post(kind, body);
    for (const id of [
      String(body["@id"]),
      String(body["@id"]).replaceAll("-", ""),
      String(body["@id"]).replace("ark:", "ark:/"),
    ]) {
      const answer = await post(kind, { ...body, "@id": id });
      expect([answer.status, answer.body["code"], answer.body["ark"]]).toEqual([
        409,
        "DUPLICATE",
        body["@id"],
      ]);
    }
    await server.request("DELETE", `/${kind}/${String(body["@id"])}`, { token: ada.token });
    expect((await post(kind, body)).status).toBe(409);
  });
  it("accepts an owner in compact form and stores its identifier", async () => {
    const answer = await post(
      kind,
      bodyOf(kind, ada.id, {
        owner: { "@id": ada.id, "@type": "Person", name: "Ada", email: "a@b" },
      }),
    );
    expect([answer.status, answer.body["owner"]]).toEqual([200, ada.id]);
    expect((await post(kind, bodyOf(kind, ada.id, { owner: { name: "no id" } }))).status).toBe(422);
  });
  it("reports all errors at once, without repeating the input", async () => {
    const answer = await post(kind, {
      "@id": "not-an-ark",
      name: "n".repeat(201),
      description: "four",
      owner: "Ada secret-text",
      keywords: "no list",
      "@context": 5,
    });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body)).toEqual(["detail"]);
    const at = answer.body.detail!.map(({ loc, type }) => `${loc.join(".")} ${type}`);
    expect(at).toEqual(
      expect.arrayContaining([
        "body.name string_too_long",
        "body.description string_too_short",
        "body.owner string_pattern_mismatch",
        "body.keywords list_type",
        "body.@id value_error",
      ]),
    );
    for (const item of answer.body.detail!)
      expect(
        Object.keys(item).filter((key) => !["loc", "msg", "type", "ctx"].includes(key)),
      ).toEqual([]);
    expect(answer.text).not.toContain("secret-text");
  });
  it("refuses a context that would have to be fetched, and one that is malformed", async () => {
    for (const context of ["https://evil.example/context.jsonld", { "@version": "2" }]) {
      const answer = await post(kind, bodyOf(kind, ada.id, { "@context": context }));
      expect([answer.status, answer.body.detail?.[0]?.loc.slice(0, 2)]).toEqual([
        422,
        ["body", "@context"],
      ]);
    }
  });
  it("requires a token", async () => {
    const answer = await server.request("POST", `/${kind}`, { json: bodyOf(kind, ada.id) });
    expect([answer.status, answer.body["code"], answer.headers.get("www-authenticate")]).toEqual([
      401,
      "NOT_AUTHENTICATED",
      "Bearer",
    ]);
  });
});

// One reader of bodies serves all kinds.
describe.each(["dataset", "group"] as const)("POST /%s", (kind) => {
  it.each([
    ["nothing", undefined, "missing"],
    ["null", "null", "missing"],
    ["a list", "[]", "model_attributes_type"],
    ["a number", "5", "model_attributes_type"],
    ["no JSON", "{", "json_invalid"],
    ["no UTF-8", "\ud800", "json_invalid"],
  ])("refuses a body that is %s", async (_what, body, type) => {
    const bytes = body === "\ud800" ? Buffer.from([0x7b, 0xff]) : body;
    const answer = await server.request<{ detail: { type: string; loc: JsonValue[] }[] }>(
      "POST",
      `/${kind}`,
      {
        token: ada.token,
        headers: { "Content-Type": "application/json" },
        ...(bytes === undefined ? {} : { body: bytes }),
      },
    );
    expect([answer.status, answer.body.detail[0]!.type, answer.body.detail[0]!.loc[0]]).toEqual([
      422,
      type,
      "body",
    ]);
  });
  it.each([
    [`"n":12345678901234567890`, "number_precision", ["body", "n"]],
    [`"k":1,"k":2`, "duplicate_key", ["body", "k"]],
    [`"s":["a\\u0000"]`, "string_unicode", ["body", "s", 0]],
    [`"s":"\\ud800"`, "string_unicode", ["body", "s"]],
    [`"a":${"[".repeat(201)}${"]".repeat(201)}`, "too_deep", undefined],
  ])("refuses %s with its place", async (member, type, loc) => {
    const answer = await server.request<{ detail: { type: string; loc: JsonValue[] }[] }>(
      "POST",
      `/${kind}`,
      {
        token: ada.token,
        headers: { "Content-Type": "application/json" },
        body: `{${member},${JSON.stringify(bodyOf(kind, ada.id)).slice(1)}`,
      },
    );
    expect([answer.status, answer.body.detail[0]!.type]).toEqual([422, type]);
    if (loc) expect(answer.body.detail[0]!.loc).toEqual(loc);
  });
});

it("gives a data download its default version", () =>
  expect(KINDS.datadownload.fields["version"]!.default).toBe("0.1.0"));
it("gives software the contract's metadataType and no @type", async () => {
  const answer = await post("software", bodyOf("software", ada.id));
  expect([answer.body["metadataType"], answer.body["@type"]]).toEqual(["evi:Software", undefined]);
});
it("accepts dates of RFC 3339 and stores them as sent", async () => {
  for (const dateCreated of [
    "2024-05-01",
    "2024-05-01T10:00:00Z",
    "2024-05-01T10:00:00.123+02:00",
    "2024-05-01T10:00",
    null,
  ]) {
    expect(
      (await post("dataset", bodyOf("dataset", ada.id, { dateCreated }))).body["dateCreated"],
    ).toBe(dateCreated);
  }
  for (const dateCreated of ["yesterday", "2024-13-01", "2024-02-30", 5])
    expect((await post("dataset", bodyOf("dataset", ada.id, { dateCreated }))).status).toBe(422);
});
it("creates one record when several are sent concurrently under one identifier", async () => {
  const body = bodyOf("dataset", ada.id);
  const answers = await Promise.all(Array.from({ length: 8 }, () => post("dataset", body)));
  expect(answers.map(({ status }) => status).sort()).toEqual([
    200, 409, 409, 409, 409, 409, 409, 409,
  ]);
});
