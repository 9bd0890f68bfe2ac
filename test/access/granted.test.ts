import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { metadata, zip, type Members } from "../support/crates.js";
import { startServer, type Person, type TestServer } from "../support/server.js";
import { textOf } from "./world.js";

const ACTORS = [
  "owner",
  "member",
  "granted",
  "expired",
  "revoked",
  "declined",
  "asked",
  "other",
  "anonymous",
  "admin",
] as const;
type Actor = (typeof ACTORS)[number];
const STATES = ["draft", "embargoed", "archived", "published", "private", "withdrawn"] as const;
type State = (typeof STATES)[number];

let server: TestServer;
const people = {} as Record<Exclude<Actor, "anonymous">, Person>;
let group: string;

const headersOf = (actor: Actor): Record<string, string> =>
  actor === "anonymous" ? {} : { Authorization: `Bearer ${people[actor].token}` };
interface Got {
  status: number;
  headers: Headers;
  text: string;
}
const get = async (
  path: string,
  actor: Actor,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<Got> => {
  const answer = await fetch(server.url + encodeURI(path), {
    method,
    headers: { Accept: "*/*", ...headersOf(actor), ...headers },
  });
  const text = await textOf(Buffer.from(await answer.arrayBuffer()));
  return { status: answer.status, headers: answer.headers, text };
};
const graphql = async (query: string, actor: Actor): Promise<string> => {
  const { text } = await server.request("POST", "/graphql", {
    json: { query },
    headers: headersOf(actor),
  });
  return text;
};
const asOwner = (method: string, path: string, json: unknown) =>
  server.request(method, path, { token: people.owner.token, json });

/** Whoever asked, at some time, and what became of it: written into the store, in any state. */
async function grantTo(record: string): Promise<void> {
  const now = Date.now();
  const decided = {
    granted: { state: "granted", until: now + 3_600_000 },
    expired: { state: "granted", until: now - 1 },
    revoked: { state: "revoked", until: null },
    declined: { state: "declined", until: null },
    asked: undefined,
  } as const;
  for (const [actor, decision] of Object.entries(decided)) {
    const id = randomUUID();
    const requester = people[actor as "granted"].id;
    const { records } = server.deps;
    const request = { id, record, requester, reason: "To read it.", askedAt: now };
    expect(await records.askForAccess(request, { most: 1000, decidedBefore: 0 })).toBe(true);
    const by = { message: null, decidedAt: now, decidedBy: people.owner.id };
    if (decision) await records.decideAccess({ id, ...decision, ...by });
  }
}

const STATUS = { embargoed: "EMBARGOED", archived: "ARCHIVED", published: "PUBLISHED" } as const;
const publish = (ark: string, publicationStatus: string) =>
  asOwner("PUT", "/publish", { "@id": ark, publicationStatus });
const queryOf = (state: State) => (state === "private" ? "?visibility=private" : "");

async function file(bytes: string, state: State): Promise<string> {
  const form = new FormData();
  const download = bodyOf("datadownload", group, { sha256: null, contentSize: null });
  form.set("download", JSON.stringify(download));
  form.set("file", new Blob([bytes], { type: "text/plain" }), "bytes.txt");
  const { body } = await server.request<{ "@id": string }>("POST", `/register${queryOf(state)}`, {
    token: people.owner.token,
    body: form,
  });
  const ark = body["@id"];
  if (state in STATUS) await publish(ark, STATUS[state as "embargoed"]);
  await grantTo(ark);
  if (state === "withdrawn") await asOwner("DELETE", `/datadownload/${ark}`, undefined);
  return ark;
}

let count = 0;
async function crate(files: Members, state: State): Promise<string> {
  const root = `ark:99999/granted-${++count}`;
  const described = Object.keys(files).filter((name) => !name.startsWith("loose"));
  const entities = described.map((name) => ({ "@id": name, "@type": "File", name }));
  const form = new FormData();
  const bytes = await zip({
    "ro-crate-metadata.json": metadata(entities, { "@id": root }),
    ...files,
  });
  form.set("file", new Blob([new Uint8Array(bytes)], { type: "application/zip" }), "crate.zip");
  const { status, text } = await server.request("POST", `/rocrate/upload${queryOf(state)}`, {
    token: people.owner.token,
    body: form,
  });
  expect(status, text).toBe(200);
  if (state in STATUS) await publish(root, STATUS[state as "embargoed"]);
  await grantTo(root);
  if (state === "withdrawn") await asOwner("DELETE", `/${root}`, undefined);
  return root;
}

const mayRead = (actor: Actor, state: State, insiders: readonly Actor[]): boolean =>
  state !== "withdrawn" &&
  (insiders.includes(actor) ||
    state === "published" ||
    (actor === "granted" && state !== "private"));

beforeAll(async () => {
  server = await startServer();
  for (const actor of ACTORS)
    if (actor !== "anonymous")
      people[actor] = await server.person(actor, { admin: actor === "admin" });
  const body = bodyOf("group", people.owner.id, { members: [people.member.id] });
  group = (await asOwner("POST", "/group", body)).body["@id"] as string;
});
afterAll(async () => {
  expect(server.faults).toEqual([]);
  await server.stop();
});

describe.each(STATES)("the content of a file that is %s", (state) => {
  it("is read by the same people over every interface", async () => {
    const word = `bytes-of-${state}-file`;
    const ark = await file(`${word}\n`, state);
    const etag = (await get(`/download/${ark}`, "owner")).headers.get("etag") ?? "none";
    for (const actor of ACTORS) {
      const bytes = async (path: string, headers = {}) =>
        (await get(path, actor, headers)).text.includes(word);
      const page = await get(`/${ark}`, actor, { Accept: "text/html" });
      const read = {
        download: await bytes(`/datadownload/${ark}/download`),
        content: await bytes(`/download/${ark}`),
        view: await bytes(`/view/${ark}`),
        head: (await get(`/download/${ark}`, actor, {}, "HEAD")).status === 200,
        range: (await get(`/download/${ark}`, actor, { Range: "bytes=0-3" })).status === 206,
        unchanged: (await get(`/download/${ark}`, actor, { "If-None-Match": etag })).status === 304,
        readable: (
          await graphql(`{ dataDownload(id: "${ark}") { content { readable } } }`, actor)
        ).includes("true"),
        preview: (
          await graphql(`{ preview(id: "${ark}") { ... on TextPreview { text } } }`, actor)
        ).includes(word),
        page: page.text.includes(word),
        button: page.text.includes(`/datadownload/${ark}/download" download`),
      };
      const may = mayRead(actor, state, ["owner", "member", "admin"]);
      const expected = Object.fromEntries(Object.keys(read).map((name) => [name, may]));
      expect([actor, read]).toEqual([actor, expected]);
    }
  });
});

describe.each(STATES)("the content of a crate that is %s", (state) => {
  it("is read by the same people over every interface", async () => {
    const [word, loose] = [`bytes-of-${state}-member`, `bytes-of-${state}-loose`];
    const root = await crate({ "a.txt": `${word}\n`, "loose.txt": `${loose}\n` }, state);
    const member = `${root}/a.txt`;
    for (const actor of ACTORS) {
      const has = async (path: string, ...words: string[]) => {
        const { text } = await get(path, actor);
        return words.some((each) => text.includes(each));
      };
      const asked = await graphql(
        `{ roCrate(id: "${root}") { content { readable } files { nodes { readable } } } }`,
        actor,
      );
      const read = {
        archive: await has(`/rocrate/download/${root}`, word, loose),
        archived: await has(`/rocrate/archived/download/${root}`, word, loose),
        generated: await has(`/rocrate/${root}?format=zip`, word, loose),
        byIdentifier: await has(`/download/${root}`, word, loose),
        member: await has(`/download/${member}`, word),
        memberDownload: await has(`/datadownload/${member}/download`, word),
        undescribed: await has(`/download/${root}/loose.txt`, loose),
        undescribedFile: await has(`/${root}/loose.txt`, loose),
        readable: asked.includes('"content":{"readable":true}'),
        files: asked.includes('"nodes":[{"readable":true},{"readable":true}]'),
        memberReadable: (
          await graphql(`{ dataDownload(id: "${member}") { content { readable } } }`, actor)
        ).includes("true"),
        preview: (
          await graphql(`{ preview(id: "${member}") { ... on TextPreview { text } } }`, actor)
        ).includes(word),
        button: (await get(`/${root}`, actor, { Accept: "text/html" })).text.includes(
          `/rocrate/${root}?format=zip" download`,
        ),
      };
      const may = mayRead(actor, state, ["owner", "admin"]);
      const expected = Object.fromEntries(Object.keys(read).map((name) => [name, may]));
      expect([actor, read]).toEqual([actor, expected]);
    }
  }, 60_000);
});

describe("a grant", () => {
  it("for one member of a crate opens neither another one nor the archive that has both", async () => {
    const root = await crate({ "a.txt": "bytes-of-one\n", "b.txt": "bytes-of-two\n" }, "draft");
    await publish(root, "PUBLISHED");
    for (const name of ["a.txt", "b.txt"]) await publish(`${root}/${name}`, "EMBARGOED");
    // The grants for the crate itself would cover both.
    for (const actor of ["granted", "expired", "revoked", "declined", "asked"] as const) {
      const which = { record: root, requester: people[actor].id };
      const { id } = (await server.deps.records.accessRequest(which))!;
      const by = { until: null, message: null, decidedAt: 0, decidedBy: people.owner.id };
      await server.deps.records.decideAccess({ id, state: "revoked", ...by });
    }
    for (const name of ["a.txt", "b.txt"]) {
      await grantTo(`${root}/${name}`);
      const archive = await get(`/rocrate/download/${root}`, "granted");
      const made = (await get(`/rocrate/${root}?format=zip`, "granted")).text;
      const both = name === "b.txt";
      // Nor do grants for each of them: more members could come, and share their state.
      expect(archive.status).toBe(403);
      expect(archive.text).not.toMatch(/bytes-of/);
      expect([made.includes("bytes-of-one"), made.includes("bytes-of-two")]).toEqual([true, both]);
      expect((await get(`/download/${root}/b.txt`, "granted")).status).toBe(both ? 200 : 403);
    }
  });

  it("for a crate covers the members with its owner only", async () => {
    const root = await crate({ "a.txt": "bytes-of-own\n", "b.txt": "bytes-of-another\n" }, "draft");
    await server.request("POST", "/records/transfer", {
      token: people.admin.token,
      json: { ids: [`${root}/b.txt`], owner: people.other.id },
    });
    expect((await get(`/download/${root}/a.txt`, "granted")).status).toBe(200);
    expect((await get(`/download/${root}/b.txt`, "granted")).status).toBe(403);
    const made = (await get(`/rocrate/${root}?format=zip`, "granted")).text;
    expect(made).toContain("bytes-of-own");
    expect(made).not.toContain("bytes-of-another");
    expect((await get(`/rocrate/download/${root}`, "granted")).status).toBe(403);
  });

  it("is a right to read content, and nothing else", async () => {
    const ark = await file("bytes\n", "draft");
    const hidden = await file("bytes\n", "private");
    const send = (method: string, path: string, json?: unknown) =>
      server.request(method, path, {
        token: people.granted.token,
        ...(json === undefined ? {} : { json }),
      });
    const document = bodyOf("datadownload", group, { "@id": ark });
    const patch = await server.request("PATCH", `/${ark}`, {
      token: people.granted.token,
      headers: { "Content-Type": "application/merge-patch+json" },
      body: '{"name":"Changed"}',
    });
    const answers = [
      await send("PUT", `/${ark}`, document),
      patch,
      await send("DELETE", `/datadownload/${ark}`),
      await send("PUT", "/publish", { "@id": ark, publicationStatus: "PUBLISHED" }),
      await send("PUT", `/group/${group}/addUser/?userID=${people.granted.id}`),
      await send("GET", `/access-requests?record=${ark}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403]);
    for (const path of [`/${hidden}`, `/download/${hidden}`, `/access-requests?record=${hidden}`])
      expect((await get(path, "granted")).status).toBe(404);
    expect(await graphql(`{ record(id: "${ark}") { mayChange } }`, "granted")).toContain("false");
  });

  it("ends at its time, without anything that is done", async () => {
    const ark = await file("bytes\n", "draft");
    const { id } = (await server.deps.records.accessRequest({
      record: ark,
      requester: people.granted.id,
    }))!;
    const until = new Date(Date.now() + 700).toISOString();
    const { body } = await asOwner("PUT", `/access-requests/${id}`, { grant: true, until });
    expect(body).toMatchObject({ state: "granted", until });
    expect((await get(`/download/${ark}`, "granted")).status).toBe(200);
    await expect
      .poll(async () => (await get(`/download/${ark}`, "granted")).status, { timeout: 5000 })
      .toBe(403);
    const shown = await asOwner("GET", `/access-requests?record=${ark}&state=expired`, undefined);
    expect(shown.text).toContain(id);
  });
});
