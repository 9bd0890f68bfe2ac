/** Access tokens with few scopes, or bound to one record; the command line that makes them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { metadata } from "../support/crates.js";
import { useRegistry } from "../support/client-rig.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let root: Person;
beforeAll(async () => {
  server = await startServer({ WRITE_RATE: "off", SPARQL_TIMEOUT: "2s" });
  root = await server.person("root", { admin: true });
});
afterAll(() => server.stop());

async function tokenOf(person: Person, asked: object): Promise<string> {
  const { status, body, text } = await server.request<{ secret: string }>("POST", "/me/tokens", {
    token: person.token,
    json: { name: "t", ...asked },
  });
  if (status !== 200) throw new Error(text);
  return body.secret;
}

describe("a token of an administrator without the scope admin", () => {
  it("gives no right over records of others", async () => {
    const ann = await server.person("ann");
    const { body } = await server.request("POST", "/group", {
      token: ann.token,
      json: {
        "@type": "Organization",
        name: "G",
        description: "A group of ann.",
        owner: ann.id,
        members: [],
      },
    });
    const change = (token: string) =>
      server.request("PATCH", `/${body["@id"] as string}`, { token, json: { name: "H" } });
    expect((await change(await tokenOf(root, { scopes: ["write"] }))).status).toBe(403);
    expect((await change(await tokenOf(root, {}))).status).toBe(200);
  });
});

describe("a token that is bound to a group", () => {
  it("writes what the group owns, and nothing else", async () => {
    const bob = await server.person("bob");
    const make = async (path: string, token: string, fields: object) =>
      server.request("POST", path, {
        token,
        json: { name: "N", description: "A description of it.", ...fields },
      });
    const group = async () =>
      (await make("/group", bob.token, { "@type": "Organization", owner: bob.id, members: [] }))
        .body["@id"] as string;
    const [one, two] = [await group(), await group()];
    const token = await tokenOf(bob, { scopes: ["write"], boundTo: one });
    const dataset = (owner: string, by: string) =>
      make("/software", by, {
        owner,
        author: "A",
        dateModified: "2026-01-01",
        version: "1",
        format: "x",
      });
    const own = await dataset(one, token);
    expect(own.text).not.toContain('"code"');
    for (const other of [two, bob.id]) expect((await dataset(other, token)).status).toBe(403);
    const mine = (await dataset(bob.id, bob.token)).body["@id"] as string;
    const patch = (ark: string) =>
      server.request("PATCH", `/${ark}`, { token, json: { name: "M" } });
    expect((await patch(own.body["@id"] as string)).status).toBe(200);
    expect((await patch(one)).status).toBe(200);
    for (const other of [mine, two, bob.id]) expect((await patch(other)).status).toBe(403);
    const tokensOfBob = await server.request("GET", "/me/tokens", { token });
    expect(tokensOfBob.status).toBe(403);
    const { body } = await server.request<{ code: string }>("GET", "/rocrate/upload/status", {
      token,
    });
    expect(body.code).toBe("FORBIDDEN");
    const upload = new FormData();
    upload.set("file", new Blob(["{}"]), "ro-crate-metadata.json");
    expect(
      (await server.request("POST", "/rocrate/upload-async", { token, body: upload })).status,
    ).not.toBe(200);
  });

  it("is refused for a record that its maker may not change", async () => {
    const eve = await server.person("eve");
    const { status, text } = await server.request("POST", "/me/tokens", {
      token: eve.token,
      json: { name: "t", boundTo: root.id, scopes: ["everything"] },
    });
    expect([status, text]).toEqual([422, expect.stringContaining("the scopes are read, write")]);
  });
});

describe("a token that is bound to a crate", () => {
  it("updates that crate by upload, and no other", async () => {
    const cid = await server.person("cid");
    const upload = async (token: string, name: string, query = "", entities: object[] = []) => {
      const metadata = {
        "@context": "https://w3id.org/ro/crate/1.2/context",
        "@graph": [
          {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            conformsTo: { "@id": "https://w3id.org/ro/crate/1.2" },
            about: { "@id": "./" },
          },
          { "@id": "./", "@type": "Dataset", name, description: "A crate to test tokens with." },
          ...entities,
        ],
      };
      return server.request<{ "@id": string; code?: string; detail?: string }>(
        "POST",
        `/rocrate/metadata${query}`,
        { token, json: metadata },
      );
    };
    const first = await upload(cid.token, "first");
    expect(first.status, first.text).toBe(200);
    const second = await upload(cid.token, "second");
    const crate = first.body["@id"];
    const token = await tokenOf(cid, { scopes: ["write"], boundTo: crate });
    const changed = await upload(token, "changed");
    expect(changed.status, changed.text).toBe(200);
    expect(changed.body["@id"]).toBe(crate);
    const elsewhere = await upload(token, "changed", `?crate=${second.body["@id"]}`);
    expect([elsewhere.status, elsewhere.body.code]).toEqual([403, "FORBIDDEN"]);
    const outside = await upload(token, "changed", "", [
      { "@id": "ark:99999/apart-from-the-crate", "@type": "Dataset", name: "Apart" },
    ]);
    expect(outside.status === 200 || outside.text.includes("TOKEN_BOUND"), outside.text).toBe(true);
  });
});

describe("a bound token of somebody with private records", () => {
  it("sees those within what it is bound to, and no others", async () => {
    const dan = await server.person("dan");
    const create = async (path: string, fields: object) => {
      const { body, text } = await server.request("POST", path, {
        token: dan.token,
        json: { name: "N", description: "A description of it.", ...fields },
      });
      expect(body, text).toHaveProperty("@id");
      return body["@id"] as string;
    };
    const software = (owner: string) =>
      create("/software?visibility=private", {
        owner,
        author: "A",
        dateModified: "2026-01-01",
        version: "1",
        format: "x",
      });
    const group = await create("/group", {
      "@type": "Organization",
      owner: dan.id,
      members: [],
    });
    const { body } = await server.request("POST", "/rocrate/metadata?visibility=private", {
      token: dan.token,
      json: metadata([{ "@id": "#part", "@type": "Dataset", name: "Part of it" }], {
        hasPart: [{ "@id": "#part" }],
      }),
    });
    const crate = body["@id"] as string;
    const [own, ofGroup] = [await software(dan.id), await software(group)];
    const seen = (token: string) =>
      Promise.all(
        [own, ofGroup, crate].map(
          async (ark) => (await server.request("GET", `/${ark}`, { token })).status,
        ),
      );
    const listed = async (token: string) => {
      const { text } = await server.request("GET", "/software", { token });
      return [own, ofGroup].map((ark) => text.includes(ark));
    };
    expect(await seen(dan.token)).toEqual([200, 200, 200]);
    expect(await listed(dan.token)).toEqual([true, true]);
    const ofTheGroup = await tokenOf(dan, { scopes: ["write"], boundTo: group });
    expect(await seen(ofTheGroup)).toEqual([404, 200, 404]);
    expect(await listed(ofTheGroup)).toEqual([false, true]);
    const ofTheCrate = await tokenOf(dan, { scopes: ["write"], boundTo: crate });
    expect(await seen(ofTheCrate)).toEqual([404, 404, 200]);
    expect(await listed(ofTheCrate)).toEqual([false, false]);
    const { text } = await server.request("GET", `/rocrate/${crate}`, { token: ofTheCrate });
    expect(text).toContain("Part of it");
  });
});

describe("the command line", () => {
  const rig = useRegistry();
  it("makes tokens, lists and revokes them, and reports a missing scope", async () => {
    await rig.login();
    const { body } = await rig.server().request("POST", "/software", {
      token: rig.ada().token,
      json: {
        name: "N",
        description: "A description.",
        owner: rig.ada().id,
        author: "A",
        dateModified: "2026-01-01",
        version: "1",
        format: "x",
      },
    });
    const ark = body["@id"] as string;
    const made = await rig.tool(["token", "create", "reader", "--scope", "read"]);
    expect(made).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^arkgraph_[\w-]{43}\n$/),
    });
    const ARKGRAPH_TOKEN = made.stdout.trim();
    const read = (command: string) => rig.tool(command, undefined, { ARKGRAPH_TOKEN });
    expect((await read("whoami")).status).toBe(0);
    const refused = async (command: string) => {
      const { status, stderr } = await read(command);
      return [status, /this operation needs (\w+)/.exec(stderr)?.[1]];
    };
    expect(await refused(`withdraw ${ark}`)).toEqual([1, "write"]);
    expect(await refused(`publish ${ark}`)).toEqual([1, "publish"]);
    const { stdout } = await rig.tool(["token", "list"]);
    expect(stdout).toMatch(/^[\w-]{36}\treader\tread\t/);
    const id = stdout.split("\t")[0]!;
    expect((await rig.tool(["token", "revoke", id])).status).toBe(0);
    expect((await read("whoami")).status).toBe(1);
  });
});
