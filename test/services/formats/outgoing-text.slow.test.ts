import { readFileSync } from "node:fs";
import { join } from "node:path";
import { XMLValidator } from "fast-xml-parser";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { xmlText, xmlValue } from "../../../src/model/markup.js";
import { element } from "../../../src/services/formats/xml.js";
import { crate } from "../../support/crates.js";
import { LiveRegistry } from "../../support/live-registry.js";
import type { Json, User } from "../../support/registry-client.js";
import { sharedData } from "../../support/shared-data.js";

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
});
afterAll(() => registry?.stop());

/** Characters that no document of XML 1.0 holds, as they are or as references. */
const FORBIDDEN =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|&#(?:x[0-8bcef]|[0-8]|1[124-9]|2\d|3[01]);/i;

function expectWellFormed(name: string, text: string): void {
  expect([name, FORBIDDEN.exec(text)?.index]).toEqual([name, undefined]);
  expect([name, XMLValidator.validate(text)]).toEqual([name, true]);
}

describe("text in XML", () => {
  it("is well-formed, whatever it holds, and comes back as XML can say it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expectWellFormed("element", `<a b="${xmlValue(text)}">${xmlText(text)}</a>`);
        const whole = element("a", text);
        if (whole !== "") expectWellFormed("whole", whole);
        // A carriage return alone would come back as a line feed.
        expect(xmlText(text)).not.toContain("\r");
      }),
    );
  });
});

const XML = (ark: string): readonly string[] => [
  "/oai?verb=ListRecords&metadataPrefix=oai_dc",
  "/oai?verb=ListRecords&metadataPrefix=oai_datacite",
  "/oai?verb=ListSets",
  `/${ark}?format=datacite`,
  `/${ark}?format=dublincore`,
  `/${ark}?format=rdfxml`,
  "/sitemap.xml?page=1",
  `/evidencegraph/${ark}?format=svg`,
];

async function expectXml(ark: string): Promise<void> {
  for (const path of XML(ark)) {
    const { status, text } = await registry.ask(path);
    if (status === 404 || status === 400) continue;
    expect([path, status]).toEqual([path, 200]);
    expectWellFormed(path, text);
  }
  const catalog = await registry.ask("/catalog", { headers: { Accept: "application/rdf+xml" } });
  expectWellFormed("/catalog", catalog.text);
}

describe("a name with control characters and markup", () => {
  const name = "Soil\u0003 cores\u000b of <i>B.\u00a0subtilis</i>\r p<0.05 &amp; n>3 \ufffe";

  it("breaks no XML answer, and is one plain text in every format", async () => {
    const taken = await registry.take(
      await crate(
        [],
        {},
        { name, description: `${name}\rno`, keywords: ["a\u0001b"], author: "Ada Lovelace" },
      ),
      ada.token,
    );
    const ark = taken["rocrateIdentifier"] as string;
    await registry.publish(ark, ada.token);
    await expectXml(ark);
    const plain = "Soil cores of B. subtilis p<0.05 & n>3";
    const read = async (format: string): Promise<string> =>
      (await registry.ask(`/${ark}?format=${format}`)).text;
    expect(await read("citation")).toContain(`${plain} [Data set]`);
    expect(await read("ris")).toContain(`TI  - ${plain}\r\n`);
    expect(await read("bibtex")).toContain("{{Soil cores of B. subtilis p<0.05 \\& n>3}}");
    expect((JSON.parse(await read("csl")) as Json)["title"]).toBe(plain);
    expect((JSON.parse(await read("datacitejson")) as Json)["titles"]).toEqual([{ title: plain }]);
    expect((JSON.parse(await read("schemaorg")) as Json)["name"]).toBe(plain);
    expect((JSON.parse(await read("croissant")) as Json)["name"]).toBe(plain);
    expect((parse(await read("d4d")) as Json)["title"]).toBe(plain);
    expect(await read("dublincore")).toContain(
      "<dc:title>Soil cores of B. subtilis p&lt;0.05 &amp; n&gt;3</dc:title>",
    );
    // The record itself says what its author wrote.
    expect((JSON.parse(await read("jsonld")) as Json)["name"]).toBe(name);
  });
});

const CASES = sharedData("cases/public");
describe.skipIf(CASES === undefined)("a case of a public report", () => {
  const sent = async (path: string, type: string): Promise<{ ark: string; body: Json }> => {
    const { body, text } = await registry.ask("/rocrate/metadata", {
      token: ada.token,
      body: readFileSync(join(CASES!, path), "utf8"),
      headers: { "Content-Type": type },
    });
    expect(body["@id"], text).toMatch(/^ark:/);
    const ark = body["@id"] as string;
    await registry.publish(ark, ada.token);
    return { ark, body };
  };

  it("has a control character in its title, and no XML answer breaks", async () => {
    const { ark } = await sent(
      "49-control-character-in-a-title/ro-crate-metadata.json",
      "application/ld+json",
    );
    await expectXml(ark);
    const page = await registry.ask(`/${ark}`, { headers: { Accept: "text/html" } });
    expect(page.text).toContain("Soil cores");
  });

  it("is longer than search engines take, or too short for them", async () => {
    for (const [file, length] of [
      ["long.json", 5000],
      ["short.json", 50],
    ] as const) {
      const { ark } = await sent(
        `53-description-longer-than-search-engines-take/${file}`,
        "application/ld+json",
      );
      const { body } = await registry.ask(`/${ark}?format=schemaorg`);
      expect(body["description"].length).toBeLessThanOrEqual(length);
      expect(body["description"].length).toBeGreaterThan(0);
    }
  });

  it("has placeholders for hashes, which are advised about and stated by no export", async () => {
    const form = new FormData();
    form.set(
      "file",
      new Blob([readFileSync(join(CASES!, "18-croissant-with-placeholder-hashes/croissant.json"))]),
      "croissant.json",
    );
    const answer = await registry.ask("/rocrate/upload", { token: ada.token, body: form });
    const settled = await registry.settled(
      (answer.body["submissionUUID"] ?? answer.body["submission"]?.["submissionUUID"]) as string,
      ada.token,
    );
    expect(settled["status"], JSON.stringify(settled)).toBe("finished");
    const codes = (settled["warnings"] as { code: string }[]).map(({ code }) => code);
    expect(codes.filter((code) => code === "DIGEST_INVALID")).toHaveLength(2);
    expect(codes.filter((code) => code === "FORMAT_INVALID")).toHaveLength(2);
    expect(codes).not.toContain("CROISSANT_VERSION");
    const ark = settled["rocrateIdentifier"] as string;
    await registry.ask(`/${ark}`, {
      method: "PATCH",
      token: ada.token,
      headers: { "Content-Type": "application/merge-patch+json" },
      body: { author: "Ada Lovelace" },
    });
    const { body, text } = await registry.ask(`/${ark}?format=croissant`);
    const files = (body["distribution"] as Json[] | undefined)?.filter(
      (one) => one["@type"] === "cr:FileObject",
    );
    expect(files?.map(({ contentUrl }) => contentUrl as string).sort(), text).toEqual([
      "gs://example-releases/26.01/output/",
      "https://example.org/pub/26.01/output/",
    ]);
    for (const file of files!) expect(file["sha256"]).toBeUndefined();
    const score = (await registry.ask(`/rocrate/ai-ready-score/${ark}`)).text;
    const { pre_model_explainability, computability } = JSON.parse(score) as Json;
    expect(pre_model_explainability["verifiable"]["has_content"] ?? false).toBe(false);
    expect(JSON.stringify(computability["standardized"])).not.toContain('"met"');
  });
});

describe("names with markup", () => {
  const name = "<i>B.&nbsp;subtilis</i> &amp; others";
  const plain = "B. subtilis & others";
  let ark: string;
  beforeAll(async () => {
    const to = (id: string) => ({ "@id": id });
    const taken = await registry.take(
      await crate(
        [
          { "@id": "#run", "@type": "CreateAction", name, object: to("#in"), result: to("#out") },
          { "@id": "#in", "@type": "Dataset", name: `${name} before` },
          { "@id": "#out", "@type": "Dataset", name: `${name} after`, generatedBy: to("#run") },
          { "@id": "#no name", "@type": "Dataset", derivedFrom: to("#out") },
        ],
        {},
        { name, hasPart: [to("#in"), to("#out"), to("#no name")] },
      ),
      ada.token,
    );
    ark = taken["rocrateIdentifier"] as string;
  });

  const runOf = async (): Promise<string> => {
    const { body } = await registry.ask(`/records?crate=${ark}&kind=computation`);
    return (body as unknown as Json[])[0]!["@id"] as string;
  };

  it.each(["svg", "dot", "mermaid"])("are plain in evidence drawn as %s", async (format) => {
    const path = `/evidencegraph/query/${await runOf()}?direction=both&format=${format}`;
    const { text, status } = await registry.ask(path);
    expect(status, text).toBe(200);
    const drawn = text.replaceAll(/&amp;|#amp;|#38;/g, "&");
    expect(drawn).toContain(`${plain} before`);
    expect(text).not.toMatch(/<i>|&lt;i&gt;|#lt;i|&nbsp;/);
  });

  it("are plain on every page, and in the identifier that is minted", async () => {
    expect(ark).toMatch(/rocrate-b-subtilis-others-/);
    const run = await runOf();
    for (const path of [
      `/${ark}`,
      `/${run}`,
      `/evidence/${run}`,
      `/impact/${run}`,
      "/",
      "/browse",
      "/browse/computation?drafts=yes",
      "/search?query=subtilis&drafts=yes",
    ]) {
      const { text, status } = await registry.ask(path, { headers: { Accept: "text/html" } });
      const shown = text.replaceAll(/<script[^]*?<\/script>|<pre[^]*?<\/pre>/g, "");
      const markup = /&lt;i&gt;|<i>B|&amp;nbsp;|&amp;amp;/.exec(shown)?.[0];
      expect([path, status, markup]).toEqual([path, 200, undefined]);
      if (path !== "/" && path !== "/browse") expect(shown).toContain("B. subtilis &amp; others");
    }
  });
});

describe("what a crate states of files", () => {
  const hex = "0123456789abcdef".repeat(4);
  it.each<[string, Json, string | undefined]>([
    ["a digest", { sha256: hex }, undefined],
    ["63 digits", { sha256: hex.slice(1) }, "DIGEST_INVALID"],
    ["a digest with its algorithm", { sha256: `sha256:${hex}` }, "DIGEST_INVALID"],
    ["several digests", { sha256: [hex, hex.replace("0", "1")] }, "DIGEST_INVALID"],
    ["a digest in a list", { sha256: [hex] }, undefined],
    ["a size in words", { contentSize: "many" }, "SIZE_INVALID"],
    ["a size with its unit", { contentSize: "12 kB" }, undefined],
    ["a media type with parameters", { encodingFormat: "text/csv; charset=utf-8" }, undefined],
    ["a protocol", { encodingFormat: "https" }, "FORMAT_INVALID"],
    ["a file name extension", { encodingFormat: ".csv" }, undefined],
    [
      "an address of a format",
      {
        encodingFormat: [
          "text/csv",
          { "@id": "https://www.nationalarchives.gov.uk/PRONOM/x-fmt/18" },
        ],
      },
      undefined,
    ],
  ])("is advised about where it is none: %s", async (_, members, code) => {
    const settled = await registry.take(
      await crate(
        [
          {
            "@id": "https://example.org/data.csv",
            "@type": "File",
            name: "Data",
            contentUrl: "https://example.org/data.csv",
            ...members,
          },
        ],
        {},
        { hasPart: { "@id": "https://example.org/data.csv" }, author: "Ada Lovelace" },
      ),
      ada.token,
    );
    const codes = ((settled["warnings"] ?? []) as { code: string }[])
      .map((warning) => warning.code)
      .filter((one) => one.endsWith("_INVALID"));
    expect(codes).toEqual(code === undefined ? [] : [code]);
    const ark = settled["rocrateIdentifier"] as string;
    const { distribution } = (await registry.ask(`/${ark}?format=croissant`)).body;
    const file = (distribution as Json[]).find(
      ({ contentUrl }) => contentUrl === "https://example.org/data.csv",
    );
    expect(file).toBeDefined();
    if (file!["sha256"] !== undefined) expect(file!["sha256"]).toMatch(/^[0-9a-f]{64}$/);
    if ("encodingFormat" in members && code === undefined && members["encodingFormat"] !== ".csv")
      expect(file!["encodingFormat"]).toBe("text/csv");
  });
});
