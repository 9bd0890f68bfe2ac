import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { zip } from "../../support/crates.js";
import { LiveRegistry } from "../../support/live-registry.js";
import type { Answer, Json, User } from "../../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
});
afterAll(() => registry?.stop());

const croissant = (name: string, more: Json = {}) => ({
  "@context": { "@vocab": "https://schema.org/", cr: "http://mlcommons.org/croissant/" },
  "@type": "Dataset",
  conformsTo: "http://mlcommons.org/croissant/1.1",
  name,
  description: "Counts of cells.",
  distribution: [
    {
      "@type": "cr:FileObject",
      "@id": "counts",
      name: "counts",
      contentUrl: "counts.csv",
      encodingFormat: "text/csv",
    },
  ],
  recordSet: [
    {
      "@type": "cr:RecordSet",
      "@id": "rows",
      field: [
        { "@id": "rows/cells", dataType: "Integer", source: { fileObject: { "@id": "counts" } } },
      ],
    },
  ],
  ...more,
});
const dataPackage = (title: string) => ({
  title,
  resources: [
    {
      name: "counts",
      path: "counts.csv",
      schema: { fields: [{ name: "cells", type: "integer" }], missingValues: [] },
    },
  ],
});
const upload = (bytes: Uint8Array | string, name: string, query = ""): Promise<Answer> => {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(Buffer.from(bytes))]), name);
  return registry.ask(`/rocrate/upload${query}`, { token: ada.token, body: form });
};
const sentByGraphql = async (bytes: string, name: string): Promise<Json> => {
  const form = new FormData();
  const query =
    "mutation ($f: Upload!) { uploadCrate(input: { source: { archive: $f } }) { submission { id } } }";
  form.set("operations", JSON.stringify({ query, variables: { f: null } }));
  form.set("map", '{"0":["variables.f"]}');
  form.set("0", new Blob([bytes]), name);
  const { body } = await registry.ask("/graphql", {
    token: ada.token,
    body: form,
    headers: { "apollo-require-preflight": "1" },
  });
  return registry.settled(body["data"].uploadCrate.submission.id as string, ada.token);
};

describe.each([
  ["Croissant", "croissant.json", (name: string): object => croissant(name)],
  ["a Data Package", "datapackage.json", (name: string): object => dataPackage(name)],
])("%s", (what, file, document) => {
  it("uploaded with its files is a crate whose table has its schema", async () => {
    const archive = await zip({
      [`set/${file}`]: JSON.stringify(document(`${what} in zip`)),
      "set/counts.csv": "cells\n4\n",
    });
    const { status, body, text } = await upload(archive, "set.zip");
    expect(status, text).toBe(200);
    expect(body).toMatchObject({ name: `${what} in zip`, submission: { status: "finished" } });
    const crate = body["@id"] as string;
    const found = await registry.graphql(
      `query ($id: ID!) { roCrate(id: $id) { hasPart { nodes { ... on DataDownload { id name } } }
        recordCounts { kind count } } }`,
      { id: crate },
    );
    expect(found.body["data"].roCrate.hasPart.nodes).toEqual([
      { id: `${crate}/counts.csv`, name: "counts" },
    ]);
    expect((await registry.ask(`/download/${crate}/counts.csv`, { token: ada.token })).text).toBe(
      "cells\n4\n",
    );
    const { hasSchema } = (await registry.ask(`/${crate}/counts.csv`)).body;
    const schema = (Array.isArray(hasSchema) ? hasSchema[0] : hasSchema)["@id"] as string;
    expect((await registry.ask(`/schema/${schema}`)).body["properties"]).toMatchObject({
      cells: { type: "integer" },
    });
    // The schema checks tables as any other does.
    const table = new FormData();
    table.set("file", new Blob(["x"]), "x.csv");
    expect(
      (await registry.ask(`/schema/${schema}/validate`, { token: ada.token, body: table })).status,
    ).not.toBe(500);
    // The document as it was given, and the crate as RO-Crate.
    expect((await registry.ask(`/${crate}/${file}`, { token: ada.token })).body).toEqual(
      document(`${what} in zip`),
    );
    const exported = await registry.ask(`/rocrate/${crate}`);
    expect(exported.body["@graph"].length).toBeGreaterThanOrEqual(4);
  });

  it("alone is accepted by every upload, and by a dry run", async () => {
    const text = JSON.stringify(document(`${what} alone`));
    const headers = { "Content-Type": "application/json" };
    const planned = await registry.ask("/rocrate/validate", {
      token: ada.token,
      body: text,
      headers,
    });
    expect(planned.body).toMatchObject({ conforms: true });
    const alone = await registry.ask("/rocrate/metadata", {
      token: ada.token,
      body: text,
      headers,
    });
    expect(alone.body).toMatchObject({ name: `${what} alone` });
    // By its content, whatever it is called.
    for (const name of [file, "crate.zip"])
      expect(await upload(JSON.stringify(document(`${what} as ${name}`)), name)).toMatchObject({
        status: 200,
        body: { name: `${what} as ${name}` },
      });
    expect(
      await sentByGraphql(`\ufeff \n${JSON.stringify(document(`${what} by GraphQL`))}`, "x"),
    ).toMatchObject({ status: "finished", error: null });
  });

  it("uploaded again updates its crate, whose files stay", async () => {
    const archive = await zip({
      [file]: JSON.stringify(document(`${what} before`)),
      "counts.csv": "cells\n4\n",
    });
    const { body } = await upload(archive, "set.zip");
    const crate = body["@id"] as string;
    const again = await upload(JSON.stringify(document(`${what} after`)), file, `?crate=${crate}`);
    expect(again.body, again.text).toMatchObject({ "@id": crate, name: `${what} after` });
    expect((await registry.ask(`/download/${crate}/counts.csv`, { token: ada.token })).text).toBe(
      "cells\n4\n",
    );
  });
});

it("a document that is refused names the place, over each upload", async () => {
  const text = JSON.stringify(croissant("Bad", { distribution: [{ "@type": "cr:FileObject" }] }));
  expect((await upload(text, "bad.json")).body["detail"]).toMatchObject([
    { loc: ["body", "file", "bad.json", "/distribution/0"], type: "CROISSANT_INVALID" },
  ]);
  const alone = await registry.ask("/rocrate/metadata", { token: ada.token, body: text });
  expect(alone.body["detail"]).toMatchObject([
    { loc: ["body", "distribution", expect.anything()], type: "CROISSANT_INVALID" },
  ]);
});
