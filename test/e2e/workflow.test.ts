import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PATHS } from "../../cli/demo/crate-files.js";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { crate as pack } from "../support/crates.js";
import type { Json, User } from "../support/registry-client.js";
import { type RegistryUnderTest, startRegistry } from "../support/under-test.js";

let registry: RegistryUnderTest;
let ada: User;
let archive: Buffer;
let submission: Json;
let crate: string;
beforeAll(async () => {
  registry = await startRegistry();
  ada = await registry.user("Ada");
  archive = await buildDemoCrate();
  const accepted = await registry.upload(archive, ada.token, { name: "my images.zip" });
  submission = await registry.settled(accepted.body["submissionUUID"], ada.token);
  crate = submission["rocrateIdentifier"] as string;
});
afterAll(() => registry?.stop());

describe("a crate, from upload to evidence", () => {
  test("finishes without a warning", () => {
    expect(submission).toMatchObject({
      status: "finished",
      completed: true,
      success: true,
      error: null,
      warnings: [],
      sha256: createHash("sha256").update(archive).digest("hex"),
    });
    expect(submission["identifiersMinted"]).toBeGreaterThan(15);
    expect(crate).toMatch(/^ark:99999\/rocrate-/);
  });

  test("resolves by the crate's identifier and by those of its members", async () => {
    expect((await registry.ask(`/${crate}`)).body).toMatchObject({
      "@id": crate,
      name: "Cells from images to clusters",
    });
    const member = await registry.ask(`/${crate}/${PATHS.embeddings}`);
    expect(member.body).toMatchObject({
      name: "Image embeddings",
      generatedBy: { "@id": expect.stringContaining(`${crate}/entity/image-embedding-`) },
    });
  });

  test("returns each file as it was sent, to its owner", async () => {
    const { body } = await registry.ask(`/${crate}/${PATHS.figure}`);
    const answer = await fetch(body["contentUrl"] as string, {
      headers: { Authorization: `Bearer ${ada.token}` },
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.headers.get("content-type")).toBe("image/png");
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(body["sha256"]);
  });

  test("returns the archive byte for byte", async () => {
    const answer = await fetch(`${registry.url}/rocrate/archived/download/${crate}`, {
      headers: { Authorization: `Bearer ${ada.token}` },
    });
    expect(Buffer.compare(Buffer.from(await answer.arrayBuffer()), archive)).toBe(0);
    expect(answer.headers.get("content-disposition")).toContain("filename*=UTF-8''my%20images.zip");
  });

  test("shows what supports a result, through both computations", async () => {
    const { status, body } = await registry.ask(`/evidencegraph/query/${crate}/${PATHS.clusters}`);
    expect(status).toBe(200);
    const names = (body["@graph"] as Json[]).map((node) => node["name"]);
    expect(names).toEqual(
      expect.arrayContaining([
        "Clusters",
        "Clustering",
        "Image embeddings",
        "Image embedding",
        "cluster_embeddings.py",
        "embed_images.py",
        "Image acquisition",
        "Confocal microscope",
        "Samples",
        "Example Researcher",
      ]),
    );
    expect(body["dangling"]).toEqual([]);
  });

  test("shows what is derived from an input", async () => {
    const { body } = await registry.ask(
      `/evidencegraph/query/${crate}/${PATHS.samples}?direction=downstream`,
    );
    expect((body["@graph"] as Json[]).map((node) => node["name"])).toEqual(
      expect.arrayContaining(["Image embeddings", "Clusters", "Clusters, drawn"]),
    );
  });

  test("returns the first submission when the same user uploads it again", async () => {
    expect((await registry.upload(archive, ada.token)).body).toMatchObject({
      submissionUUID: submission["submissionUUID"],
      status: "finished",
      rocrateIdentifier: crate,
    });
    const count = await registry.recordCount();
    expect(
      (await registry.upload(archive, ada.token, { path: "/rocrate/upload" })).body,
    ).toMatchObject({ "@id": crate, submission: { submissionUUID: submission["submissionUUID"] } });
    expect(await registry.recordCount()).toBe(count);
  });
});

describe("an upload", () => {
  test("sent ten times at once is one submission", async () => {
    const again = await pack([], { "note.txt": "ten at once" });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => registry.upload(again, ada.token)),
    );
    expect(
      new Set(answers.map(({ status, body }) => `${status} ${body["submissionUUID"]}`)).size,
    ).toBe(1);
    expect(await registry.settled(answers[0]!.body["submissionUUID"], ada.token)).toMatchObject({
      status: "finished",
    });
    expect(await registry.staging()).toEqual([]);
  });

  test("with identifiers of somebody else's crate fails and changes nothing", async () => {
    const eve = await registry.user("Eve");
    const entities = [
      { "@id": "ark:99999/cli-data", "@type": "Dataset", name: "Data", description: "Ada's data" },
    ];
    await registry.take(await pack(entities, {}, { "@id": "ark:99999/cli-crate" }), ada.token);
    const before = await registry.ask("/ark:99999/cli-data");
    const stolen = await registry.take(
      await pack(
        [
          { ...entities[0]!, name: "Eve's now" },
          { "@id": "new.txt", "@type": "File", name: "new" },
        ],
        { "new.txt": "new" },
      ),
      eve.token,
    );
    expect(stolen).toMatchObject({
      status: "failed",
      error: [{ code: "IDENTIFIER_TAKEN" }],
      rocrateIdentifier: null,
    });
    expect(await registry.ask("/ark:99999/cli-data")).toMatchObject({
      status: 200,
      body: before.body,
    });
  });

  test("of a deleted crate is a new crate; the old identifiers return 410", async () => {
    const packed = await pack([{ "@id": "a.txt", "@type": "File", name: "a" }], {
      "a.txt": "to be deleted",
    });
    const { rocrateIdentifier: old } = await registry.take(packed, ada.token);
    expect(
      (await registry.ask(`/rocrate/${old}`, { method: "DELETE", token: ada.token })).status,
    ).toBe(200);
    for (const gone of [old, `${old}/a.txt`])
      expect(await registry.ask(`/${gone}`)).toMatchObject({ status: 410, body: { code: "GONE" } });
    expect(
      (await registry.ask(`/datadownload/${old}/a.txt/download`, { token: ada.token })).status,
    ).toBe(410);
    const next = await registry.take(packed, ada.token);
    expect(next).toMatchObject({ status: "finished" });
    expect(next["rocrateIdentifier"]).not.toBe(old);
  });
});

describe("one record over all interfaces", () => {
  test("is the same over the resolver, its kind's path and GraphQL", async () => {
    const ark = `${crate}/${PATHS.embeddings}`;
    const [resolved, typed, graphql] = await Promise.all([
      registry.ask(`/${ark}`),
      registry.ask(`/datadownload/${ark}`),
      registry.graphql(
        "query ($id: ID!) { record(id: $id) { id kind name document owner { id } } }",
        { id: ark },
      ),
    ]);
    expect(typed.body).toEqual(resolved.body);
    expect(graphql.body["data"].record).toEqual({
      id: ark,
      kind: "DATA_DOWNLOAD",
      name: "Image embeddings",
      document: resolved.body,
      owner: { id: ada.ark },
    });
  });

  test("is the same under every spelling of its identifier", async () => {
    const { body } = await registry.ask(`/${crate}/${PATHS.samples}`);
    const [, name] = crate.split("ark:99999/") as [string, string];
    for (const path of [
      `/ark:/99999/${name}/${PATHS.samples}`,
      `/ARK:99999/${name}/${PATHS.samples}`,
      `/ark:99999/${name.replaceAll("-", "")}/${PATHS.samples}`,
      `/api/${crate}/${PATHS.samples}/`,
      `/datadownload/ark:/99999/${name}/${PATHS.samples}`,
    ]) {
      expect((await registry.ask(path)).body, path).toEqual(body);
    }
  });

  // The crate's imaging run is an experiment, which is a kind of its own.
  test.each([
    { path: "/computation", field: "computations", names: ["Clustering", "Image embedding"] },
    { path: "/experiment", field: "experiments", names: ["Image acquisition"] },
  ])("is in the lists of REST and GraphQL: $field", async ({ path, field, names }) => {
    const [list, graphql] = await Promise.all([
      registry.ask(path),
      registry.graphql(`{ ${field} { nodes { id name } totalCount } }`),
    ]);
    const listed = (list.body as unknown as Json[]).map(({ "@id": id, name }) => ({ id, name }));
    expect(listed.map((record) => record.name).sort()).toEqual(names);
    expect(graphql.body["data"][field]).toEqual({ nodes: listed, totalCount: names.length });
  });

  test("has links that can be followed over GraphQL", async () => {
    const { body } = await registry.graphql(
      "query ($id: ID!) { dataDownload(id: $id) { name generatedBy { nodes { name ... on " +
        "Computation { usedSoftware { nodes { name } } usedDataset { nodes { name } } } } } } " +
        "}",
      { id: `${crate}/${PATHS.clusters}` },
    );
    expect(body["errors"]).toBeUndefined();
    expect(body["data"].dataDownload.generatedBy.nodes).toEqual([
      {
        name: "Clustering",
        usedSoftware: { nodes: [{ name: "cluster_embeddings.py" }] },
        usedDataset: { nodes: [{ name: "Image embeddings" }] },
      },
    ]);
  });

  test("written over one interface is read at once over the others", async () => {
    const created = await registry.ask("/dataset", {
      token: ada.token,
      body: {
        "@type": "evi:Dataset",
        name: "Written over REST",
        description: "Read over GraphQL.",
        owner: ada.ark,
      },
    });
    expect(created.status).toBe(200);
    const { body } = await registry.graphql("query ($id: ID!) { dataset(id: $id) { name } }", {
      id: created.body["@id"],
    });
    expect(body["data"].dataset.name).toBe("Written over REST");
    const made = await registry.graphql(
      "mutation ($input: DatasetInput!) { createDataset(input: { dataset: $input }) { dataset { id } } }",
      {
        input: {
          type: "evi:Dataset",
          name: "Written over GraphQL",
          description: "Read over REST.",
          owner: ada.ark,
        },
      },
      ada.token,
    );
    expect(made.body["errors"]).toBeUndefined();
    expect(
      (await registry.ask(`/${made.body["data"].createDataset.dataset.id}`)).body,
    ).toMatchObject({
      name: "Written over GraphQL",
    });
  });
});

describe("two users", () => {
  let bob: User;
  let dataset: string;
  beforeAll(async () => {
    bob = await registry.user("Bob");
    dataset = (
      await registry.ask("/dataset", {
        token: ada.token,
        body: {
          "@type": "evi:Dataset",
          name: "Ada's",
          description: "Belongs to Ada.",
          owner: ada.ark,
        },
      })
    ).body["@id"] as string;
  });

  test("do not change each other's records", async () => {
    const before = (await registry.ask(`/${dataset}`)).body;
    const put = await registry.ask("/dataset", {
      method: "PUT",
      token: bob.token,
      body: { ...before, name: "Bob's" },
    });
    expect(put).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    expect(
      (await registry.ask(`/dataset/${dataset}`, { method: "DELETE", token: bob.token })).status,
    ).toBe(403);
    expect((await registry.ask(`/${dataset}`)).body).toEqual(before);
  });

  test("do not create records in each other's name", async () => {
    const created = await registry.ask("/dataset", {
      token: bob.token,
      body: { "@type": "evi:Dataset", name: "Forged", description: "Not Ada's.", owner: ada.ark },
    });
    expect(created).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
  });

  test("read each other's metadata, not each other's unpublished files or submissions", async () => {
    expect((await registry.ask(`/${crate}`, { token: bob.token })).status).toBe(200);
    expect(
      (
        await registry.ask(`/datadownload/${crate}/${PATHS.clusters}/download`, {
          token: bob.token,
        })
      ).status,
    ).toBe(403);
    expect((await registry.ask(`/datadownload/${crate}/${PATHS.clusters}/download`)).status).toBe(
      401,
    );
    expect(
      (
        await registry.ask(`/rocrate/upload/status/${submission["submissionUUID"]}`, {
          token: bob.token,
        })
      ).status,
    ).toBe(404);
  });

  test("may register the same archive each, as two crates", async () => {
    const other = await registry.take(archive, bob.token);
    expect(other).toMatchObject({ status: "finished" });
    expect(other["rocrateIdentifier"]).not.toBe(crate);
  });
});
