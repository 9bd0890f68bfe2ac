import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isInputObjectType, isNonNullType } from "graphql";
import { graphqlSchema } from "../../src/graphql/schema.js";
import type { JsonObject, JsonValue } from "../../src/model/field.js";
import type { KindName } from "../../src/model/kind.js";
import { KINDS } from "../../src/model/kinds.js";
import { bodyOf, commandOf, WRITABLE } from "../support/bodies.js";
import { nounOf } from "../../src/graphql/resolvers/types/mutations.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

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

type Shown = {
  id: string;
  revision: number;
  document: JsonObject;
  additionalProperties: JsonObject;
};
async function created(
  kind: KindName,
  more: JsonObject = {},
): Promise<JsonObject & { "@id": string }> {
  const answer = await server.request("POST", `/${kind}`, {
    token: ada.token,
    json: bodyOf(kind, ada.id, more),
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body as JsonObject & { "@id": string };
}
async function update(
  kind: KindName,
  id: string,
  patch: JsonObject,
  { token = ada.token, expectedRevision }: { token?: string; expectedRevision?: number } = {},
) {
  const { typeName } = KINDS[kind];
  const noun = nounOf(typeName);
  const { body } = await server.graphql<Record<string, Record<string, Shown>>>(
    `mutation ($input: Update${typeName}Input!) { update${typeName}(input: $input) { ${noun} { id ` +
      "revision document additionalProperties } } }",
    { input: { id, patch, ...(expectedRevision === undefined ? {} : { expectedRevision }) } },
    token,
  );
  return { shown: body.data?.[`update${typeName}`]?.[noun], error: body.errors?.[0] };
}

describe("the input types", () => {
  it("require what the model requires, unless it may be null or the mutation says it", async () => {
    const schema = await graphqlSchema();
    for (const kind of [...WRITABLE, "user", "datadownload"] as const) {
      const type = schema.getType(`${KINDS[kind].typeName}Input`);
      if (!isInputObjectType(type)) throw new Error(kind);
      const required = Object.values(type.getFields())
        .filter((field) => isNonNullType(field.type))
        .map(({ name }) => name);
      const expected = Object.entries(KINDS[kind].fields)
        .filter(([, field]) => field.required && !field.nullable && field.const === undefined)
        .map(([name]) => name);
      expect(required.toSorted(), kind).toEqual(expected.toSorted());
    }
  });
  it("of patches require nothing", async () => {
    const schema = await graphqlSchema();
    for (const kind of WRITABLE) {
      const type = schema.getType(`${KINDS[kind].typeName}Patch`);
      if (!isInputObjectType(type)) throw new Error(kind);
      const fields = Object.values(type.getFields());
      expect(fields, kind).not.toEqual([]);
      expect(fields.filter((field) => isNonNullType(field.type))).toEqual([]);
    }
  });
  it("refuse an input that lacks a required field before anything runs", async () => {
    const { body } = await server.graphql(
      'mutation { createDataset(input: { dataset: {name: "x"} }) { revision } }',
      {},
      ada.token,
    );
    expect(body.errors!.map(({ message }) => message).join()).toContain("description");
  });
});

describe.each(WRITABLE)("the update of a %s", (kind) => {
  it("changes what the patch names, clears what is null, and leaves the rest", async () => {
    const before = await created(kind, {
      url: "https://x.example/",
      license: "https://l.example/",
      keywords: ["a", "b", "c"],
      extra: { a: 1, b: 2 },
      other: true,
    });
    const { shown, error } = await update(
      kind,
      before["@id"],
      {
        name: "Updated",
        url: null,
        license: null,
        keywords: { add: ["d", "b"], remove: ["a"] },
        additionalProperties: { extra: { a: null, c: [null] }, other: null },
      },
      { expectedRevision: 1 },
    );
    expect(error).toBeUndefined();
    const { other: _other, ...rest } = before;
    const expected = {
      ...rest,
      name: "Updated",
      url: null,
      license: null,
      keywords: ["b", "c", "d"],
      extra: { b: 2, c: [null] },
    };
    expect(shown).toMatchObject({ revision: 2, document: expected });
    expect((await server.request("GET", `/${before["@id"]}`)).body).toEqual(expected);
    const same = await update(kind, before["@id"], { name: "Updated", keywords: { add: ["b"] } });
    expect(same.shown!.revision).toBe(2);
    const set = await update(kind, before["@id"], { keywords: { set: ["z"] } });
    expect(set.shown!.document["keywords"]).toEqual(["z"]);
    const cleared = await update(kind, before["@id"], { keywords: null });
    expect(cleared.shown!.document["keywords"]).toEqual([]);
  });
  it("is refused with the codes of REST", async () => {
    const before = await created(kind);
    const id = before["@id"];
    expect((await update(kind, id, { name: "x" }, { expectedRevision: 7 })).error).toMatchObject({
      extensions: { code: "REVISION_MISMATCH" },
    });
    expect((await update(kind, id, { name: "x" }, { token: bob.token })).error).toMatchObject({
      extensions: { code: "FORBIDDEN" },
    });
    expect((await update(kind, id, { name: null, owner: null })).error).toMatchObject({
      extensions: {
        code: "VALIDATION",
        detail: [
          { loc: ["input", "patch", "name"], type: "missing" },
          { loc: ["input", "patch", "owner"], type: "missing" },
        ],
      },
    });
    expect((await update(kind, id, { keywords: { set: ["a"], add: ["b"] } })).error).toMatchObject({
      extensions: { code: "VALIDATION", detail: [{ loc: ["input", "patch", "keywords"] }] },
    });
    expect((await update(kind, id, { additionalProperties: { name: "x" } })).error).toMatchObject({
      extensions: {
        code: "VALIDATION",
        detail: [{ loc: ["input", "patch", "additionalProperties", "name"] }],
      },
    });
    expect((await update(kind, id, { additionalProperties: null })).error).toMatchObject({
      extensions: { code: "VALIDATION" },
    });
    expect((await server.request("GET", `/${id}`)).body).toEqual(before);
  });
  it("gives the record that PATCH gives", async () => {
    const [one, other] = [await created(kind), await created(kind)];
    const patch = { name: "The same", description: "Described anew." };
    const { shown } = await update(kind, one["@id"], { ...patch, additionalProperties: { x: 1 } });
    const rest = await server.request("PATCH", `/${kind}/${other["@id"]}`, {
      token: ada.token,
      headers: { "Content-Type": "application/merge-patch+json" },
      body: JSON.stringify({ ...patch, x: 1 }),
    });
    expect({ ...shown!.document, "@id": "" }).toEqual({ ...rest.body, "@id": "" });
  });
});

describe("a property that the model does not know", () => {
  const STRANGE: JsonObject = {
    "schema:funder": [{ "@id": "https://x.example/", name: "Ünïcode \u2028 \ud83d\ude00" }, null],
    number: 1.5e-7,
    big: 9007199254740991,
    empty: {},
    "": "no name",
    nested: { a: [[], [{}]], z: false, 1: "first" },
  };
  it("survives byte for byte from GraphQL over REST to GraphQL", async () => {
    const text = JSON.stringify({ ...STRANGE, x: 1 }).replace('"x"', '"__proto__"');
    const make = (verb: string, more: string) =>
      server.request<{ data: Record<string, { dataset: Shown }>; errors?: unknown }>(
        "POST",
        "/graphql",
        {
          token: ada.token,
          headers: { "Content-Type": "application/json" },
          body:
            `{"query":"mutation ($i: DatasetInput!) { ${verb}Dataset(input: { ${more}dataset: $i }) ` +
            '{ dataset { id additionalProperties } } }","variables":{"i":{"name":"Strange",' +
            `"description":"A strange one","owner":"${ada.id}","additionalProperties":${text}}}}`,
        },
      );
    const made = await make("create", "");
    expect(made.body.errors).toBeUndefined();
    const { id } = made.body.data["createDataset"]!.dataset;
    const read = async () => [
      (await server.request("GET", `/dataset/${id}`)).text,
      (
        await server.graphql("query ($id: ID!) { dataset(id: $id) { additionalProperties } }", {
          id,
        })
      ).text,
    ];
    // The integer-like key of `nested` comes first: so it does in any JSON object of JavaScript.
    const members = JSON.stringify(JSON.parse(text)).slice(1, -1);
    for (const answer of [made.text, ...(await read())]) expect(answer).toContain(members);
    const replaced = await make("replace", `id: \\"${id}\\", `);
    expect(replaced.body.errors).toBeUndefined();
    for (const answer of [replaced.text, ...(await read())]) expect(answer).toContain(members);
    const { shown } = await update("dataset", id, { name: "Renamed" });
    expect(shown!.revision).toBe(2);
    for (const answer of await read()) expect(answer).toContain(members);
  });
});

describe("a computation", () => {
  it("takes many datasets and software, over both interfaces", async () => {
    const data = [await created("dataset"), await created("dataset"), await created("dataset")];
    const [a, b, c] = data.map((each) => each["@id"]);
    const programs = [await created("software"), await created("software")];
    const [p, q] = programs.map((each) => each["@id"]);
    const run = await created("computation", { usedDataset: [a!, b!], usedSoftware: p! });
    expect(run).toMatchObject({ usedDataset: [a, b], usedSoftware: p });
    const id = run["@id"];
    const used = async () =>
      (
        await server.graphql<{ computation: Record<string, { nodes: { id: string }[] }> }>(
          "query ($id: ID!) { computation(id: $id) { usedDataset { nodes { id } } usedSoftware { " +
            "nodes { id } } } }",
          { id },
        )
      ).body.data.computation;
    expect(await used()).toEqual({
      usedDataset: { nodes: [{ id: a }, { id: b }] },
      usedSoftware: { nodes: [{ id: p }] },
    });
    const { shown } = await update("computation", id, {
      usedDataset: { add: [c!, b!.replace("ark:", "ark:/")], remove: [a!] },
      usedSoftware: { add: [q!] },
    });
    expect(shown!.document).toMatchObject({ usedDataset: [b, c], usedSoftware: [p, q] });
    const evidence = await server.request<{ "@graph": { "@id": string }[] }>(
      "GET",
      `/evidencegraph/query/${id}`,
    );
    expect(evidence.body["@graph"].map((node) => node["@id"]).toSorted()).toEqual(
      expect.arrayContaining([b, c, p, q]),
    );
    for (const each of [b, c, p, q])
      expect((await server.request("GET", `/${each}`)).body["usedBy"]).toEqual([id]);
    expect((await server.request("GET", `/${a}`)).body["usedBy"]).toEqual([]);
  });
  it("that used one names it as the contract does, as a string", async () => {
    const {
      "@id": _id,
      "@type": _type,
      "@context": _context,
      ...body
    } = bodyOf("computation", ada.id);
    const made = await server.graphql<{ createComputation: { computation: Shown } }>(
      "mutation ($i: ComputationInput!) { createComputation(input: { computation: $i }) { computation { id document } } }",
      {
        i: { ...body, command: commandOf(body["command"]!), usedDataset: ["ark:99999/one"] },
      },
      ada.token,
    );
    expect(made.body.errors).toBeUndefined();
    expect(made.body.data.createComputation.computation.document).toMatchObject({
      usedDataset: "ark:99999/one",
      usedSoftware: body["usedSoftware"],
    });
    const { shown } = await update("computation", made.body.data.createComputation.computation.id, {
      usedDataset: { add: ["ark:99999/two"], remove: ["ark:99999/one"] },
    });
    expect(shown!.document["usedDataset"]).toBe("ark:99999/two");
  });
  it("is refused what is neither", async () => {
    for (const usedDataset of [5, [5], { "@id": "ark:99999/one" }, null]) {
      const answer = await server.request("POST", "/computation", {
        token: ada.token,
        json: bodyOf("computation", ada.id, { usedDataset }),
      });
      expect(answer.status).toBe(422);
      expect(answer.text).toContain("usedDataset");
    }
  });
});

describe("updateRecord", () => {
  const patchAny = (id: string, patch: JsonValue, token: string | undefined = ada.token) =>
    server.graphql<{ updateRecord: { record: Shown; revision: number } }>(
      "mutation ($i: UpdateRecordInput!) { updateRecord(input: $i) { revision record { id document } } }",
      { i: { id, patch } },
      token,
    );
  it("takes a JSON Merge Patch for a record of any kind", async () => {
    const before = await created("dataset", { extra: 1, url: "https://x.example/" });
    const { body } = await patchAny(before["@id"], { name: "Any", url: null, extra: { y: 2 } });
    const { url: _url, ...rest } = before;
    expect(body.data.updateRecord).toMatchObject({ revision: 2 });
    expect(body.data.updateRecord.record.document).toEqual({
      ...rest,
      name: "Any",
      extra: { y: 2 },
    });
  });
  it("refuses what REST refuses", async () => {
    const { "@id": id } = await created("dataset");
    for (const patch of [[1], { "@id": "ark:99999/x" }, { "@type": "x" }, { name: "a\0" }, null])
      expect((await patchAny(id, patch)).text, JSON.stringify(patch)).toMatch(/VALIDATION/);
    expect((await patchAny(id, {}, bob.token)).body.errors![0]!.extensions.code).toBe("FORBIDDEN");
  });
});
