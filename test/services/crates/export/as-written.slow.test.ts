import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Archive } from "../../../../src/services/crates/zip/archive.js";
import {
  crate,
  type Entity,
  LIMITS,
  metadata,
  readerOf,
  zip,
  zipFolder,
} from "../../../support/crates.js";
import { ingestInThisThread } from "../../../support/intake-here.js";
import { type IntakeRig, openIntakeRig } from "../../../support/registry.js";
import { sharedData } from "../../../support/shared-data.js";

const CASES = sharedData("cases");

let rig: IntakeRig;
beforeEach(async () => {
  rig = await openIntakeRig({}, ingestInThisThread);
});
afterEach(() => rig.close());

/** The members of an archive, as text. */
async function membersOf(bytes: Buffer): Promise<Record<string, string>> {
  const archive = await Archive.open(readerOf(bytes), LIMITS);
  const members: Record<string, string> = {};
  for (const member of archive.members)
    members[member.name] = (await buffer(archive.read(member))).toString();
  return members;
}

const graphOf = (text: string): Record<string, Entity> =>
  Object.fromEntries(
    (JSON.parse(text) as { "@graph": Entity[] })["@graph"].map((entity) => [
      entity["@id"] as string,
      entity,
    ]),
  );

/** Uploads a crate and exports it; the export, uploaded again, must change nothing. */
async function exported(archive: Buffer): Promise<{
  root: string;
  members: Record<string, string>;
}> {
  const first = await rig.upload(archive);
  expect(first.error).toBeNull();
  const root = first.rocrateIdentifier!;
  const before = await revisions();
  const back = await rig.exported(root);
  const plan = await rig.plan(back, { update: true });
  expect(plan.changes?.counts).toMatchObject({ created: 0, changed: 0, removed: 0, revived: 0 });
  const again = await rig.upload(back, { input: { update: true } });
  expect(again).toMatchObject({ error: null, rocrateIdentifier: root });
  expect(await revisions()).toEqual(before);
  return { root, members: await membersOf(back) };
}

async function revisions(): Promise<Record<string, string>> {
  const all = await rig.all();
  const entries = all.map(async ({ ark, revision }): Promise<[string, string]> => {
    const [last] = (await rig.records.history(ark, { limit: 1 })) as { changed: string[] }[];
    return [ark, revision === 1 ? "1" : `${revision} ${last!.changed.join()}`];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** What the export's metadata states by the names of the original. */
async function sameNames(archive: Buffer, file = "ro-crate-metadata.json"): Promise<void> {
  const given = (await membersOf(archive))[file]!;
  const { members } = await exported(archive);
  const ids = (text: string) => Object.keys(graphOf(text)).toSorted();
  expect(ids(members[file]!)).toEqual(ids(given));
  const { identifier: _identifier, ...descriptor } = graphOf(members[file]!)[file]!;
  expect(descriptor).toEqual(graphOf(given)[file]);
  for (const [id, entity] of Object.entries(graphOf(given)))
    if (id !== file) expect(graphOf(members[file]!)[id]).toMatchObject(entity);
}

describe("the archive of a crate", () => {
  it("calls every entity as its author did, and is recognised when it comes back", async () => {
    await sameNames(
      await crate(
        [
          { "@id": "#plan", "@type": "HowTo", name: "Plan" },
          { "@id": "_:blank", "@type": "Thing", about: { "@id": "#plan" } },
          { "@id": "run/history", "@type": "File", author: { "@id": "#undescribed" } },
          { "@id": "./data/", "@type": "Dataset", hasPart: { "@id": "data/a-b%20c.csv" } },
          { "@id": "data/a-b%20c.csv", "@type": "File", isPartOf: { "@id": "./data/" } },
          { "@id": "mailto:ada@example.org", "@type": "Person", name: "Ada" },
          { "@id": "doi:10.9999/one", "@type": "CreativeWork", identifier: "doi:10.9999/one" },
          { "@id": "urn:nbn:de:1", "@type": "CreativeWork", identifier: ["one"] },
          { "@id": "urn:nbn:de:2", "@type": "CreativeWork", identifier: ["urn:nbn:de:2"] },
          {
            "@id": "https://a.example/",
            "@type": "Thing",
            sameAs: { "@id": "https://a.example/" },
          },
          {
            "@id": "https://b.example/",
            "@type": "Thing",
            sameAs: [{ "@id": "https://b.example/" }],
          },
          { "@id": "https://orcid.org/1", "@type": "Person", sameAs: ["https://example.org/"] },
          { "@id": "https://orcid.org/2", "@type": "Person", sameAs: "https://example.org/" },
          { "@id": "ark:/59852/a-b", "@type": "Thing", name: "ARK" },
          {
            "@context": [null, { name: "https://example.org/name" }],
            "@id": "https://orcid.org/3",
            name: "Under a context of its own",
          },
        ],
        { "run/history": "h", "data/a-b c.csv": "1" },
        {
          author: { "@id": "mailto:ada@example.org" },
          citation: [{ "@id": "doi:10.9999/one" }, { "@id": "nowhere.txt" }],
          hasPart: [{ "@id": "run/history" }, { "@id": "./data/" }],
        },
      ),
    );
  });

  it.each([
    "./",
    ".",
    "#crate",
    "https://example.org/crate/",
    "arcp://name,corpus",
    "urn:uuid:0c8b6f3e-0000-4000-8000-000000000000",
    "doi:10.9999/x",
    "file:///home/ada/crate/",
    "ark:/59852/ro-ot",
    "https://n2t.net/ark:59852/other",
  ])("calls the root as its author did: %s", async (id) => {
    const archive = await zip({
      "ro-crate-metadata.json": metadata(
        [{ "@id": "a.txt", "@type": "File", isPartOf: { "@id": id } }],
        { "@id": id, hasPart: { "@id": "a.txt" } },
      ),
      "a.txt": "a",
    });
    await sameNames(archive);
  });

  it("states an object with an @id inside an entity there and nowhere else", async () => {
    const nickIn = (vocabulary: string) => ({ "@context": { nick: `${vocabulary}nick` } });
    const maker = { "@id": "#maker", "@type": "Organization", name: "Maker", employee: "#ada" };
    const ada = { "@id": "#ada", "@type": "Person" };
    await sameNames(
      await crate(
        [
          {
            "@id": "#run",
            "@type": "CreateAction",
            agent: { ...ada, name: "Ada", worksFor: maker },
            result: [{ "@id": "out/a.txt", "@type": "File", name: "Output" }],
          },
          { "@id": "#again", "@type": "CreateAction", agent: { ...ada, email: "a@example.org" } },
          {
            "@id": "#third",
            "@type": "CreateAction",
            instrument: { "@id": "#tool", "@type": "SoftwareApplication", nick: "t" },
            ...nickIn("https://example.org/"),
          },
          { "@id": "#fourth", "@type": "CreateAction", nick: "f", ...nickIn("urn:example:") },
          {
            "@id": "#web",
            "@type": "WebSite",
            publisher: { "@id": "https://ror.org/02mhbdp94", "@type": "Organization", name: "U" },
          },
        ],
        { "out/a.txt": "a" },
      ),
    );
  });

  it("has texts that name an entity as texts, with links in the graph", async () => {
    const { root, members } = await exported(
      await crate([{ "@id": "#me", "@type": "Person", name: "Me" }], {}, { author: "#me" }),
    );
    expect(graphOf(members["ro-crate-metadata.json"]!)["./"]).toMatchObject({ author: "#me" });
    expect(await rig.document(root)).toMatchObject({ author: "#me" });
    expect(await rig.records.quads(root)).toMatch(
      new RegExp(`<${root}> <https://schema.org/author> <${root}/entity/me-`),
    );
  });

  it("has numbers with the digits of the author", async () => {
    const text = JSON.stringify(
      metadata(
        [
          { "@id": "#x", "@type": "Thing", value: "~3.0", list: ["~1.50", 2, "~1E3"] },
          { "@id": "#y", "@type": "Thing", value: { "@type": "Thing", depth: "~-0" } },
        ],
        { about: { "@id": "#z", "@type": "Thing", height: "~0.10" }, price: "~2.00" },
      ),
    ).replaceAll(/"~([^"]+)"/g, "$1");
    const { members } = await exported(await zip({ "ro-crate-metadata.json": text }));
    const back = members["ro-crate-metadata.json"]!;
    for (const written of [
      '"value":3.0',
      '"list":[1.50,2,1E3]',
      '"depth":-0',
      '"height":0.10',
      '"price":2.00',
    ])
      expect(back).toContain(written);
  });

  const LAST = "ark:59852/last";
  it("has the metadata that was uploaded last, though only entities beside the root changed", async () => {
    const said = (value: string, ...more: Entity[]): Buffer => {
      const entities = [{ "@id": "#a", "@type": "Thing", value: "~" }, ...more];
      return Buffer.from(JSON.stringify(metadata(entities, { "@id": LAST })).replace('"~"', value));
    };
    await rig.upload(await zip({ "ro-crate-metadata.json": said("1") }));
    const again = await rig.upload(said("2.0", { "@id": "#b", "@type": "Thing", name: "B" }), {
      input: { update: true, format: "metadata" },
    });
    expect(again.error).toBeNull();
    const { "ro-crate-metadata.json": text } = await membersOf(await rig.exported(LAST));
    expect(text).toContain('"value":2.0');
    expect(graphOf(text!)).toHaveProperty("#b");
  });

  it("has the nested metadata file that was uploaded last", async () => {
    const upload = async (name: string, input: object) =>
      rig.upload(
        await zip({
          "ro-crate-metadata.json": metadata([], { "@id": LAST }),
          "sub/ro-crate-metadata.json": metadata([{ "@id": `#${name}`, "@type": "Thing", name }]),
        }),
        { input },
      );
    await upload("before", {});
    expect((await upload("after", { update: true })).error).toBeNull();
    const members = await membersOf(await rig.exported(LAST));
    expect(graphOf(members["sub/ro-crate-metadata.json"]!)).toHaveProperty("#after");
  });

  it.each(["ro-crate-metadata.jsonld", "ro-crate-metadata.json"])(
    "has the nested metadata file under its own name, %s, and files beside it under theirs",
    async (name) => {
      const inner = JSON.stringify(metadata([{ "@id": "#plan", "@type": "HowTo", name: "Plan" }]));
      const { members } = await exported(
        await zip({
          "ro-crate-metadata.json": metadata([{ "@id": "sub/", "@type": "Dataset" }]),
          [`sub/${name}`]: inner.replaceAll("ro-crate-metadata.json", name),
          ...(name.endsWith("ld") ? {} : { "sub/ro-crate-metadata.jsonld": "{}" }),
        }),
      );
      const files = Object.keys(members).filter((file) => !file.endsWith(".html"));
      expect(files.toSorted()).toEqual([
        "ro-crate-metadata.json",
        ...(name.endsWith("ld") ? [] : ["sub/ro-crate-metadata.json"]),
        "sub/ro-crate-metadata.jsonld",
      ]);
      expect(graphOf(members[`sub/${name}`]!)).toMatchObject({ [name]: {}, "./": {}, "#plan": {} });
    },
  );

  it("has one file for entities that name one file", async () => {
    const { members } = await exported(
      await crate(
        [
          { "@id": "#a", "@type": "File", contentUrl: "data/x.csv" },
          { "@id": "#b", "@type": "File", contentUrl: "data/x.csv" },
          { "@id": "data/x.csv", "@type": "File" },
        ],
        { "data/x.csv": "1" },
      ),
    );
    expect(Object.keys(members).filter((name) => name.endsWith("x.csv"))).toEqual(["data/x.csv"]);
  });
});

describe.skipIf(!CASES)("the archive of a crate that others could not give back", () => {
  const folder = (name: string) => zipFolder(join(CASES!, "crates", name));

  it("has a root with a slash at its end where no version is claimed", async () => {
    await sameNames(await folder("root-slash/crate"));
  });

  it("keeps texts that name an entity", async () => {
    await sameNames(await folder("text-references/crate"));
  });

  it("keeps the file name of RO-Crate 1.0, and its descriptor", async () => {
    await sameNames(await folder("legacy-name/crate"), "ro-crate-metadata.jsonld");
  });

  it.each(["crate", "outside"])(
    "keeps the names of files that are named twice: %s",
    async (name) => {
      const archive = await folder(`two-names-again/${name}`);
      const { members } = await exported(archive);
      const contents = (all: Record<string, string>) =>
        Object.entries(all)
          .filter(([file]) => !/ro-crate-(?:metadata\.json|preview\.html)$/.test(file))
          .map(([, text]) => text)
          .toSorted();
      expect(contents(members)).toEqual(contents(await membersOf(archive)));
    },
  );

  it("keeps an arcp address as the name of the root, and as its identifier here", async () => {
    const archive = readFileSync(join(CASES!, "public/05-arcp-root-with-files/crate.zip"));
    await sameNames(archive);
    const [root] = (await rig.all()).filter(({ kind }) => kind === "rocrate");
    expect(await rig.document(root!.ark)).toMatchObject({ identifier: "arcp://name,trial-corpus" });
  });
});

describe("paths with dot segments", () => {
  it("mean the files that they resolve to, inside the crate only", async () => {
    const { root } = await exported(
      await crate(
        [
          { "@id": "a/../a/./n.txt", "@type": "File" },
          { "@id": "runs//b.txt", "@type": "File" },
          { "@id": "#c", "@type": "File", contentUrl: "runs/../a/c.txt" },
        ],
        { "a/n.txt": "n", "runs/b.txt": "b", "a/c.txt": "c" },
      ),
    );
    for (const path of ["a/n.txt", "runs/b.txt"])
      expect(await rig.records.objectsOf(`${root}/${path}`, { role: "content" })).toHaveLength(1);
    const contents = (await rig.all()).map(({ ark }) =>
      rig.records.objectsOf(ark, { role: "content" }),
    );
    expect((await Promise.all(contents)).flat()).toHaveLength(3);
  });

  it.each(["../out.txt", "a/../../out.txt", "%2e%2e/out.txt"])(
    "are refused where they lead out of the crate: %s",
    async (id) => {
      const { error } = await rig.upload(await crate([{ "@id": id, "@type": "File" }]));
      expect(error).toMatchObject([{ code: "INVALID_ID" }]);
    },
  );

  it.skipIf(!CASES)("are told apart from a path that was joined twice", async () => {
    const archive = readFileSync(join(CASES!, "public/08-dot-segment-in-the-middle/crate.zip"));
    const plan = await rig.plan(archive);
    expect(plan.refused).toMatchObject([
      {
        code: "FILE_MISSING",
        message: expect.stringContaining("(assays/Height/dataset/m.txt is)"),
      },
    ]);
  });
});

describe("a reference to a path", () => {
  it("is named where neither a file nor an entity has it", async () => {
    const { warned } = await rig.plan(
      await zip({
        "top/ro-crate-metadata.json": metadata(
          [
            { "@id": "./a b.txt", "@type": "File", isBasedOn: { "@id": "lost.txt" } },
            { "@id": "away/c.txt", "@type": "Thing", url: "https://example.org/" },
          ],
          {
            hasPart: [
              "a%20b.txt",
              "away/c.txt",
              "plain.txt",
              "sub/",
              "sub/d.txt",
              "sub/no.txt",
            ].map((id) => ({ "@id": id })),
          },
        ),
        "top/a b.txt": "",
        "top/plain.txt": "",
        "top/sub/ro-crate-metadata.json": metadata([{ "@id": "d.txt", "@type": "Thing" }], {
          hasPart: [{ "@id": "d.txt" }, { "@id": "../gone.txt" }],
        }),
      }),
    );
    expect(
      warned.flatMap(({ code, message }) => (code === "REFERENCE_NOWHERE" ? [message] : [])),
    ).toEqual([
      expect.stringContaining('"sub/no.txt" (and 1 more)'),
      expect.stringContaining('"../gone.txt"'),
    ]);
  });
});

describe("a member that was meant for a keyword", () => {
  it("is named where an entity has no @id or no @type", async () => {
    const { warned } = await rig.plan(
      await crate([
        { id: "#run", "@type": "CreateAction" },
        { "@Id": "#b", "@type": "Thing" },
        { "@id": "#c", type: "Thing", about: { "@id": "#c" }, mentions: { "@id": "#run" } },
      ]),
    );
    const messages = (code: string) =>
      warned.filter((one) => one.code === code).map(({ message }) => message);
    expect(messages("ID_MISSING")).toEqual([
      expect.stringContaining('member "id", "#run": `@id` was probably meant'),
      expect.stringContaining('member "@Id", "#b": `@id` was probably meant'),
    ]);
    expect(messages("TYPE_MISSING")).toEqual([expect.stringContaining('"type"')]);
    expect(messages("REFERENCE_NOWHERE")).toEqual([expect.stringContaining('"#run"')]);
  });

  it.skipIf(!CASES)("is named for the action of a run, which stays in the evidence", async () => {
    const archive = readFileSync(join(CASES!, "public/06-id-in-place-of-at-id/crate.zip"));
    const { warned } = await rig.plan(archive);
    const codes = warned.map(({ code }) => code);
    expect(codes).toContain("ID_MISSING");
    expect(codes).toContain("REFERENCE_NOWHERE");
    const { rocrateIdentifier: root } = await rig.upload(archive);
    const run = (await rig.all()).find(({ kind }) => kind === "computation")!;
    expect(await rig.records.quads(run.ark)).toContain(`<${root}/out.txt>`);
  });
});
