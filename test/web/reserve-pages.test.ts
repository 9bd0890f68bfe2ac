import { afterAll, beforeAll, expect, test } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { DataCiteServer } from "../support/datacite-server.js";
import { Reader } from "../support/reader.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let datacite: DataCiteServer;
/** With a DOI service, and without one. */
let server: TestServer;
let plain: TestServer;
let ada: Person;
let reader: Reader;
beforeAll(async () => {
  datacite = await DataCiteServer.start();
  [server, plain] = await Promise.all([
    startServer({
      DATACITE_URL: datacite.url,
      DATACITE_REPOSITORY: "TEST.REPO",
      DATACITE_PASSWORD: "secret pass",
      DATACITE_PREFIX: "10.5072",
    }),
    startServer(),
  ]);
  ada = await server.person("ada");
  reader = new Reader(server);
  await reader.signIn(ada.email);
});
afterAll(async () => {
  await Promise.all([server?.stop(), plain?.stop()]);
  await datacite?.stop();
});

async function datasets(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at++) {
    const { body } = await server.request<{ "@id": string }>("POST", "/dataset", {
      token: ada.token,
      json: { ...bodyOf("dataset", ada.id), name: `Plate ${at}` },
    });
    ids.push(body["@id"]);
  }
  return ids;
}

test("an identifier is reserved before its object exists: a draft holds it, with the ARK to copy", async () => {
  const wrong = await reader.send("/reserve", { name: "", kind: "dataset" });
  expect(wrong.status).toBe(422);
  expect(wrong.text).toContain('id="field-name-error"');
  const long = await reader.send("/reserve", { name: "x".repeat(300), kind: "software" });
  expect(long.status).toBe(422);
  expect(long.text).toContain("x".repeat(300));
  const done = await reader.send("/reserve", { name: "Plate <8>", kind: "software" });
  expect(done.status).toBe(303);
  const page = await reader.get(done.location!);
  const ark = /<code>(ark:[^<]+)<\/code>/.exec(page.text)![1]!;
  expect(page.text).toContain(`data-copy="${ark}"`);
  expect(page.text).toContain(`data-copy="${server.url}/${ark}"`);
  expect(page.text).toContain(`href="/edit/${ark}"`);
  const [record] = await server.deps.records.findMany([ark]);
  expect(record).toMatchObject({
    kind: "software",
    name: "Plate <8>",
    owner: ada.id,
    publicationStatus: "DRAFT",
  });
  expect((await reader.get("/new")).text).toContain('href="/reserve"');
  expect((await new Reader(server).get("/reserve")).location).toBe("/signin?to=%2Freserve");
});

test("the owner of a record reserves its DOI on a page, others do not", async () => {
  const [id] = await datasets(1);
  expect((await reader.get(`/${id}`)).text).toContain("Reserve a DOI");
  const grace = await server.person("grace");
  const other = new Reader(server);
  await other.signIn(grace.email);
  expect((await other.get(`/${id}`)).text).not.toContain("Reserve a DOI");
  expect((await other.get(`/reserve/${id}`)).text).toContain("Only those who may change");
  expect((await other.send(`/reserve/${id}`, {})).status).toBe(422);
  expect((await reader.send(`/reserve/${id}`, {})).status).toBe(303);
  const { text } = await reader.get(`/reserve/${id}`);
  const doi = /10\.5072\/[0-9a-z]+/.exec(text)![0];
  expect(text).toContain("Register again");
  expect((await reader.get(`/${id}`)).text).toContain(`href="https://doi.org/${doi}"`);
});

test("DOIs of many records are reserved at once, with a sentence for each that is refused", async () => {
  const ids = await datasets(3);
  const bob = await server.person("bob");
  const { body } = await server.request<{ "@id": string }>("POST", "/dataset", {
    token: bob.token,
    json: bodyOf("dataset", bob.id),
  });
  expect((await reader.get("/my/records")).text).toContain('value="doi"');
  const { text } = await reader.send("/my/records", [
    ["action", "doi"],
    ...[...ids, body["@id"]].map((id): [string, string] => ["id", id]),
  ]);
  expect(text).toContain("3 records given a DOI, 1 not.");
  for (const record of await server.deps.records.findMany(ids))
    expect(Buffer.from(record!.document).toString()).toContain("https://doi.org/10.5072/");
});

test("a registry without a DOI service says so in place of the buttons", async () => {
  const joan = await plain.person("joan");
  const own = new Reader(plain);
  await own.signIn(joan.email);
  const { body } = await plain.request<{ "@id": string }>("POST", "/dataset", {
    token: joan.token,
    json: bodyOf("dataset", joan.id),
  });
  const id = body["@id"];
  expect((await own.get(`/${id}`)).text).toMatch(/none, <a href="\/reserve\//);
  const page = (await own.get(`/reserve/${id}`)).text;
  expect(page).toContain("This registry registers no DOIs");
  expect(page).not.toContain("Reserve a DOI");
  const list = (await own.get("/my/records")).text;
  expect(list).not.toContain('value="doi"');
  const sent = await own.send("/my/records", [
    ["action", "doi"],
    ["id", id],
  ]);
  expect(sent.status).toBe(200);
  expect(sent.text).toContain("0 records given a DOI, 1 not.");
  expect(sent.text).toContain("DATACITE_URL");
});
