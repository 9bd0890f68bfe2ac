import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import yauzl from "yauzl";
import { metadata, zip, type Entity, type Members } from "../support/crates.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const SECRET = "hidden-bytes-7f3a";
let count = 0;
const file = (id: string, more: Entity = {}): Entity => ({
  "@id": id,
  "@type": "File",
  name: id,
  ...more,
});
async function published({
  entities,
  files,
  root = `ark:99999/foldered-${++count}`,
}: {
  entities: Entity[];
  files: Members;
  root?: string;
}): Promise<{ root: string }> {
  const archive = await zip({
    "ro-crate-metadata.json": metadata(entities, { "@id": root }),
    ...files,
  });
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(archive)], { type: "application/zip" }), "crate.zip");
  const answer = await server.request("POST", "/rocrate/upload", { token: ada.token, body: form });
  if (answer.status !== 200) throw new Error(answer.text);
  await publish(root, "PUBLISHED");
  return { root };
}
const publish = async (ark: string, publicationStatus: string) => {
  const json = { "@id": ark, publicationStatus };
  const answer = await server.request("PUT", "/publish", { token: ada.token, json });
  if (answer.status !== 200) throw new Error(answer.text);
};

describe("a folder of a crate as an archive", () => {
  /** The members of the archive; the answer itself where it is none. */
  async function folderOf(root: string, folder: string, who?: Person) {
    const query = new URLSearchParams({ format: "zip", folder }).toString();
    const response = await fetch(`${server.url}/rocrate/${root}?${query}`, {
      headers: who ? { Authorization: `Bearer ${who.token}` } : {},
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const members: Record<string, string> = {};
    if (response.status !== 200)
      return { response, members, problem: JSON.parse(bytes.toString()) as { detail: unknown } };
    const packed = await yauzl.fromBufferPromise(bytes);
    for await (const entry of packed.eachEntry())
      members[entry.fileName] = (
        await buffer(await packed.openReadStreamPromise(entry))
      ).toString();
    return { response, members, problem: null };
  }
  const CONTENTS: Members = {
    "top.txt": "top",
    "data/a b.txt": "spaces",
    "data/deep/b.txt": "below",
    "data/loose.txt": "not described",
    "data2/c.txt": "another folder",
    "100%25 ü/d.txt": "percent",
  };
  const contents = {
    files: CONTENTS,
    entities: [file("top.txt"), file("data/a%20b.txt"), file("data/deep/b.txt")],
  };

  let crate: string;
  beforeAll(async () => {
    crate = (await published(contents)).root;
  });

  it("has the files of this folder and of those in it, and no metadata", async () => {
    const { response, members } = await folderOf(crate, "data");
    expect(members).toEqual({
      "data/a b.txt": "spaces",
      "data/deep/b.txt": "below",
      "data/loose.txt": "not described",
    });
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="data.zip"');
    expect(response.headers.get("x-not-included")).toBe("0");
    expect((await folderOf(crate, "/data/deep/")).members).toEqual({ "deep/b.txt": "below" });
    const other = await folderOf(crate, "data2");
    expect(other.response.headers.get("etag")).not.toBe(response.headers.get("etag"));
    expect((await folderOf(crate, "100%25 ü")).members).toEqual({ "100%25 ü/d.txt": "percent" });
  });

  it("leaves out what the caller may not read", async () => {
    const secret = file("data/secret.txt");
    const { root } = await published({
      files: { ...CONTENTS, "data/secret.txt": SECRET },
      entities: [...contents.entities, secret],
    });
    await publish(`${root}/data/secret.txt`, "DRAFT");
    const open = await folderOf(root, "data");
    expect(Object.keys(open.members).toSorted()).toContain("data/a b.txt");
    expect(JSON.stringify(open.members)).not.toContain(SECRET);
    expect(open.response.headers.get("x-not-included")).toBe("1");
    const own = await folderOf(root, "data", ada);
    expect(own.members["data/secret.txt"]).toBe(SECRET);
    expect(own.response.headers.get("etag")).not.toBe(open.response.headers.get("etag"));
  });

  it.each(["nowhere", "..", "../data", "data/../data2", "dat", "data/a b.txt", "/", "", "DATA"])(
    "returns 404 for what is no folder: %j",
    async (folder) => {
      const { response, problem } = await folderOf(crate, folder);
      expect(response.status).toBe(404);
      const named = folder.replace(/^\/+|\/+$/g, "");
      expect(problem!.detail).toBe(`The crate has no folder ${JSON.stringify(named)}.`);
    },
  );

  it("is refused in another format, and with a name that no folder can have", async () => {
    for (const query of ["folder=data", "format=rocrate&folder=data", "format=zip&folder=%00"]) {
      const { status } = await server.request("GET", `/rocrate/${crate}?${query}`);
      expect([query, status]).toEqual([query, 422]);
    }
  });

  it("has no name that leads out of it", async () => {
    const root = `ark:99999/foldered-${++count}`;
    const content = (id: string, text: string) => file(id, { contentUrl: id, text });
    await published({
      root,
      files: { "data/x.txt": "x", "data/c:y.txt": "y" },
      entities: [content("data/x.txt", "x"), content("data/c%3Ay.txt", "y")],
    });
    const { members } = await folderOf(root, "data");
    expect(Object.values(members).toSorted()).toEqual(["x", "y"]);
    for (const name of Object.keys(members))
      expect(name).not.toMatch(/^\/|^[a-z]:|\\|(?:^|\/)\.\.(?:\/|$)/i);
  });
});
