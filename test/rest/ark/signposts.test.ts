import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formatsOf } from "../../../src/services/formats/table.js";
import { startServer, type Answer, type Person, type TestServer } from "../../support/server.js";

/** Link header as relation → targets with their type. */
function linksOf(header: string): Map<string, { href: string; type?: string }[]> {
  const links = new Map<string, { href: string; type?: string }[]>();
  for (const [, href, rel, type] of header.matchAll(
    /<([^>]*)>; rel="([^"]*)"(?:; type="([^"]*)")?/g,
  ))
    links.set(rel!, [...(links.get(rel!) ?? []), type ? { href: href!, type } : { href: href! }]);
  return links;
}

describe("a record's signposts", () => {
  let server: TestServer;
  let ada: Person;
  let dataset: string;
  beforeAll(async () => {
    server = await startServer({ BACKLINK_LIMIT: "3" });
    ada = await server.person("Ada");
    const made = await server.request("POST", "/dataset", {
      token: ada.token,
      json: {
        "@type": "evi:Dataset",
        name: "Plate | 7 <b>&",
        description: "Images of </script><script>alert(1)</script>",
        owner: ada.id,
        author: "https://orcid.org/0000-0002-1825-0097",
        keywords: ["a", "b"],
      },
    });
    dataset = made.body["@id"] as string;
  });
  afterAll(() => server.stop());

  test("name the citation, the metadata in each form, type, licence, author and the link set", async () => {
    const { headers } = await server.request("HEAD", `/${dataset}`);
    const links = linksOf(headers.get("link")!);
    expect(links.get("cite-as")).toEqual([{ href: `${server.url}/${dataset}` }]);
    expect(links.get("describedby")!.map(({ type }) => type)).toEqual([
      "application/ld+json",
      "text/turtle",
      "application/n-quads",
      "application/vnd.datacite.datacite+xml",
    ]);
    expect(links.get("type")!.map(({ href }) => href)).toEqual([
      "https://schema.org/Dataset",
      "https://schema.org/AboutPage",
    ]);
    expect(links.get("license")).toEqual([
      { href: "https://creativecommons.org/licenses/by/4.0/" },
    ]);
    expect(links.get("author")).toEqual([{ href: "https://orcid.org/0000-0002-1825-0097" }]);
    expect(links.get("linkset")).toHaveLength(1);
    for (const { href, type } of links.get("describedby")!) {
      const answer = await fetch(href);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toContain(type!);
    }
  });

  test("are in the link set as well, with absolute anchors", async () => {
    const { body, headers } = await server.request<{
      linkset: { anchor: string; describes?: unknown }[];
    }>("GET", `/${dataset}?format=linkset`);
    expect(headers.get("content-type")).toBe("application/linkset+json");
    expect(body.linkset.map(({ anchor }) => anchor)).toEqual([
      `${server.url}/${dataset}`,
      ...formatsOf("dataset")
        // Croissant requires the name of an author.
        .filter(({ relation, name }) => relation !== undefined && name !== "croissant")
        .map(({ name }) => `${server.url}/${dataset}?format=${name}`),
    ]);
    expect(body.linkset.slice(1).every((context) => context.describes !== undefined)).toBe(true);
  });

  test.each(["?info", "?", "??"])(
    "%s returns the kernel metadata, one line an element",
    async (inflection) => {
      // fetch would drop a bare question mark: the target is written as it is.
      const { request } = await import("node:http");
      const { hostname, port } = new URL(server.url);
      const { text, headers } = await new Promise<{
        text: string;
        headers: Record<string, unknown>;
      }>((resolve, reject) => {
        request({ hostname, port, path: `/${dataset}${inflection}` }, (answer) => {
          let body = "";
          answer
            .setEncoding("utf8")
            .on("data", (chunk: string) => (body += chunk))
            .on("end", () => resolve({ text: body, headers: answer.headers }));
        })
          .on("error", reject)
          .end();
      });
      expect(headers["thump-status"]).toBe("0.6 200 OK");
      expect(text).toContain("erc:\nwho: (:unav)\nwhat: Plate %7C 7 <b>&\n");
      expect(text).toContain(`where: ${server.url}/${dataset}\n`);
      expect(text).toContain("erc-support:\n");
    },
  );

  test("are on the landing page, with all text of the record escaped", async () => {
    const { text, headers } = await server.request("GET", `/${dataset}`, {
      headers: { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" },
    });
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toContain("script-src 'self'");
    expect(text).toContain(`<link rel="cite-as" href="${server.url}/${dataset}"/>`);
    expect(text).toContain('<h1 dir="auto">Plate | 7 &lt;b>&amp;</h1>');
    expect(text).not.toContain("<script>alert(1)");
    const data = /<script type="application\/ld\+json">([\s\S]*?)<\/script>/.exec(text)![1]!;
    expect(JSON.parse(data)).toMatchObject({ "@id": dataset, name: "Plate | 7 <b>&" });
  });

  test("an unknown form is refused with the known ones", async () => {
    const { status, body } = await server.request<{ detail: { loc: unknown[]; msg: string }[] }>(
      "GET",
      `/${dataset}?format=xml`,
    );
    expect(status).toBe(422);
    expect(body.detail[0]!.loc).toEqual(["query", "format"]);
    expect(body.detail[0]!.msg).toContain("'turtle'");
  });

  test("lead on where derived lists were cut, until each entry was shown once", async () => {
    const made: string[] = [dataset];
    for (let index = 0; index < 7; index++) {
      const { body } = await server.request("POST", "/dataset", {
        token: ada.token,
        json: {
          "@type": "evi:Dataset",
          name: `d${index}`,
          description: "one of many",
          owner: ada.id,
        },
      });
      made.push(body["@id"] as string);
    }
    const seen: string[] = [];
    let path: string | undefined = `/user/${ada.id}`;
    let pages = 0;
    while (path !== undefined) {
      const answer: Answer = await server.request("GET", path);
      const datasets = answer.body["datasets"] as string[];
      expect(datasets.length).toBeLessThanOrEqual(3);
      seen.push(...datasets);
      path = linksOf(answer.headers.get("link")!).get("next")?.[0]!.href.slice(server.url.length);
      pages++;
    }
    expect(seen).toEqual(made);
    expect(pages).toBe(3);
    expect((await server.request("GET", `/user/${ada.id}?backlinks=nonsense`)).status).toBe(422);
  });
});
