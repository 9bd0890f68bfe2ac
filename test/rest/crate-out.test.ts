import { randomBytes } from "node:crypto";
import { readdirSync, readlinkSync } from "node:fs";
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import yauzl from "yauzl";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crate, type Entity } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json, User } from "../support/registry-client.js";
import { AS_CREATED } from "../../src/services/records/pages.js";

const ROOT = "ark:99999/out";
let registry: LiveRegistry;
let ada: User;
let bob: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  [ada, bob] = await Promise.all([registry.user("Ada"), registry.user("Bob")]);
  const archive = await crate(
    [
      {
        "@id": "data/a%20b.csv",
        "@type": "File",
        name: "Spaces",
        encodingFormat: "text/csv",
        author: { "@id": "https://orcid.org/1" },
      },
      { "@id": "data/ü.csv", "@type": "File", name: "Umlaut" },
      {
        "@id": "data/",
        "@type": "Dataset",
        name: "Folder",
        hasPart: [{ "@id": "data/a%20b.csv" }],
      },
      { "@id": "https://orcid.org/1", "@type": "Person", name: "Ada" },
      {
        "@id": "#run",
        "@type": "CreateAction",
        name: "Run",
        object: { "@id": "data/a%20b.csv" },
        result: { "@id": "data/ü.csv" },
        agent: { "@id": "https://orcid.org/1", name: "Said here" },
      },
    ],
    {
      "data/a b.csv": "1,2\n",
      "data/ü.csv": "3\n",
      "notes/read me.txt": "of nobody",
      "notes/größe.txt": "neither",
    },
    { "@id": ROOT, name: "Out: a crate", hasPart: [{ "@id": "data/" }] },
  );
  expect(await registry.take(archive, ada.token)).toMatchObject({ status: "finished" });
});
afterAll(() => registry?.stop());

const metadata = async (ark = ROOT) => (await registry.ask(`/rocrate/${ark}`)).body;
const entity = (graph: Json, id: string) =>
  (graph["@graph"] as Json[]).find((candidate) => candidate["@id"] === id);
const zipOf = async (token?: string, ark = ROOT) => {
  const response = await fetch(
    `${registry.url}/rocrate/${ark}?format=zip`,
    token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } },
  );
  expect(response.status).toBe(200);
  const bytes = Buffer.from(await response.arrayBuffer());
  const members: Record<string, string> = {};
  const file = await yauzl.fromBufferPromise(bytes);
  for await (const entry of file.eachEntry())
    members[entry.fileName] = (await buffer(await file.openReadStreamPromise(entry))).toString();
  return { response, bytes, members };
};

describe("a crate's metadata", () => {
  it(
    "is that of the whole crate: descriptor, root, and every entity by the name that " +
      "others refer to",
    async () => {
      const whole = await metadata();
      expect(Object.keys(whole)).toEqual(["@context", "@graph"]);
      // As they were given; of what the registry adds, the context of RO-Crate 1.1 does not explain
      // the digest.
      expect(whole["@context"]).toEqual([
        "https://w3id.org/ro/crate/1.1/context",
        { sha256: "https://schema.org/sha256" },
      ]);
      expect(whole["@graph"][0]).toEqual({
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
        about: { "@id": ROOT },
      });
      expect(whole["@graph"][1]).toMatchObject({
        "@id": ROOT,
        "@type": "Dataset",
        name: "Out: a crate",
      });
      expect(
        whole["@graph"].map((one: Json) => one["@id"].replace(/run-.*/, "run")).toSorted(),
      ).toEqual(
        [
          ROOT,
          `${ROOT}/data`,
          `${ROOT}/data/a%20b.csv`,
          `${ROOT}/data/ü.csv`,
          `${ROOT}/entity/run`,
          "https://orcid.org/1",
          "ro-crate-metadata.json",
        ].toSorted(),
      );
      expect(entity(whole, "https://orcid.org/1")).not.toHaveProperty("sameAs");
      const run = whole["@graph"].find((one: Json) => one["name"] === "Run");
      // As it went in: what stands inside an entity stays there.
      expect(run.agent).toEqual({ "@id": "https://orcid.org/1", name: "Said here" });
      expect(entity(whole, `${ROOT}/data/ü.csv`)).toMatchObject({
        contentUrl: `${registry.url}/datadownload/${ROOT}/data/ü.csv/download`,
      });
    },
  );

  it("shows later changes, with another ETag", async () => {
    const { headers } = await registry.ask(`/rocrate/${ROOT}`);
    const etag = headers.get("etag")!;
    expect(
      (await registry.ask(`/rocrate/${ROOT}`, { headers: { "If-None-Match": etag } })).status,
    ).toBe(304);
    const changed = await registry.ask(`/${ROOT}/data`, {
      method: "PUT",
      token: ada.token,
      body: {
        "@type": "evi:Dataset",
        name: "Folder",
        owner: ada.ark,
        description: "Changed since",
        hasPart: [{ "@id": `${ROOT}/data/a%20b.csv` }],
      },
    });
    expect(changed.status, changed.text).toBe(200);
    const again = await registry.ask(`/rocrate/${ROOT}`, { headers: { "If-None-Match": etag } });
    expect(again.status).toBe(200);
    expect(entity(again.body, `${ROOT}/data`)).toMatchObject({ description: "Changed since" });
    const { members } = await zipOf(ada.token);
    expect(entity(JSON.parse(members["ro-crate-metadata.json"]!) as Json, "data/")).toMatchObject({
      description: "Changed since",
    });
  });

  it("is returned for every spelling of the identifier, with its stored form", async () => {
    const { headers, body } = await registry.ask("/rocrate/ark:/99999/o-ut");
    expect(headers.get("content-location")).toBe(`/rocrate/${ROOT}`);
    expect(body).toEqual(await metadata());
  });

  it("is the root entity's alone in other forms, in its history and at the resolver", async () => {
    expect((await registry.ask(`/rocrate/${ROOT}?format=turtle`)).text).toContain("Out: a crate");
    expect(
      (await registry.ask(`/rocrate/${ROOT}`, { headers: { Accept: "text/html" } })).text,
    ).toMatch(/<h1[^>]*>.*Out: a crate/);
    expect((await registry.ask(`/rocrate/${ROOT}?revision=1`)).body).toMatchObject({
      "@id": ROOT,
      name: "Out: a crate",
    });
    expect((await registry.ask(`/${ROOT}`)).body).toMatchObject({ "@id": ROOT });
    expect((await registry.ask("/rocrate")).body).toEqual([
      expect.objectContaining({ "@id": ROOT }),
    ]);
    expect(await registry.ask(`/rocrate/${ROOT}/data`)).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining("/dataset/") },
    });
    expect(await registry.ask(`/rocrate/${ROOT}?format=docx`)).toMatchObject({ status: 422 });
  });
});

describe("a crate's metadata descriptor", () => {
  it("is returned, queried, published and deleted with the crate, and is in none of its lists", async () => {
    const root = "ark:99999/with-descriptor";
    const descriptor = `${root}/ro-crate-metadata.json`;
    await registry.take(
      await crate([{ "@id": "#a", "@type": "Person", name: "Ada" }], {}, { "@id": root }),
      ada.token,
    );
    expect((await registry.ask(`/${descriptor}?format=jsonld`)).body).toMatchObject({
      "@id": descriptor,
      "@type": "CreativeWork",
      about: { "@id": root },
    });
    const query = `SELECT ?version { <${descriptor}> <http://purl.org/dc/terms/conformsTo> ?version }`;
    const found = await registry.ask(`/sparql?query=${encodeURIComponent(query)}`, {
      headers: { Accept: "application/sparql-results+json" },
    });
    expect(found.body["results"].bindings).toEqual([
      { version: { type: "uri", value: "https://w3id.org/ro/crate/1.1" } },
    ]);
    const { body: summary } = await registry.ask(`/rocrate/summary/${root}`);
    expect(summary).toMatchObject({ total: 1, counts: { Entity: 1 } });
    expect(summary["members"].map((member: Json) => member["name"]).toSorted()).toEqual(["Ada"]);
    expect((await registry.ask("/search/basic?query=CreativeWork")).text).not.toContain(descriptor);

    const { headers } = await registry.ask(`/rocrate/${root}`);
    await registry.publish(root, ada.token);
    expect((await registry.deps.records.findMany([descriptor]))[0]).toMatchObject({
      publicationStatus: "PUBLISHED",
    });
    expect(headers.get("etag")).not.toBe(
      (await registry.ask(`/rocrate/${root}`)).headers.get("etag"),
    );
    expect(
      (await registry.ask(`/rocrate/${root}`, { method: "DELETE", token: ada.token })).status,
    ).toBe(200);
    expect((await registry.ask(`/${descriptor}`)).status).toBe(410);
  });
});

describe("a crate's generated archive", () => {
  it("contains metadata and every file under its own name", async () => {
    const { response, members } = await zipOf(ada.token);
    expect(response.headers.get("content-type")).toBe("application/zip");
    expect(response.headers.get("content-disposition")).toContain(
      'filename="Out-a-crate.crate.zip"',
    );
    expect(response.headers.get("x-not-included")).toBe("0");
    const { "ro-crate-metadata.json": text, "ro-crate-preview.html": page, ...files } = members;
    expect(page).toContain("<h1>Out: a crate</h1>");
    expect(files).toEqual({
      "data/a b.csv": "1,2\n",
      "data/ü.csv": "3\n",
      "notes/read me.txt": "of nobody",
      "notes/größe.txt": "neither",
    });
    const whole = JSON.parse(text!) as Json;
    expect(entity(whole, "data/a%20b.csv")).toEqual({
      "@id": "data/a%20b.csv",
      "@type": "File",
      name: "Spaces",
      encodingFormat: "text/csv",
      author: { "@id": "https://orcid.org/1" },
      contentSize: "4",
      sha256: expect.any(String),
    });
    expect(entity(whole, "data/")).toMatchObject({ hasPart: [{ "@id": "data/a%20b.csv" }] });
    expect(entity(whole, ROOT)).toMatchObject({ hasPart: [{ "@id": "data/" }] });
  });

  it("has the same bytes as long as nothing changes", async () => {
    const [one, two] = [await zipOf(ada.token), await zipOf(ada.token)];
    expect(Buffer.compare(one.bytes, two.bytes)).toBe(0);
    expect(
      (
        await registry.ask(`/rocrate/${ROOT}?format=zip`, {
          token: ada.token,
          headers: { "If-None-Match": one.response.headers.get("etag")! },
        })
      ).status,
    ).toBe(304);
    const head = await registry.ask(`/rocrate/${ROOT}`, {
      method: "HEAD",
      token: ada.token,
      headers: { Accept: "application/zip" },
    });
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(head.headers.get("etag")).toBe(one.response.headers.get("etag"));
  });

  it("leaves out and names the content that the caller may not read", async () => {
    for (const token of [undefined, bob.token]) {
      const { response, members } = await zipOf(token);
      expect(response.headers.get("x-not-included")).toBe("4");
      expect(Object.keys(members)).toEqual([
        "ro-crate-metadata.json",
        "ro-crate-preview.html",
        "NOT-INCLUDED.txt",
      ]);
      expect(members["NOT-INCLUDED.txt"]).toContain(`${ROOT}/data/ü.csv\tü.csv`);
      expect(Object.values(members).join()).not.toContain("of nobody");
      expect(
        entity(JSON.parse(members["ro-crate-metadata.json"]!) as Json, `${ROOT}/data/ü.csv`),
      ).toMatchObject({ contentUrl: expect.stringContaining("/download") });
    }
    await registry.publish(`${ROOT}/data/ü.csv`, ada.token);
    const { response, members } = await zipOf();
    expect(response.headers.get("x-not-included")).toBe("3");
    expect(members["data/ü.csv"]).toBe("3\n");
  });

  it.each<[string, Entity[]]>([
    ["that nothing describes", []],
    [
      "of an entity with another name",
      [{ "@id": "#page", "@type": "File", name: "Page", contentUrl: "ro-crate-preview.html" }],
    ],
  ])(
    "has no page of the registry in place of a page %s and that is left out",
    async (_, described) => {
      const root = `ark:99999/page-${randomBytes(4).toString("hex")}`;
      const own = await crate(
        described,
        { "ro-crate-preview.html": "<h1>Of the crate</h1>", "other.txt": "other" },
        { "@id": root },
      );
      expect(await registry.take(own, ada.token)).toMatchObject({ status: "finished" });
      const { members } = await zipOf(undefined, root);
      expect(Object.keys(members)).toEqual(["ro-crate-metadata.json", "NOT-INCLUDED.txt"]);
      expect(members["NOT-INCLUDED.txt"]).toContain("ro-crate-preview.html");
      expect((await zipOf(ada.token, root)).members["ro-crate-preview.html"]).toBe(
        "<h1>Of the crate</h1>",
      );
    },
  );

  it("changes nothing when it is uploaded again as an update", async () => {
    const { bytes } = await zipOf(ada.token);
    const revisions = async () =>
      Object.fromEntries(
        await Promise.all(
          (
            await registry.deps.records.select({
              filter: { crates: [ROOT] },
              order: AS_CREATED,
              limit: 100,
            })
          ).items.map(async ({ ark, revision }) => [ark, revision] as const),
        ),
      );
    const before = await revisions();
    const answer = await registry.upload(bytes, ada.token, { path: "/rocrate/upload?update=true" });
    expect(answer.body["submission"], answer.text).toMatchObject({
      status: "finished",
      identifiersMinted: 0,
      rocrateIdentifier: ROOT,
    });
    const after = await revisions();
    expect(after).toEqual(before);
    expect(entity(await metadata(), `${ROOT}/data`)).toMatchObject({
      description: "Changed since",
    });
  });

  it("closes its sources when the client disconnects", async () => {
    const large = "ark:99999/large";
    const noise = randomBytes(24 * 2 ** 20);
    await registry.take(
      await crate([{ "@id": "big.bin", "@type": "File" }], { "big.bin": noise }, { "@id": large }),
      ada.token,
    );
    const reading = () =>
      readdirSync("/proc/self/fd").filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).includes("/objects/");
        } catch {
          return false;
        }
      }).length;
    await new Promise<void>((resolve, reject) => {
      const request = get(
        `${registry.url}/rocrate/${large}?format=zip`,
        { headers: { Authorization: `Bearer ${ada.token}` } },
        (response) => {
          response.once("data", () => {
            // The rest waits for a client that does not read: it is not gathered in memory.
            response.pause();
            setTimeout(() => {
              request.destroy();
              resolve();
            }, 200);
          });
        },
      ).on("error", reject);
    });
    for (let tries = 0; reading() > 0; tries++) {
      expect(tries, "files stay open").toBeLessThan(200);
      await sleep(10);
    }
    expect((await zipOf(ada.token, large)).members["big.bin"]!.slice(0, 100)).toBe(
      noise.toString().slice(0, 100),
    );
  });
});

describe("a member of a crate", () => {
  it("is found by the crate's identifier and its path, however that is encoded", async () => {
    for (const path of ["data/a%20b.csv", "data/a%2520b.csv", "data/a+b.csv".replace("+", "%20")])
      expect((await registry.ask(`/${ROOT}/${path}`)).body, path).toMatchObject({
        "@id": `${ROOT}/data/a%20b.csv`,
      });
    for (const path of ["data/ü.csv", "data/%C3%BC.csv"])
      expect((await registry.ask(`/${ROOT}/${path}`)).body, path).toMatchObject({ name: "Umlaut" });
    expect(
      (await registry.ask(`/datadownload/${ROOT}/data/a%20b.csv/download`, { token: ada.token }))
        .text,
    ).toBe("1,2\n");
  });

  it("that is not described differs from a described one that the escape in its name spells", async () => {
    const root = "ark:99999/undescribed-escapes";
    const files = { "a b.txt": "of a blank", "a%20b.txt": "of an escape", "c%20d.txt": "alone" };
    const archive = await crate([{ "@id": "a%20b.txt", "@type": "File" }], files, { "@id": root });
    expect(await registry.take(archive, ada.token)).toMatchObject({ status: "finished" });
    for (const [name, path] of [
      ["a b.txt", "a%20b.txt"],
      ["a%20b.txt", "a%2520b.txt"],
      ["c%20d.txt", "c%2520d.txt"],
    ] as const) {
      const { text } = await registry.ask(`/download/${root}/${path}`, { token: ada.token });
      expect(text, path).toBe(files[name]);
    }
    expect((await registry.ask(`/${root}/a%2520b.txt`, { token: ada.token })).text).toBe(
      files["a%20b.txt"],
    );
    expect((await registry.ask(`/${root}/a%20b.txt`)).body).toMatchObject({
      "@id": `${root}/a%20b.txt`,
    });
    const listed = await registry.graphql(
      `{ roCrate(id: "${root}") { files(first: 9) {
        nodes { path address preview { ... on TextPreview { text } } } } } }`,
      {},
      ada.token,
    );
    const { nodes } = listed.body["data"]["roCrate"]["files"] as {
      nodes: { path: keyof typeof files; address: string; preview: { text: string } }[];
    };
    expect(nodes).toHaveLength(3);
    for (const { path, address, preview } of nodes) {
      const { text } = await registry.ask(address.slice(registry.url.length), { token: ada.token });
      expect([text, preview.text]).toEqual([files[path], files[path]]);
    }
  });

  it("whose name contains an escape differs from the one that the escape spells", async () => {
    const root = "ark:99999/escapes";
    const files = {
      "a 1.txt": "of a blank",
      "a%201.txt": "of an escape",
      "b%202.txt": "alone",
      "etc.": "of a dot",
      "x%FF.txt": "of no text",
    };
    const archive = await crate(
      [
        { "@id": "a%201.txt", "@type": "File" },
        { "@id": "a%25201.txt", "@type": "File" },
        { "@id": "b%25202.txt", "@type": "File" },
        { "@id": "etc.", "@type": "File" },
        { "@id": "x%FF.txt", "@type": "File" },
      ],
      files,
      { "@id": root, name: "Escapes" },
    );
    expect(await registry.take(archive, ada.token)).toMatchObject({ status: "finished" });
    for (const [name, id] of [
      ["a 1.txt", "a%201.txt"],
      ["a%201.txt", "a%25201.txt"],
      ["b%202.txt", "b%25202.txt"],
      ["etc.", "etc%2E"],
      ["x%FF.txt", "x%FF.txt"],
    ] as const) {
      // As it is written; what is no text is escaped once more.
      const path = id === "x%FF.txt" ? encodeURI(id) : id;
      const { body } = await registry.ask(`/${root}/${path}`);
      expect(body["@id"]).toBe(`${root}/${id}`);
      expect(
        (await registry.ask(body["contentUrl"].slice(registry.url.length), { token: ada.token }))
          .text,
        id,
      ).toBe(files[name]);
    }
    // Escaped once more it is found where no record has that identifier.
    expect((await registry.ask(`/${root}/a%2525201.txt`)).body).toMatchObject({
      "@id": `${root}/a%25201.txt`,
    });
    expect((await registry.ask(`/${root}/etc%2E`)).body).toMatchObject({ "@id": `${root}/etc%2E` });
    for (const path of [
      `/${root}/b%25202.txt`,
      `/datadownload/${root}/b%25202.txt`,
      `/api/${root}/b%25202.txt/`,
    ])
      expect((await registry.ask(path)).body, path).toMatchObject({ "@id": `${root}/b%25202.txt` });
    expect(
      (await registry.ask(`/datadownload/${root}/b%25202.txt/download`, { token: ada.token })).text,
    ).toBe("alone");
    expect((await registry.ask(`/${root}/b%25202.txt/history`)).body["revisions"]).toHaveLength(1);
    expect(
      (
        await registry.ask(`/datadownload/${root}/b%25202.txt`, {
          method: "DELETE",
          token: ada.token,
        })
      ).status,
    ).toBe(200);
  });

  it("that no entity describes is returned with its bytes, to callers who may read the crate", async () => {
    for (const path of [
      `/${ROOT}/notes/read%20me.txt`,
      `/ark:/99999/o-ut/notes/read%20me.txt`,
      `/download/${ROOT}/notes/read%20me.txt`,
      `/${ROOT}/notes/read%2520me.txt`,
    ]) {
      const answer = await registry.ask(path, { token: ada.token });
      expect(answer, path).toMatchObject({ status: 200, text: "of nobody" });
      expect(answer.headers.get("content-disposition"), path).toContain("read%20me.txt");
    }
    expect(
      (await registry.ask(`/${ROOT}/notes/gro%CC%88%C3%9Fe.txt`, { token: ada.token })).text,
    ).toBe("neither");
    expect(
      await registry.ask(`/${ROOT}/notes/read%20me.txt`, {
        token: ada.token,
        headers: { Range: "bytes=3-" },
      }),
    ).toMatchObject({ status: 206, text: "nobody" });
    expect(await registry.ask(`/${ROOT}/notes/read%20me.txt`)).toMatchObject({
      status: 401,
      body: { code: "NOT_AUTHENTICATED" },
    });
    expect(await registry.ask(`/${ROOT}/notes/read%20me.txt`, { token: bob.token })).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN" },
    });
    expect(await registry.ask(`/${ROOT}/notes/nothing.txt`, { token: ada.token })).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
  });
});

describe("a crate's summary", () => {
  it("names and counts its records by kind, and lists the files that no entity describes", async () => {
    const { body, headers } = await registry.ask(`/rocrate/summary/${ROOT}`);
    expect(body).toMatchObject({
      "@id": ROOT,
      name: "Out: a crate",
      total: 5,
      counts: { DataDownload: 2, Dataset: 1, Computation: 1, Entity: 1 },
    });
    expect(headers.get("x-total-count")).toBe("5");
    expect(body["members"]).toHaveLength(5);
    expect(body["undescribed"]).toMatchObject({
      total: 2,
      files: [{ name: "notes/read me.txt", contentSize: "9", encodingFormat: "text/plain" }, {}],
    });
    for (const { contentUrl } of body["undescribed"].files)
      expect((await registry.ask(contentUrl as string, { token: ada.token })).status).toBe(200);
  });

  it("is returned in pages without a gap", async () => {
    const seen: string[] = [];
    let path: string | undefined = `/rocrate/summary/${ROOT}?limit=2`;
    for (let pages = 0; path !== undefined; pages++) {
      expect(pages).toBeLessThan(5);
      const { body, headers, status }: Awaited<ReturnType<LiveRegistry["ask"]>> =
        await registry.ask(path);
      expect(status).toBe(200);
      const page = [
        ...body["members"].map((member: Json) => member["@id"]),
        ...body["undescribed"].files.map((file: Json) => file["name"]),
      ] as string[];
      expect(page.length).toBeLessThanOrEqual(2);
      seen.push(...page);
      path = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
    }
    expect(seen).toHaveLength(7);
    expect(new Set(seen).size).toBe(7);
    for (const cursor of ["x", "9.", "0.-1", "2.x"])
      expect((await registry.ask(`/rocrate/summary/${ROOT}?cursor=${cursor}`)).status, cursor).toBe(
        400,
      );
    expect((await registry.ask(`/rocrate/summary/${ROOT}?limit=0`)).status).toBe(422);
    expect((await registry.ask(`/rocrate/summary/${ROOT}/data`)).status).toBe(404);
  });
});

describe("a crate's archive, as it was uploaded", () => {
  it("is returned byte for byte, whole or in part, and is that of the last upload", async () => {
    const [one, two] = await Promise.all(
      ["first", "second"].map((says) =>
        crate(
          [{ "@id": "a.csv", "@type": "File" }],
          { "a.csv": says },
          { "@id": "ark:99999/archived", name: says },
        ),
      ),
    );
    const archived = (headers: Record<string, string> = {}) =>
      fetch(`${registry.url}/rocrate/archived/download/ark:99999/archived`, {
        headers: { Authorization: `Bearer ${ada.token}`, ...headers },
      });
    await registry.take(one!, ada.token);
    expect(Buffer.compare(Buffer.from(await (await archived()).arrayBuffer()), one!)).toBe(0);
    const part = await archived({ Range: "bytes=10-29" });
    expect([part.status, part.headers.get("content-range")]).toEqual([
      206,
      `bytes 10-29/${one!.length}`,
    ]);
    expect(Buffer.compare(Buffer.from(await part.arrayBuffer()), one!.subarray(10, 30))).toBe(0);
    expect((await archived({ Range: `bytes=${one!.length}-` })).status).toBe(416);
    expect(
      (await registry.upload(two!, ada.token, { path: "/rocrate/upload?update=true" })).status,
    ).toBe(200);
    expect(Buffer.compare(Buffer.from(await (await archived()).arrayBuffer()), two!)).toBe(0);
    expect((await registry.ask("/rocrate/archived/download/ark:99999/archived")).status).toBe(401);
  });
});

describe("a crate within a crate", () => {
  it("is returned as the records below it and its parts", async () => {
    const top = "ark:99999/top";
    const inner: Entity[] = [
      { "@id": "ro-crate-metadata.json", "@type": "CreativeWork", about: { "@id": "./" } },
      {
        "@id": "./",
        "@type": "Dataset",
        name: "Inner",
        hasPart: [{ "@id": "in.csv" }, { "@id": "ark:99999/elsewhere-part" }],
      },
      { "@id": "in.csv", "@type": "File", name: "In" },
    ];
    await registry.take(
      await crate(
        [
          { "@id": "sub/", "@type": "Dataset", name: "Inner" },
          { "@id": "ark:99999/elsewhere-part", "@type": "Dataset", name: "Part" },
          { "@id": "out.csv", "@type": "File" },
        ],
        {
          "sub/ro-crate-metadata.json": {
            "@context": "https://w3id.org/ro/crate/1.1/context",
            "@graph": inner,
          },
          "sub/in.csv": "in",
          "out.csv": "out",
        },
        { "@id": top },
      ),
      ada.token,
    );
    expect(
      (await metadata(`${top}/sub`))["@graph"].map((one: Json) => one["@id"]).toSorted(),
    ).toEqual(
      [
        `${top}/sub`,
        `${top}/sub/in.csv`,
        "ark:99999/elsewhere-part",
        "ro-crate-metadata.json",
      ].toSorted(),
    );
    expect((await registry.ask(`/rocrate/summary/${top}/sub`)).body).toMatchObject({
      total: 2,
      counts: { DataDownload: 1, Dataset: 1 },
    });
    expect(Object.keys((await zipOf(ada.token, `${top}/sub`)).members)).toEqual([
      "ro-crate-metadata.json",
      "ro-crate-preview.html",
      "in.csv",
    ]);
  });
});

describe("deleting a crate", () => {
  it(
    "deletes records minted for it that no other crate has, and frees bytes that nothing " +
      "else uses",
    async () => {
      const shared: Entity = {
        "@id": "ark:99999/shared",
        "@type": "evi:Dataset",
        name: "Shared",
        contentUrl: "file:///shared.csv",
      };
      for (const name of ["one", "two"])
        expect(
          await registry.take(
            await crate(
              [shared, { "@id": `${name}.csv`, "@type": "File" }],
              { "shared.csv": "s", [`${name}.csv`]: name },
              { "@id": `ark:99999/${name}` },
            ),
            ada.token,
          ),
        ).toMatchObject({ error: null });
      expect(
        (await registry.ask("/rocrate/ark:99999/two")).body["@graph"].map(
          (one: Json) => one["@id"],
        ),
      ).toContain("ark:99999/shared");
      expect(
        (await registry.ask("/rocrate/ark:99999/one", { method: "DELETE", token: ada.token }))
          .status,
      ).toBe(200);
      expect((await registry.ask("/ark:99999/one/one.csv")).status).toBe(410);
      expect(
        (await registry.ask("/dataset/download/ark:99999/shared", { token: ada.token })).text,
      ).toBe("s");
      expect(
        (await registry.ask("/rocrate/ark:99999/two", { method: "DELETE", token: ada.token }))
          .status,
      ).toBe(200);
      expect((await registry.ask("/ark:99999/shared")).status).toBe(410);
    },
  );
});
