import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { arkKey } from "../../src/identifiers/ark.js";
import { OAI_FORMATS } from "../../src/services/harvest/oai.js";
import type { RecordWrite } from "../../src/storage/records/port.js";
import { bodyOf } from "../support/bodies.js";
import { realCrates } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { User } from "../support/registry-client.js";
import { askTools, maySkip, toolsMissing } from "../support/servers/judges.js";
import { sharedData } from "../support/shared-data.js";
import { pagesOf } from "../../src/services/records/pages.js";

const DCAT_AP = sharedData("judges/dcat-ap-3.0.1");
const DATACITE = sharedData("judges/datacite-4.7");
const SHAPES = ["dcat-ap-SHACL.ttl", "ranges.ttl"].map((name) => join(DCAT_AP ?? "", name));
const skipsHarvesters = toolsMissing("harvest-judges") && maySkip;
const skipsShapes = !DCAT_AP || (toolsMissing() && maySkip);
const OAI_SCHEMAS = join(process.env["TEST_SERVERS"] ?? "", "oai-schemas");
const SCHEMAS = {
  answer: join(OAI_SCHEMAS, "OAI-PMH.xsd"),
  oai_dc: join(OAI_SCHEMAS, "oai_dc.xsd"),
  oai_datacite: join(DATACITE ?? "", "metadata.xsd"),
};
const skipsSchemas = Object.values(SCHEMAS).some((file) => !existsSync(file)) && maySkip;
/** Records that are made here, beside those of the crates: the varied ones differ in twelve ways. */
const MADE = 400;
/** The first of them are as the API takes them, so that it can change them. */
const CHANGING = 100;

type Harvested = [
  identifier: string,
  deleted: boolean,
  datestamp: string,
  titles: string[] | null,
][];

describe("the tools of other harvesters", () => {
  let registry: LiveRegistry;
  let ada: User;
  let crate: string;
  const arks = Array.from({ length: MADE }, (_, i) => `ark:99999/made-${i}`);

  beforeAll(async () => {
    registry = await LiveRegistry.start({ OAI_PAGE_SIZE: "40", CATALOG_PAGE_SIZE: "60" });
    ada = await registry.user("Ada");
    // The records of others are in the feeds too.
    for (const archive of [...(await realCrates()).values(), await buildDemoCrate()]) {
      crate = (await registry.take(archive, ada.token))["rocrateIdentifier"] as string;
      const { body } = await registry.ask(`/records?crate=${crate}&limit=1000`);
      const members = (body as unknown as { "@id": string }[]).map((record) => record["@id"]);
      for (const ark of new Set([crate, ...members])) await registry.publish(ark, ada.token);
    }
    // Through the API one by one they would take minutes; the documents are those of the API.
    const { body: like } = await registry.ask("/dataset", {
      token: ada.token,
      body: bodyOf("dataset", ada.ark),
    });
    const { deps } = registry;
    const quads = "";
    for (let start = 0; start < MADE; start += 100)
      await deps.records.commit({
        by: ada.ark,
        at: Date.now(),
        records: arks.slice(start, start + 100).map((ark, index): RecordWrite => {
          const number = start + index;
          const document = {
            ...like,
            "@id": ark,
            name: `Made ${number} <&>`,
            ...(number < CHANGING ? {} : varied(number)),
          };
          return {
            op: "create",
            ark,
            key: arkKey(ark),
            kind: "dataset",
            name: document.name,
            owner: ada.ark,
            document: new TextEncoder().encode(JSON.stringify(document)),
            quads,
            links: [],
            text: { name: document.name, description: "", keywords: "", other: "" },
            keywords: [],
            publicationStatus: (["PUBLISHED", "EMBARGOED", "ARCHIVED"] as const)[number % 3]!,
          };
        }),
      });
  }, 300_000);
  afterAll(() => registry?.stop());

  function ask<T>(index: object): Promise<T> {
    return askTools<T>("harvest.py", index, "harvest-judges");
  }
  const harvest = (tool: string, args: Record<string, string> = {}): Promise<Harvested> =>
    ask({
      task: "harvest",
      url: `${registry.url}/oai`,
      tool,
      arguments: { metadataPrefix: "oai_dc", ...args },
    });
  const change = async (ark: string, name: string): Promise<void> => {
    const { body } = await registry.ask(`/${ark}`);
    const { status, text } = await registry.ask(`/${ark}`, {
      method: "PUT",
      token: ada.token,
      body: { ...body, name },
    });
    expect(status, text).toBe(200);
  };
  const remove = async (ark: string): Promise<void> => {
    expect((await registry.ask(`/${ark}`, { method: "DELETE", token: ada.token })).status).toBe(
      200,
    );
  };

  it.skipIf(skipsHarvesters)("read formats and sets", async () => {
    const found = await ask<Record<"name" | "formats" | "sets", [unknown, unknown]>>({
      task: "describe",
      url: `${registry.url}/oai`,
    });
    for (const [one, other] of Object.values(found)) expect(one).toEqual(other);
    expect(found.formats[0]).toEqual(OAI_FORMATS.map(({ prefix }) => prefix));
    expect(found.sets[0]).toContain(`crate.${crate.slice("ark:".length).replace("/", ".")}`);
  });

  it.skipIf(skipsHarvesters)(
    "harvest everything, then what changed and what was deleted, while records are written",
    async () => {
      const before = new Set((await harvest("sickle")).map(([identifier]) => identifier));
      expect(before.size).toBeGreaterThan(MADE + 15);
      expect([...before]).toEqual(expect.arrayContaining([crate, ...arks]));
      let since = new Date().toISOString().replace(/\.\d+Z$/, "Z");
      for (const [round, tool] of ["sickle", "scythe", "sickle", "scythe"].entries()) {
        const begun = new Date().toISOString().replace(/\.\d+Z$/, "Z");
        const { prefix } = OAI_FORMATS.at(round < 2 ? 0 : -1)!;
        // The first two harvest everything while records change; the others what changed since.
        const harvesting = harvest(tool, {
          metadataPrefix: prefix,
          ...(round < 2 ? {} : { from: since }),
        });
        const changed = arks.slice(round * 20, round * 20 + 10);
        const removed = arks.slice(round * 20 + 10, round * 20 + 15);
        for (const ark of changed) await change(ark, `Changed in round ${round}`);
        for (const ark of removed) await remove(ark);
        const during = await harvesting;
        if (round < 2) expect(new Set(during.map(([identifier]) => identifier))).toEqual(before);
        // Whatever the harvest saw of these writes, the next one from its beginning has them all.
        const next = await harvest(tool, { from: begun });
        const last = new Map(next.map((record) => [record[0], record]));
        for (const ark of changed) {
          expect(last.get(ark)?.slice(0, 2), ark).toEqual([ark, false]);
          expect(last.get(ark)![3]).toEqual([`Changed in round ${round}`]);
        }
        for (const ark of removed) expect(last.get(ark)?.slice(0, 2), ark).toEqual([ark, true]);
        since = begun;
      }
    },
    600_000,
  );

  it.skipIf(skipsSchemas)(
    "accept every answer of OAI-PMH by its schemas, and the metadata by those of its formats",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "arkgraph-oai-"));
      try {
        const files: Record<"answer" | "oai_dc" | "oai_datacite", string[]> = {
          answer: [],
          oai_dc: [],
          oai_datacite: [],
        };
        const put = async (kind: keyof typeof files, text: string): Promise<void> => {
          const file = join(folder, `${kind}-${files[kind].length}.xml`);
          await writeFile(file, text);
          files[kind].push(file);
        };
        const seen = new Set<string>();
        /** All pages of an answer; the codes of errors are collected. */
        const take = async (query: string): Promise<string[]> => {
          const pages: string[] = [];
          for (let next: string | undefined = query; next !== undefined;) {
            const { text } = await registry.ask(`/oai?${next}`);
            await put("answer", text);
            pages.push(text);
            for (const [, code] of text.matchAll(/<error code="(\w+)"/g)) seen.add(code!);
            const token = /<resumptionToken[^>]*>([^<]+)</.exec(text)?.[1];
            const verb: string = /verb=(\w+)/.exec(next)![1]!;
            next =
              token === undefined
                ? undefined
                : `verb=${verb}&resumptionToken=${encodeURIComponent(token)}`;
          }
          return pages;
        };
        const one = `identifier=${encodeURIComponent(arks[0]!)}`;
        for (const query of [
          "verb=Identify",
          "verb=ListMetadataFormats",
          `verb=ListMetadataFormats&${one}`,
          "verb=ListSets",
          "verb=ListIdentifiers&metadataPrefix=oai_dc",
          `verb=GetRecord&metadataPrefix=oai_dc&${one}`,
          "verb=Nothing",
          "verb=GetRecord",
          "verb=GetRecord&metadataPrefix=oai_dc&identifier=ark:99999/nothing",
          `verb=GetRecord&metadataPrefix=marc21&${one}`,
          "verb=ListRecords&metadataPrefix=oai_dc&until=2001-01-01",
          "verb=ListRecords&resumptionToken=nothing",
        ])
          await take(query);
        expect([...seen].toSorted()).toEqual([
          "badArgument",
          "badResumptionToken",
          "badVerb",
          "cannotDisseminateFormat",
          "idDoesNotExist",
          "noRecordsMatch",
        ]);
        for (const { prefix } of OAI_FORMATS) {
          const kind = prefix as "oai_dc" | "oai_datacite";
          const element =
            kind === "oai_dc" ? /<oai_dc:dc .*?<\/oai_dc:dc>/gs : /<resource .*?<\/resource>/gs;
          const pages = await take(`verb=ListRecords&metadataPrefix=${prefix}`);
          expect(pages.join("")).toContain('<header status="deleted">');
          for (const page of pages)
            for (const [metadata] of page.matchAll(element)) await put(kind, metadata);
          expect(files[kind].length).toBeGreaterThan(MADE - CHANGING);
        }
        await accepts(SCHEMAS.answer, files.answer);
        await accepts(SCHEMAS.oai_dc, files.oai_dc);
        await accepts(SCHEMAS.oai_datacite, files.oai_datacite);
        // The schemas do refuse what is wrong.
        await put(
          "answer",
          (await registry.ask("/oai?verb=Identify")).text.replace("persistent", "x"),
        );
        await expect(accepts(SCHEMAS.answer, [files.answer.at(-1)!])).rejects.toThrow(/'x'/);
        await put(
          "oai_dc",
          (await readFile(files.oai_dc[0]!, "utf8")).replaceAll("dc:title", "dc:x"),
        );
        await expect(accepts(SCHEMAS.oai_dc, [files.oai_dc.at(-1)!])).rejects.toThrow(/}x/);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    300_000,
  );

  it.skipIf(skipsHarvesters)(
    "find each public page in the sitemap that robots.txt names",
    async () => {
      const { pages, broken } = await ask<{ pages: [string, string][]; broken: string[] }>({
        task: "sitemap",
        url: `${registry.url}/`,
      });
      expect(broken).toEqual([]);
      const live: string[] = [];
      for await (const page of pagesOf(registry.deps.records, { filter: {} }, { limit: 500 }))
        live.push(
          ...page
            .filter(
              ({ kind, publicationStatus }) => kind !== "user" && publicationStatus !== "DRAFT",
            )
            .map(({ ark }) => `${registry.url}/${encodeURI(ark)}`),
        );
      expect(pages.map(([url]) => url).toSorted()).toEqual(live.toSorted());
    },
  );

  it.skipIf(skipsShapes)(
    "find no violation of the shapes of DCAT-AP in the catalogue",
    async () => {
      const triples = new Set<unknown>();
      for (const [type, format] of [
        ["text/turtle", "turtle"],
        ["application/rdf+xml", "xml"],
        ["application/ld+json", "json-ld"],
      ] as const) {
        const documents: string[] = [];
        for (let path: string | undefined = "/catalog"; path !== undefined;) {
          const { status, text, headers } = await registry.ask(path, { headers: { Accept: type } });
          expect(status, text.slice(0, 300)).toBe(200);
          documents.push(text);
          path = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
        }
        expect(documents.length).toBeGreaterThan(5);
        const verdict = await askTools<{ results: string[][]; [name: string]: unknown }>(
          "catalog-verdict.py",
          { shapes: SHAPES, documents, format },
        );
        expect(verdict.results.slice(0, 10)).toEqual([]);
        expect(verdict).toMatchObject({ dangling: 5, Catalog: 1, DataService: 3 });
        expect(verdict["Dataset"]).toBeGreaterThan(MADE - CHANGING);
        expect(verdict["Distribution"]).toBeGreaterThan(3);
        triples.add(verdict["triples"]);
      }
      // The forms say the same.
      expect(triples.size).toBe(1);
    },
    600_000,
  );

  it.skipIf(skipsShapes)(
    "find what is wrong with a catalogue, so that silence means something",
    async () => {
      const document = (await registry.ask("/catalog")).text
        .replace(/dcterms:title "Made \d+ <&>";/g, "")
        .replace(/ a dcat:DataService;/, "");
      const verdict = await askTools<{ results: string[][] }>("catalog-verdict.py", {
        shapes: SHAPES,
        documents: [document],
      });
      expect(verdict.results.map(([, , path]) => path)).toEqual(
        expect.arrayContaining([
          "http://purl.org/dc/terms/title",
          "http://www.w3.org/ns/dcat#service",
        ]),
      );
    },
  );
});

/** Where the schemas name files on other hosts, xmllint reads those here. */
const CATALOG = `<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">
<uri name="http://dublincore.org/schemas/xmls/simpledc20021212.xsd" uri="file://${OAI_SCHEMAS}/simpledc20021212.xsd"/>
<uri name="http://www.w3.org/2001/03/xml.xsd" uri="file://${DATACITE}/include/xml.xsd"/>
</catalog>
`;

/** @throws Error with the findings of xmllint where a document is not valid */
async function accepts(schema: string, documents: readonly string[]): Promise<void> {
  const catalog = join(dirname(documents[0]!), "catalog.xml");
  await writeFile(catalog, CATALOG);
  await promisify(execFile)("xmllint", ["--noout", "--nonet", "--schema", schema, ...documents], {
    maxBuffer: 2 ** 24,
    env: { ...process.env, XML_CATALOG_FILES: catalog },
  });
}

/** Values that people write, right and wrong. */
function varied(number: number): Record<string, unknown> {
  const dates = ["2024-05-01", "2024-05", "2024", "May 2024", "2024-05-01T10:00:00+02:00", ""];
  return {
    datePublished: dates[number % dates.length],
    keywords: [[], ["a", "b"], "one", ["é", "é"]][number % 4],
    license: [
      "https://creativecommons.org/licenses/by/4.0/",
      "CC-BY-4.0",
      "http://exa mple.org/<licence>",
      null,
    ][number % 4],
    author: [["Ada Example"], "https://orcid.org/0000-0001-2345-6789", [], ["ark:99999/nobody"]][
      number % 4
    ],
    contentUrl: [null, "https://example.org/data.csv", "https://example.org/ü?a=b|c", "ftp://x"][
      number % 4
    ],
    encodingFormat: ["text/csv", "CSV", ["text/csv", "image/png"]][number % 3],
    description: [undefined, "Text with \u0001 control, <b>markup</b> and \u{1F600}."][number % 2],
    version: [1, "1.0", null][number % 3],
  };
}
