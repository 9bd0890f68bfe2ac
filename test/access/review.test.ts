import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { metadata, zip } from "../support/crates.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

const CRATE = "ark:99999/review-crate";
const FILE = `${CRATE}/zirconium.csv`;
const [BESIDE, NOTHING] = ["ark:99999/review-beside", "ark:99999/review-nothing"] as const;
const BYTES = "a,b\n1,2\n";
const DAY = 86_400_000;

const ROOT = { "@id": CRATE, name: "Zirconium crate" };

let server: TestServer;
let [owner, other]: Person[] = [];

interface Reader {
  token?: string;
  cookie?: string;
}
const read = async (path: string, { token, cookie }: Reader, headers: object = {}) => {
  const {
    status,
    headers: answered,
    text,
  } = await server.request("GET", path, {
    ...(token === undefined ? {} : { token }),
    headers: { ...(cookie === undefined ? {} : { Cookie: cookie }), ...headers },
    redirect: "manual",
  });
  return { status, headers: answered, text };
};
const linkTo = async (ark: string, asked: object = {}) => {
  const { status, body, text } = await server.request<{
    address: string;
    link: { id: string; uses: number };
  }>("POST", `/review-links/${ark}`, { token: owner!.token, json: asked });
  expect(text).toContain("address");
  expect(status).toBe(200);
  const secret = new URL(body.address).pathname.replace("/review/", "");
  return { ...body, secret, id: body.link.id };
};
const linksOf = async (ark: string) =>
  (
    await server.request<{ id: string; uses: number; usedAt: string | null }[]>(
      "GET",
      `/review-links/${ark}`,
      { token: owner!.token },
    )
  ).body;
/** Opens a link as a browser does. */
const open = async (secret: string, headers: object = {}) => {
  const answer = await read(`/review/${secret}`, {}, { Accept: "text/html", ...headers });
  const cookie = (answer.headers.get("set-cookie") ?? "").split(";", 1)[0]!;
  return { ...answer, cookie };
};
const PAGE = { Accept: "text/html" };

/** All that shows a private crate. */
const PATHS = [
  `/${CRATE}`,
  `/rocrate/${CRATE}`,
  `/rocrate/${CRATE}?format=zip`,
  `/rocrate/download/${CRATE}`,
  `/rocrate/summary/${CRATE}`,
  `/rocrate/ai-ready-score/${CRATE}`,
  `/rocrate/${CRATE}/history`,
  `/${CRATE}?format=turtle`,
  `/${CRATE}?format=datacite`,
  `/${CRATE}?revision=1`,
  `/${CRATE}?info`,
  `/publish/${CRATE}`,
  `/${FILE}`,
  `/datadownload/${FILE}`,
  `/download/${FILE}`,
  `/evidencegraph/query/${FILE}`,
  `/evidencegraph/query/${FILE}?format=svg&direction=both`,
  `/evidencegraph/query/${CRATE}?format=badge`,
];

beforeAll(async () => {
  server = await startServer({ LOGIN_RATE: "20" });
  [owner, other] = [await server.person("ada"), await server.person("eve")];
  const form = new FormData();
  const file = {
    "@id": "zirconium.csv",
    "@type": "File",
    name: "zirconium.csv",
    "prov:wasDerivedFrom": { "@id": BESIDE },
  };
  const crate = await zip({
    "ro-crate-metadata.json": metadata([file], { ...ROOT, hasPart: [{ "@id": file["@id"] }] }),
    "zirconium.csv": BYTES,
  });
  form.set("file", new Blob([new Uint8Array(crate)]), "crate.zip");
  const uploaded = await server.request("POST", "/rocrate/upload?visibility=private", {
    token: owner.token,
    body: form,
  });
  expect(uploaded.status, uploaded.text).toBe(200);
  const beside = await server.request("POST", "/dataset?visibility=private", {
    token: owner.token,
    json: bodyOf("dataset", owner.id, { "@id": BESIDE, name: "Hafnium of the owner" }),
  });
  expect(beside.status).toBe(200);
});
afterAll(() => server.stop());

describe("a review link", () => {
  it("shows a private crate with its files and evidence, and nothing else that is private", async () => {
    const { secret, address, id } = await linkTo(CRATE);
    expect(address).toMatch(/\/review\/arkreview_[\w-]{43}$/);
    const opened = await open(secret);
    expect([opened.status, opened.headers.get("location")]).toEqual([302, `/${CRATE}`]);
    expect(opened.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Lax/);
    for (const reader of [{ token: secret }, { cookie: opened.cookie }]) {
      for (const path of PATHS) {
        const { status, headers, text } = await read(path, reader);
        expect([path, status]).toEqual([path, 200]);
        expect([path, headers.get("cache-control")]).toEqual([path, "private, no-store"]);
        expect(headers.get("x-robots-tag")).toBe("noindex, nofollow");
        expect(headers.get("referrer-policy")).toBe("no-referrer");
        expect(text).not.toMatch(/hafnium/i);
        expect(text).not.toContain(secret);
      }
      expect((await read(`/download/${FILE}`, reader)).text).toBe(BYTES);
      const part = await read(`/download/${FILE}`, reader, { Range: "bytes=0-0" });
      expect([part.status, part.text]).toEqual([206, "a"]);
      for (const path of [`/${BESIDE}`, `/evidencegraph/query/${BESIDE}`])
        expect([path, (await read(path, reader)).status]).toEqual([path, 404]);
      const sparql = `/sparql?query=${encodeURIComponent("SELECT * { ?s ?p ?o }")}`;
      expect((await read(sparql, reader)).text).not.toMatch(/zirconium|hafnium/i);
      const list = await read("/rocrate", reader);
      expect(list.text).toContain(CRATE);
    }
    const [link] = await linksOf(CRATE);
    expect(link).toMatchObject({ id, uses: 1 });
    expect(Date.parse(link!.usedAt!)).toBeGreaterThan(Date.now() - DAY);
    expect(JSON.stringify(link)).not.toContain(secret);
  });

  it("shows pages that say so, and stop", async () => {
    const { secret } = await linkTo(CRATE);
    const { cookie } = await open(secret);
    for (const path of [
      `/${CRATE}`,
      `/${FILE}`,
      `/files/${CRATE}`,
      `/history/${CRATE}`,
      "/browse",
    ]) {
      const page = await read(path, { cookie }, PAGE);
      expect([path, page.status]).toEqual([path, 200]);
      expect(page.text).toContain('<meta name="robots" content="noindex, nofollow"/>');
      expect(page.text).toContain("Stop reading by this link");
      expect(page.text).not.toMatch(/hafnium/i);
    }
    const crate = (await read(`/${CRATE}`, { cookie }, PAGE)).text;
    expect(crate).not.toContain(`/edit/`);
    expect(crate).toMatch(/Download \d+ files?/);
    for (const path of [CRATE, FILE])
      expect((await read(`/${path}`, { cookie }, PAGE)).text).not.toContain("Sign in to download");
    const end = await server.request("POST", "/review/end", {
      headers: { Cookie: cookie, "Sec-Fetch-Site": "same-origin", ...PAGE },
      body: new URLSearchParams(),
      redirect: "manual",
    });
    expect([end.status, end.headers.get("set-cookie")]).toEqual([
      303,
      expect.stringContaining("Max-Age=0"),
    ]);
  });

  it("reads over GraphQL, and changes nothing over any interface", async () => {
    const { secret } = await linkTo(CRATE);
    const query = `{ roCrate(id: "${CRATE}") { name mayChange hasPart(first: 5) { nodes { id } } } }`;
    const { body } = await server.graphql(query, {}, secret);
    expect(body).toMatchObject({
      data: { roCrate: { name: "Zirconium crate", mayChange: false } },
    });
    expect(JSON.stringify(body)).toContain(FILE);
    const beside = await server.graphql(`{ record(id: "${BESIDE}") { id } }`, {}, secret);
    expect(beside.body.data).toEqual({ record: null });
    const input = `input: { id: "${CRATE}" }`;
    for (const mutation of [
      `deleteRecord(${input}) { deleted { id } }`,
      `createReviewLink(${input}) { address }`,
    ]) {
      const { text } = await server.graphql(`mutation { ${mutation} }`, {}, secret);
      expect(text).toMatch(/NOT_AUTHENTICATED|GRAPHQL_VALIDATION_FAILED/);
    }
    const { secret: ofFile } = await linkTo(FILE);
    for (const token of [secret, ofFile])
      for (const [method, path, json] of [
        ["DELETE", `/${FILE}`, undefined],
        ["PATCH", `/${FILE}`, { name: "Changed" }],
        ["PUT", "/publish", { "@id": CRATE, publicationStatus: "PUBLISHED" }],
        ["POST", "/dataset", bodyOf("dataset", owner!.id)],
        ["POST", `/review-links/${FILE}`, {}],
        ["GET", `/review-links/${FILE}`, undefined],
      ] as const) {
        const { status } = await server.request(method, path, {
          token,
          ...(json === undefined ? {} : { json }),
        });
        expect([method, path, status]).toEqual([method, path, 401]);
      }
  });

  it("to one record of a crate shows that one only", async () => {
    const { secret: token } = await linkTo(FILE);
    expect((await read(`/${FILE}`, { token })).status).toBe(200);
    expect((await read(`/${CRATE}`, { token })).status).toBe(404);
    expect((await read(`/rocrate/download/${CRATE}`, { token })).status).toBe(404);
  });

  it("answers 404 in every form of request once it is revoked, and for a guess", async () => {
    const { secret, id } = await linkTo(CRATE);
    const { cookie } = await open(secret);
    const revoke = () =>
      server.request("DELETE", `/review-links/${CRATE}?link=${id}`, { token: owner!.token });
    expect((await revoke()).status).toBe(200);
    expect((await revoke()).status).toBe(404);
    const guess = `arkreview_${"A".repeat(43)}`;
    const bodies = new Set<string>();
    for (const dead of [secret, guess]) {
      const opened = await open(dead);
      expect([opened.status, opened.cookie]).toEqual([404, ""]);
      for (const path of [`/${CRATE}`, `/download/${FILE}`, "/dataset"]) {
        const refused = await read(path, { token: dead }, { Range: "bytes=0-0" });
        expect([path, refused.status]).toEqual([path, 404]);
        bodies.add(refused.text);
      }
      const asked = await server.graphql("{ __typename }", {}, dead);
      expect(asked.text).toContain("NOT_FOUND");
    }
    expect(bodies.size).toBe(1);
    for (const path of [`/${CRATE}`, `/download/${FILE}`])
      expect([path, (await read(path, { cookie })).status]).toEqual([path, 404]);
    // The browser forgets it.
    const page = await read("/", { cookie }, PAGE);
    expect(page.headers.get("set-cookie")).toContain("Max-Age=0");
  });

  it("is made by those who may change the record, for what is reviewed, until a date", async () => {
    const make = (ark: string, token: string, json: object = {}) =>
      server.request("POST", `/review-links/${ark}`, { token, json });
    const [hidden, nothing] = [await make(CRATE, other!.token), await make(NOTHING, other!.token)];
    expect([hidden.status, hidden.text.replaceAll(CRATE, NOTHING)]).toEqual([404, nothing.text]);
    expect((await make(owner!.id, owner!.token)).status).toBe(422);
    for (const expiresAt of ["yesterday", "2020-01-01", "2999-01-01", 7])
      expect((await make(CRATE, owner!.token, { expiresAt })).status).toBe(422);
    const soon = new Date(Date.now() + DAY).toISOString();
    const { body } = await make(CRATE, owner!.token, { expiresAt: soon });
    expect(body).toMatchObject({ link: { expiresAt: soon } });
  });

  it("is not ended by publishing, and ends with its record", async () => {
    const ark = "ark:99999/review-published";
    const json = bodyOf("dataset", owner!.id, { "@id": ark });
    await server.request("POST", "/dataset?visibility=private", { token: owner!.token, json });
    const { secret: token } = await linkTo(ark);
    for (const publicationStatus of ["PUBLISHED", "ARCHIVED"]) {
      const json = { "@id": ark, publicationStatus };
      await server.request("PUT", "/publish", { token: owner!.token, json });
      expect((await read(`/${ark}`, { token })).status).toBe(200);
    }
    await server.request("DELETE", `/dataset/${ark}`, { token: owner!.token });
    const { status, text } = await read(`/${ark}`, { token });
    expect([status, text]).toEqual([404, expect.stringContaining("No review link")]);
  });

  it("limits guesses as it does sign-ins", async () => {
    const statuses = new Set<number>();
    for (let at = 0; at < 25; at++)
      statuses.add((await read(`/${CRATE}`, { token: `arkreview_${"B".repeat(43)}` })).status);
    expect(statuses).toContain(429);
    // Who has a link goes on.
    const { secret } = await linkTo(FILE);
    expect((await read(`/${FILE}`, { token: secret })).status).toBe(200);
  });
});
