import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { bodyOf } from "../support/bodies.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json, User } from "../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
let bob: User;
let crate: string;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  [ada, bob] = await Promise.all([registry.user("Ada"), registry.user("Bob")]);
  const { rocrateIdentifier } = await registry.take(await buildDemoCrate(), ada.token);
  crate = rocrateIdentifier as string;
});
afterAll(() => registry?.stop());

const ask = async (query: string, variables: object = {}, token?: string): Promise<Json> => {
  const { body, text } = await registry.graphql(query, variables, token);
  if (body["errors"]) throw new Error(text);
  return body["data"] as Json;
};
const created = async (kind: Parameters<typeof bodyOf>[0], more: Json = {}): Promise<string> => {
  const { body, text } = await registry.ask(`/${kind}`, {
    token: ada.token,
    body: bodyOf(kind, ada.ark, more),
  });
  if (!body["@id"]) throw new Error(text);
  return body["@id"] as string;
};

describe("a reference", () => {
  it("has the record that it names", async () => {
    const organization = await created("organization", { name: "Institute" });
    const project = await created("project", { memberOf: organization, name: "Screen" });
    const run = await created("computation", {
      sourceOrganization: organization,
      sourceProject: project,
    });
    const data = await ask(
      `query ($run: ID!, $project: ID!) {
        computation(id: $run) { sourceProject { id text record { name } }
          sourceOrganization { record { id } } }
        project(id: $project) { memberOf { id record { __typename name } } } }`,
      { run, project },
    );
    expect(data).toEqual({
      computation: {
        sourceProject: { id: project, text: project, record: { name: "Screen" } },
        sourceOrganization: { record: { id: organization } },
      },
      project: {
        memberOf: {
          id: organization,
          record: { __typename: "Organization", name: "Institute" },
        },
      },
    });
  });

  it("has no record where it is text, and where nothing is stored under it", async () => {
    const dataset = await created("dataset", {
      sourceOrganization: "An institute",
      includedInDataCatalog: "ark:99999/no-catalog",
    });
    const data = await ask(
      `query ($id: ID!) { dataset(id: $id) { sourceOrganization { id text record { id } }
        includedInDataCatalog { id text record { id } } } }`,
      { id: dataset },
    );
    expect(data["dataset"]).toEqual({
      sourceOrganization: { id: null, text: "An institute", record: null },
      includedInDataCatalog: {
        id: "ark:99999/no-catalog",
        text: "ark:99999/no-catalog",
        record: null,
      },
    });
  });

  it("leads to creators that have an identifier", async () => {
    const dataset = await created("dataset", { author: ada.ark });
    const data = await ask(
      "query ($id: ID!) { dataset(id: $id) { creators { id name record { id name } } } }",
      { id: dataset },
    );
    expect(data["dataset"]).toEqual({
      creators: [{ id: ada.ark, name: "Ada", record: { id: ada.ark, name: "Ada" } }],
    });
  });
});

describe("software", () => {
  const shown = async (more: Json): Promise<Json> => {
    const id = await created("software", more);
    const data = await ask(
      `query ($id: ID!) { software(id: $id) { version programmingLanguage codeRepository
        additionalProperties } }`,
      { id },
    );
    return data["software"] as Json;
  };

  it("shows version, language and repository as text, whatever JSON states them", async () => {
    const stated = {
      version: 2.1,
      programmingLanguage: [{ name: "Python", url: "https://www.python.org/" }, "C"],
      codeRepository: { "@id": "https://git.example/tool" },
    };
    expect(await shown(stated)).toEqual({
      version: "2.1",
      programmingLanguage: "Python",
      codeRepository: "https://git.example/tool",
      // The author of the example, which is no field of software, is one too.
      additionalProperties: { author: expect.any(String), ...stated },
    });
    expect(await shown({ version: "1.0.0" })).toMatchObject({
      version: "1.0.0",
      programmingLanguage: null,
      codeRepository: null,
    });
  });
});

describe("the content of a record", () => {
  const CONTENT =
    "__typename ... on HasContent { content { state mediaType size sha256 address readable } }";
  const contentOf = async (id: string, token?: string): Promise<Json> =>
    (await ask(`query ($id: ID!) { record(id: $id) { ${CONTENT} } }`, { id }, token))["record"]
      .content as Json;
  const NOTHING = { mediaType: null, size: null, sha256: null, address: null, readable: false };

  it("is described as the list of files does, with an address that answers", async () => {
    const { roCrate } = await ask(
      `query ($id: ID!) { roCrate(id: $id) { ${CONTENT} files(first: 1000) {
        nodes { mediaType size sha256 record { id } } } } }`,
      { id: crate },
      ada.token,
    );
    const described = roCrate.files.nodes.filter(({ record }: Json) => record !== null);
    expect(described.length).toBeGreaterThan(2);
    for (const { record, ...file } of described as Json[]) {
      const content = await contentOf(record.id as string, ada.token);
      expect(content).toMatchObject({ ...file, state: "STORED", readable: true });
      const { status } = await registry.ask(new URL(content["address"] as string).pathname, {
        token: ada.token,
      });
      expect(status).toBe(200);
    }
    expect(roCrate.content).toMatchObject({ state: "STORED", readable: true });
    const archive = await registry.ask(new URL(roCrate.content.address as string).pathname, {
      token: ada.token,
    });
    expect(archive.status).toBe(200);
  });

  it("is readable for whom the record's status allows it", async () => {
    const id = (
      await ask(
        "query ($id: ID!) { roCrate(id: $id) { files(first: 1) { nodes { record { id } } } } }",
        { id: crate },
      )
    )["roCrate"].files.nodes[0].record.id as string;
    const state = { state: "STORED" };
    expect(await contentOf(id)).toMatchObject({ ...state, readable: false });
    expect(await contentOf(id, bob.token)).toMatchObject({ ...state, readable: false });
    expect(await contentOf(crate, bob.token)).toMatchObject({ ...state, readable: false });
    await ask(
      "mutation ($id: ID!) { publishRecord(input: { id: $id, publicationStatus: PUBLISHED }) { revision } }",
      { id: crate },
      ada.token,
    );
    expect(await contentOf(id)).toMatchObject({ ...state, readable: true });
    expect(await contentOf(crate)).toMatchObject({ ...state, readable: true });
  });

  it("is NONE where nothing was stored, and DELETED once it was deleted", async () => {
    expect(await contentOf(await created("dataset"))).toEqual({ ...NOTHING, state: "NONE" });
    const { roCrate } = await ask(
      `query ($id: ID!) { roCrate(id: $id) { files(first: 1000) {
        nodes { record { __typename id } } } } }`,
      { id: crate },
    );
    const file = roCrate.files.nodes.find(
      ({ record }: Json) => record?.__typename === "DataDownload",
    )?.record.id as string;
    const change =
      "mutation ($id: ID!) { deleteContent(input: { id: $id }) { dataDownload { content { state size } } } }";
    expect((await ask(change, { id: file }, ada.token))["deleteContent"]).toEqual({
      dataDownload: { content: { state: "DELETED", size: null } },
    });
    expect(await contentOf(file, ada.token)).toEqual({ ...NOTHING, state: "DELETED" });
  });
});

describe("the end of an embargo", () => {
  it("is a time, also where a date was stated", async () => {
    const id = await created("dataset");
    const { publishRecord } = await ask(
      `mutation ($id: ID!) { publishRecord(input: { id: $id, publicationStatus: EMBARGOED,
        embargoedUntil: "2040-05-06" }) { record { embargoEndsAt } } }`,
      { id },
      ada.token,
    );
    expect(publishRecord.record).toEqual({
      embargoEndsAt: "2040-05-06T00:00:00.000Z",
    });
  });
});
