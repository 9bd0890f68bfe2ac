import { Parser, type Quad } from "n3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OAI_FORMATS } from "../../../src/services/harvest/oai.js";
import { bodyOf } from "../../support/bodies.js";
import { storeContent } from "../../support/content.js";
import { LiveRegistry } from "../../support/live-registry.js";
import type { Json, User } from "../../support/registry-client.js";

const STATUSES = ["draft", "open", "embargoed", "archived", "withdrawn", "gone"] as const;
type Name = (typeof STATUSES)[number];
const DCAT = "http://www.w3.org/ns/dcat#";
const VOID = "http://rdfs.org/ns/void#";

let registry: LiveRegistry;
let ada: User;
const ids = {} as Record<Name, string>;

const publish = (id: string, publicationStatus: string, more: Json = {}): Promise<void> =>
  registry.publish(id, ada.token, publicationStatus, more);

beforeAll(async () => {
  registry = await LiveRegistry.start({ OAI_PAGE_SIZE: "2", CATALOG_PAGE_SIZE: "2" });
  ada = await registry.user("Ada");
  for (const name of STATUSES) {
    const { body } = await registry.ask("/dataset", {
      token: ada.token,
      body: bodyOf("dataset", ada.ark, { name: `The ${name} one`, format: "text/plain" }),
    });
    ids[name] = body["@id"] as string;
    const [record] = await registry.deps.records.findMany([ids[name]]);
    await storeContent(registry.deps, record!, `content of the ${name} one`);
    if (name !== "draft") await publish(ids[name], "PUBLISHED");
  }
  await publish(ids.embargoed, "EMBARGOED", { embargoedUntil: "2999-12-31" });
  await publish(ids.archived, "ARCHIVED");
}, 600_000);
afterAll(() => registry?.stop());

/** What each feed says of the records of this test. */
interface Feeds {
  sitemap: string[];
  catalogue: Quad[];
  /** Headers and metadata of OAI-PMH by identifier, in the order of {@link OAI_FORMATS}. */
  oai: Map<string, string>[];
  /** Datasets that VoID counts. */
  counted: number;
}

async function read(): Promise<Feeds> {
  const text = async (path: string): Promise<string> => {
    const answer = await registry.ask(path);
    expect(answer.status, answer.text).toBe(200);
    return answer.text;
  };
  const index = await text("/sitemap.xml");
  const sitemap: string[] = [];
  for (const [, page] of index.matchAll(/<loc>([^<]*)<\/loc>/g)) {
    const { pathname, search } = new URL(page!);
    for (const [, url] of (await text(pathname + search)).matchAll(/<loc>([^<]*)<\/loc>/g))
      sitemap.push(url!);
  }
  const catalogue: Quad[] = [];
  for (let path: string | undefined = "/catalog"; path !== undefined;) {
    const answer = await registry.ask(path);
    expect(answer.status).toBe(200);
    catalogue.push(...new Parser().parse(answer.text));
    path = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
  }
  const oai: Map<string, string>[] = [];
  for (const { prefix } of OAI_FORMATS) {
    const found = new Map<string, string>();
    let query: string | undefined = `metadataPrefix=${prefix}`;
    while (query !== undefined) {
      const page = await text(`/oai?verb=ListRecords&${query}`);
      for (const [record] of page.matchAll(/<record>.*?<\/record>/gs))
        found.set(/<identifier>([^<]*)</.exec(record)![1]!, record);
      const token = /<resumptionToken[^>]*>([^<]+)</.exec(page)?.[1];
      query = token === undefined ? undefined : `resumptionToken=${encodeURIComponent(token)}`;
    }
    oai.push(found);
  }
  const quads = new Parser().parse(await text("/.well-known/void"));
  const counted = quads.find(
    ({ subject, predicate }) =>
      subject.value.endsWith("#records-dataset") && predicate.value === `${VOID}entities`,
  );
  return { sitemap, catalogue, oai, counted: Number(counted?.object.value ?? 0) };
}
const urlOf = (ark: string): string => `${registry.url}/${ark}`;
/** Objects of a record in the catalogue. */
const stated = ({ catalogue }: Feeds, ark: string, predicate: string): string[] =>
  catalogue
    .filter((quad) => quad.subject.value === urlOf(ark) && quad.predicate.value === predicate)
    .map(({ object }) => object.value);
const isListed = (feeds: Feeds, ark: string): boolean[] => [
  feeds.sitemap.includes(urlOf(ark)),
  stated(feeds, ark, "http://purl.org/dc/terms/title").length > 0,
  ...feeds.oai.map((records) => records.get(ark)?.includes("<metadata>") ?? false),
];
const ALL = [true, true, true, true];
const NONE = [false, false, false, false];

describe("every feed", () => {
  it("has open, embargoed and archived records with their metadata, and no draft", async () => {
    const feeds = await read();
    for (const name of ["open", "embargoed", "archived", "withdrawn", "gone"] as const)
      expect(isListed(feeds, ids[name]), name).toEqual(ALL);
    expect(isListed(feeds, ids.draft)).toEqual(NONE);
    for (const records of feeds.oai) expect(records.has(ids.draft)).toBe(false);
    expect(feeds.counted).toBe(5);
  });

  it("states the access right, and gives content of open records only", async () => {
    const feeds = await read();
    const files = (name: Name): string[] => stated(feeds, ids[name], `${DCAT}distribution`);
    expect(files("open")).toHaveLength(1);
    for (const [name, right] of [
      ["open", "open access"],
      ["embargoed", "embargoed access"],
      ["archived", "metadata only access"],
    ] as const) {
      for (const records of feeds.oai) {
        const record = records.get(ids[name])!;
        expect(record).toContain(`>${right}<`);
        expect(record).not.toContain("/download");
      }
      expect(stated(feeds, ids[name], "http://purl.org/dc/terms/accessRights")).toHaveLength(1);
      if (name !== "open") expect(files(name)).toEqual([]);
      const text = [...feeds.oai.map((records) => records.get(ids[name])), ...feeds.sitemap].join();
      expect(text).not.toContain(`content of the ${name} one`);
      const content = await fetch(`${registry.url}/dataset/download/${ids[name]}`);
      await content.arrayBuffer();
      expect(content.status === 200, name).toBe(name === "open");
    }
  });

  it("loses what is withdrawn or deleted; OAI-PMH has both as deletions", async () => {
    await publish(ids.withdrawn, "DRAFT");
    const removed = await registry.ask(`/${ids.gone}`, { method: "DELETE", token: ada.token });
    expect(removed.status).toBe(200);
    const feeds = await read();
    for (const name of ["withdrawn", "gone"] as const) {
      expect(isListed(feeds, ids[name]), name).toEqual(NONE);
      for (const records of feeds.oai)
        expect(records.get(ids[name]), name).toContain('<header status="deleted">');
    }
    expect(feeds.counted).toBe(3);
  });
});
