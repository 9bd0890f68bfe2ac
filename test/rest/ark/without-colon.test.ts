import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bodyOf } from "../../support/bodies.js";
import { crate } from "../../support/crates.js";
import { PASSWORD, startServer, type Person, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
let bob: Person;
const dataset = "ark:99999/plate-7";
const bare = (ark: string) => ark.replace("ark:", "ark");
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  bob = await server.person("bob");
  const made = await server.request("POST", "/dataset", {
    token: ada.token,
    json: { ...bodyOf("dataset", ada.id), "@id": bare(dataset), owner: bare(ada.id) },
  });
  expect(made.body).toMatchObject({ "@id": dataset });
});
afterAll(() => server.stop());

describe("an identifier without its colon, as the contract's pattern spells it, is accepted", () => {
  test.each(["addUser/?userID", "rmUser/?userId"])("by %s", async (operation) => {
    const group = (
      await server.request("POST", "/group", {
        token: ada.token,
        json: { ...bodyOf("group", ada.id), members: [bob.id] },
      })
    ).body["@id"] as string;
    const { status, text } = await server.request(
      "PUT",
      `/group/${group}/${operation}=${bare(bob.id)}`,
      { token: ada.token },
    );
    expect(status, text).toBe(200);
  });

  test.each([`/${bare(dataset)}`, `/dataset/${bare(dataset)}`, `/api/dataset/${bare(dataset)}/`])(
    "in the path %s, and answered with its own spelling",
    async (path) => {
      const { status, body, headers } = await server.request("GET", path);
      expect([status, body["@id"]]).toEqual([200, dataset]);
      expect(headers.get("content-location")).toMatch(new RegExp(`/${dataset}$`));
    },
  );

  test.each([
    `/${bare(dataset)}/history`,
    `/evidencegraph/query/${bare(dataset)}`,
    `/publish/${bare(dataset)}`,
    `/dataset?owner=${bare("ark:99999/user-ada")}`,
  ])("by GET %s", async (path) => {
    const { status, text } = await server.request("GET", path, { token: ada.token });
    expect(status, text).toBe(200);
    expect(text).toContain(dataset);
  });

  test("in the bodies of PUT and of /publish", async () => {
    const replaced = await server.request("PUT", "/dataset", {
      token: ada.token,
      json: { ...bodyOf("dataset", ada.id), "@id": bare(dataset), name: "By the bare spelling" },
    });
    expect(replaced.body).toMatchObject({ "@id": dataset, name: "By the bare spelling" });
    const published = await server.request("PUT", "/publish", {
      token: ada.token,
      json: { "@id": bare(dataset), publicationStatus: "PUBLISHED" },
    });
    expect(published.body).toMatchObject({ "@id": dataset });
  });

  test("as a user name, in search, and by GraphQL", async () => {
    expect(
      (
        await server.request("POST", "/token", {
          json: { username: bare(ada.id), password: PASSWORD },
        })
      ).status,
    ).toBe(200);
    const found = await server.request<{ results: { "@id": string }[] }>(
      "GET",
      `/search/basic?query=${bare(dataset)}`,
    );
    expect(found.body.results.map((result) => result["@id"])).toEqual([dataset]);
    const { body } = await server.graphql<{ record: { id: string } }>(
      "query ($id: ID!) { record(id: $id) { id } }",
      { id: bare(dataset) },
    );
    expect(body.data.record.id).toBe(dataset);
  });

  test("as a reference in a document", async () => {
    const made = await server.request("POST", "/dataset", {
      token: ada.token,
      json: { ...bodyOf("dataset", ada.id), isPartOf: { "@id": bare(dataset) } },
    });
    expect(
      (await server.request("GET", `/${String(made.body["@id"])}?format=nquads`)).text,
    ).toContain(`<https://schema.org/isPartOf> <${dataset}>`);
  });
});

test("in a crate the same text is the path of a file", async () => {
  const archive = await crate(
    [{ "@id": "ark12345/a.csv", "@type": "File", name: "A" }],
    { "ark12345/a.csv": "a" },
    { hasPart: [{ "@id": "ark12345/a.csv" }] },
  );
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
  const { body } = await server.request<{ "@id": string; hasPart: object }>(
    "POST",
    "/rocrate/upload",
    { token: ada.token, body: form },
  );
  expect(body.hasPart).toEqual([{ "@id": `${body["@id"]}/ark12345/a.csv` }]);
});
