import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { User } from "../support/registry-client.js";
import { startRegistry, type RegistryUnderTest } from "../support/under-test.js";

let registry: RegistryUnderTest;
let ada: User;
let dataset: Record<string, unknown>;
beforeAll(async () => {
  registry = await startRegistry();
  ada = await registry.user("Ada");
  dataset = { "@type": "evi:Dataset", name: "Images", description: "Some images.", owner: ada.ark };
});
afterAll(() => registry?.stop());

/** What every refusal must leave: nothing stored, the service alive. */
async function unharmed(count: number): Promise<void> {
  expect(registry.alive).toBe(true);
  expect((await registry.ask("/healthz")).body).toMatchObject({ status: "healthy" });
  expect(await registry.recordCount()).toBe(count);
}

describe("a body that must not be stored", () => {
  const withText = (text: string) => () => JSON.stringify(dataset).replace('"Images"', text);
  const bodies: [string, () => string, string][] = [
    ["half of a surrogate pair in a string", withText('"a \\ud800 b"'), "string_unicode"],
    [
      "half of a surrogate pair in a key",
      () => JSON.stringify(dataset).replace("{", '{"\\ud800":1,'),
      "string_unicode",
    ],
    ["NUL in a string", withText('"a\\u0000b"'), "string_unicode"],
    [
      "a number that no double holds",
      () => JSON.stringify(dataset).replace("{", '{"size":1e400,'),
      "number_precision",
    ],
    [
      "more digits than a double can represent",
      () => JSON.stringify(dataset).replace("{", '{"size":12345678901234567890,'),
      "number_precision",
    ],
    [
      "a key that stands twice",
      () => JSON.stringify(dataset).replace("{", '{"name":"Twice",'),
      "duplicate_key",
    ],
    ["no JSON", () => "{not json", "json_invalid"],
    ["JSON cut short", () => JSON.stringify(dataset).slice(0, -5), "json_invalid"],
    ["bytes that are no text", () => '{"name": "\x00"}', "json_invalid"],
    [
      "true in every field",
      () =>
        JSON.stringify(
          Object.fromEntries(
            [
              "@context",
              "@id",
              "@type",
              "url",
              "name",
              "keywords",
              "description",
              "license",
              "owner",
              "distribution",
              "includedInDataCatalog",
              "sourceOrganization",
              "author",
              "dateCreated",
              "dateModified",
              "usedBy",
            ].map((field) => [field, true]),
          ),
        ),
      "string_type",
    ],
    ["a string for a list", () => JSON.stringify({ ...dataset, keywords: "one" }), "list_type"],
    ["a list instead of an object", () => "[1]", ""],
    ["nesting without end", () => `{"a":${"[".repeat(100_000)}`, "too_deep"],
  ];
  test.each(bodies)("is refused with 422: %s", async (_, body, type) => {
    const before = await registry.recordCount();
    const answer = await registry.ask("/dataset", { token: ada.token, body: body() });
    expect(answer.status, answer.text).toBe(422);
    const types = (answer.body["detail"] as { type: string; loc: unknown[] }[]).map(
      (item) => item.type,
    );
    if (type !== "") expect(types).toContain(type);
    for (const item of answer.body["detail"]) expect(Object.keys(item)).not.toContain("input");
    await unharmed(before);
  });

  test.each([
    "user",
    "group",
    "organization",
    "project",
    "software",
    "computation",
    "evidencegraph",
  ])("is refused for a %s as well, with true everywhere", async (kind) => {
    const fields = [
      "name",
      "description",
      "owner",
      "members",
      "email",
      "password",
      "memberOf",
      "usedDataset",
      "usedSoftware",
      "generated",
      "keywords",
      "@context",
      "@id",
    ];
    const answer = await registry.ask(`/${kind}`, {
      token: ada.token,
      body: Object.fromEntries(fields.map((field) => [field, true])),
    });
    expect(answer.status, answer.text).toBe(422);
    expect(registry.alive).toBe(true);
  });

  test("is refused over GraphQL too", async () => {
    const query =
      "mutation ($input: DatasetInput!) { createDataset(input: { dataset: $input }) { dataset { id } } }";
    const before = await registry.recordCount();
    for (const name of ['"\\ud800"', '"a\\u0000"']) {
      const body = JSON.stringify({
        query,
        variables: {
          input: { type: "evi:Dataset", name: "NAME", description: "Some images.", owner: ada.ark },
        },
      }).replace('"NAME"', name);
      const answer = await registry.ask("/graphql", { token: ada.token, body });
      expect(answer.text).toMatch(/string_unicode|VALIDATION/);
    }
    await unharmed(before);
  });

  test("names every missing field at once", async () => {
    const { status, body } = await registry.ask("/dataset", {
      token: ada.token,
      body: { name: "x" },
    });
    expect(status).toBe(422);
    expect(body["detail"].map((item: { loc: string[] }) => item.loc.join("."))).toEqual(
      expect.arrayContaining(["body.@type", "body.description", "body.owner"]),
    );
  });
});

describe("missing or forbidden resources", () => {
  test("an unknown ARK of our own NAAN is a 404", async () => {
    expect(await registry.ask("/ark:99999/nothing-here")).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
    expect((await registry.ask("/dataset/ark:99999/nothing-here")).status).toBe(404);
  });

  test("an unknown ARK of another authority is sent to the global resolver", async () => {
    const answer = await fetch(`${registry.url}/ark:12345/elsewhere`, { redirect: "manual" });
    expect(answer.status).toBe(302);
    expect(answer.headers.get("location")).toBe("https://n2t.net/ark:12345/elsewhere");
  });

  test("an unknown kind is a 404, a wrong method a 405 with Allow", async () => {
    expect((await registry.ask("/spaceship")).status).toBe(404);
    expect((await registry.ask("/spaceship", { token: ada.token, body: {} })).status).toBe(404);
    const wrong = await registry.ask("/dataset", { method: "PATCH", token: ada.token, body: {} });
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get("allow")).toContain("POST");
  });

  test("a record of another kind is a 404 that names the right path", async () => {
    const { status, body } = await registry.ask(`/dataset/${ada.ark}`);
    expect(status).toBe(404);
    expect(body["detail"]).toContain(`/user/${ada.ark}`);
  });

  test("a write without a token is a 401", async () => {
    const answer = await registry.ask("/dataset", { body: dataset });
    expect(answer).toMatchObject({ status: 401, body: { code: "NOT_AUTHENTICATED" } });
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
    expect((await registry.ask("/rocrate/upload-async", { body: new FormData() })).status).toBe(
      401,
    );
  });

  test("an invalid token is a 401", async () => {
    for (const token of ["nonsense", `${ada.token.slice(0, -4)}AAAA`])
      expect((await registry.ask("/dataset", { token, body: dataset })).status).toBe(401);
  });

  test("a wrong password and an unknown user are the same 401", async () => {
    const answers = await Promise.all(
      [ada.email, "nobody@example.org"].map((username) =>
        registry.ask("/token", { body: new URLSearchParams({ username, password: "wrong" }) }),
      ),
    );
    expect(answers[0]).toMatchObject({ status: 401, body: { code: "BAD_CREDENTIALS" } });
    expect(answers[1]!.body).toEqual(answers[0]!.body);
  });

  test("a body of another media type is a 415", async () => {
    expect(
      (
        await registry.ask("/dataset", {
          token: ada.token,
          body: "<a/>",
          headers: { "Content-Type": "application/xml" },
        })
      ).status,
    ).toBe(415);
  });

  test("an identifier that is taken is a 409", async () => {
    const record = { ...dataset, "@id": "ark:99999/dataset-taken" };
    expect((await registry.ask("/dataset", { token: ada.token, body: record })).status).toBe(200);
    expect(await registry.ask("/dataset", { token: ada.token, body: record })).toMatchObject({
      status: 409,
      body: { code: "DUPLICATE" },
    });
  });

  test("a deleted record is a 410", async () => {
    const { body } = await registry.ask("/dataset", { token: ada.token, body: dataset });
    expect(
      (await registry.ask(`/dataset/${body["@id"]}`, { method: "DELETE", token: ada.token }))
        .status,
    ).toBe(200);
    expect(await registry.ask(`/${body["@id"]}`)).toMatchObject({
      status: 410,
      body: { code: "GONE" },
    });
  });
});
