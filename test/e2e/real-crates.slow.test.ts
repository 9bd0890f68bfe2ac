import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { realCrate } from "../support/crates.js";
import { sharedData } from "../support/shared-data.js";
import type { Json, User } from "../support/registry-client.js";
import { startRegistry, type RegistryUnderTest } from "../support/under-test.js";

const present = sharedData("crates") !== undefined;

describe.skipIf(!present)("real crates, over HTTP", () => {
  let registry: RegistryUnderTest;
  let ada: User;
  beforeAll(async () => {
    registry = await startRegistry();
    ada = await registry.user("Ada");
  });
  afterAll(() => registry?.stop());

  async function descriptors(): Promise<number> {
    const query =
      "SELECT (COUNT(DISTINCT ?descriptor) AS ?n) { ?descriptor <https://schema.org/about> ?crate " +
      'FILTER(STRENDS(STR(?descriptor), "/ro-crate-metadata.json")) }';
    const { body } = await registry.ask("/sparql", {
      body: new URLSearchParams({ query }),
      headers: { Accept: "application/sparql-results+json" },
    });
    return Number(body["results"].bindings[0].n.value);
  }

  test.each([
    "fs-cm4ai-release",
    "fs-nf-fanout",
    "fs-mds-reasoning",
    "fs-mds-zip-test-crate.zip",
    "py-crate_with_subcrates",
    "run-profile-ex-process",
    "run-profile-ex-provenance",
    "rb-crate-spec1.3",
    "rb-zip-biobb_hpc_workflows-condapack.zip",
    "eln-kadi4mat-records.eln",
  ])("%s is ingested, resolves and is returned byte for byte", async (name) => {
    const archive = (await realCrate(name))!;
    const before = (await registry.recordCount()) - (await descriptors());
    const submission = await registry.take(archive, ada.token);
    expect(submission, JSON.stringify(submission["error"])).toMatchObject({
      status: "finished",
      error: null,
    });
    // The descriptors of the crate and of those within it are records too, which nobody counts.
    expect((await registry.recordCount()) - (await descriptors())).toBe(
      before + submission["identifiersMinted"],
    );
    if (name.startsWith("fs-")) expect(submission["warnings"].length).toBeGreaterThan(0);
    const crate = submission["rocrateIdentifier"] as string;
    expect((await registry.ask(`/${crate}`)).body).toMatchObject({ "@id": crate });
    const back = await fetch(`${registry.url}/rocrate/archived/download/${crate}`, {
      headers: { Authorization: `Bearer ${ada.token}` },
    });
    expect(Buffer.compare(Buffer.from(await back.arrayBuffer()), archive)).toBe(0);
  });

  test.each([
    ["BROKEN-rb-missing_file", "FILE_MISSING"],
    ["BROKEN-rb-not_json", "json_invalid"],
    ["BROKEN-rb-zipslip-relative0.zip", "BAD_MEMBER_NAME"],
  ])("%s is a failed submission with a reason and without records", async (name, code) => {
    const before = await registry.recordCount();
    const submission = await registry.take((await realCrate(name))!, ada.token);
    expect(submission).toMatchObject({ status: "failed", rocrateIdentifier: null });
    expect((submission["error"] as Json[]).map((error) => error["code"])).toEqual([code]);
    expect(await registry.recordCount()).toBe(before);
  });

  test("are returned, every record at its identifier and every stored file", async () => {
    const lists = await Promise.all(
      [
        "roCrates",
        "datasets",
        "softwares",
        "computations",
        "dataDownloads",
        "entities",
        "schemas",
      ].map(async (list) => {
        const { body } = await registry.graphql(
          `{ ${list}(first: 1000) { nodes { id document } pageInfo { hasNextPage } } }`,
        );
        expect(body["data"][list].pageInfo.hasNextPage).toBe(false);
        return body["data"][list].nodes as { id: string; document: Json }[];
      }),
    );
    const wrong: string[] = [];
    let files = 0;
    for (const { id, document } of lists.flat()) {
      const { status, body } = await registry.ask(`/${id}`);
      // The address of a crate's descriptor is that of the metadata file (RO-Crate 1.3, retrieval).
      const isThere = id.endsWith("/ro-crate-metadata.json")
        ? Array.isArray(body["@graph"])
        : body["@id"] === id;
      if (status !== 200 || !isThere) wrong.push(`${id}: ${status} ${body["@id"]}`);
      const { contentUrl, sha256 } = document as { contentUrl?: string; sha256?: string };
      if (typeof contentUrl !== "string" || !contentUrl.startsWith(registry.url)) continue;
      files++;
      const answer = await fetch(contentUrl, { headers: { Authorization: `Bearer ${ada.token}` } });
      const digest = createHash("sha256")
        .update(Buffer.from(await answer.arrayBuffer()))
        .digest("hex");
      if (answer.status !== 200 || digest !== sha256)
        wrong.push(`${contentUrl}: ${answer.status}, ${digest} for ${sha256}`);
    }
    expect(wrong).toEqual([]);
    expect(files).toBeGreaterThan(15);
  });

  test("have evidence graphs that show how each result was generated", async () => {
    const { body } = await registry.graphql("{ computations(first: 1000) { nodes { id } } }");
    const ids = (body["data"].computations.nodes as { id: string }[]).map(({ id }) => id);
    expect(ids).not.toEqual([]);
    for (const id of ids)
      expect(
        (await registry.ask(`/evidencegraph/query/${id}?direction=both&limit=1000`)).status,
        id,
      ).toBe(200);
  });
});
