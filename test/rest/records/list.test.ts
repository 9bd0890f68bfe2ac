import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/model/field.js";
import { WRITABLE, bodyOf } from "../../support/bodies.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
let bob: Person;
const made: Record<string, string[]> = {};
beforeAll(async () => {
  server = await startServer();
  [ada, bob] = await Promise.all([server.person("ada"), server.person("bob")]);
  for (const kind of WRITABLE) {
    made[kind] = [];
    for (let round = 0; round < 5; round++) {
      const who = round % 2 === 0 ? ada : bob;
      const answer = await server.request("POST", `/${kind}`, {
        token: who.token,
        json: bodyOf(kind, who.id, {
          name: `Name ${9 - round}`,
          keywords: round < 2 ? ["Early", "b"] : ["late"],
        }),
      });
      made[kind].push(String(answer.body["@id"]));
    }
    await server.request("DELETE", `/${kind}/${made[kind].pop()}`, { token: ada.token });
  }
});
afterAll(() => server.stop());
const list = (path: string, token?: string) =>
  server.request<JsonObject[]>("GET", path, token === undefined ? {} : { token });
const ids = (answer: { body: JsonObject[] }) => answer.body.map((record) => record["@id"]);

/** Follows rel="next" to the end. */
async function pages(path: string): Promise<{ ids: unknown[]; count: number }> {
  const found: unknown[] = [];
  for (let next: string | undefined = path, count = 1; ; count++) {
    const answer = await list(next);
    expect([answer.status, answer.headers.get("x-total-count")]).toEqual([200, "4"]);
    found.push(...ids(answer));
    const link = answer.headers.get("link");
    if (link === null) return { ids: found, count };
    const [, url] = /^<([^>]+)>; rel="next"$/.exec(link)!;
    expect(url!.startsWith(server.url)).toBe(true);
    next = url!.slice(server.url.length);
  }
}

describe.each(WRITABLE)("GET /%s", (kind) => {
  it("returns every live record whole, oldest first", async () => {
    const answer = await list(`/${kind}`);
    expect(ids(answer)).toEqual(made[kind]);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.body[0]).toEqual(
      (await server.request("GET", `/${kind}/${made[kind]![0]}`)).body,
    );
    expect((await server.request("HEAD", `/${kind}`)).status).toBe(200);
  });
  it("is paged by key: each record once, in every order", async () => {
    expect(await pages(`/${kind}?limit=1`)).toEqual({ ids: made[kind], count: 4 });
    expect(await pages(`/${kind}?limit=3&order=-created`)).toEqual({
      ids: made[kind]!.toReversed(),
      count: 2,
    });
    expect((await pages(`/${kind}?order=name&limit=3`)).ids).toEqual(made[kind]!.toReversed());
    expect(await pages(`/api/${kind}/?limit=1000`)).toEqual({ ids: made[kind], count: 1 });
  });
  it("is filtered by name, owner in any spelling, and keyword", async () => {
    const [first, second, third, fourth] = made[kind]!;
    expect(ids(await list(`/${kind}?name=${encodeURIComponent("AME 8")}`))).toEqual([second]);
    expect(ids(await list(`/${kind}?owner=${bob.id}`))).toEqual([second, fourth]);
    expect(
      ids(await list(`/${kind}?owner=https://n2t.net/ark:/99999/user${bob.id.slice(-3)}`)),
    ).toEqual([second, fourth]);
    expect(ids(await list(`/${kind}?keyword=EARLY`))).toEqual([first, second]);
    expect(ids(await list(`/${kind}?keyword=late&owner=${ada.id}&name=7`))).toEqual([third]);
    expect(ids(await list(`/${kind}?name=nothing`))).toEqual([]);
    expect((await list(`/${kind}?limit=1&owner=${bob.id}`)).headers.get("x-total-count")).toBe("2");
  });
  it.each([
    "limit=0",
    "limit=1001",
    "limit=x",
    "limit=1.5",
    "limit=",
    "order=size",
    "owner=Ada",
    "name=%00",
    "limit=-1",
  ])("refuses ?%s at its place", async (query) => {
    const answer = await server.request<{ detail: { loc: string[] }[] }>(
      "GET",
      `/${kind}?${query}`,
    );
    expect([answer.status, answer.body.detail[0]!.loc]).toEqual([
      422,
      ["query", query.split("=")[0]],
    ]);
  });
  it("refuses an invalid cursor", async () =>
    expect((await list(`/${kind}?cursor=nonsense`)).status).toBe(400));
});

it("an empty result is an empty list", async () =>
  expect((await list("/rocrate")).text).toBe("[]"));
it("a list longer than a page of the store is streamed whole", async () => {
  const other = await startServer();
  try {
    const eve = await other.person("eve");
    for (let batch = 0; batch < 9; batch++)
      await Promise.all(
        Array.from({ length: 50 }, () =>
          other.request("POST", "/software", {
            token: eve.token,
            json: bodyOf("software", eve.id),
          }),
        ),
      );
    const answer = await other.request<JsonObject[]>("GET", "/software");
    expect(new Set(answer.body.map((record) => record["@id"])).size).toBe(450);
    expect(
      (await other.request<JsonObject[]>("GET", "/software?limit=449")).headers.get("link"),
    ).toContain("next");
  } finally {
    await other.stop();
  }
});
