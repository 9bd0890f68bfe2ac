import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Running, serve } from "../../src/app/serve.js";
import { configWithBounds } from "../support/config.js";
import { doiFor } from "../../src/services/doi/doi.js";
import { crate } from "../support/crates.js";
import { DataCiteServer } from "../support/datacite-server.js";
import { LiveRegistry } from "../support/live-registry.js";
import { type Answer, type Json, RegistryClient, type User } from "../support/registry-client.js";

let datacite: DataCiteServer;
let folder: string;
let running: Running;
let registry: RegistryClient;
let ada: User;
let bob: User;
let logged = "";
const WAIT = { timeout: 20_000, interval: 50 };

const start = async (more: Record<string, string> = {}): Promise<void> => {
  const config = configWithBounds({
    PORT: "0",
    HOST: "127.0.0.1",
    DATA_DIR: folder,
    LOGIN_RATE: "off",
    DATACITE_URL: datacite.url,
    DATACITE_REPOSITORY: "TEST.REPO",
    DATACITE_PASSWORD: "secret pass",
    DATACITE_PREFIX: "10.5072",
    DATACITE_TIMEOUT: "500ms",
    DOI_INTERVAL: "100ms",
    JOB_BACKOFF: "50ms",
    JOB_BACKOFF_MAX: "100ms",
    ...more,
  });
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged += chunk.toString("utf8");
      done();
    },
  });
  running = await serve(config, pino({ level: "debug" }, sink));
  registry = new RegistryClient(running.url);
};
beforeAll(async () => {
  datacite = await DataCiteServer.start();
  folder = await mkdtemp(join(tmpdir(), "arkgraph-doi-"));
  await start();
  [ada, bob] = await Promise.all([registry.user("Ada"), registry.user("Bob")]);
});
afterEach(() => {
  datacite.silent = false;
  datacite.password = "secret pass";
  datacite.faults.length = 0;
});
afterAll(async () => {
  await running?.stop();
  await datacite?.stop();
  await rm(folder, { recursive: true, force: true });
});

const dataset = async (name = "Cells", more: Json = {}): Promise<string> => {
  const { body, text } = await registry.ask("/dataset", {
    token: ada.token,
    body: {
      "@type": "evi:Dataset",
      name,
      description: "Counts of cells.",
      owner: ada.ark,
      ...more,
    },
  });
  if (!body["@id"]) throw new Error(text);
  return body["@id"] as string;
};
const reserve = (ark: string, who = ada): Promise<Answer> =>
  registry.ask(`/doi/${ark}`, { method: "POST", token: who.token });
const publish = (ark: string, publicationStatus: string): Promise<Answer> =>
  registry.ask("/publish", {
    method: "PUT",
    token: ada.token,
    body: { "@id": ark, publicationStatus },
  });
const patch = (ark: string, body: Json): Promise<Answer> =>
  registry.ask(`/${ark}`, {
    method: "PATCH",
    token: ada.token,
    body,
    headers: { "Content-Type": "application/merge-patch+json" },
  });
const atDataCite = (doi: string) => datacite.dois.get(doi);
const becomes = (doi: string, expected: Json): Promise<void> =>
  vi.waitFor(() => expect(atDataCite(doi)).toMatchObject(expected), WAIT);

describe("the DOI of a record", () => {
  it("is a draft when it is reserved, findable when published, and follows every change", async () => {
    const ark = await dataset("Cells", { identifier: "cells-1", keywords: ["cells"] });
    const { status, body } = await reserve(ark);
    expect(status).toBe(200);
    const doi = body["doi"] as string;
    expect(doi).toBe(doiFor("10.5072", ark));
    expect(body).toMatchObject({ "@id": ark, submission: { doiRecordIdentifier: ark } });
    const ended = await registry.settled(body["submission"].submissionUUID as string, ada.token);
    expect(ended).toMatchObject({ status: "finished", error: null });
    expect(atDataCite(doi)).toMatchObject({
      state: "draft",
      attributes: {
        url: `${registry.url}/${ark}`,
        titles: [{ title: "Cells" }],
        publicationYear: new Date().getUTCFullYear(),
        types: { resourceTypeGeneral: "Dataset" },
        alternateIdentifiers: expect.arrayContaining([
          { alternateIdentifier: ark, alternateIdentifierType: "ARK" },
        ]),
      },
    });
    // On the record, in its graph, and over GraphQL.
    expect((await registry.ask(`/${ark}`)).body["identifier"]).toEqual([
      `https://doi.org/${doi}`,
      "cells-1",
    ]);
    expect((await registry.ask(`/${ark}?format=nquads`)).text).toContain(`https://doi.org/${doi}`);
    expect((await registry.ask(`/${ark}?format=datacitejson`)).body).toMatchObject({ doi });
    const asked = await registry.graphql("query ($id: ID!) { record(id: $id) { doi } }", {
      id: ark,
    });
    expect(asked.body["data"]).toEqual({ record: { doi } });

    await publish(ark, "PUBLISHED");
    await becomes(doi, { state: "findable" });
    await patch(ark, { name: "Cells, counted again" });
    await becomes(doi, { attributes: { titles: [{ title: "Cells, counted again" }] } });
    await publish(ark, "DRAFT");
    await becomes(doi, { state: "registered" });
    await publish(ark, "EMBARGOED");
    await becomes(doi, { state: "findable" });
    await registry.ask(`/${ark}`, { method: "DELETE", token: ada.token });
    await becomes(doi, { state: "registered" });
  });

  it("of a draft that is deleted is deleted as well", async () => {
    const ark = await dataset();
    const { doi } = (await reserve(ark)).body as { doi: string };
    await becomes(doi, { state: "draft" });
    await registry.ask(`/${ark}`, { method: "DELETE", token: ada.token });
    await vi.waitFor(() => expect(atDataCite(doi)).toBeUndefined(), WAIT);
  });

  it("is the same when it is reserved again, and stays when a new version leaves it out", async () => {
    const ark = await dataset();
    const { doi } = (await reserve(ark)).body as { doi: string };
    expect((await reserve(ark)).body["doi"]).toBe(doi);
    const { body } = await registry.ask(`/${ark}`);
    await registry.ask(`/${ark}`, {
      method: "PUT",
      token: ada.token,
      body: { ...body, identifier: undefined, name: "Without" },
    });
    await vi.waitFor(
      async () =>
        expect((await registry.ask(`/${ark}`)).body).toMatchObject({
          name: "Without",
          identifier: `https://doi.org/${doi}`,
        }),
      WAIT,
    );
    await becomes(doi, { attributes: { titles: [{ title: "Without" }] } });
  });

  it("may be that of a crate and of its members, whose uploads keep it", async () => {
    const archive = (text: string) =>
      crate([{ "@id": "a.txt", "@type": "File", name: text }], { "a.txt": text });
    const { rocrateIdentifier: ark } = await registry.take(await archive("one"), ada.token);
    const { doi } = (await reserve(ark as string)).body as { doi: string };
    const member = (await reserve(`${ark as string}/a.txt`)).body as { doi: string };
    await becomes(doi, { state: "draft" });
    await becomes(member.doi, { attributes: { titles: [{ title: "one" }] } });
    const exported = await registry.ask(`/rocrate/${ark as string}`);
    expect(exported.text).toContain(`https://doi.org/${doi}`);
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(await archive("two"))]), "crate.zip");
    const updated = await registry.ask(`/rocrate/upload?crate=${ark as string}`, {
      token: ada.token,
      body: form,
    });
    expect(updated.status, updated.text).toBe(200);
    await becomes(member.doi, { attributes: { titles: [{ title: "two" }] } });
    for (const [id, own] of [
      [ark as string, doi],
      [`${ark as string}/a.txt`, member.doi],
    ])
      expect((await registry.ask(`/${id}`)).text).toContain(own);
    await publish(ark as string, "PUBLISHED");
    await becomes(doi, { state: "findable" });
    await becomes(member.doi, { state: "findable" });
  });

  it("is refused where the record has authors and none of them a name", async () => {
    const ark = await dataset("Cells of nobody", {
      author: "https://orcid.org/0000-0002-1825-0097",
    });
    const { status, text } = await reserve(ark);
    expect(status).toBe(422);
    expect(text).toContain("without a name");
    expect((await registry.ask(`/${ark}`)).body["identifier"]).toBeUndefined();
    await patch(ark, { author: "Ada Lovelace" });
    expect((await reserve(ark)).status).toBe(200);
    await becomes(doiFor("10.5072", ark), {
      attributes: { creators: [expect.objectContaining({ name: "Lovelace, Ada" })] },
    });
    // Of a record without any author the word for what is not available is registered.
    const unsigned = await dataset("Unsigned cells");
    expect((await reserve(unsigned)).status).toBe(200);
    await becomes(doiFor("10.5072", unsigned), {
      attributes: { creators: [expect.objectContaining({ name: "(:unav)" })] },
    });
  });

  it("is for those who may change the record, and for things that are cited", async () => {
    const ark = await dataset();
    expect(await reserve(ark, bob)).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    expect(await registry.ask(`/doi/${ark}`, { method: "POST" })).toMatchObject({ status: 401 });
    expect(await reserve(ada.ark)).toMatchObject({ status: 409, body: { code: "WRONG_KIND" } });
    expect(await reserve("ark:99999/none")).toMatchObject({ status: 404 });
  });

  it("is told apart for identifiers that differ", () => {
    const found = new Set(
      Array.from({ length: 20_000 }, () => doiFor("10.5072", `ark:99999/${randomUUID()}`)),
    );
    expect(found.size).toBe(20_000);
    for (const doi of found) expect(doi).toMatch(/^10\.5072\/[0-9b-z]{14}$/);
  });
});

describe("when DataCite", () => {
  it("is overloaded or fails, nothing is lost and writes go on", async () => {
    const ark = await dataset();
    datacite.faults.push(429, 503, 500);
    const { body } = await reserve(ark);
    const ended = await registry.settled(body["submission"].submissionUUID as string, ada.token);
    expect(ended).toMatchObject({ status: "finished" });
    datacite.silent = true;
    const before = performance.now();
    for (const name of ["one", "two", "three"])
      expect((await patch(ark, { name })).status).toBe(200);
    await publish(ark, "PUBLISHED");
    expect(performance.now() - before).toBeLessThan(10_000);
    datacite.silent = false;
    await becomes(body["doi"], {
      state: "findable",
      attributes: { titles: [{ title: "three" }] },
    });
  });

  it("is away while the registry restarts, the registration goes on afterwards", async () => {
    const ark = await dataset("Before the restart");
    datacite.silent = true;
    const { doi } = (await reserve(ark)).body as { doi: string };
    await running.stop();
    await start();
    await patch(ark, { name: "After the restart" });
    expect(atDataCite(doi)).toBeUndefined();
    datacite.silent = false;
    await becomes(doi, { attributes: { titles: [{ title: "After the restart" }] } });
  });

  it("refuses the credentials, they are retried and never logged", async () => {
    datacite.password = "another";
    const ark = await dataset();
    const { doi } = (await reserve(ark)).body as { doi: string };
    await vi.waitFor(
      () =>
        expect(
          datacite.log.filter(([, asked, status]) => asked === doi && status === 401).length,
        ).toBeGreaterThan(1),
      WAIT,
    );
    expect(logged).toContain("check DATACITE_REPOSITORY, DATACITE_PASSWORD");
    datacite.password = "secret pass";
    await becomes(doi, { state: "draft" });
    expect(logged).not.toContain("secret pass");
    expect(logged).not.toContain(Buffer.from("TEST.REPO:secret pass").toString("base64"));
  });

  it("refuses the metadata, the submission says why, and the next change tries again", async () => {
    const ark = await dataset("Refuse this");
    const { body } = await reserve(ark);
    const ended = await registry.settled(body["submission"].submissionUUID as string, ada.token);
    expect(ended).toMatchObject({
      status: "failed",
      error: [{ code: "DOI_REFUSED", message: expect.stringContaining("titles: refused by …") }],
    });
    await patch(ark, { name: "Accept this" });
    await becomes(body["doi"], { attributes: { titles: [{ title: "Accept this" }] } });
  });

  it("has the DOI already, a repeated call changes nothing", async () => {
    const ark = await dataset();
    const { body } = await reserve(ark);
    await registry.settled(body["submission"].submissionUUID as string, ada.token);
    const before = datacite.log.length;
    await registry.settled(
      (await reserve(ark)).body["submission"].submissionUUID as string,
      ada.token,
    );
    expect(datacite.log.length).toBe(before);
  });
});

it("a registry without the settings refuses, and one with some of them does not start", async () => {
  const other = await LiveRegistry.start();
  try {
    const eve = await other.user("Eve");
    expect(await other.ask(`/doi/${eve.ark}`, { method: "POST", token: eve.token })).toMatchObject({
      status: 503,
      body: { code: "NO_DOI_SERVICE" },
    });
    expect(
      (
        await other.graphql(
          "mutation ($id: ID!) { reserveDoi(input: { id: $id }) { doi } }",
          { id: eve.ark },
          eve.token,
        )
      ).text,
    ).toContain("NO_DOI_SERVICE");
  } finally {
    await other.stop();
  }
  await expect(LiveRegistry.start({ DATACITE_URL: datacite.url })).rejects.toThrow(
    "DOIs need DATACITE_URL, DATACITE_REPOSITORY, DATACITE_PASSWORD and DATACITE_PREFIX",
  );
});
