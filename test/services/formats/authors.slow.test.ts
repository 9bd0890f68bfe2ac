import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatsOf } from "../../../src/services/formats/table.js";
import { crate, type Entity } from "../../support/crates.js";
import { LiveRegistry } from "../../support/live-registry.js";
import type { Json, User } from "../../support/registry-client.js";
import { sharedData } from "../../support/shared-data.js";

let registry: LiveRegistry;
let cora: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  cora = await registry.user("Corpus");
});
afterAll(() => registry?.stop());

/** Uploads a crate and returns its identifier. */
async function taken(entities: Entity[], root: Entity = {}): Promise<string> {
  const answer = await registry.take(await crate(entities, {}, root), cora.token);
  return answer["rocrateIdentifier"] as string;
}
/** Sends a metadata file of the cases, and publishes its record. */
async function sent(metadata: string): Promise<string> {
  const { body, text, status } = await registry.ask("/rocrate/metadata", {
    token: cora.token,
    body: readFileSync(metadata, "utf8"),
    headers: { "Content-Type": "application/ld+json" },
  });
  expect(status, text).toBe(200);
  const ark = body["@id"] as string;
  await registry.publish(ark, cora.token);
  return ark;
}
const read = async (ark: string, format: string): Promise<string> =>
  (await registry.ask(`/${ark}?format=${format}`)).text;
/** The names of the authors in DataCite's terms: every format has the same. */
async function authors(ark: string): Promise<string[]> {
  const { creators } = JSON.parse(await read(ark, "datacitejson")) as Json;
  return (creators as { name: string }[]).map(({ name }) => name);
}

const FORMATS = [
  "citation",
  "bibtex",
  "ris",
  "csl",
  "datacite",
  "datacitejson",
  "dublincore",
  "schemaorg",
  "d4d",
  "datasheet",
];
/** Everything that is said to people and harvesters about a record. */
async function everywhere(ark: string): Promise<Record<string, string>> {
  const said: Record<string, string> = {};
  for (const format of FORMATS) said[format] = await read(ark, format);
  said["page"] = (await registry.ask(`/${ark}`, { headers: { Accept: "text/html" } })).text;
  said["kernel"] = (await registry.ask(`/${ark}?info`)).text;
  for (const prefix of ["oai_dc", "oai_datacite"])
    said[prefix] = (
      await registry.ask(
        `/oai?verb=GetRecord&metadataPrefix=${prefix}&identifier=${encodeURIComponent(ark)}`,
      )
    ).text;
  return said;
}

const person = (id: string, name: string): Entity => ({ "@id": id, "@type": "Person", name });
const to = (id: string): Entity => ({ "@id": id });

describe("who is cited as author of a crate", () => {
  it("is not who uploaded it: a record of nobody has DataCite's (:unav)", async () => {
    const ark = await taken([], { name: "Unsigned data" });
    await registry.publish(ark, cora.token);
    expect(await authors(ark)).toEqual(["(:unav)"]);
    expect(await read(ark, "citation")).toMatch(/^Unsigned data \[Data set\]\. \(2024\)\. /);
    for (const [format, text] of Object.entries(await everywhere(ark)))
      if (format !== "page")
        expect([format, text]).not.toEqual([format, expect.stringContaining("Corpus")]);
    const page = (await everywhere(ark))["page"]!;
    expect(page).toContain("owned by");
    expect(page).not.toMatch(/> *by *<a/);
    expect((await registry.ask(`/${ark}?info`)).text).toContain("who: (:unav)");
    expect((await registry.ask(`/${ark}?format=croissant`)).status).toBe(422);
  });

  it("is nobody in every other format, in the catalogue, in headers and in the head of the page", async () => {
    const ark = await taken([], { name: "Unsigned data as well" });
    await registry.publish(ark, cora.token);
    const said: Record<string, string> = {};
    for (const { name, isBinary } of formatsOf("rocrate"))
      if (!isBinary && name !== "html") said[name] = await read(ark, name);
    const page = await registry.ask(`/${ark}`, { headers: { Accept: "text/html" } });
    said["head"] = /<head>[^]*?<\/head>/.exec(page.text)![0];
    said["headers"] = JSON.stringify([...page.headers]);
    said["catalog"] = (await registry.ask("/catalog")).text;
    expect(Object.keys(said).length).toBeGreaterThan(20);
    for (const [format, text] of Object.entries(said))
      expect([format, text]).not.toEqual([format, expect.stringContaining("Corpus")]);
    expect(said["catalog"]).toContain("Unsigned data as well");
  });

  const wanda = person("#wanda", "Wanda Workflow");
  const ella = person("#ella", "Ella Example");
  const file = (author?: Entity): Entity => ({
    "@id": "https://example.org/data.csv",
    "@type": "File",
    name: "Data",
    ...(author === undefined ? {} : { author }),
  });
  it.each<[string, Entity[], Entity, string[]]>([
    ["the author of the root", [ella], { author: to("#ella"), creditText: "X" }, ["Example, Ella"]],
    [
      "the creator of the main entity",
      [wanda, ella, { "@id": "#wf", "@type": "SoftwareSourceCode", creator: to("#wanda") }],
      { mainEntity: to("#wf"), contributor: to("#ella") },
      ["Workflow, Wanda"],
    ],
    ["the credit line", [], { creditText: "Ada Lovelace; NASA" }, ["Lovelace, Ada", "NASA"]],
    [
      "those whom a credit line names before its year",
      [],
      { creditText: "Clara Collector (collector), 2006. Texts of a language." },
      ["Collector, Clara"],
    ],
    [
      "collectors and compilers",
      [ella],
      { compiler: to("#ella"), contributor: "Ada Lovelace" },
      ["Example, Ella"],
    ],
    ["contributors", [ella], { contributor: [to("#ella")] }, ["Example, Ella"]],
    [
      "the authors of the parts",
      [ella, file(to("#ella")), { "@id": "#b", "@type": "Dataset", creator: [to("#ella")] }],
      { hasPart: [to("https://example.org/data.csv"), to("#b")] },
      ["Example, Ella"],
    ],
    [
      "the agents of the runs",
      [
        ella,
        { "@id": "#tool", "@type": "SoftwareApplication", name: "Tool" },
        { "@id": "#run", "@type": "CreateAction", agent: [to("#ella"), to("#tool")] },
      ],
      { mentions: to("#run") },
      ["Example, Ella"],
    ],
  ])("is %s", async (_, entities, root, names) => {
    expect(await authors(await taken(entities, root))).toEqual(names);
  });

  it("is read of 100 parts at most", async () => {
    const parts = Array.from({ length: 150 }, (__, index): Entity => ({
      "@id": `#part-${index}`,
      "@type": "Dataset",
      name: `Part ${index}`,
      ...(index < 140 ? {} : { author: "Ada Lovelace" }),
    }));
    const ark = await taken(parts, { hasPart: parts.map((part) => to(part["@id"] as string)) });
    expect(await authors(ark)).toEqual(["(:unav)"]);
  });

  it("of a part is the author of its crate, not that of another part", async () => {
    const ark = await taken(
      [ella, file(to("#ella")), { "@id": "#b", "@type": "Dataset", name: "Other part" }],
      { hasPart: [to("https://example.org/data.csv"), to("#b")] },
    );
    const [part] = (await registry.ask(`/records?crate=${ark}&name=Other`, { token: cora.token }))
      .body as unknown as Json[];
    expect(await authors(part!["@id"] as string)).toEqual(["(:unav)"]);
  });
});

describe("authors without a name", () => {
  it("are left out of every format, and a DOI is refused where nobody is left", async () => {
    const ark = await taken([{ "@id": "#anon", "@type": "Person", email: "anon@example.org" }], {
      author: [
        to("#anon"),
        to("https://orcid.org/0000-0002-1825-0097"),
        "urn:uuid:2f4b8c52-7a10-4a3e-9a51-0d6f1f6f6001",
        "anon@example.org",
        "0000-0002-1825-0097",
      ],
    });
    expect(await authors(ark)).toEqual(["(:unav)"]);
    expect(await read(ark, "bibtex")).not.toContain("author");
  });

  it("leave those who have one", async () => {
    const ark = await taken([], {
      author: ["urn:uuid:2f4b8c52-7a10-4a3e-9a51-0d6f1f6f6001", "Ada Lovelace"],
    });
    expect(await authors(ark)).toEqual(["Lovelace, Ada"]);
  });

  it.each<[string, Entity, string]>([
    ["a name in a list", { name: ["Ada Lovelace"] }, "Lovelace, Ada"],
    [
      "a name with its language",
      { name: { "@value": "Ada Lovelace", "@language": "en" } },
      "Lovelace, Ada",
    ],
    ["given and family name", { givenName: "Ada", familyName: "Lovelace" }, "Lovelace, Ada"],
    ["an alternate name", { alternateName: "Enchantress" }, "Enchantress"],
    ["a legal name", { "@type": "Organization", legalName: "ACME, Inc." }, "ACME, Inc."],
  ])("are not those with %s", async (_, members, name) => {
    const ark = await taken([{ "@id": "#a", "@type": "Person", ...members }], { author: to("#a") });
    expect(await authors(ark)).toEqual([name]);
  });
});

const CASES = sharedData("cases");
describe.skipIf(CASES === undefined)("a case of a public report", () => {
  const metadata = (...path: string[]): string => join(CASES!, ...path, "ro-crate-metadata.json");

  it("cites the creator of the workflow, and the collector, in place of who uploaded the crate", async () => {
    const workflow = await sent(metadata("crates/uploader-cited-as-author/crate"));
    const collected = await sent(metadata("crates/uploader-cited-as-author/collector"));
    expect(await authors(workflow)).toEqual(["Workflow, Wanda"]);
    expect(await authors(collected)).toEqual(["Collector, Clara"]);
    for (const [ark, name] of [
      [workflow, "Workflow"],
      [collected, "Collector"],
    ] as const)
      for (const [format, text] of Object.entries(await everywhere(ark))) {
        expect([format, text]).toEqual([format, expect.stringContaining(name)]);
        if (format !== "page")
          expect([format, text]).not.toEqual([format, expect.stringContaining("Corpus")]);
      }
  });

  it("has eight authors, of whom the organizations are whole", async () => {
    const ark = await sent(metadata("public/51-organisations-written-as-text"));
    const { creators } = JSON.parse(await read(ark, "datacitejson")) as Json;
    expect((creators as Json[]).map(({ name, nameType }) => [name, nameType])).toEqual([
      ["National Museum of Natural History and Science", "Organizational"],
      ["LHCb Collaboration", "Organizational"],
      ["Deutsches Zentrum für Luft- und Raumfahrt", "Organizational"],
      ["ACME, Inc.", "Organizational"],
      ["de la Cruz, María", "Personal"],
      ["Lovelace, Ada", "Personal"],
      ["World Health Organization", "Organizational"],
      ["Plato", undefined],
    ]);
    expect(await read(ark, "bibtex")).toContain(
      "author = {{National Museum of Natural History and Science} and {LHCb Collaboration} and " +
        "{Deutsches Zentrum für Luft- und Raumfahrt} and {ACME, Inc.} and de la Cruz, María and " +
        "Lovelace, Ada and {World Health Organization} and {Plato}}",
    );
    const { author } = JSON.parse(await read(ark, "csl")) as Json;
    expect(author).toHaveLength(8);
    expect(author[4]).toEqual({ family: "de la Cruz", given: "María" });
    expect(author[7]).toEqual({ literal: "Plato" });
  });

  it("prints no identifier in place of a name, and its plan advises to name the authors", async () => {
    const file = metadata("public/57-author-who-is-only-an-identifier");
    const { body } = await registry.ask("/rocrate/validate", {
      token: cora.token,
      body: readFileSync(file, "utf8"),
      headers: { "Content-Type": "application/ld+json" },
    });
    expect((body["warned"] as Json[]).map(({ code }) => code as string)).toContain(
      "AUTHOR_UNNAMED",
    );
    const ark = await sent(file);
    expect(await authors(ark)).toEqual(["(:unav)"]);
    for (const [format, text] of Object.entries(await everywhere(ark))) {
      if (format === "page") continue;
      for (const identifier of ["2f4b8c52", "0000-0002-1825-0097", "02mhbdp94", "anon"])
        expect([format, text]).not.toEqual([format, expect.stringContaining(identifier)]);
    }
  });
});
