import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { zip } from "../../support/crates.js";
import { release, SUB, sub } from "../../support/linked-crate.js";
import { type Answer, type Person, startServer, type TestServer } from "../../support/server.js";

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

/** A release, then its sub-crate by itself with a file more and a reference that leads nowhere. */
const later = async (): Promise<void> => {
  expect((await upload("/rocrate/upload", await release())).status).toBe(200);
  const author = { "@id": "#ada", "@type": "Person", name: "Ada Example" };
  const lost = { "@id": "ark:99999/lost" };
  const document = sub(
    { author: { "@id": "#ada" }, hasPart: [{ "@id": "a.csv" }, { "@id": "b.csv" }] },
    [{ "@id": "b.csv", "@type": "File", name: "B", derivedFrom: lost }, author],
  );
  const archive = await zip({
    "ro-crate-metadata.json": document,
    "a.csv": "1,2\n",
    "b.csv": "3,4\n",
  });
  const updated = await upload(`/rocrate/upload?update=true&crate=${SUB}`, archive);
  expect(updated.status, updated.text).toBe(200);
};

describe("a crate that came within a release and was uploaded by itself later", () => {
  beforeAll(later);

  it("has its new files in Croissant", async () => {
    const { body } = await server.request<{ distribution: { name: string }[] }>(
      "GET",
      `/${SUB}?format=croissant`,
      { token: ada.token },
    );
    expect(body.distribution.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["a.csv", "b.csv"]),
    );
  });

  it("lists all its files, each once, by pages of one", async () => {
    const paths: string[] = [];
    let next: string | undefined = `/rocrate/files/${SUB}?limit=1`;
    while (next !== undefined && paths.length < 10) {
      const answer: Answer<{ path: string }[]> = await server.request("GET", next, {
        token: ada.token,
      });
      paths.push(...answer.body.map(({ path }) => path));
      next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("Link") ?? "")?.[1];
      next = next?.replace(server.url, "");
    }
    expect(paths.sort()).toEqual(["a.csv", "b.csv"]);
  });

  it("lists references of its new records that lead nowhere", async () => {
    const { body } = await server.graphql<{
      roCrate: { danglingReferences: { nodes: { target: { text: string } }[] } };
    }>(
      `{ roCrate(id: "${SUB}") { danglingReferences { nodes { target { text } } } } }`,
      {},
      ada.token,
    );
    expect(body.data.roCrate.danglingReferences.nodes).toEqual([
      { target: { text: "ark:99999/lost" } },
    ]);
  });
});
