import { afterAll, beforeAll, expect, it } from "vitest";
import { zip } from "../../support/crates.js";
import { release, SUB, sub } from "../../support/linked-crate.js";
import { type Person, startServer, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const upload = (path: string, archive: Buffer) => {
  const body = new FormData();
  body.set("file", new Blob([new Uint8Array(archive)], { type: "application/zip" }), "crate.zip");
  return server.request("POST", path, { token: ada.token, body });
};

it("a crate that came within a release and was uploaded by itself later has its new files in Croissant", async () => {
  expect((await upload("/rocrate/upload", await release())).status).toBe(200);
  const author = { "@id": "#ada", "@type": "Person", name: "Ada Example" };
  const document = sub(
    { author: { "@id": "#ada" }, hasPart: [{ "@id": "a.csv" }, { "@id": "b.csv" }] },
    [{ "@id": "b.csv", "@type": "File", name: "B" }, author],
  );
  const later = await zip({
    "ro-crate-metadata.json": document,
    "a.csv": "1,2\n",
    "b.csv": "3,4\n",
  });
  const updated = await upload(`/rocrate/upload?update=true&crate=${SUB}`, later);
  expect(updated.status, updated.text).toBe(200);
  const { body } = await server.request<{ distribution: { name: string }[] }>(
    "GET",
    `/${SUB}?format=croissant`,
    { token: ada.token },
  );
  expect(body.distribution.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["a.csv", "b.csv"]),
  );
});
