import { afterAll, beforeAll, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/field.js";
import { crate, zip } from "../support/crates.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

async function upload(archive: Buffer): Promise<string> {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
  const { status, text, body } = await server.request<{ "@id": string }>(
    "POST",
    "/rocrate/upload",
    { token: ada.token, body: form },
  );
  expect(status, text).toBe(200);
  return body["@id"];
}

it("the list of crates contains their root entities, without the graphs of the crates", async () => {
  const flat = await upload(
    await crate(
      [{ "@id": "a.csv", "@type": "File", name: "a.csv" }],
      { "a.csv": "a" },
      { hasPart: [{ "@id": "a.csv" }] },
    ),
  );
  const older = await upload(
    await zip({
      "ro-crate-metadata.json": {
        "@id": "ark:99999/older-crate",
        "@context": { "@vocab": "https://schema.org/", EVI: "https://w3id.org/EVI#" },
        "@type": "EVI:ROCrate",
        name: "Older layout",
        description: "One object with its graph.",
        "@graph": [
          {
            "@id": "ark:99999/older-dataset",
            "@type": "EVI:Dataset",
            name: "A dataset",
            description: "Some data.",
          },
        ],
      },
    }),
  );
  const { status, body } = await server.request<JsonObject[]>("GET", "/rocrate");
  expect(status).toBe(200);
  expect(body.map((root) => root["@id"])).toEqual([flat, older]);
  for (const root of body) expect(Object.keys(root)).not.toContain("@graph");
  expect(body[0]).toMatchObject({ name: "A crate", hasPart: [{ "@id": `${flat}/a.csv` }] });
});
