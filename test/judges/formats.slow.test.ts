import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { crate, realCrates } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json } from "../support/registry-client.js";
import { askTools, maySkip, toolsMissing } from "../support/servers/judges.js";

let registry: LiveRegistry;
let demo: string;
let tables: string;
/** Crates of others that state what Croissant requires. */
const others = new Map<string, string>();

/** Files that the crate of tables names at other addresses, with what it says of their content. */
const ELSEWHERE = {
  "raw.h5": { sha256: "A1".repeat(32), contentSize: "2048" },
  "old.h5": { md5: "b2".repeat(16) },
  "unknown.h5": {},
  "wrong.h5": { sha256: "not a hash" },
};
/** A crate with a table whose schema it brings, and with responsible-AI properties. */
const withTable = () =>
  crate(
    [
      {
        "@id": "data/cells.csv",
        "@type": "File",
        name: "Cells",
        encodingFormat: "text/csv",
        "evi:Schema": { "@id": "#cells" },
        derivedFrom: { "@id": "https://example.org/raw" },
      },
      { "@id": "data/more.csv", "@type": "File", name: "More", encodingFormat: "text/csv" },
      ...Object.entries(ELSEWHERE).map(([name, hash]) => ({
        "@id": `https://example.org/${name}`,
        "@type": "File",
        name,
        contentUrl: `https://example.org/${name}`,
        encodingFormat: "application/x-hdf5",
        ...hash,
      })),
      {
        "@id": "#cells",
        "@type": "evi:Schema",
        name: "Cells of an image",
        description: "One row an image.",
        properties: {
          image: { type: "string", index: 0, description: "Name of the image." },
          cells: { type: "integer", index: 1, description: "How many cells there are." },
          "mean size": { type: "number", index: 2, description: "Mean size, in µm²." },
        },
        separator: ",",
        header: true,
      },
    ],
    {
      "data/cells.csv": "image,cells,mean size\na.tif,3,1.5\nb.tif,4,2.25\n",
      "data/more.csv": "x\n1\n",
    },
    {
      "@id": "ark:99999/tables",
      name: "Tables & <schemas>",
      author: "Lovelace, Ada",
      version: "1.2.0",
      "rai:dataBiases": ["Only two wells."],
      "rai:dataUseCases": "Tests.",
      hasPart: [{ "@id": "data/cells.csv" }, { "@id": "data/more.csv" }],
    },
  );

beforeAll(async () => {
  registry = await LiveRegistry.start();
  const { token } = await registry.user("Ada");
  const take = async (archive: Uint8Array): Promise<string> => {
    const submission = await registry.take(archive, token);
    expect(submission).toMatchObject({ status: "finished" });
    const id = submission["rocrateIdentifier"] as string;
    await registry.publish(id, token);
    return id;
  };
  demo = await take(await buildDemoCrate());
  tables = await take(await withTable());
  for (const [name, archive] of await realCrates()) others.set(name, await take(archive));
}, 600_000);
afterAll(() => registry?.stop());

describe.skipIf(maySkip && toolsMissing("croissant-judge"))("mlcroissant", () => {
  interface Read {
    errors: string[];
    warnings: string[];
    records?: Record<string, Record<string, unknown>[]>;
    files?: string[];
    sets?: string[];
  }
  let read: Record<string, Read>;
  beforeAll(async () => {
    const documents = Object.fromEntries(
      [["demo", demo] as const, ["tables", tables] as const, ...others].map(([name, id]) => [
        name,
        `${registry.url}/${id}?format=croissant`,
      ]),
    );
    read = await askTools("read-croissant.py", { documents }, "croissant-judge");
  }, 600_000);

  it("finds no error and no warning in the crates' documents", () => {
    for (const [name, { errors, warnings }] of Object.entries(read))
      expect([name, errors, warnings]).toEqual([name, [], []]);
    expect(read["demo"]!.files!.length).toBeGreaterThan(10);
    expect(read["demo"]!.sets).toContain("images/");
  });

  it("loads the records of a table over HTTP", () => {
    const { records, sets } = read["tables"]!;
    expect(sets).toEqual(["data/"]);
    const set = "data/cells.csv/records";
    expect(records).toEqual({
      [set]: [
        { [`${set}/image`]: "a.tif", [`${set}/cells`]: 3, [`${set}/mean%20size`]: 1.5 },
        { [`${set}/image`]: "b.tif", [`${set}/cells`]: 4, [`${set}/mean%20size`]: 2.25 },
      ],
    });
  });
});

describe("Croissant", () => {
  it("states responsible-AI properties and provenance", async () => {
    const { body } = await registry.ask(`/${tables}`, {
      headers: { Accept: 'application/ld+json; profile="http://mlcommons.org/croissant/1.1"' },
    });
    expect(body).toMatchObject({
      "rai:dataBiases": ["Only two wells."],
      "rai:dataUseCases": ["Tests."],
      version: "1.2.0",
      creator: [{ "@type": "sc:Person", name: "Lovelace, Ada" }],
    });
    expect(body["distribution"]).toContainEqual(
      expect.objectContaining({
        "@id": "data/cells.csv",
        "prov:wasDerivedFrom": [{ "@id": "https://example.org/raw" }],
      }),
    );
  });

  it("lists files at other addresses, with the hash that each states", async () => {
    const { body } = await registry.ask(`/${tables}?format=croissant`);
    const listed = (body["distribution"] as Json[]).filter(({ contentUrl }) =>
      String(contentUrl).startsWith("https://example.org/"),
    );
    const [old, raw] = listed.filter(({ md5, sha256 }) => md5 ?? sha256);
    expect(listed).toHaveLength(4);
    // Croissant requires a hash of each file unless the dataset is live.
    expect(body["isLiveDataset"]).toBe(true);
    expect(old).toMatchObject({ contentUrl: "https://example.org/old.h5", md5: "b2".repeat(16) });
    expect(old).not.toHaveProperty("contentSize");
    expect(raw).toMatchObject({
      contentUrl: "https://example.org/raw.h5",
      contentSize: "2048 B",
      encodingFormat: "application/x-hdf5",
      sha256: "a1".repeat(32),
    });
  });

  it("is refused with the fields that a record lacks", async () => {
    const { token } = await registry.user("Bob");
    const id = (
      await registry.take(
        await crate([], {}, { "@id": "ark:99999/bare", license: [], description: "" }),
        token,
      )
    )["rocrateIdentifier"] as string;
    const answer = await registry.ask(`/${id}?format=croissant`);
    expect(answer.status).toBe(422);
    expect(answer.body["detail"][0]).toMatchObject({
      loc: ["query", "format"],
      ctx: { fields: ["description", "license", "author"] },
    });
    expect(answer.text).toContain("add it to the record");
    const { body } = await registry.graphql(
      `{ record(id: "${id}") { as(format: CROISSANT) { text } } }`,
    );
    expect(JSON.stringify(body)).toContain("Croissant requires description");
  });
});

describe("a datasheet", () => {
  it("answers its questions from the crate, and names those that are not answered", async () => {
    const page = await registry.ask(`/${tables}?format=datasheet`);
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.text).toContain("<h1>Tables &amp; &lt;schemas&gt;</h1>");
    expect(page.text).toContain("<dt>Known biases</dt>\n<dd>Only two wells.</dd>");
    expect(page.text).toMatch(/Not stated: [^<]*Known limitations/);
    const { text } = await registry.ask(`/${tables}?format=d4d`);
    expect(parse(text)).toMatchObject({
      id: tables,
      title: "Tables & <schemas>",
      known_biases: "Only two wells.",
      intended_uses: "Tests.",
      creators: [{ name: "Lovelace, Ada" }],
    });
  });
});

describe("the retrieval of RO-Crate 1.3", () => {
  const rootOf = (graph: Json): unknown =>
    (graph["@graph"] as Json[]).find(({ "@id": id }) => id === "ro-crate-metadata.json")?.["about"];

  it("step 1: follows the links of the identifier to metadata and archive", async () => {
    const head = await registry.ask(`/${demo}`, { method: "HEAD" });
    const link = head.headers.get("link")!;
    const to = (rel: string): string =>
      new RegExp(`<([^>]+)>; rel="${rel}"; type="[^"]+"; profile="https://w3id.org/ro/crate"`).exec(
        link,
      )![1]!;
    expect(rootOf((await registry.ask(to("describedby"))).body)).toEqual({ "@id": demo });
    const archive = await fetch(to("item"));
    expect(archive.headers.get("content-type")).toBe("application/zip");
    await archive.body?.cancel();
  });

  it("step 2: negotiates the profile", async () => {
    const { body, headers } = await registry.ask(`/${demo}`, {
      headers: { Accept: "application/ld+json;profile=https://w3id.org/ro/crate" },
    });
    expect(headers.get("content-type")).toContain('profile="https://w3id.org/ro/crate"');
    expect(rootOf(body)).toEqual({ "@id": demo });
  });

  it("step 4: reads ro-crate-metadata.json below the identifier", async () => {
    for (const id of [demo, tables]) {
      const { status, body } = await registry.ask(`/${id}/ro-crate-metadata.json`);
      expect([status, rootOf(body)]).toEqual([200, { "@id": id }]);
    }
    const record = await registry.ask(`/${demo}/ro-crate-metadata.json?format=jsonld`);
    expect(record.body["@id"]).toBe(`${demo}/ro-crate-metadata.json`);
  });
});

describe.skipIf(maySkip && toolsMissing("formats-judges"))("readers of links and pages", () => {
  // eslint-disable-next-line typescript/no-explicit-any -- answers of tools are looked into freely
  let read: Record<string, any>;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "arkgraph-bags-"));
    const bags: string[] = [];
    for (const [name, id] of [["demo", demo] as const, ["tables", tables] as const, ...others]) {
      const answer = await fetch(`${registry.url}/${id}?format=bagit`);
      expect(answer.status).toBe(200);
      await writeFile(join(folder, `${name}.zip`), Buffer.from(await answer.arrayBuffer()));
      const bag = join(folder, name);
      await promisify(execFile)("unzip", ["-q", join(folder, `${name}.zip`), "-d", bag]);
      bags.push(bag);
    }
    // One file of the last bag is damaged.
    const broken = join(folder, "broken");
    await promisify(execFile)("cp", ["-r", bags[0]!, broken]);
    await writeFile(join(broken, "data", "ro-crate-metadata.json"), "{}");
    read = await askTools(
      "read-formats.py",
      { record: `${registry.url}/${tables}`, bags: [...bags, broken] },
      "formats-judges",
    );
  }, 600_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("bagit finds every bag valid, and one with a changed file not", () => {
    expect(read["bags"].slice(0, -1)).toEqual(Array(others.size + 2).fill(null));
    expect(read["bags"].at(-1)).toContain("data/ro-crate-metadata.json");
  });

  it("signposting finds the crate's metadata and archive by their profile", () => {
    const here = `${registry.url}/${tables}`;
    expect(read["citeAs"]).toBe(here);
    const profiles = ["https://w3id.org/ro/crate"];
    expect(read["describedBy"]).toContainEqual({
      target: `${here}/ro-crate-metadata.json`,
      type: "application/ld+json",
      profiles,
    });
    expect(read["items"]).toContainEqual({
      target: `${here}?format=zip`,
      type: "application/zip",
      profiles,
    });
    expect(read["linkset"].length).toBeGreaterThan(15);
  });

  it("extruct finds the schema.org document and OpenGraph on the page", () => {
    expect(read["schemaOrg"]).toMatchObject({
      "@context": { "@vocab": "https://schema.org/" },
      "@type": "Dataset",
      name: "Tables & <schemas>",
      creator: [{ "@type": "Person", name: "Lovelace, Ada", familyName: "Lovelace" }],
      isAccessibleForFree: true,
      variableMeasured: expect.arrayContaining([expect.objectContaining({ name: "mean size" })]),
      distribution: expect.arrayContaining([
        expect.objectContaining({ encodingFormat: "text/csv", sha256: expect.any(String) }),
      ]),
    });
    expect(read["openGraph"]).toContainEqual(["og:title", "Tables & <schemas>"]);
  });

  it("rdflib reads the same statements from every form of RDF", () => {
    const { turtle, ntriples, rdfxml, trig, nquads, schemaorg } = read["graphs"];
    expect(ntriples).toEqual(turtle);
    expect(rdfxml).toEqual(turtle);
    expect(trig).toEqual(turtle);
    expect(nquads).toEqual(turtle);
    expect((turtle as string[]).join("\n")).toMatch(/accessRights.*c_abf2[\s\S]*publisher/);
    expect(schemaorg.length).toBeGreaterThan(20);
  });
});
