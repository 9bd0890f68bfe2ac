import jsonld from "jsonld";
import { Parser, type Quad } from "n3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDemoCrate } from "../../../cli/demo/crate.js";
import { bodyOf } from "../../support/bodies.js";
import { LiveRegistry } from "../../support/live-registry.js";
import type { Json, User } from "../../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
const ids = {} as Record<
  "draft" | "open" | "embargoed" | "archived" | "withdrawn" | "gone",
  string
>;
let crate: string;

const publish = (id: string, publicationStatus: string, more: Json = {}): Promise<void> =>
  registry.publish(id, ada.token, publicationStatus, more);
beforeAll(async () => {
  registry = await LiveRegistry.start({
    CATALOG_PAGE_SIZE: "2",
    CONTACT_EMAIL: "data@example.org",
  });
  ada = await registry.user("Ada");
  for (const name of ["draft", "open", "embargoed", "archived", "withdrawn", "gone"] as const) {
    const { body } = await registry.ask("/dataset", {
      token: ada.token,
      body: bodyOf("dataset", ada.ark, {
        name: `The ${name} one & <more>`,
        author: "Grace Example",
        license: "https://creativecommons.org/licenses/by/4.0/",
      }),
    });
    ids[name] = body["@id"] as string;
    if (name !== "draft") await publish(ids[name], "PUBLISHED");
  }
  await publish(ids.embargoed, "EMBARGOED", { embargoedUntil: "2999-12-31" });
  await publish(ids.archived, "ARCHIVED");
  await publish(ids.withdrawn, "DRAFT");
  await registry.ask(`/${ids.gone}`, { method: "DELETE", token: ada.token });
  crate = (await registry.take(await buildDemoCrate(), ada.token))["rocrateIdentifier"] as string;
  const { body } = await registry.ask(`/records?crate=${crate}&limit=1000`);
  for (const record of [{ "@id": crate }, ...(body as unknown as Json[])])
    if (record["@id"] !== crate) await publish(record["@id"] as string, "PUBLISHED");
  await publish(crate, "PUBLISHED");
}, 600_000);
afterAll(() => registry?.stop());
const urlOf = (ark: string): string => `${registry.url}/${ark}`;

describe("sitemaps", () => {
  const entries = (text: string): string[] =>
    [...text.matchAll(/<loc>([^<]*)<\/loc><lastmod>([^<]*)<\/lastmod>/g)].map(([, url, time]) => {
      expect(new Date(time!).toISOString()).toBe(time);
      return url!;
    });

  it("are named by robots.txt, and list public records only", async () => {
    const robots = (await registry.ask("/robots.txt")).text;
    expect(robots).toContain(`\nSitemap: ${registry.url}/sitemap.xml\n`);
    const index = await registry.ask("/sitemap.xml");
    expect([index.status, index.headers.get("content-type")]).toEqual([
      200,
      "application/xml; charset=utf-8",
    ]);
    expect(entries(index.text)).toEqual([`${registry.url}/sitemap.xml?page=1`]);
    const { text, headers } = await registry.ask("/sitemap.xml?page=1");
    expect(headers.get("content-type")).toBe("application/xml; charset=utf-8");
    expect(text).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<urlset xmlns="http:\/\/www.sitemaps.org\/schemas\/sitemap\/0.9">\n/,
    );
    expect(text.endsWith("</urlset>\n")).toBe(true);
    const listed = entries(text);
    for (const name of ["open", "embargoed", "archived"] as const)
      expect(listed).toContain(urlOf(ids[name]));
    for (const ark of [ids.draft, ids.withdrawn, ids.gone, ada.ark])
      expect(listed).not.toContain(urlOf(ark));
    expect(listed).toContain(urlOf(crate));
    // Each address answers without a token.
    for (const url of listed.slice(0, 10)) expect((await fetch(url)).status, url).toBe(200);
  });

  it("refuse pages that are none", async () => {
    for (const page of ["2", "999999999"])
      expect((await registry.ask(`/sitemap.xml?page=${page}`)).status).toBe(404);
    for (const page of ["0", "-1", "1.5", "x", "", "9999999999", "1e3"])
      expect((await registry.ask(`/sitemap.xml?page=${page}`)).status, page).toBe(422);
    const empty = await LiveRegistry.start();
    try {
      const { text, status } = await empty.ask("/sitemap.xml");
      expect([status, entries(text)]).toEqual([200, []]);
      expect((await empty.ask("/sitemap.xml?page=1")).status).toBe(404);
    } finally {
      await empty.stop();
    }
  });
});

const DCAT = "http://www.w3.org/ns/dcat#";
const DCTERMS = "http://purl.org/dc/terms/";
const RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const triples = (turtle: string): Quad[] => new Parser().parse(turtle);
const objects = (quads: readonly Quad[], subject: string, predicate: string): string[] =>
  quads
    .filter((quad) => quad.subject.value === subject && quad.predicate.value === predicate)
    .map(({ object }) => object.value);
const instances = (quads: readonly Quad[], type: string): string[] =>
  quads
    .filter(({ predicate, object }) => predicate.value === RDF_TYPE && object.value === type)
    .map(({ subject }) => subject.value);

/** Triples without the labels of blank nodes. */
const shape = (quads: readonly Quad[]): string[] =>
  quads
    .map(({ subject, predicate, object }) =>
      [subject, predicate, object]
        .map((term) => (term.termType === "BlankNode" ? "_" : `${term.termType} ${term.value}`))
        .join(" | "),
    )
    .toSorted();

describe("the catalogue", () => {
  const catalog = async (): Promise<{ quads: Quad[]; pages: number }> => {
    const quads: Quad[] = [];
    let pages = 0;
    for (let path: string | undefined = "/catalog"; path !== undefined; pages++) {
      const { status, text, headers } = await registry.ask(path);
      expect(status, text).toBe(200);
      const page = triples(text);
      quads.push(...page);
      expect(instances(page, `${DCAT}Dataset`).length).toBeLessThanOrEqual(2);
      path = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
      const next = page.filter(({ predicate }) => predicate.value.endsWith("hydra/core#next"));
      expect(next.map(({ object }) => object.value)).toEqual(path === undefined ? [] : [path]);
    }
    return { quads, pages };
  };

  it("has every public dataset and crate in pages, with its access right", async () => {
    const { quads, pages } = await catalog();
    expect(pages).toBeGreaterThan(2);
    const datasets = new Set(instances(quads, `${DCAT}Dataset`));
    for (const name of ["open", "embargoed", "archived"] as const)
      expect(datasets).toContain(urlOf(ids[name]));
    for (const name of ["draft", "withdrawn", "gone"] as const)
      expect(datasets).not.toContain(urlOf(ids[name]));
    expect(datasets).toContain(urlOf(crate));
    expect(new Set(objects(quads, `${registry.url}/catalog`, `${DCAT}dataset`))).toEqual(datasets);
    const right = (ark: string) =>
      objects(quads, urlOf(ark), `${DCTERMS}accessRights`)[0]!.split("/").at(-1);
    expect([right(ids.open), right(ids.embargoed), right(ids.archived)]).toEqual([
      "PUBLIC",
      "RESTRICTED",
      "NON_PUBLIC",
    ]);
    expect(objects(quads, urlOf(ids.embargoed), `${DCTERMS}available`)).toEqual(["2999-12-31"]);
    expect(objects(quads, urlOf(ids.open), `${DCTERMS}title`)[0]).toBe("The open one & <more>");
    const [creator] = objects(quads, urlOf(ids.open), `${DCTERMS}creator`);
    expect(objects(quads, creator!, "http://xmlns.com/foaf/0.1/name")[0]).toBe("Grace Example");
  });

  it("describes the services, and the files that anyone may read", async () => {
    const { quads } = await catalog();
    const services = new Set(objects(quads, `${registry.url}/catalog`, `${DCAT}service`));
    const endpoints = [...services].map((one) => objects(quads, one, `${DCAT}endpointURL`)[0]);
    expect(endpoints.toSorted()).toEqual(
      ["/", "/graphql", "/sparql"].map((path) => registry.url + path),
    );
    const distributions = [...new Set(instances(quads, `${DCAT}Distribution`))];
    expect(distributions.length).toBeGreaterThan(3);
    for (const one of distributions) {
      const [url] = objects(quads, one, `${DCAT}downloadURL`);
      const answer = await fetch(url!);
      const bytes = await answer.arrayBuffer();
      expect(answer.status, url).toBe(200);
      expect(objects(quads, one, `${DCAT}byteSize`)[0]).toBe(String(bytes.byteLength));
    }
    for (const name of ["embargoed", "archived"] as const)
      expect(objects(quads, urlOf(ids[name]), `${DCAT}distribution`)).toEqual([]);
    // Content that becomes closed loses its distribution.
    const [held] = distributions.map((one) =>
      one.replace(/#.*$/, "").slice(registry.url.length + 1),
    );
    await publish(held!, "ARCHIVED");
    const after = (await catalog()).quads;
    expect(instances(after, `${DCAT}Distribution`)).not.toContain(`${urlOf(held!)}#distribution`);
    await publish(held!, "PUBLISHED");
  });

  it("says the same in each form, by Accept and by ?format=", async () => {
    const turtle = await registry.ask("/catalog");
    expect(turtle.headers.get("content-type")).toBe("text/turtle; charset=utf-8");
    const expected = shape(triples(turtle.text));
    expect(expected.length).toBeGreaterThan(20);
    for (const [name, type, read] of [
      ["turtle", "text/turtle", async (text: string) => triples(text)],
      ["ntriples", "application/n-triples", async (text: string) => triples(text)],
      [
        "jsonld",
        "application/ld+json",
        async (text: string) =>
          triples(
            (await jsonld.toRDF(JSON.parse(text), {
              format: "application/n-quads",
            })) as unknown as string,
          ),
      ],
    ] as const)
      for (const asked of [
        await registry.ask("/catalog", { headers: { Accept: type } }),
        await registry.ask(`/catalog?format=${name}`),
      ]) {
        expect(asked.headers.get("content-type")?.split(";")[0]).toBe(type);
        expect(shape(await read(asked.text)), name).toEqual(expected);
      }
    // test/judges/harvest.slow.test.ts reads this form.
    const xml = await registry.ask("/catalog?format=rdfxml");
    expect(xml.headers.get("content-type")).toBe("application/rdf+xml");
    expect(xml.text).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<rdf:RDF xmlns:rdf=/);
    const next = (await registry.ask("/catalog?format=jsonld")).headers.get("link");
    expect(next).toContain("format=jsonld");
  });

  it("refuses other forms and positions of other lists", async () => {
    expect((await registry.ask("/catalog", { headers: { Accept: "image/png" } })).status).toBe(406);
    expect((await registry.ask("/catalog?format=csv")).status).toBe(422);
    const records = await registry.ask("/records?limit=1");
    const foreign = /cursor=([^>&]+)/.exec(records.headers.get("link") ?? "")![1]!;
    for (const cursor of ["x", "", "' OR 1", foreign, "9".repeat(2000)])
      expect(
        (await registry.ask(`/catalog?cursor=${encodeURIComponent(cursor)}`)).status,
        cursor,
      ).toBe(400);
    expect((await registry.ask("/catalog?cursor=%00")).status).toBe(422);
  });
});

describe("well-known descriptions", () => {
  it("VoID counts the published records by class", async () => {
    const { status, text, headers } = await registry.ask("/.well-known/void");
    expect([status, headers.get("content-type")]).toEqual([200, "text/turtle; charset=utf-8"]);
    const quads = triples(text);
    const VOID = "http://rdfs.org/ns/void#";
    const dataset = `${registry.url}/#records`;
    expect(objects(quads, dataset, `${VOID}sparqlEndpoint`)).toEqual([`${registry.url}/sparql`]);
    const parts = objects(quads, dataset, `${VOID}classPartition`);
    const counts = parts.map((part) => Number(objects(quads, part, `${VOID}entities`)[0]));
    expect(objects(quads, dataset, `${VOID}entities`)).toEqual([
      String(counts.reduce((sum, count) => sum + count)),
    ]);
    const { headers: listed } = await registry.ask(
      "/records?kind=rocrate&status=PUBLISHED&limit=1",
    );
    const crates = parts.find((part) => part.endsWith("-rocrate"))!;
    expect(objects(quads, crates, `${VOID}entities`)).toEqual([listed.get("x-total-count")]);
    expect((await registry.ask("/.well-known/void?format=jsonld")).body["@graph"]).toBeDefined();
  });

  it("the catalogue of interfaces names addresses that answer", async () => {
    const { status, headers, body } = await registry.ask("/.well-known/api-catalog");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe(
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    );
    expect(headers.get("link")).toContain('rel="api-catalog"');
    const [own, ...others] = body["linkset"] as Json[];
    expect(own!["anchor"]).toBe(`${registry.url}/.well-known/api-catalog`);
    expect((own!["item"] as Json[]).map(({ href }) => href)).toEqual(
      others.map(({ anchor }) => anchor),
    );
    for (const { anchor: _anchor, ...relations } of others)
      for (const { href, type } of Object.values(relations).flat() as Json[]) {
        const answer = await fetch(href as string, { headers: { Accept: type as string } });
        await answer.arrayBuffer();
        expect([answer.status, answer.headers.get("content-type")?.split(";")[0]], href).toEqual([
          200,
          type,
        ]);
      }
    const head = await registry.ask("/.well-known/api-catalog", { method: "HEAD" });
    expect([head.status, head.headers.get("link")]).toEqual([200, headers.get("link")]);
  });
});
