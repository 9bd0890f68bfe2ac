import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { metadata } from "../support/crates.js";
import { startServer, type Answer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let [owner, member, reader, other, admin]: Person[] = [];
let group: string;

type Reader = Person | undefined;
type Request = Record<string, unknown> & { id: string };

const send = <T = Request>(method: string, path: string, who: Reader, json?: unknown) =>
  server.request<T>(method, path, {
    ...(who ? { token: who.token } : {}),
    ...(json === undefined ? {} : { json }),
  });
const ask = (record: string, who: Reader, reason = "To repeat it.") =>
  send("POST", "/access-requests", who, { record, reason });
const decide = (id: string, who: Reader, decision: object) =>
  send("PUT", `/access-requests/${id}`, who, decision);
const list = async (who: Reader, query = "") =>
  (await send<Request[]>("GET", `/access-requests${query}`, who)).body;
const bytesOf = async (ark: string, who: Reader) =>
  (await send("GET", `/datadownload/${ark}/download`, who)).status;
const verdict = ({ status, body }: Answer<Record<string, unknown>>) =>
  `${status} ${(body["code"] as string | undefined) ?? ""}`.trim();
const graphql = async (query: string, who: Reader, variables: object = {}) => {
  const { body } = await server.graphql<Record<string, unknown>>(query, variables, who?.token);
  return body.errors?.[0]?.extensions.code ?? body.data;
};

let count = 0;
/** A file with bytes, in a state. */
async function file(status?: string, query = ""): Promise<string> {
  const form = new FormData();
  const download = bodyOf("datadownload", group, { sha256: null, contentSize: null });
  form.set("download", JSON.stringify(download));
  form.set("file", new Blob([`bytes ${++count}`]), "bytes.txt");
  const { body } = await server.request<{ "@id": string }>("POST", `/register${query}`, {
    token: owner!.token,
    body: form,
  });
  const ark = body["@id"];
  if (status !== undefined)
    await send("PUT", "/publish", owner, { "@id": ark, publicationStatus: status });
  return ark;
}

beforeAll(async () => {
  server = await startServer({ ACCESS_ASK_AGAIN: "1h", MAX_ACCESS_REQUESTS: "3" });
  [owner, member, reader, other] = [
    await server.person("ada"),
    await server.person("bob"),
    await server.person("cyd"),
    await server.person("eve"),
  ];
  admin = await server.person("root", { admin: true });
  group = (
    await send<{ "@id": string }>(
      "POST",
      "/group",
      owner,
      bodyOf("group", owner.id, { members: [member.id] }),
    )
  ).body["@id"];
});
afterAll(async () => {
  expect(server.faults).toEqual([]);
  await server.stop();
});

describe("a request for access", () => {
  it("is seen by those who may change the record, and opens the content once it is granted", async () => {
    const ark = await file();
    expect(await bytesOf(ark, reader)).toBe(403);
    const asked = await ask(ark, reader, "  To repeat the segmentation.\r\nSoon.  ");
    expect(asked.status).toBe(200);
    expect(asked.headers.get("cache-control")).toBe("no-store");
    expect(asked.body).toEqual({
      id: asked.body.id,
      record: ark,
      requester: reader!.id,
      reason: "To repeat the segmentation.\nSoon.",
      state: "asked",
      askedAt: expect.any(String) as string,
      until: null,
      message: null,
      decidedAt: null,
      decidedBy: null,
    });
    for (const who of [owner, member]) expect(await list(who)).toEqual([asked.body]);
    for (const who of [reader, other, admin]) expect(await list(who)).toEqual([]);
    for (const who of [owner, member, admin])
      expect(await list(who, `?record=${ark}`)).toEqual([asked.body]);
    expect(await list(reader, "?made=true")).toEqual([asked.body]);
    expect(await list(other, "?made=true")).toEqual([]);
    expect(verdict(await send("GET", `/access-requests?record=${ark}`, reader))).toBe(
      "403 FORBIDDEN",
    );
    const granted = await decide(asked.body.id, member, { grant: true, message: "As agreed." });
    expect(granted.body).toMatchObject({
      state: "granted",
      until: null,
      message: "As agreed.",
      decidedBy: member!.id,
    });
    expect(await bytesOf(ark, reader)).toBe(200);
    expect(await bytesOf(ark, other)).toBe(403);
    expect(await bytesOf(ark, undefined)).toBe(401);
    const revoked = await decide(asked.body.id, owner, { grant: false });
    expect(revoked.body).toMatchObject({ state: "revoked", decidedBy: owner!.id, message: null });
    expect(await bytesOf(ark, reader)).toBe(403);
    expect((await decide(asked.body.id, owner, { grant: false })).body).toEqual(revoked.body);
    await decide(asked.body.id, admin, { grant: true });
    expect(await bytesOf(ark, reader)).toBe(200);
    await decide(asked.body.id, owner, { grant: false });
  });

  it("is the same over GraphQL", async () => {
    const ark = await file();
    const fields =
      "{ id state reason until message record { id } requester { id ... on Record { name } } " +
      "decidedBy { id } }";
    const made = (await graphql(
      `mutation ($i: RequestAccessInput!) { requestAccess(input: $i) { accessRequest ${fields} } }`,
      reader,
      { i: { record: ark, reason: "To repeat it." } },
    )) as { requestAccess: { accessRequest: Request } };
    const { id } = made.requestAccess.accessRequest;
    expect(made.requestAccess.accessRequest).toMatchObject({
      state: "ASKED",
      reason: "To repeat it.",
      record: { id: ark },
      requester: { id: reader!.id },
      decidedBy: null,
    });
    const page = (query: string, who: Reader) =>
      graphql(
        `{ accessRequests${query} { totalCount nodes { id } pageInfo { hasNextPage } } }`,
        who,
      );
    const one = { totalCount: 1, nodes: [{ id }], pageInfo: { hasNextPage: false } };
    const none = { ...one, totalCount: 0, nodes: [] };
    expect(await page("(state: ASKED)", owner)).toEqual({ accessRequests: one });
    expect(await page(`(record: "${ark}")`, admin)).toEqual({ accessRequests: one });
    expect(await page("(made: true, state: ASKED)", reader)).toEqual({ accessRequests: one });
    expect(await page("", reader)).toEqual({ accessRequests: none });
    expect(await page(`(record: "${ark}")`, reader)).toBe("FORBIDDEN");
    expect(await page("", undefined)).toBe("NOT_AUTHENTICATED");
    const node = `{ node(id: "${id}") { id ... on AccessRequest { state } } }`;
    for (const who of [owner, member, reader, admin])
      expect(await graphql(node, who)).toEqual({ node: { id, state: "ASKED" } });
    expect(await graphql(node, other)).toEqual({ node: null });
    const DECIDE =
      "mutation ($i: DecideAccessRequestInput!) { decideAccessRequest(input: $i) { accessRequest " +
      `${fields} } }`;
    expect(
      await graphql(DECIDE, owner, {
        i: { id, grant: true, until: "2099-01-31", message: "Yes." },
      }),
    ).toMatchObject({
      decideAccessRequest: {
        accessRequest: {
          state: "GRANTED",
          until: "2099-01-31T00:00:00.000Z",
          message: "Yes.",
          decidedBy: { id: owner!.id },
        },
      },
    });
    expect(await bytesOf(ark, reader)).toBe(200);
    expect(await graphql(DECIDE, reader, { i: { id, grant: true } })).toBe("FORBIDDEN");
    expect(await graphql(DECIDE, other, { i: { id, grant: false } })).toBe("NOT_FOUND");
    expect(await graphql(DECIDE, undefined, { i: { id, grant: true } })).toBe("NOT_AUTHENTICATED");
    await graphql(DECIDE, owner, { i: { id, grant: false } });
  });

  it("is refused where it is not needed, twice, and too soon after a refusal", async () => {
    const ark = await file("EMBARGOED");
    for (const who of [owner, member, admin])
      expect(verdict(await ask(ark, who))).toBe("409 ACCESS_NOT_NEEDED");
    const open = await ask(await file("PUBLISHED"), reader);
    expect(verdict(open)).toBe("409 ACCESS_NOT_NEEDED");
    expect(open.text).toContain("already");
    expect(verdict(await ask(ark, undefined))).toBe("401 NOT_AUTHENTICATED");
    const { id } = (await ask(ark, reader)).body;
    expect(verdict(await ask(ark, reader))).toBe("409 ACCESS_ASKED");
    const declined = await decide(id, owner, { grant: false, message: "Not before the paper." });
    expect(declined.body).toMatchObject({ state: "declined", message: "Not before the paper." });
    const soon = await ask(ark, reader);
    expect(verdict(soon)).toBe("429 TOO_MANY_REQUESTS");
    const wait = Number(soon.headers.get("retry-after"));
    expect(wait > 3500 && wait <= 3600).toBe(true);
    expect(soon.text).toContain("was declined: you may ask again after 20");
    // Those who may change it may think again at any time.
    await decide(id, owner, { grant: true });
    expect(verdict(await ask(ark, reader))).toBe("409 ACCESS_NOT_NEEDED");
  });

  it("is bounded for each account", async () => {
    const arks = [await file(), await file(), await file(), await file()];
    const ids: string[] = [];
    for (const ark of arks.slice(0, 3)) ids.push((await ask(ark, other)).body.id);
    const more = await ask(arks[3]!, other);
    expect(verdict(more)).toBe("429 TOO_MANY_REQUESTS");
    expect(more.text).toContain("MAX_ACCESS_REQUESTS");
    expect((await ask(arks[3]!, reader)).status).toBe(200);
    await decide(ids[0]!, owner, { grant: false });
    expect((await ask(arks[3]!, other)).status).toBe(200);
    const first = await send<Request[]>("GET", "/access-requests?made=true&limit=2", other);
    const next = /<[^>]*?(\/access-requests[^>]*)>; rel="next"/.exec(first.headers.get("link")!)!;
    const second = await send<Request[]>("GET", next[1]!, other);
    expect(second.headers.get("link")).toBeNull();
    const found = [...first.body, ...second.body].map(({ record }) => record);
    expect(found).toEqual([arks[3], arks[2], arks[1], arks[0]]);
    for (const { id } of await list(other, "?made=true")) await decide(id, owner, { grant: false });
    for (const { id } of await list(owner, "?state=asked"))
      await decide(id, owner, { grant: false });
  });

  it("does not say whether a private record exists", async () => {
    const hidden = await file(undefined, "?visibility=private");
    const nothing = hidden.replace(/.$/, (last) => (last === "x" ? "y" : "x"));
    for (const path of ["/access-requests", `/access-requests?record=`]) {
      const asked = async (ark: string) => {
        const { status, text } = await (path.includes("?")
          ? send("GET", path + ark, reader)
          : ask(ark, reader));
        return [status, text.replaceAll(ark, nothing)];
      };
      expect(await asked(hidden)).toEqual(await asked(nothing));
      expect((await asked(hidden))[0]).toBe(404);
    }
    expect(verdict(await ask(hidden, owner))).toBe("409 ACCESS_NOT_NEEDED");
  });

  it("is refused for what has no content, and for what was deleted", async () => {
    const dataset = (
      await send<{ "@id": string }>("POST", "/dataset", owner, bodyOf("dataset", group))
    ).body["@id"];
    expect(verdict(await ask(dataset, reader))).toBe("404 NOT_FOUND");
    for (const ark of [group, owner!.id]) expect((await ask(ark, reader)).status).toBe(422);
    const emptied = await file();
    await decide((await ask(emptied, reader)).body.id, owner, { grant: true });
    await send("DELETE", `/datadownload/${emptied}`, owner);
    expect(await bytesOf(emptied, reader)).toBe(410);
    const ark = "ark:99999/asked-crate";
    await send("POST", "/rocrate/metadata", owner, metadata([], { "@id": ark }));
    const { id } = (await ask(ark, reader)).body;
    await decide(id, owner, { grant: true });
    await send("DELETE", `/${ark}`, owner);
    expect(verdict(await ask(ark, reader))).toBe("410 GONE");
    expect(verdict(await decide(id, owner, { grant: true }))).toBe("404 NOT_FOUND");
    expect((await list(reader, "?made=true")).some(({ record }) => record === ark)).toBe(false);
  });

  it.each([
    ["no reason", { reason: undefined }, "reason"],
    ["an empty reason", { reason: "  " }, "reason"],
    ["a number as reason", { reason: 7 }, "reason"],
    ["a long reason", { reason: "a".repeat(2001) }, "reason"],
    ["a control character", { reason: "a\0b" }, "reason"],
    ["half a character", { reason: "a\ud800" }, "reason"],
    ["no record", { record: undefined }, "record"],
    ["a number as record", { record: 7 }, "record"],
  ])("with %s is refused with what is wrong", async (_, more, field) => {
    const body = { record: await file(), reason: "To repeat it.", ...more };
    const { status, text } = await send("POST", "/access-requests", reader, body);
    expect([status, text]).toEqual([422, expect.stringContaining(`"${field}"`)]);
  });

  it.each([
    ["nothing", {}, "grant"],
    ["a text", { grant: "yes" }, "grant"],
    ["a time that is none", { grant: true, until: "tomorrow" }, "until"],
    ["a time that has passed", { grant: true, until: "2020-01-01" }, "until"],
    ["a number as time", { grant: true, until: 7 }, "until"],
    ["a long message", { grant: true, message: "a".repeat(2001) }, "message"],
  ])("is not decided by %s", async (_, decision, field) => {
    const ark = await file();
    const { id } = (await ask(ark, reader)).body;
    const { status, text } = await decide(id, owner, decision);
    expect([status, text]).toEqual([422, expect.stringContaining(`"${field}"`)]);
    expect(await bytesOf(ark, reader)).toBe(403);
    await decide(id, owner, { grant: false });
  });

  it("stays with a record that is handed over, and its new owner decides", async () => {
    const ark = await file();
    const { id } = (await ask(ark, reader)).body;
    await decide(id, owner, { grant: true });
    await send("POST", "/records/transfer", admin, { ids: [ark], owner: other!.id });
    expect(await bytesOf(ark, reader)).toBe(200);
    expect((await list(owner)).some((request) => request.id === id)).toBe(false);
    expect((await list(other)).map((request) => request.id)).toContain(id);
    expect(verdict(await decide(id, owner, { grant: false }))).toBe("404 NOT_FOUND");
    await decide(id, other, { grant: false });
    expect(await bytesOf(ark, reader)).toBe(403);
  });

  it("ends with the account of the one who asked", async () => {
    const guest = await server.person("guest");
    const ark = await file();
    const { id } = (await ask(ark, guest)).body;
    await decide(id, owner, { grant: true });
    await send("DELETE", `/user/${guest.id}`, guest);
    expect(await list(owner, `?record=${ark}`)).toEqual([]);
    expect(verdict(await decide(id, owner, { grant: true }))).toBe("404 NOT_FOUND");
  });

  it("needs the scope write to be made or decided, and gives a bound token nothing", async () => {
    const ark = await file();
    const { id } = (await ask(ark, reader)).body;
    const token = async (who: Reader, more: object) => {
      const made = await send<{ secret: string }>("POST", "/me/tokens", who, {
        name: "test",
        ...more,
      });
      return { ...who!, token: made.body.secret };
    };
    const reading = await token(reader, { scopes: ["read"] });
    expect(verdict(await ask(ark, reading))).toBe("403 INSUFFICIENT_SCOPE");
    expect((await list(reading, "?made=true")).map((request) => request.id)).toContain(id);
    const ownerReads = await token(owner, { scopes: ["read"] });
    expect(verdict(await decide(id, ownerReads, { grant: true }))).toBe("403 INSUFFICIENT_SCOPE");
    const own = (
      await send<{ "@id": string }>("POST", "/group", reader, bodyOf("group", reader!.id))
    ).body["@id"];
    const bound = await token(reader, { boundTo: own });
    expect(verdict(await ask(ark, bound))).toBe("403 FORBIDDEN");
    expect(verdict(await send("GET", "/access-requests?made=true", bound))).toBe("403 FORBIDDEN");
    const ofGroup = await token(owner, { boundTo: group });
    expect((await decide(id, ofGroup, { grant: true })).status).toBe(200);
    expect(await bytesOf(ark, reading)).toBe(200);
    expect(await bytesOf(ark, bound)).toBe(403);
    const elsewhere = await token(other, { boundTo: undefined });
    expect(verdict(await decide(id, elsewhere, { grant: false }))).toBe("404 NOT_FOUND");
  });
});
