import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/model/field.js";
import { KINDS } from "../../../src/model/kinds.js";
import { bodyOf, WRITABLE } from "../../support/bodies.js";
import { crate } from "../../support/crates.js";
import { PASSWORD, startServer, type Person, type TestServer } from "../../support/server.js";

const MERGE = "application/merge-patch+json";
const JSON_PATCH = "application/json-patch+json";
const TYPES = `${MERGE}, ${JSON_PATCH}, application/json`;

let server: TestServer;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  server = await startServer();
  [ada, bob] = await Promise.all([server.person("ada"), server.person("bob")]);
});
afterAll(async () => {
  expect(server.faults).toEqual([]);
  await server.stop();
});

const send = (
  path: string,
  body: JsonValue | string,
  {
    type = MERGE,
    token = ada.token,
    headers = {},
  }: { type?: string; token?: string; headers?: Record<string, string> } = {},
) =>
  server.request("PATCH", path, {
    token,
    headers: { "Content-Type": type, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
async function created(kind: string, body: JsonObject): Promise<JsonObject & { "@id": string }> {
  const answer = await server.request("POST", `/${kind}`, { token: ada.token, json: body });
  expect(answer.status, answer.text).toBe(200);
  return answer.body as JsonObject & { "@id": string };
}
const dataset = (more: JsonObject = {}) => created("dataset", bodyOf("dataset", ada.id, more));
const revisionOf = async (ark: string) => (await server.deps.records.findMany([ark]))[0]!.revision;

describe.each(WRITABLE)("PATCH /%s/ark:…", (kind) => {
  it("changes what a merge patch names, and leaves the rest", async () => {
    const before = await created(
      kind,
      bodyOf(kind, ada.id, { extra: { a: 1, b: [1] }, keywords: ["a"], url: "https://x.example/" }),
    );
    const answer = await send(`/${kind}/${before["@id"]}`, {
      name: "Patched",
      url: null,
      extra: { a: null, c: 2 },
    });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get("etag")).toBe('"2-0"');
    const { url: _url, ...rest } = before;
    expect(answer.body).toEqual({ ...rest, name: "Patched", extra: { b: [1], c: 2 } });
    expect((await server.request("GET", `/${kind}/${before["@id"]}`)).body).toEqual(answer.body);
    const { body } = await server.request<{ revisions: { changed: string[] }[] }>(
      "GET",
      `/${kind}/${before["@id"]}/history`,
    );
    expect(body.revisions[0]!.changed.toSorted()).toEqual(["/extra", "/name", "/url"]);
  });
  it("applies a JSON Patch, whole or not at all", async () => {
    const before = await created(kind, bodyOf(kind, ada.id, { keywords: ["a", "b"] }));
    const path = `/${kind}/${before["@id"]}`;
    const answer = await send(
      path,
      [
        { op: "test", path: "/name", value: before["name"]! },
        { op: "replace", path: "/name", value: "By operations" },
        { op: "remove", path: "/keywords/0" },
        { op: "add", path: "/keywords/-", value: "c" },
      ],
      { type: JSON_PATCH },
    );
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toEqual({ ...before, name: "By operations", keywords: ["b", "c"] });
    const refused = await send(
      path,
      [
        { op: "replace", path: "/name", value: "Half" },
        { op: "test", path: "/keywords/0", value: "a" },
      ],
      { type: JSON_PATCH },
    );
    expect(refused).toMatchObject({ status: 409, body: { code: "PATCH_CONFLICT", operation: 1 } });
    expect((await server.request("GET", path)).body).toEqual(answer.body);
  });
  it("makes no revision of what changes nothing", async () => {
    const before = await created(kind, bodyOf(kind, ada.id));
    const path = `/${kind}/${before["@id"]}`;
    for (const body of [{}, { name: before["name"]!, "@type": before["@type"] ?? null }]) {
      const answer = await send(path, body);
      expect([answer.status, answer.headers.get("etag")]).toEqual([200, '"1-0"']);
    }
    const none = await send(path, [], { type: JSON_PATCH });
    expect([none.status, none.headers.get("etag")]).toEqual([200, '"1-0"']);
    expect(await revisionOf(before["@id"])).toBe(1);
  });
  it("names each required field that a patch removes", async () => {
    const before = await created(kind, bodyOf(kind, ada.id));
    const required = Object.entries(KINDS[kind].fields)
      .filter(([name, field]) => field.required && !name.startsWith("@"))
      .map(([name]) => name);
    const path = `/${kind}/${before["@id"]}`;
    const answers = [
      await send(path, Object.fromEntries(required.map((name) => [name, null]))),
      await send(
        path,
        required.map((name) => ({ op: "remove", path: `/${name}` })),
        { type: JSON_PATCH },
      ),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(422);
      expect(answer.body["detail"]).toEqual(
        required.map((name) => ({ loc: ["body", name], msg: "Field required", type: "missing" })),
      );
    }
    expect(await revisionOf(before["@id"])).toBe(1);
  });
  it("keeps the identifier and the type", async () => {
    const before = await created(kind, bodyOf(kind, ada.id));
    const path = `/${kind}/${before["@id"]}`;
    const alias = before["@id"].replace("ark:", "ark:/");
    expect((await send(path, { "@id": alias, name: "Same" })).body).toEqual({
      ...before,
      name: "Same",
    });
    for (const [name, value] of [
      ["@id", "ark:99999/another"],
      ["@id", null],
      ["@type", "evi:Other"],
      ...("@type" in before ? [["@type", null]] : []),
    ] as [string, JsonValue][]) {
      const answer = await send(path, { [name]: value });
      expect(answer.status, `${name} ${JSON.stringify(value)}`).toBe(422);
      expect((answer.body["detail"] as JsonObject[])[0]).toMatchObject({ loc: ["body", name] });
      expect(answer.text).toContain(`leave ${name} out`);
    }
  });
  it("honours If-Match as PUT does", async () => {
    const before = await created(kind, bodyOf(kind, ada.id));
    const path = `/${kind}/${before["@id"]}`;
    const stale = await send(path, { name: "x" }, { headers: { "If-Match": '"7-0"' } });
    expect(stale).toMatchObject({ status: 412, body: { code: "REVISION_MISMATCH", revision: 1 } });
    const right = await send(path, { name: "x" }, { headers: { "If-Match": '"1-0"' } });
    expect(right.headers.get("etag")).toBe('"2-0"');
  });
  it("is for those who may replace", async () => {
    const before = await created(kind, bodyOf(kind, ada.id));
    const path = `/${kind}/${before["@id"]}`;
    expect((await send(path, { name: "x" }, { token: bob.token })).status).toBe(403);
    expect(
      (
        await server.request("PATCH", path, {
          headers: { "Content-Type": MERGE },
          body: "{}",
        })
      ).status,
    ).toBe(401);
  });
});

describe("a patch", () => {
  it("is read by its media type, which an answer 415 lists", async () => {
    const { "@id": id } = await dataset();
    for (const type of ["application/ld+json", "text/plain"]) {
      const answer = await send(`/${id}`, "{}", { type });
      expect([answer.status, answer.headers.get("accept-patch")]).toEqual([415, TYPES]);
    }
    const options = await server.request("OPTIONS", `/${id}`);
    expect([options.headers.get("allow"), options.headers.get("accept-patch")]).toEqual([
      "DELETE, GET, HEAD, PATCH, PUT",
      TYPES,
    ]);
    expect((await send(`/${id}`, "{}", { type: `${MERGE}; charset=utf-8` })).status).toBe(200);
  });
  it("in application/json is a merge patch", async () => {
    const { "@id": id } = await dataset();
    const patch = { name: "Plain", url: null, keywords: ["k"] };
    for (const path of [`/dataset/${id}`, `/${id}`]) {
      const answer = await send(path, patch, { type: "application/json" });
      expect(answer).toMatchObject({ status: 200, body: { name: "Plain", keywords: ["k"] } });
      expect(answer.body).not.toHaveProperty("url");
    }
    const operations = [{ op: "replace", path: "/name", value: "Other" }];
    expect(await send(`/${id}`, operations, { type: "application/json" })).toMatchObject({
      status: 422,
    });
  });
  it("names a record of the path's kind, or any over the resolver", async () => {
    const { "@id": id } = await dataset();
    expect(await send(`/software/${id}`, { name: "x" })).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
    expect((await send(`/${id.replace("ark:", "ark:/")}`, { name: "Any" })).body).toMatchObject({
      "@id": id,
      name: "Any",
    });
    await server.request("DELETE", `/${id}`, { token: ada.token });
    expect((await send(`/${id}`, { name: "x" })).status).toBe(410);
  });
  it("of a user leaves the password, and may set one", async () => {
    const eve = await server.person("eve");
    const login = (password: string) =>
      server.request("POST", "/token", { json: { username: eve.email, password } });
    const named = await send(`/user/${eve.id}`, { name: "Eve" }, { token: eve.token });
    expect(named.status, named.text).toBe(200);
    expect(named.body).toMatchObject({ name: "Eve", email: eve.email });
    expect((await login(PASSWORD)).status).toBe(200);
    for (const field of ["password", "email"]) {
      const answer = await send(`/user/${eve.id}`, { [field]: null }, { token: eve.token });
      expect(answer.status).toBe(422);
      expect(answer.body["detail"]).toMatchObject([{ loc: ["body", field] }]);
    }
    const next = "another long enough phrase";
    const set = await send(
      `/user/${eve.id}`,
      { password: next, currentPassword: PASSWORD },
      { token: eve.token },
    );
    expect(set.status, set.text).toBe(200);
    expect(set.text).not.toContain(next);
    expect([(await login(PASSWORD)).status, (await login(next)).status]).toEqual([401, 200]);
    expect((await send(`/user/${eve.id}`, { name: "x" })).status).toBe(403);
  });
  it("of another field does not make statements of derived entries", async () => {
    const { "@id": id } = await dataset();
    const run = await created("computation", bodyOf("computation", ada.id, { usedDataset: id }));
    expect((await server.request("GET", `/${id}`)).body["usedBy"]).toEqual([run["@id"]]);
    const answer = await send(`/${id}`, [{ op: "test", path: "/usedBy/0", value: run["@id"] }], {
      type: JSON_PATCH,
    });
    expect([answer.status, await revisionOf(id)]).toEqual([200, 1]);
    await send(`/${id}`, { name: "Renamed" });
    await server.request("DELETE", `/${run["@id"]}`, { token: ada.token });
    expect((await server.request("GET", `/${id}`)).body["usedBy"]).toEqual([]);
  });
  it("puts a reference in the place of one, as crates state them, and nothing else", async () => {
    const MIT = { "@id": "https://spdx.org/licenses/MIT" };
    const ISC = { "@id": "https://spdx.org/licenses/ISC" };
    const archive = await crate(
      [{ "@id": "ark:99999/refers/part", "@type": "Dataset", name: "Part", license: MIT }],
      {},
      { "@id": "ark:99999/refers" },
    );
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
    await server.request("POST", "/rocrate/upload", { token: ada.token, body: form });
    const patched = (license: JsonValue) => send("/ark:99999/refers/part", { license });
    expect((await patched(ISC)).body).toMatchObject({ license: ISC });
    expect((await patched([MIT, ISC])).body).toMatchObject({ license: [MIT, ISC] });
    for (const license of [7, [MIT, 7], { "@id": 7 }, { name: "MIT" }])
      expect((await patched(license)).status).toBe(422);
    expect((await patched("MIT")).body).toMatchObject({ license: "MIT" });
    expect((await patched(MIT)).status).toBe(422);
  });
  it("cannot give a record to someone whom the caller could not create for", async () => {
    const { "@id": id } = await dataset();
    expect((await send(`/${id}`, { owner: bob.id })).status).toBe(403);
  });
  it("is repeated on the current record when another write came between", async () => {
    const { "@id": id } = await dataset({ keywords: [] });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        send(`/${id}`, [{ op: "add", path: "/keywords/-", value: `k${index}` }], {
          type: JSON_PATCH,
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { keywords } = (await server.request("GET", `/${id}`)).body;
    expect((keywords as string[]).toSorted()).toEqual(
      answers.map((_, index) => `k${index}`).toSorted(),
    );
  });
});

describe("a hostile patch", () => {
  const VALIDATION = { status: 422 };
  it.each([
    ["no JSON", "{", MERGE, VALIDATION],
    ["no object", "[1]", MERGE, VALIDATION],
    ["null", "null", MERGE, VALIDATION],
    ["no body", "", MERGE, VALIDATION],
    ["no operations", "{}", JSON_PATCH, VALIDATION],
    ["depth", `{"a":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`, MERGE, VALIDATION],
    [
      "3,000 operations",
      JSON.stringify(Array.from({ length: 3000 }, () => ({ op: "remove", path: "/a" }))),
      JSON_PATCH,
      VALIDATION,
    ],
    [
      "10,000 operations",
      JSON.stringify(Array.from({ length: 10_000 }, () => ({ op: "remove", path: "/a" }))),
      JSON_PATCH,
      { status: 413, body: { code: "TOO_LARGE" } },
    ],
    [
      "a copy bomb",
      JSON.stringify([
        { op: "add", path: "/a", value: ["x".repeat(1000)] },
        ...Array.from({ length: 60 }, () => ({ op: "copy", from: "/a", path: "/a/-" })),
      ]),
      JSON_PATCH,
      { status: 413, body: { code: "TOO_LARGE" } },
    ],
    [
      "a copy bomb of long texts",
      JSON.stringify([
        { op: "add", path: "/a", value: "x".repeat(100_000) },
        ...Array.from({ length: 60 }, (_, n) => ({ op: "copy", from: "/a", path: `/b${n}` })),
      ]),
      JSON_PATCH,
      { status: 413, body: { code: "TOO_LARGE" } },
    ],
    [
      "the prototype",
      JSON.stringify([{ op: "add", path: "/__proto__/polluted", value: true }]),
      JSON_PATCH,
      { status: 409, body: { code: "PATCH_CONFLICT" } },
    ],
    [
      "the constructor",
      JSON.stringify([{ op: "add", path: "/constructor/prototype/polluted", value: true }]),
      JSON_PATCH,
      { status: 409, body: { code: "PATCH_CONFLICT" } },
    ],
    ["NUL in a pointer", `[{"op":"add","path":"/a\\u0000","value":1}]`, JSON_PATCH, VALIDATION],
    ["a lone surrogate", `{"name":"\\ud800"}`, MERGE, VALIDATION],
  ])("with %s is refused and changes nothing", async (_what, body, type, expected) => {
    const before = await dataset();
    const answer = await send(`/${before["@id"]}`, body, { type });
    expect(answer, answer.text.slice(0, 300)).toMatchObject(expected);
    expect((await server.request("GET", `/${before["@id"]}`)).body).toEqual(before);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
  it("cannot grow a record past the limit of a body by many small patches", async () => {
    const small = await startServer({ MAX_BODY_BYTES: "64K" });
    try {
      const eve = await small.person("eve");
      const { body } = await small.request<{ "@id": string }>("POST", "/dataset", {
        token: eve.token,
        json: bodyOf("dataset", eve.id),
      });
      const statuses: number[] = [];
      for (let part = 0; part < 4; part++)
        statuses.push(
          (
            await small.request("PATCH", `/${body["@id"]}`, {
              token: eve.token,
              headers: { "Content-Type": MERGE },
              body: JSON.stringify({ [`part${part}`]: "x".repeat(20_000) }),
            })
          ).status,
        );
      expect(statuses).toEqual([200, 200, 200, 413]);
    } finally {
      await small.stop();
    }
  });
  it("keeps a member __proto__ as it came", async () => {
    const { "@id": id } = await dataset();
    const answer = await send(`/${id}`, `{"__proto__":{"x":1},"constructor":2}`);
    expect(answer.text).toContain(`"__proto__":{"x":1},"constructor":2`);
    expect((await server.request("GET", `/${id}`)).text).toContain(`"__proto__":{"x":1}`);
  });
});

/** RFC 7396, section 2, as the text states it. */
function merged(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, JsonValue> =
    typeof target === "object" && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}

it("a merge patch gives the record that a replacement by RFC 7396's result gives", async () => {
  const scalar = fc.oneof(
    fc.constant(null),
    fc.string({ unit: "grapheme-ascii", maxLength: 8 }),
    fc.integer(),
    fc.boolean(),
  );
  const nested = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3 }),
    ),
  })).value;
  const members = fc.dictionary(
    fc.constantFrom("extra", "more", "name", "keywords", "license", "url", "dateCreated"),
    nested,
    { maxKeys: 4 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.constantFrom("extra", "more"), nested),
      members,
      async (more, patch) => {
        const [one, other] = [await dataset(more), await dataset(more)];
        const patched = await send(`/${one["@id"]}`, patch);
        const put = await server.request("PUT", `/${other["@id"]}`, {
          token: ada.token,
          json: merged(other, patch),
        });
        expect(patched.status).toBe(put.status);
        if (put.status === 200) {
          expect({ ...patched.body, "@id": "" }).toEqual({ ...put.body, "@id": "" });
          expect(patched.headers.get("etag")).toBe(put.headers.get("etag"));
        } else expect(patched.body["detail"]).toEqual(put.body["detail"]);
      },
    ),
    { numRuns: 60 },
  );
});
