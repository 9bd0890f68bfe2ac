import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sweepObjects } from "../../src/services/objects/damage.js";
import { gatherInputs } from "../../src/services/computations/inputs.js";
import { contentOf } from "../../src/services/files/content.js";
import { bodyOf } from "../support/bodies.js";
import { metadata, zip, type Entity, type Members } from "../support/crates.js";
import { startServer, type Answer, type Person, type TestServer } from "../support/server.js";
import { arkFrom } from "../support/arks.js";

let server: TestServer;
let ada: Person, bob: Person, eve: Person, admin: Person;
beforeAll(async () => {
  server = await startServer();
  admin = await server.person("admin", { admin: true });
  [ada, bob, eve] = [
    await server.person("ada"),
    await server.person("bob"),
    await server.person("eve"),
  ];
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
async function send(
  archive: Uint8Array,
  who: Person,
  path = "/rocrate/upload",
): Promise<Answer<{ "@id": string; submission: { submissionUUID: string } }>> {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(archive)], { type: "application/zip" }), "crate.zip");
  return server.request("POST", path, { token: who.token, body: form });
}
const FILES: Members = {
  "open.txt": "open bytes",
  "secret.txt": SECRET,
  "loose.txt": "not described",
};
/**
 * A published crate of ada's with a file of each kind, not compressed so that its bytes can be
 * seen.
 */
async function published({
  entities = [file("open.txt"), file("secret.txt")],
  files = FILES,
  root = `ark:99999/archived-${++count}`,
}: { entities?: Entity[]; files?: Members; root?: string } = {}): Promise<{
  root: string;
  archive: Buffer;
}> {
  const archive = await zip(
    { "ro-crate-metadata.json": metadata(entities, { "@id": root }), ...files },
    { compress: false },
  );
  const answer = await send(archive, ada);
  if (answer.status !== 200) throw new Error(answer.text);
  await publish(root, "PUBLISHED");
  return { root, archive };
}
const publish = async (
  ark: string,
  publicationStatus: string,
  embargoedUntil: string | null = null,
  who = ada,
) => {
  const answer = await server.request("PUT", "/publish", {
    token: who.token,
    json: { "@id": ark, publicationStatus, ...(embargoedUntil === null ? {} : { embargoedUntil }) },
  });
  if (answer.status !== 200) throw new Error(answer.text);
};
const ROUTES = (root: string) => [
  `/rocrate/archived/download/${root}`,
  `/rocrate/download/${root}`,
  `/download/${root}`,
  `/view/${root}`,
];
const get = (path: string, who?: Person, headers: Record<string, string> = {}, method = "GET") =>
  server.request<{ code: string; detail: string }>(method, path, {
    headers,
    ...(who ? { token: who.token } : {}),
  });

async function isGiven(root: string, who: Person | undefined, archive: Buffer): Promise<void> {
  for (const path of ROUTES(root)) {
    const answer = await get(path, who);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(answer.headers.get("content-length")).toBe(String(archive.byteLength));
  }
}
async function isRefused(
  root: string,
  who: Person | undefined,
  status: number,
  code: string,
): Promise<void> {
  for (const path of ROUTES(root)) {
    for (const headers of [
      {},
      { Range: "bytes=0-2000" },
      { "If-None-Match": "*" },
      { Accept: "application/zip" },
    ] as Record<string, string>[]) {
      const answer = await get(path, who, headers);
      expect([path, headers, answer.status, answer.body?.code]).toEqual([
        path,
        headers,
        status,
        code,
      ]);
      expect(answer.body.detail).toContain(`/rocrate/${root}?format=zip`);
      expect(answer.text).not.toContain(SECRET);
    }
    const head = await get(path, who, {}, "HEAD");
    expect([head.status, head.headers.get("etag")]).toEqual([status, null]);
  }
}

describe("an archive as it was uploaded", () => {
  it("is public while every member is public", async () => {
    const { root, archive } = await published();
    for (const who of [undefined, ada, eve, admin]) await isGiven(root, who, archive);
  });

  it.each(["EMBARGOED", "DRAFT", "ARCHIVED"])(
    "is only for callers who may read a member that is %s",
    async (status) => {
      const { root, archive } = await published();
      await publish(`${root}/secret.txt`, status);
      for (const who of [ada, admin]) await isGiven(root, who, archive);
      for (const who of [undefined, eve]) {
        await isRefused(root, who, 403, "FORBIDDEN");
        const answer = await get(`/rocrate/${root}?format=zip`, who);
        expect([answer.status, answer.headers.get("x-not-included")]).toEqual([200, "1"]);
        expect(answer.text).not.toContain(SECRET);
      }
      await publish(`${root}/secret.txt`, "PUBLISHED");
      await isGiven(root, undefined, archive);
    },
  );

  it("is public when the embargo is over, and not before", async () => {
    const { root, archive } = await published();
    await publish(`${root}/secret.txt`, "EMBARGOED", "2999-01-01");
    await isRefused(root, undefined, 403, "FORBIDDEN");
    await server.deps.records.commit({
      by: null,
      at: Date.now(),
      records: [
        {
          op: "publish",
          ark: `${root}/secret.txt`,
          status: "EMBARGOED",
          embargoedUntil: "2001-01-01",
        },
      ],
    });
    await isGiven(root, undefined, archive);
  });

  it(
    "is refused for a member of a nested crate, one under another ARK, or one that " +
      "another crate shares",
    async () => {
      const nested = {
        "@context": "https://w3id.org/ro/crate/1.1/context",
        "@graph": [
          { "@id": "ro-crate-metadata.json", "@type": "CreativeWork", about: { "@id": "./" } },
          { "@id": "./", "@type": "Dataset", name: "N", hasPart: [{ "@id": "deep.txt" }] },
          file("deep.txt"),
        ],
      };
      const own = `ark:99999/own-file-${++count}`;
      const { root } = await published({
        entities: [file("open.txt"), file(own, { contentUrl: "file:///secret.txt" })],
        files: {
          ...FILES,
          "sub/ro-crate-metadata.json": nested,
          "sub/deep.txt": `${SECRET} deep`,
        },
      });
      for (const member of [`${root}/sub/deep.txt`, own]) {
        await publish(member, "EMBARGOED");
        await isRefused(root, undefined, 403, "FORBIDDEN");
        await publish(member, "PUBLISHED");
      }
      const second = await published({
        entities: [file(own, { contentUrl: "file:///secret.txt" })],
        files: FILES,
      });
      await publish(own, "EMBARGOED");
      for (const each of [root, second.root]) await isRefused(each, undefined, 403, "FORBIDDEN");
    },
  );

  it("is not affected by records without bytes, nor by unpublished records of other crates", async () => {
    const { root, archive } = await published({
      entities: [
        file("open.txt"),
        { "@id": "#me", "@type": "Person", name: "P" },
        file("elsewhere.bin", { contentUrl: "Embargoed" }),
      ],
      files: { "open.txt": "open" },
    });
    await publish(`${root}/elsewhere.bin`, "EMBARGOED");
    await isGiven(root, undefined, archive);
  });

  it("follows a member that has a new owner", async () => {
    const { root } = await published();
    const ark = `${root}/secret.txt`;
    const group = (
      await server.request<{ "@id": string }>("POST", "/group", {
        token: ada.token,
        json: bodyOf("group", ada.id, { members: [bob.id] }),
      })
    ).body["@id"];
    expect(
      (
        await server.request("PUT", `/${ark}`, {
          token: ada.token,
          json: bodyOf("datadownload", group, { "@id": ark, sha256: null, contentSize: null }),
        })
      ).status,
    ).toBe(200);
    await publish(ark, "EMBARGOED", null, bob);
    expect((await get(`/download/${root}`, bob)).status).toBe(200);
    await isRefused(root, eve, 403, "FORBIDDEN");
  });

  it("needs a token first while the crate itself is not published", async () => {
    const { root } = await published();
    await publish(root, "DRAFT");
    for (const path of ROUTES(root)) expect((await get(path)).status).toBe(401);
    expect((await get(ROUTES(root)[0]!, eve)).status).toBe(403);
  });

  it(
    "is gone for everybody once its content was deleted, with its bytes, and a later " +
      "upload of it is not",
    async () => {
      for (const path of [(ark: string) => `/datadownload/${ark}`, (ark: string) => `/${ark}`]) {
        const { root, archive } = await published();
        const twin = await send(archive, eve);
        expect(twin.status).toBe(409);
        expect(
          (await server.request("DELETE", path(`${root}/secret.txt`), { token: ada.token })).status,
        ).toBe(200);
        for (const who of [undefined, eve, ada, admin])
          await isRefused(root, who, 410, "CONTENT_DELETED");
        expect(
          Buffer.from((await get(`/rocrate/${root}?format=zip`, admin)).text).includes(SECRET),
        ).toBe(false);
        await sweepObjects({
          objects: server.deps.objects,
          records: server.deps.records,
          intentLifetime: 0,
        });
        const kept: string[] = [];
        for await (const key of server.deps.objects.list())
          kept.push(
            Buffer.concat(await (await server.deps.objects.open(key)).toArray()).toString("latin1"),
          );
        expect(
          kept.filter((bytes) => bytes.includes("PK\u0003\u0004") && bytes.includes(root)),
        ).toEqual([]);
        // The others are there still.
        expect((await get(`/download/${root}/open.txt`)).text).toBe("open bytes");
        expect((await get(`/download/${root}/loose.txt`)).text).toBe("not described");
        // A new upload is an archive again, with what it holds.
        const update = await send(archive, ada, "/rocrate/upload?update=true");
        expect([update.status, update.text]).toEqual([200, update.text]);
        await isGiven(root, ada, archive);
      }
    },
  );

  it("is gone when a member was deleted, also by an update without files", async () => {
    const entities = [
      file("open.txt"),
      { "@id": `data`, "@type": "Dataset", name: "D" },
      { "@id": "tool.py", "@type": ["File", "SoftwareSourceCode"], name: "T" },
    ];
    const first = await published({ entities, files: { ...FILES, "tool.py": SECRET } });
    expect(
      (await server.request("DELETE", `/${first.root}/tool.py`, { token: ada.token })).status,
    ).toBe(200);
    for (const who of [undefined, ada, admin])
      await isRefused(first.root, who, 410, "CONTENT_DELETED");

    const second = await published();
    const document = metadata([file("open.txt")], { "@id": second.root });
    const answer = await server.request<{ submission: { error: unknown } }>(
      "POST",
      "/rocrate/metadata?update=true",
      {
        token: ada.token,
        headers: { "Content-Type": "application/ld+json" },
        body: JSON.stringify(document),
      },
    );
    expect(answer.status, answer.text).toBe(200);
    await expect.poll(async () => (await get(`/${second.root}/secret.txt`)).status).toBe(410);
    for (const who of [undefined, ada, admin])
      await isRefused(second.root, who, 410, "CONTENT_DELETED");
  });

  it("is deleted by an update without files that gives members up to another crate", async () => {
    const own = `ark:99999/shared-file-${++count}`;
    const entities = [file("open.txt"), file(own, { contentUrl: "file:///secret.txt" })];
    const first = await published({ entities });
    const second = await published({ entities: [file(own, { contentUrl: "file:///secret.txt" })] });
    // The first gives it up, then the second, which only used it.
    for (const { root } of [first, second]) {
      const answer = await server.request("POST", "/rocrate/metadata?update=true", {
        token: ada.token,
        headers: { "Content-Type": "application/ld+json" },
        body: JSON.stringify(
          metadata([{ "@id": "#new", "@type": "Person", name: "N" }], { "@id": root }),
        ),
      });
      expect(answer.status, answer.text).toBe(200);
      await expect.poll(async () => (await get(`/download/${root}`, ada)).status).toBe(410);
    }
  });

  it("is no input of a computation for callers who may not read it", async () => {
    const { root } = await published();
    await publish(`${root}/secret.txt`, "EMBARGOED");
    const made = await server.request<{ "@id": string }>("POST", "/computation", {
      token: eve.token,
      json: bodyOf("computation", eve.id, { usedDataset: root }),
    });
    const [computation] = await server.deps.records.findMany([made.body["@id"]]);
    await expect(gatherInputs(server.deps, computation!, eve.caller)).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    await expect(gatherInputs(server.deps, computation!, ada.caller)).resolves.toMatchObject({
      files: [{ ark: root }],
    });
    await expect(contentOf(server.deps, arkFrom(root), eve.caller)).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
  });
});
