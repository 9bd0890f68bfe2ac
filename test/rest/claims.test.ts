import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { arkKey, OPERATION_NAMES } from "../../src/identifiers/ark.js";
import type { JsonObject } from "../../src/model/field.js";
import { KINDS } from "../../src/model/kinds.js";
import { OPERATIONS } from "../support/contract.js";
import { stateOf } from "../../src/services/records/state.js";
import { createRecord } from "../../src/services/records/write.js";
import { bodyOf } from "../support/bodies.js";
import { storeContent } from "../support/content.js";
import { crate, type Entity, type Members } from "../support/crates.js";
import { type Answer, type Person, startServer, type TestServer } from "../support/server.js";
import { AS_CREATED } from "../../src/services/records/pages.js";

let server: TestServer;
let ada: Person, bob: Person, eve: Person, admin: Person;
let group: string;
beforeAll(async () => {
  server = await startServer();
  admin = await server.person("admin", { admin: true });
  [ada, bob, eve] = [
    await server.person("ada"),
    await server.person("bob"),
    await server.person("eve"),
  ];
  group = (
    await server.request<{ "@id": string }>("POST", "/group", {
      token: ada.token,
      json: bodyOf("group", ada.id, { members: [bob.id] }),
    })
  ).body["@id"];
});
afterAll(() => server.stop());

let count = 0;
const fresh = () => `ark:99999/claimed-${++count}`;
const post = (
  path: string,
  kind: Parameters<typeof bodyOf>[0],
  id: string,
  who: Person,
  owner = who.id,
  more: JsonObject = {},
) =>
  server.request<{ "@id": string; code: string; detail: { loc: string[]; msg: string }[] }>(
    "POST",
    path,
    { token: who.token, json: bodyOf(kind, owner, { ...more, "@id": id }) },
  );
const dataset = async (owner: string, id = fresh()) => {
  await createRecord(server.deps, "dataset", bodyOf("dataset", owner, { "@id": id }), admin.caller);
  return id;
};
const registerForm = (id: string, owner: string, text = "other bytes") => {
  const form = new FormData();
  form.set(
    "download",
    JSON.stringify(bodyOf("datadownload", owner, { "@id": id, sha256: null, contentSize: null })),
  );
  form.set("file", new Blob([text]), "new.txt");
  return form;
};
async function upload(
  archive: Uint8Array,
  who: Person,
  { path = "/rocrate/upload", update = false } = {},
): Promise<
  Answer<{
    "@id": string;
    conforms: boolean;
    conflicting: { code: string }[];
    refused: { code: string }[];
    detail: { type: string; msg: string }[];
  }>
> {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(archive)], { type: "application/zip" }), "crate.zip");
  return server.request("POST", `${path}${update ? "?update=true" : ""}`, {
    token: who.token,
    body: form,
  });
}
const crateOf = (root: string, files: Members = {}, entities: Entity[] = []) =>
  crate(entities, files, { "@id": root });
const file = (id: string): Entity => ({ "@id": id, "@type": "File", name: id });

describe("an identifier below a record", () => {
  it("is registered by callers who may change that record, and by nobody else", async () => {
    for (const [owner, may] of [
      [ada.id, [ada, admin]],
      [group, [ada, bob, admin]],
    ] as const) {
      const above = await dataset(owner);
      for (const [index, who] of [ada, bob, eve, admin].entries()) {
        const answer = await post("/dataset", "dataset", `${above}/part-${index}`, who, who.id);
        if ((may as readonly Person[]).includes(who)) expect(answer.status, who.id).toBe(200);
        else
          expect(answer, who.id).toMatchObject({
            status: 403,
            body: { code: "FORBIDDEN", detail: expect.stringContaining(above) as string },
          });
      }
    }
  });

  it("is refused in every spelling, at any depth, and below a deleted record too", async () => {
    const above = await dataset(ada.id, `${fresh()}-a-b`);
    const bare = above.replaceAll("-", "");
    for (const id of [
      `${bare}/x`,
      `${above}/data/deep/x`,
      `${above}%2Fx`,
      `${above}//x`,
      `${above}/./x`,
      `${above.replace("claimed", "cl%61imed")}/x`,
      `https://n2t.net/ark:/${above.slice(4)}/x`,
      `${above.replace("-a-b", "--a-\u2013b")}/x`,
    ]) {
      expect((await post("/software", "software", id, eve)).status, id).toBe(403);
    }
    expect((await server.request("DELETE", `/dataset/${above}`, { token: ada.token })).status).toBe(
      200,
    );
    expect((await post("/dataset", "dataset", `${above}/x`, eve)).status).toBe(403);
    expect((await post("/dataset", "dataset", `${above}x`, eve)).status).toBe(200);
  });

  it(
    "is refused for every kind over REST and GraphQL, for files before they are stored, " +
      "and for a new account",
    async () => {
      const above = await dataset(ada.id);
      const paths = {
        dataset: "dataset",
        software: "software",
        computation: "computation",
        evidencegraph: "evidencegraph",
        schema: "schema",
        group: "group",
        organization: "organization",
        project: "project",
        datadownload: "download",
      } as const;
      for (const [kind, path] of Object.entries(paths))
        expect(
          await post(`/${path}`, kind as "dataset", `${above}/${kind}`, eve),
          kind,
        ).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
      expect(
        await server.request("POST", "/register", {
          token: eve.token,
          body: registerForm(`${above}/new.txt`, eve.id),
        }),
      ).toMatchObject({ status: 403 });
      const { body } = await server.graphql(
        "mutation($id: ID, $i: DatasetInput!) { createDataset(input: { id: $id, dataset: $i }) { revision } }",
        {
          id: `${above}/graphql`,
          i: {
            type: "evi:Dataset",
            name: "A name",
            description: "A description of it",
            owner: eve.id,
          },
        },
        eve.token,
      );
      expect(body.errors?.[0]?.extensions.code ?? JSON.stringify(body)).toBe("FORBIDDEN");
      const account = {
        "@id": `${above}/user`,
        name: "U",
        email: "below@example.org",
        password: eve.password,
      };
      expect(await server.request("POST", "/user", { json: account })).toMatchObject({
        status: 401,
        body: { code: "NOT_AUTHENTICATED" },
      });
      expect(
        (await server.request("POST", "/user", { json: account, token: eve.token })).status,
      ).toBe(403);
    },
  );

  it("is refused in a crate: its root, an entity, a nested crate; the dry run predicts it", async () => {
    const above = await dataset(ada.id);
    const root = fresh();
    const crates: [string, Uint8Array][] = [
      ["root", await crateOf(`${above}/crate`)],
      [
        "entity",
        await crateOf(fresh(), {}, [{ "@id": `${above}/thing`, "@type": "Person", name: "P" }]),
      ],
      [
        "nested",
        await crateOf(root, {
          "sub/ro-crate-metadata.json": {
            "@context": "https://w3id.org/ro/crate/1.1/context",
            "@graph": [
              {
                "@id": "ro-crate-metadata.json",
                "@type": "CreativeWork",
                about: { "@id": `${above}/nested` },
              },
              { "@id": `${above}/nested`, "@type": "Dataset", name: "N" },
            ],
          },
        }),
      ],
    ];
    for (const [what, archive] of crates) {
      for (const update of [false, true])
        expect(await upload(archive, eve, { update }), what).toMatchObject({
          status: 409,
          body: { code: "IDENTIFIER_BELOW", detail: expect.stringContaining(above) as string },
        });
      expect(await upload(archive, eve, { path: "/rocrate/validate" }), what).toMatchObject({
        status: 200,
        body: { conforms: false, conflicting: [{ code: "IDENTIFIER_BELOW" }] },
      });
    }
    expect((await server.request("GET", `/rocrate/${root}`)).status).toBe(404);
    for (const [what, archive] of crates)
      expect((await upload(archive, ada)).status, what).toBe(200);
  });

  it("is claimed by a crate's owner with an update, after others tried", async () => {
    const root = fresh();
    expect((await upload(await crateOf(root), ada)).status).toBe(200);
    expect(
      (
        await server.request("POST", "/register", {
          token: eve.token,
          body: registerForm(`${root}/data/new.txt`, eve.id),
        })
      ).status,
    ).toBe(403);
    expect(
      (
        await upload(await crateOf(root, { "data/new.txt": "mine" }, [file("data/new.txt")]), ada, {
          update: true,
        })
      ).status,
    ).toBe(200);
    expect(
      (await server.request("GET", `/download/${root}/data/new.txt`, { token: ada.token })).text,
    ).toBe("mine");
  });

  it("is never registered concurrently with another user's record above it", async () => {
    for (let round = 0; round < 15; round++) {
      const above = fresh();
      const [one, two] = await Promise.all([
        post("/dataset", "dataset", above, ada),
        post("/dataset", "dataset", `${above}/x`, eve),
      ]);
      expect(one.status).toBe(200);
      const [found] = await server.deps.records.findMany([above]);
      const [below] = await server.deps.records.findMany([`${above}/x`]);
      // What was there first stays; what came later was refused.
      expect(two.status).toBe(below ? 200 : 403);
      const order = async (ark: string) =>
        (
          await server.deps.records.select({ filter: {}, order: AS_CREATED, limit: 1000 })
        ).items.findIndex((record) => record.ark === ark);
      if (below) expect(await order(below.ark)).toBeLessThan(await order(found!.ark));
    }
  });
});

describe("a file of a crate that no entity describes", () => {
  const address = (root: string) => `${root}/data/undescribed.txt`;
  const store = async (
    ark: string,
    owner: string,
    at: number,
    kind: "datadownload" | "dataset" = "datadownload",
  ) => {
    const { deps } = server;
    await deps.records.commit({
      by: owner,
      at,
      records: [
        {
          op: "create",
          ark,
          key: arkKey(ark),
          publicationStatus: "PUBLISHED",
          ...(await stateOf(server.deps, KINDS[kind], ark, bodyOf(kind, owner, { "@id": ark }))),
        },
      ],
    });
    const [record] = await deps.records.findMany([ark]);
    await storeContent(deps, record!, "claimed bytes");
  };
  const answers = async (ark: string, token?: string) => {
    const texts = [];
    for (const path of ["/download/", "/view/", "/", "/datadownload/"])
      texts.push(
        (
          await server.request(
            "GET",
            `${path}${ark}${path === "/datadownload/" ? "/download" : ""}`,
            token === undefined ? {} : { token },
          )
        ).text,
      );
    return texts;
  };
  it("is returned at its address, whatever another user registers there later", async () => {
    for (const owner of [eve, ada]) {
      const root = fresh();
      expect(
        (await upload(await crateOf(root, { "data/undescribed.txt": "genuine" }), ada)).status,
      ).toBe(200);
      // As others could before identifiers below a record needed the right to change it.
      await store(address(root), owner.id, Date.now());
      for (const text of await answers(address(root), ada.token)) expect(text).toBe("genuine");
      expect((await server.request("GET", `/download/${address(root)}`)).status).toBe(401);
      expect((await server.request("GET", `/datadownload/${address(root)}`)).body["@id"]).toBe(
        address(root),
      );
    }
  });
  it("does not hide what the crate's owner had registered before, and hides that of others", async () => {
    for (const owner of [eve, ada]) {
      const root = fresh();
      await store(address(root), owner.id, Date.now() - 1000);
      expect(
        (await upload(await crateOf(root, { "data/undescribed.txt": "genuine" }), ada)).status,
      ).toBe(200);
      expect(
        (await server.request("GET", `/download/${address(root)}`, { token: ada.token })).text,
      ).toBe(owner === ada ? "claimed bytes" : "genuine");
    }
  });
  it("is newer than a record where an update brought it", async () => {
    const root = fresh();
    expect((await upload(await crateOf(root), ada)).status).toBe(200);
    await store(address(root), ada.id, Date.now());
    expect(
      (
        await upload(await crateOf(root, { "data/undescribed.txt": "genuine" }), ada, {
          update: true,
        })
      ).status,
    ).toBe(200);
    expect(
      (await server.request("GET", `/download/${address(root)}`, { token: ada.token })).text,
    ).toBe("claimed bytes");
  });
  it("is hidden by a description of it in the crate", async () => {
    const root = fresh();
    expect(
      (
        await upload(
          await crateOf(root, { "data/undescribed.txt": "genuine" }, [
            file("data/undescribed.txt"),
          ]),
          ada,
        )
      ).status,
    ).toBe(200);
    expect((await server.request("GET", `/${address(root)}`)).body["@id"]).toBe(address(root));
  });
});

describe("an identifier whose last part is the name of an operation", () => {
  it("is refused for every operation and every user", async () => {
    const inContract = OPERATIONS.flatMap(
      ({ path }) => /\{(?:postfix|download_id)\}\/(\w+)\/?$/.exec(path)?.[1] ?? [],
    );
    expect(OPERATION_NAMES).toEqual([...new Set(inContract)].sort());
    const above = await dataset(ada.id);
    for (const name of [...OPERATION_NAMES, "his-tory", "%64ownload"]) {
      for (const who of [ada, admin]) {
        expect(await post("/dataset", "dataset", `${above}/${name}`, who), name).toMatchObject({
          status: 422,
          body: {
            detail: [{ loc: ["body", "@id"], msg: expect.stringContaining("operation") as string }],
          },
        });
      }
    }
    expect(
      await server.request("POST", "/register", {
        token: ada.token,
        body: registerForm(`${above}/download`, ada.id),
      }),
    ).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "download", "@id"] }] } });
    expect(
      await upload(
        await crateOf(fresh(), {}, [{ "@id": `${above}/history`, "@type": "Person", name: "P" }]),
        ada,
      ),
    ).toMatchObject({ status: 422, body: { detail: [{ type: "INVALID_ID" }] } });
    expect((await post("/dataset", "dataset", `${above}/history/of-it`, ada)).status).toBe(200);
  });

  it("is not minted for a crate's file: the operation remains, and the file is found", async () => {
    const root = fresh();
    const files = { download: "a file of that name", "a/history": "another" };
    expect(
      (await upload(await crateOf(root, files, [file("download"), file("a/history")]), ada)).status,
    ).toBe(200);
    const [member] = await server.deps.records.findMany([`${root}/download`]);
    expect(member!.ark).toBe(`${root}/%64ownload`);
    expect(
      (await server.request("GET", `/${root}/a/history`, { token: ada.token })).status,
    ).not.toBe(500);
    expect(
      (await server.request<{ revisions: unknown[] }>("GET", `/${root}/history`)).body.revisions,
    ).toHaveLength(1);
    expect(
      (await server.request("GET", `/download/${encodeURI(member!.ark)}`, { token: ada.token }))
        .text,
    ).toBe("a file of that name");
    const { contentUrl } = JSON.parse(Buffer.from(member!.document).toString()) as {
      contentUrl: string;
    };
    expect(
      (await server.request("GET", new URL(contentUrl).pathname, { token: ada.token })).text,
    ).toBe("a file of that name");
    expect(
      (
        await upload(await crateOf(root, files, [file("download"), file("a/history")]), ada, {
          update: true,
        })
      ).status,
    ).toBe(200);
    expect((await server.deps.records.findMany([member!.ark]))[0]!.revision).toBe(1);
  });
});

describe("a new identifier that could be mistaken for another", () => {
  const named = (what: string | RegExp) => ({
    status: 422,
    body: { detail: [{ loc: ["body", "@id"], msg: expect.stringMatching(what) as string }] },
  });
  it.each([
    ["\u202e", "U+202E"],
    ["\u2066", "U+2066"],
    ["\u2069", "U+2069"],
    ["\u200b", "U+200B"],
    ["\u200d", "U+200D"],
    ["\ufeff", "U+FEFF"],
    ["\u00ad", "U+00AD"],
    ["\u061c", "U+061C"],
    ["\u0007", "U+0007"],
    ["\u0085", "U+0085"],
    ["\u{e0041}", "U+E0041"],
    ["\u3164", "U+3164"],
    ["\u2003", "U+2003"],
  ])(
    "with %j is refused with the name of the character, also percent-encoded",
    async (character, name) => {
      expect(await post("/dataset", "dataset", `${fresh()}${character}x`, ada)).toMatchObject(
        named(name.replace("+", "\\+")),
      );
      if (character === "\u2003") return;
      expect(
        await post("/dataset", "dataset", `${fresh()}${encodeURIComponent(character)}x`, ada),
      ).toMatchObject(named(name.replace("+", "\\+")));
      expect(
        await post(
          "/dataset",
          "dataset",
          `ark:99999/${encodeURIComponent(character).toLowerCase()}-${++count}`,
          ada,
        ),
      ).toMatchObject(named(name.replace("+", "\\+")));
    },
  );
  it("with an authority that begins with zero is refused", async () => {
    for (const naan of ["099999", "0099999", "09999"])
      expect(await post("/dataset", "dataset", `ark:${naan}/x`, ada)).toMatchObject(
        named(`${naan}.*zero`),
      );
  });
  it("with a percent-encoded hyphen is refused: its key equals the one without it", async () => {
    for (const hyphen of ["%2D", "%2d", "%E2%80%90"])
      expect(await post("/dataset", "dataset", `${fresh()}a${hyphen}b`, ada)).toMatchObject(
        named("hyphen"),
      );
  });
  it("is refused in a crate's ARKs and over GraphQL as well", async () => {
    for (const id of [
      `${fresh()}\u202ex`,
      `${fresh()}%E2%80%AEx`,
      "ark:099999/x",
      `${fresh()}%2Dx`,
    ]) {
      expect(
        await upload(
          await crateOf(fresh(), {}, [{ "@id": id, "@type": "Person", name: "P" }]),
          ada,
        ),
        id,
      ).toMatchObject({ status: 422, body: { detail: [{ type: "INVALID_ID" }] } });
      expect((await upload(await crateOf(id), ada)).status, id).toBe(422);
    }
    const { body } = await server.graphql(
      "mutation($id: ID, $i: DatasetInput!) { createDataset(input: { id: $id, dataset: $i }) { revision } }",
      {
        id: `${fresh()}\u202e`,
        i: {
          type: "evi:Dataset",
          name: "A name",
          description: "Some description",
          owner: ada.id,
        },
      },
      ada.token,
    );
    expect(JSON.stringify(body.errors)).toContain("U+202E");
  });
  it("is the same one where a crate's path encodes a hyphen", async () => {
    const root = fresh();
    expect(
      (await upload(await crateOf(root, { "a-b.txt": "x" }, [file("a%2Db.txt")]), ada)).status,
    ).toBe(200);
    expect((await server.deps.records.findMany([`${root}/a-b.txt`]))[0]!.ark).toBe(
      `${root}/a-b.txt`,
    );
  });
  it("that was stored before is read, changed and found as it was", async () => {
    const old = "ark:099999/ol%2Dd\u200b/history";
    const { deps } = server;
    const document = bodyOf("dataset", ada.id, { "@id": old });
    await deps.records.commit({
      by: ada.id,
      at: 1,
      records: [
        {
          op: "create",
          ark: old,
          key: arkKey(old),
          ...(await stateOf(server.deps, KINDS.dataset, old, document)),
        },
      ],
    });
    expect((await server.request("GET", `/dataset/${encodeURIComponent(old)}`)).body["@id"]).toBe(
      old,
    );
    expect(
      (
        await server.request("PUT", "/dataset", {
          token: ada.token,
          json: { ...document, name: "Another name" },
        })
      ).status,
    ).toBe(200);
  });
});
