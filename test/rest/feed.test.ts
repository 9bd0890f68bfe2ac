/** The Atom feed of newest records. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
let bob: Person;

async function dataset(of: Person, name: string, status: string | null): Promise<string> {
  const { body } = await server.request("POST", "/dataset", {
    token: of.token,
    json: bodyOf("dataset", of.id, { name, keywords: ["R&D", "cells"] }),
  });
  if (status !== null)
    await server.request("PUT", "/publish", {
      token: of.token,
      json: { "@id": body["@id"], publicationStatus: status },
    });
  return body["@id"] as string;
}

const EMPTY = "/feed?kind=software";
const updatedOf = (text: string): string => /<updated>(.*)<\/updated>/.exec(text)![1]!;

let first: string;
let before: string;
beforeAll(async () => {
  server = await startServer();
  before = (await server.request("GET", EMPTY)).text;
  [ada, bob] = [await server.person("ada"), await server.person("bob")];
  first = await dataset(ada, "Counts <of> zebrafish & others", "PUBLISHED");
  await dataset(ada, "Draft", null);
  await dataset(bob, "Images of mice", "PUBLISHED");
});
afterAll(async () => {
  expect(server.faults).toEqual([]);
  await server.stop();
});

const titles = (text: string): string[] =>
  [...text.matchAll(/<entry>\n(?:.*\n)*?<title>(.*)<\/title>/g)].map(([, title]) => title!);

describe("the feed", () => {
  it("lists what is public, the last change first", async () => {
    const { status, headers, text } = await server.request("GET", "/feed");
    expect([status, headers.get("content-type")]).toEqual([
      200,
      "application/atom+xml; charset=utf-8",
    ]);
    expect(titles(text)).toEqual(["Images of mice", "Counts &lt;of&gt; zebrafish &amp; others"]);
    expect(text).toContain(`<id>${first}</id>`);
    expect(text).toContain(`href="${server.url}/${first}"`);
    expect(text).toContain('<category term="R&amp;D"/>');
  });

  it("follows an owner, a keyword and a search", async () => {
    const of = async (query: string) =>
      titles((await server.request("GET", `/feed?${query}`)).text);
    expect(await of(`owner=${bob.id}`)).toEqual(["Images of mice"]);
    expect(await of("text=zebrafish")).toHaveLength(1);
    expect(await of("keyword=cells&text=mouse")).toEqual(["Images of mice"]);
    expect(await of("kind=software")).toEqual([]);
    expect((await server.request("GET", "/feed?kind=none")).status).toBe(422);
  });

  it("has a title of its own for each owner, search, keyword and kind", async () => {
    const of = async (query: string) =>
      /<title>(.*)<\/title>/.exec((await server.request("GET", `/feed${query}`)).text)![1];
    expect(await of("")).toBe("Newest records · Arkgraph");
    expect(await of(`?owner=${bob.id}`)).toBe("Records of bob · Arkgraph");
    expect(await of("?owner=ark:99999/nobody")).toBe("Records of ark:99999/nobody · Arkgraph");
    expect(await of(`?crate=${first}`)).toBe(
      "Records in Counts &lt;of&gt; zebrafish &amp; others · Arkgraph",
    );
    expect(await of("?text=cells&keyword=R%26D&kind=dataset,rocrate")).toBe(
      "Search for “cells” · Keyword “R&amp;D” · Dataset, ROCrate · Arkgraph",
    );
  });

  it("names no draft and no private or deleted record in its title", async () => {
    const { body } = await server.request("POST", "/dataset?visibility=private", {
      token: ada.token,
      json: bodyOf("dataset", ada.id, { name: "Osmium" }),
    });
    const id = body["@id"] as string;
    const { text } = await server.request("GET", `/feed?crate=${id}`, { token: ada.token });
    expect(text).toContain(`<title>Records in ${id} · Arkgraph</title>`);
    expect(text).not.toContain("Osmium");
    const draft = await dataset(ada, "Draft counts", "DRAFT");
    expect((await server.request("GET", `/feed?crate=${draft}`)).text).toContain(
      `<title>Records in ${draft} · Arkgraph</title>`,
    );
    const gone = await dataset(ada, "Withdrawn counts", "PUBLISHED");
    await server.request("DELETE", `/dataset/${gone}`, {
      token: ada.token,
      json: { reason: "Wrong." },
    });
    expect((await server.request("GET", `/feed?crate=${gone}`)).text).toContain(
      `<title>Records in ${gone} · Arkgraph</title>`,
    );
  });

  it("refuses a parameter that it does not know, with the known ones", async () => {
    const { status, body } = await server.request("GET", "/feed?q=cells");
    expect([status, body["detail"]]).toEqual([
      422,
      [
        {
          loc: ["query", "q"],
          msg: "Extra inputs are not permitted; known are text, kind, keyword, owner, project, crate",
          type: "extra_forbidden",
        },
      ],
    ]);
  });

  it("began with the first public record where it is empty, and today where there is none", async () => {
    expect(updatedOf(before)).toMatch(/^2\d{3}-\d\d-\d\dT00:00:00\.000Z$/);
    const published = /<published>(.*)<\/published>/;
    const listed = (await server.request("GET", `/feed?owner=${ada.id}`)).text;
    const empty = await server.request("GET", EMPTY);
    expect(updatedOf(empty.text)).toBe(published.exec(listed)![1]);
    expect((await server.request("GET", EMPTY)).headers.get("etag")).toBe(
      empty.headers.get("etag"),
    );
  });

  it("is not sent again to a reader that has it", async () => {
    const { headers } = await server.request("GET", "/feed");
    const etag = headers.get("etag")!;
    const again = await server.request("GET", "/feed", { headers: { "If-None-Match": etag } });
    expect([again.status, again.text]).toEqual([304, ""]);
  });

  it("is named by the pages that list the same", async () => {
    const page = async (path: string) =>
      (await server.request("GET", path, { headers: { Accept: "text/html" } })).text;
    const named = (query: string) =>
      `<link rel="alternate" type="application/atom+xml" href="/feed${query}"`;
    expect(await page("/")).toContain(named(""));
    expect(await page("/search?q=zebrafish&kind=dataset")).toContain(
      named("?text=zebrafish&amp;kind=dataset"),
    );
    expect(await page(`/${bob.id}`)).toContain(named(`?owner=${encodeURIComponent(bob.id)}`));
  });
});
