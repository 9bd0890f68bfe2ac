import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Cite } from "@citation-js/core";
import "@citation-js/plugin-bibtex";
import "@citation-js/plugin-ris";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { XML_DECLARATION } from "../../src/model/markup.js";
import {
  bibtexText,
  citationText,
  cslItem,
  risText,
} from "../../src/services/formats/citations.js";
import { plainLine } from "../../src/model/texts.js";
import { dataciteXml } from "../../src/services/formats/datacite.js";
import { dublinCoreXml } from "../../src/services/formats/dublin-core.js";
import { factsOf, type RecordFacts } from "../../src/services/formats/facts.js";
import { INDEXED } from "../../src/services/formats/schema-org.js";
import { type RecordView, viewOf } from "../../src/services/records/view.js";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { crate, type Entity, realCrates } from "../support/crates.js";
import { describedEntity } from "../support/described-records.js";
import type { Json } from "../support/registry-client.js";
import { LiveRegistry } from "../support/live-registry.js";
import { askTools, maySkip, toolsMissing } from "../support/servers/judges.js";
import { sharedData } from "../support/shared-data.js";

const XSD = sharedData("judges/datacite-4.7/metadata.xsd");
const MADE = 300;
const TYPES = ["Dataset", "SoftwareSourceCode", "evi:MLModel", "bioschemas:Sample"];

let registry: LiveRegistry;
let folder: string;
let all: { view: RecordView; facts: RecordFacts }[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-citations-"));
  registry = await LiveRegistry.start();
  const { token } = await registry.user("Ada");
  const entities = Array.from({ length: MADE }, (_, index): Entity => ({
    "@id": `ark:99999/made-${index}`,
    "@type": TYPES[index % TYPES.length]!,
    ...describedEntity(index),
  }));
  const submission = await registry.take(
    await crate(entities, {}, { hasPart: entities.map((entity) => ({ "@id": entity["@id"]! })) }),
    token,
  );
  expect(submission).toMatchObject({ status: "finished" });
  const { deps } = registry;
  await registry.publish(submission["rocrateIdentifier"] as string, token);
  const arks = entities.map((one) => one["@id"] as string);
  // The records of others are read with those that are made here and those of the demo.
  for (const archive of [await buildDemoCrate(), ...(await realCrates()).values()]) {
    const { rocrateIdentifier: root } = await registry.take(archive, token);
    await registry.publish(root as string, token);
    const { body } = await registry.ask(`/records?crate=${root as string}&limit=100`, { token });
    arks.push(root as string, ...(body as unknown as Json[]).map((one) => one["@id"] as string));
  }
  all = [];
  for (const record of await deps.records.findMany([...new Set(arks)])) {
    const view = await viewOf(deps, record!, null);
    all.push({ view, facts: await factsOf(deps, view) });
  }
  expect(all.length).toBeGreaterThan(MADE + 20);
}, 600_000);
afterAll(async () => {
  await registry?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A text as a format of lines holds it. */
const line = (text: string): string => text.toWellFormed().replace(/\s+/g, " ").trim();
const lint = async (files: readonly string[], ...options: string[]): Promise<void> => {
  await promisify(execFile)("xmllint", ["--noout", "--nonet", ...options, ...files], {
    maxBuffer: 2 ** 24,
  });
};

describe.skipIf(!XSD)("xmllint", () => {
  it("accepts the DataCite XML of 300 records and real crates by the schema of DataCite 4.7", async () => {
    const files: string[] = [];
    for (const [index, { view }] of all.entries()) {
      const file = join(folder, `datacite-${index}.xml`);
      await writeFile(file, XML_DECLARATION + (await dataciteXml(registry.deps, view)));
      files.push(file);
    }
    await lint(files, "--schema", XSD!);
    // The judge does refuse what is wrong.
    const wrong = join(folder, "wrong.xml");
    await writeFile(
      wrong,
      (await dataciteXml(registry.deps, all[0]!.view)).replace("creators", "x"),
    );
    await expect(lint([wrong], "--schema", XSD!)).rejects.toThrow(/x/);
  }, 60_000);

  it("reads the Dublin Core of 300 records and real crates", async () => {
    const files: string[] = [];
    for (const [index, { view }] of all.entries()) {
      const file = join(folder, `dc-${index}.xml`);
      await writeFile(file, XML_DECLARATION + (await dublinCoreXml(registry.deps, view)));
      files.push(file);
    }
    await lint(files);
  }, 60_000);
});

/** Kinds whose pages have a schema.org document. */
const LISTED = new Set<string>(INDEXED);

describe.skipIf(maySkip && toolsMissing("formats-judges"))("extruct and rdflib", () => {
  it("read the pages and the Turtle of made records, of the demo and of real crates", async () => {
    const addresses = all.map(({ view }) => `${registry.url}/${view.record.ark}`);
    const read: Record<string, Json> = await askTools(
      "read_pages.py",
      { pages: addresses },
      "formats-judges",
    );
    for (const [index, { view }] of all.entries()) {
      const { schemaOrg, openGraph, turtle } = read[addresses[index]!]!;
      const { ark, kind, name } = view.record;
      expect(openGraph, ark).toContainEqual(["og:title", expect.any(String)]);
      expect(turtle.length, ark).toBeGreaterThan(2);
      if (!LISTED.has(kind)) continue;
      expect(schemaOrg, ark).toMatchObject({ "@context": { "@vocab": "https://schema.org/" } });
      if (name !== null) expect(schemaOrg.name, ark).toBe(plainLine(name));
    }
    expect(all.filter(({ view }) => LISTED.has(view.record.kind)).length).toBeGreaterThan(150);
  }, 600_000);
});

describe.skipIf(maySkip && toolsMissing("croissant-judge"))("mlcroissant", () => {
  it("finds no error and no warning in the Croissant documents of made datasets", async () => {
    const documents = Object.fromEntries(
      all
        .filter(
          ({ facts: { record, description, licence, creators } }) =>
            record.kind === "dataset" &&
            description !== null &&
            licence !== null &&
            creators.length > 0,
        )
        .map(({ facts: { ark } }) => [ark, `${registry.url}/${ark}?format=croissant`]),
    );
    expect(Object.keys(documents).length).toBeGreaterThan(20);
    const read = await askTools<Record<string, { errors: string[]; warnings: string[] }>>(
      "read-croissant.py",
      { documents },
      "croissant-judge",
    );
    for (const [ark, { errors, warnings }] of Object.entries(read))
      expect([ark, errors, warnings]).toEqual([ark, [], []]);
  }, 600_000);
});

describe.skipIf(maySkip && toolsMissing("formats-judges"))("reference managers", () => {
  it("bibtexparser and rispy read the citations of 300 records and real crates as they were stated", async () => {
    const { deps } = registry;
    const index = {
      bibtex: await Promise.all(all.map(({ view }) => bibtexText(deps, view))),
      ris: await Promise.all(all.map(({ view }) => risText(deps, view))),
    };
    interface Read {
      bibtex: Record<string, unknown>[];
      ris: Record<string, unknown>[];
    }
    const read = await askTools<Read>("read-citations.py", index, "formats-judges");
    for (const [at, { facts }] of all.entries()) {
      const bibtex = read.bibtex[at]!;
      expect(bibtex["failed"], index.bibtex[at]).toBeUndefined();
      expect(bibtex["type"]).toBe("misc");
      expect(bibtex["year"]).toBe(facts.year);
      const people = facts.creators.filter(({ family, given }) => family && given);
      const authors = bibtex["author"] as { family: string; given: string }[];
      expect(authors).toHaveLength(facts.creators.length);
      expect(authors.filter(({ given }) => given !== "")).toEqual(
        people.map(({ family, given }) => ({ family, given })),
      );
      const ris = read.ris[at]!;
      expect(ris["title"], index.ris[at]).toBe(line(facts.title));
      expect(ris["year"]).toBe(facts.year);
      expect(ris["authors"] ?? []).toEqual(
        facts.creators.map(({ name, family, given }) =>
          line(family && given ? `${family}, ${given}` : name),
        ),
      );
    }
  }, 600_000);
});

describe("citation-js", () => {
  it("reads BibTeX, RIS and CSL-JSON of 300 records and real crates as one reference each", async () => {
    const { deps } = registry;
    for (const { view, facts } of all) {
      const csl = await cslItem(deps, view);
      for (const [text, style] of [
        [await bibtexText(deps, view), "@bibtex/text"],
        [await risText(deps, view), "@ris/file"],
        [JSON.stringify(csl), "@csl/object"],
      ] as const) {
        const { data } = new Cite(style === "@csl/object" ? JSON.parse(text) : text);
        expect(data, text).toHaveLength(1);
        const [reference] = data as [Record<string, unknown>];
        expect(reference["issued"], text).toMatchObject({
          "date-parts": [expect.arrayContaining([Number(facts.year)])],
        });
        if (style !== "@bibtex/text") expect(reference["title"], text).toBe(line(facts.title));
        expect((reference["author"] as unknown[] | undefined) ?? [], text).toHaveLength(
          facts.creators.length,
        );
      }
    }
  }, 600_000);

  it("the sentence names authors, year, title, publisher and address", async () => {
    for (const { view, facts } of all) {
      const sentence = await citationText(registry.deps, view);
      expect(sentence).toMatch(/^[^\n]+\n$/);
      for (const part of [
        `(${facts.year}).`,
        line(facts.title.replace(/\.+$/, "")),
        line(facts.publisher.name),
        facts.doi ?? facts.url,
      ])
        expect(sentence).toContain(part);
    }
  });
});
