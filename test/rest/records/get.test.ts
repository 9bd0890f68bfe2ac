import { Parser } from "n3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { arkKey } from "../../../src/identifiers/ark.js";
import { KINDS } from "../../../src/model/kinds.js";
import { stateOf } from "../../../src/services/records/state.js";
import { bodyOf, WRITABLE } from "../../support/bodies.js";
import { type Person, startServer, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer({ MAX_BODY_BYTES: "64K" });
  ada = await server.person("ada");
});
afterAll(() => server.stop());
const make = async (kind: string, more = {}) =>
  String(
    (
      await server.request("POST", `/${kind}`, {
        token: ada.token,
        json: bodyOf(kind as "dataset", ada.id, more),
      })
    ).body["@id"],
  );
const get = (path: string, headers: Record<string, string> = {}) =>
  server.request("GET", path, { headers });

describe.each(WRITABLE)("GET /%s/ark:…", (kind) => {
  it("answers every spelling of the identifier, and aliases name the stored form", async () => {
    const ark = await make(kind);
    const [, naan, name] = /^ark:(\d+)\/(.*)$/.exec(ark)!;
    const whole = await get(`/${kind}/${ark}`);
    expect([whole.status, whole.headers.get("content-location")]).toEqual([200, null]);
    for (const base of ["", "/api"])
      for (const prefix of [`/${kind}/`, "/"]) {
        expect((await get(`${base}${prefix}${ark}`)).text).toBe(whole.text);
        expect((await get(`${base}${prefix}${ark}/`)).headers.get("content-location")).toBeNull();
        for (const alias of [
          `ark:/${naan}/${name}`,
          `ark:${naan}/${name!.replaceAll("-", "")}`,
          `ARK:${naan}/${name}`,
          `ark:${naan}/${name}.`,
          `ark:${naan}/-${name}`,
        ]) {
          const answer = await get(`${base}${prefix}${alias}`);
          expect([
            alias,
            answer.status,
            answer.text,
            answer.headers.get("content-location"),
          ]).toEqual([alias, 200, whole.text, `${prefix}${ark}`]);
        }
      }
    expect((await get(`/${kind}/${encodeURIComponent(ark)}`)).status).toBe(200);
  });
  it(
    "is a 404 that names the right path for another kind, and a plain 404 for a missing " +
      "record",
    async () => {
      const ark = await make(kind);
      const other = kind === "dataset" ? "software" : "dataset";
      for (const path of [`/${other}/${ark}`, `/${other}/${ark}?revision=1`]) {
        const answer = await get(path);
        expect([answer.status, answer.body["code"]]).toEqual([404, "NOT_FOUND"]);
        expect(String(answer.body["detail"])).toContain(`/${kind}/${ark}`);
      }
      for (const name of ["none", "none/history/x", "%20", "é", "a b"])
        expect((await get(`/${kind}/ark:99999/${name}`)).status).toBe(404);
      expect((await get(`/${kind}/ark:12345/none`)).status).toBe(404);
    },
  );
  it("answers 304 for a current copy, and headers only to HEAD", async () => {
    const ark = await make(kind);
    const whole = await get(`/${kind}/${ark}`);
    const etag = whole.headers.get("etag")!;
    for (const match of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const answer = await get(`/${kind}/${ark}`, { "If-None-Match": match });
      expect([answer.status, answer.text, answer.headers.get("etag")]).toEqual([304, "", etag]);
    }
    expect((await get(`/${kind}/${ark}`, { "If-None-Match": '"x"' })).status).toBe(200);
    const head = await server.request("HEAD", `/${kind}/${ark}`);
    expect([
      head.status,
      head.text,
      head.headers.get("etag"),
      head.headers.get("content-length"),
    ]).toEqual([200, "", etag, String(Buffer.byteLength(whole.text))]);
    expect(whole.headers.get("vary")).toContain("Accept");
  });
  it("returns who deleted it and when, once it is deleted", async () => {
    const ark = await make(kind);
    const gone = await server.request(
      "DELETE",
      `/${kind}/${ark}?reason=${encodeURIComponent("wrong data")}&successor=ark:99999/next`,
      { token: ada.token },
    );
    expect([gone.status, gone.body["@id"]]).toEqual([200, ark]);
    for (const path of [`/${kind}/${ark}`, `/${ark}`, `/${kind}/${ark}?revision=1`]) {
      const answer = await get(path);
      expect(answer.status).toBe(410);
      expect(answer.body).toMatchObject({
        code: "GONE",
        deletedBy: ada.id,
        reason: "wrong data",
        successor: "ark:99999/next",
      });
      expect(String(answer.body["deletedAt"])).toMatch(/^20\d\d-.*Z$/);
    }
    expect(
      (await server.request("GET", `/${kind}/${ark}?revision=1`, { token: ada.token })).status,
    ).toBe(200);
    expect((await server.request("DELETE", `/${kind}/${ark}`, { token: ada.token })).status).toBe(
      410,
    );
  });
});

describe("DELETE", () => {
  it(
    "is refused without a token, to others, at another revision and for another kind, " +
      "and changes nothing",
    async () => {
      const bob = await server.person("bob");
      const ark = await make("dataset");
      const remove = (path: string, options = {}) => server.request("DELETE", path, options);
      expect((await remove(`/dataset/${ark}`)).status).toBe(401);
      expect((await remove(`/dataset/${ark}`, { token: bob.token })).status).toBe(403);
      expect(
        (await remove(`/dataset/${ark}`, { token: ada.token, headers: { "If-Match": '"2-0"' } }))
          .status,
      ).toBe(412);
      expect((await remove(`/software/${ark}`, { token: ada.token })).status).toBe(404);
      expect((await get(`/dataset/${ark}`)).status).toBe(200);
      expect(
        (await remove(`/${ark}`, { token: ada.token, headers: { "If-Match": '"1-5"' } })).status,
      ).toBe(200);
    },
  );
  it("is not prevented by references to the record, which remain", async () => {
    const dataset = await make("dataset");
    const run = await make("computation", { usedDataset: dataset });
    expect(
      (await server.request("DELETE", `/dataset/${dataset}`, { token: ada.token })).status,
    ).toBe(200);
    expect((await get(`/computation/${run}`)).body["usedDataset"]).toBe(dataset);
  });
});

describe("negotiation", () => {
  const ACCEPTED: [string | undefined, string][] = [
    [undefined, "application/ld+json"],
    ["*/*", "application/ld+json"],
    ["application/json", "application/json"],
    ['application/ld+json;profile="x"', "application/ld+json"],
    ["application/*", "application/ld+json"],
    ["text/turtle", "text/turtle; charset=utf-8"],
    ["application/n-quads", "application/n-quads"],
    ["text/turtle;q=0.4, application/n-quads;q=0.5", "application/n-quads"],
    ["text/turtle, */*;q=0.1", "text/turtle; charset=utf-8"],
    ["application/ld+json;q=0, */*", "application/json"],
    ["image/png, text/*;q=0.2", "text/html; charset=utf-8"],
    ["TEXT/Turtle", "text/turtle; charset=utf-8"],
  ];
  it.each(ACCEPTED)("of %s gives %s", async (accept, type) => {
    const ark = await make("dataset");
    for (const path of [`/dataset/${ark}`, `/${ark}`]) {
      const answer = await get(path, accept === undefined ? {} : { Accept: accept });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, type]);
    }
  });
  it.each(["image/png", "text/turtle;q=0", "*/*;q=0", "application/pdf, image/*"])(
    "of %s is refused with the supported types",
    async (accept) => {
      const answer = await get(`/dataset/${await make("dataset")}`, { Accept: accept });
      expect([answer.status, answer.body["code"]]).toEqual([406, "NOT_ACCEPTABLE"]);
      expect(String(answer.body["detail"])).toContain("text/turtle");
    },
  );
  it(
    "returns the same statements in Turtle and N-Quads, each with its own ETag, of the " +
      "requested revision",
    async () => {
      const ark = await make("dataset", { name: "first", about: { deep: 'é "quoted"' } });
      await server.request("PUT", "/dataset", {
        token: ada.token,
        json: bodyOf("dataset", ada.id, { "@id": ark, name: "second" }),
      });
      const read = async (revision: string, type: string) =>
        get(`/dataset/${ark}${revision}`, { Accept: type });
      for (const [revision, name] of [
        ["", "second"],
        ["?revision=1", "first"],
        ["?revision=2", "second"],
      ] as const) {
        const [json, turtle, quads] = await Promise.all(
          ["application/json", "text/turtle", "application/n-quads"].map((type) =>
            read(revision, type),
          ),
        );
        expect(json!.body["name"]).toBe(name);
        expect(turtle!.text).toContain(`"${name}"`);
        const statements = (text: string) =>
          new Parser()
            .parse(text)
            .map(
              ({ subject, predicate, object }) =>
                `${subject.value} ${predicate.value} ${object.value}`,
            )
            .sort();
        expect(statements(turtle!.text)).toEqual(statements(quads!.text));
        // They also say who may read the content, and who publishes it.
        for (const added of [/accessRights .*c_16ec$/, /publisher/, /name Arkgraph$/])
          expect(statements(quads!.text)).toContainEqual(expect.stringMatching(added));
        expect(
          new Set([json, turtle, quads].map((answer) => answer!.headers.get("etag"))).size,
        ).toBe(3);
        expect(
          (
            await get(`/dataset/${ark}${revision}`, {
              Accept: "text/turtle",
              "If-None-Match": turtle!.headers.get("etag")!,
            })
          ).status,
        ).toBe(304);
        expect(
          (
            await get(`/dataset/${ark}${revision}`, {
              Accept: "text/turtle",
              "If-None-Match": json!.headers.get("etag")!,
            })
          ).status,
        ).toBe(200);
      }
      for (const revision of ["0", "-1", "x", "1.5", ""])
        expect((await get(`/dataset/${ark}?revision=${revision}`)).status).toBe(422);
      for (const path of [`/dataset/${ark}`, `/${ark}`])
        expect(await get(`${path}?revision=3`), path).toMatchObject({
          status: 404,
          body: { detail: `${ark} has no revision 3: it has 1 to 2.` },
        });
      const foreign = await make("dataset", { "@id": "ark:12148/looked-back" });
      expect((await get(`/${foreign}?revision=2`)).status).toBe(404);
    },
  );
});

describe("the resolver", () => {
  it("redirects ARKs of other authorities, and answers 404 for unknown ones of its own", async () => {
    const answer = await get("/ark:/12148/b-t.v/1?info");
    expect([answer.status, answer.headers.get("location")]).toEqual([
      302,
      "https://n2t.net/ark:12148/b-t.v/1?info",
    ]);
    expect((await get("/ark:12148/a%20b%0d%0aSet-Cookie:x")).headers.get("location")).toBe(
      "https://n2t.net/ark:12148/a%20b%0D%0ASet-Cookie:x",
    );
    const own = await get("/ark:99999/none");
    expect([own.status, own.body["code"]]).toEqual([404, "NOT_FOUND"]);
    for (const path of [
      "/ark:",
      "/ark:99999",
      "/ark:99999/",
      "/ark:1/x",
      "/ark:vowels/x",
      "/ark:12345",
    ])
      expect((await get(path)).status, path).toBe(404);
  });
  it("serves stored records whatever their authority", async () => {
    const ark = await make("dataset", { "@id": "ark:/12148/stored-here" });
    expect(ark).toBe("ark:12148/stored-here");
    expect((await get("/ark:12148/storedhere")).status).toBe(200);
    await server.request("DELETE", `/${ark}`, { token: ada.token });
    expect((await get("/ark:12148/storedhere")).status).toBe(410);
  });
  it(
    "reads the whole path as the identifier where one is stored, else its last word as " +
      "the operation",
    async () => {
      // Not registered any more; stored ones stay.
      const ark = "ark:99999/thing/download";
      const state = await stateOf(
        server.deps,
        KINDS.dataset,
        ark,
        bodyOf("dataset", ada.id, { "@id": ark }),
      );
      await server.deps.records.commit({
        by: null,
        at: Date.now(),
        records: [{ op: "create", ark, key: arkKey(ark), ...state }],
      });
      expect((await get(`/${ark}`)).body["@id"]).toBe(ark);
      expect((await get(`/dataset/${ark}`)).body["@id"]).toBe(ark);
    },
  );
  it("distinguishes names with slashes, dots and escapes", async () => {
    for (const id of [
      "ark:99999/a/b.c/d",
      "ark:99999/sp%20ace",
      "ark:99999/ümlaut",
      "ark:99999/100%25sure",
      "ark:99999/pl+us&x=y;z",
    ]) {
      const ark = await make("dataset", { "@id": id });
      expect(ark).toBe(id);
      expect(
        (await get(`/${encodeURI(decodeURI(ark)).replaceAll("%2525", "%25")}`)).body["@id"],
        id,
      ).toBe(id);
      expect((await get(`/dataset/${ark}`)).body["@id"], id).toBe(id);
    }
  });
});
