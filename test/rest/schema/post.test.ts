import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/model/field.js";
import { PACKAGED_SCHEMAS } from "../../../src/tabular/schema/packaged.js";
import { bodyOf } from "../../support/bodies.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const send = (method: "POST" | "PUT", properties: JsonValue, more: JsonObject = {}) =>
  server.request<{ detail: { loc: unknown[]; msg: string; type: string }[] } & JsonObject>(
    method,
    "/schema",
    { token: ada.token, json: bodyOf("schema", ada.id, { properties, required: [], ...more }) },
  );
const sound = { type: "string", index: 0, description: "a" };

describe("a schema's properties", () => {
  it.each<[string, JsonValue]>([
    ["no object", "text"],
    ["an unknown type", { ...sound, type: "text" }],
    ["no type", { index: 0, description: "a" }],
    ["no index", { type: "string", description: "a" }],
    ["a negative index", { ...sound, index: -1 }],
    ["a slice of a column", { ...sound, index: "1::" }],
    [
      "a slice without an end",
      { type: "array", index: "::", description: "a", items: { type: "string" } },
    ],
    ["no items", { type: "array", index: "1::", description: "a" }],
    ["a pattern that is none", { ...sound, pattern: "[" }],
    ["a keyword of another type", { ...sound, minLength: "two" }],
  ])("are refused where they are malformed: %s", async (_, property) => {
    const { status, body } = await send("POST", { "a column": sound, "b/c": property });
    expect(status).toBe(422);
    expect(body.detail).toEqual([
      {
        loc: ["body", "properties", "b/c"],
        msg: expect.any(String),
        type: typeof property === "string" ? "dict_type" : "value_error",
      },
    ]);
  });
  it("are all reported at once, with the rest of the body, and alike over PUT and GraphQL", async () => {
    const wrong = { a: 1, b: { ...sound, type: "x" }, c: sound };
    const { body } = await send("POST", wrong, { name: 5 });
    expect(body.detail.map(({ loc }) => loc)).toEqual([
      ["body", "name"],
      ["body", "properties", "a"],
      ["body", "properties", "b"],
    ]);
    const { "@id": id } = (await send("POST", { c: sound })).body;
    expect((await send("PUT", wrong, { "@id": id! })).body.detail).toHaveLength(2);
    const over = await server.graphql(
      `mutation ($p: JSON) { createSchema(input: { schema: { name: "S", description: "A schema", ` +
        `owner: "${ada.id}", properties: $p } }) { revision } }`,
      { p: wrong },
      ada.token,
    );
    expect(over.body.errors![0]!.extensions).toMatchObject({
      code: "VALIDATION",
      detail: ["a", "b"].map((name) => ({ loc: ["input", "schema", "properties", name] })),
    });
  });
  it("are reported up to a thousand", async () => {
    const { body } = await send(
      "POST",
      Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`p${n}`, n])),
    );
    expect(body.detail.length).toBeLessThanOrEqual(1001);
  });
  it("are accepted in the form of the packaged schemas", async () => {
    for (const schema of PACKAGED_SCHEMAS) {
      const { status, text } = await server.request("POST", "/schema", {
        token: ada.token,
        json: { ...(schema as unknown as JsonObject), owner: ada.id },
      });
      expect(status, text.slice(0, 500)).toBe(200);
    }
  });
});
