import { buffer } from "node:stream/consumers";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crateArchive, MemberPaths } from "../../../../src/services/crates/export/archive.js";
import { Archive } from "../../../../src/services/crates/zip/archive.js";
import { crate, type Entity, LIMITS, metadata, readerOf, zip } from "../../../support/crates.js";
import { ingestInThisThread } from "../../../support/intake-here.js";
import { type IntakeRig, openIntakeRig, UPLOADER } from "../../../support/registry.js";

describe("names in a generated archive", () => {
  it.each([
    "../evil",
    "a/../b",
    "/etc/passwd",
    "C:evil",
    "a\\b",
    "nul\0",
    "",
    "a//b",
    "./a",
    "a/",
    "line\nbreak",
    "turned\u202efdp.exe",
    "c1\u0085",
    "ro-crate-metadata.json",
    "sub/RO-Crate-Metadata.jsonld",
    "x".repeat(2000),
  ])("are not %j", (name) => {
    expect(new MemberPaths().take(name)).toBeUndefined();
  });

  it("are unique on any file system", () => {
    const paths = new MemberPaths();
    expect(paths.take("data/Größe.csv")).toBe("data/Größe.csv");
    for (const same of [
      "data/größe.csv",
      "DATA/GRÖSSE.csv",
      "data/Gro\u0308ße.csv",
      "data",
      "data/Größe.csv/more",
    ])
      expect(paths.take(same), same).toBeUndefined();
    expect(paths.place("x/größe.csv")).toBe("files/größe.csv");
    expect(paths.place("größe.csv")).toBe("files/1/größe.csv");
    expect(paths.place("../..")).toMatch(/^files\/_/);
    expect(paths.takeMetadata("../up")).toMatch(/^crates\/[^/]+\/ro-crate-metadata\.json$/);
  });

  it("are accepted by intake, whatever they were derived from", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.string({ unit: "binary", maxLength: 20 }),
            fc.constantFrom("a", "A", "a/b", "..", "ro-crate-metadata.json", "con", "é", "e\u0301"),
          ),
          { maxLength: 12 },
        ),
        async (names) => {
          const paths = new MemberPaths();
          const taken = names.map((name) => paths.take(name) ?? paths.place(name));
          const archive = await Archive.open(
            readerOf(
              await zip(
                Object.fromEntries(
                  [...taken, paths.takeMetadata(names[0] ?? "x")].map((name) => [name, name]),
                ),
              ),
            ),
            LIMITS,
          );
          expect(archive.members.map(({ name }) => name).slice(0, -1)).toEqual(taken);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("a crate with hostile identifiers", () => {
  it("is exported with every file inside the archive, under a unique name", async () => {
    const rig = await openIntakeRig();
    try {
      const root = "ark:99999/hostile";
      const files = { "a.csv": "a", "b.csv": "b", "c.csv": "c", "d.csv": "d", "e.csv": "e" };
      const ids = [
        `${root}/%2e%2e/%2e%2e/evil`,
        `${root}/%2Fetc%2Fpasswd`,
        `${root}/a%5Cb`,
        `${root}/ro-crate-metadata.json`,
        `${root}/C%3A/y`,
      ];
      const submission = await rig.upload(
        await crate(
          ids.map((id, index) => ({
            "@id": id,
            "@type": "File",
            contentUrl: `file:///${Object.keys(files)[index]}`,
          })),
          files,
          { "@id": root },
        ),
      );
      expect(submission.error).toBeNull();
      const [record] = await rig.records.findMany([root]);
      const bytes = await buffer(
        (
          await crateArchive(
            { records: rig.records, objects: rig.objects, log: console },
            record!,
            { user: UPLOADER, admin: false },
          )
        ).open(),
      );
      const { members } = await Archive.open(readerOf(bytes), LIMITS);
      expect(members.map(({ name }) => name).toSorted()).toEqual([
        ...Object.keys(files),
        "ro-crate-metadata.json",
      ]);
      const again = await rig.upload(bytes, { input: { update: true } });
      expect(again).toMatchObject({ status: "finished", error: null, identifiersMinted: 0 });
      // What calls itself the metadata file is described by its descriptor, and the file that it
      // points to is one of the crate.
      for (const [index, ark] of ids.entries())
        if (!ark.endsWith("/ro-crate-metadata.json"))
          expect(
            (await rig.records.objectsOf((await rig.records.findMany([ark]))[0]!.ark))[0]?.name,
          ).toBe(Object.keys(files)[index]);
    } finally {
      await rig.close();
    }
  });
});

describe("a file whose path is not its identifier", () => {
  let rig: IntakeRig;
  beforeAll(async () => {
    rig = await openIntakeRig({}, ingestInThisThread);
  });
  afterAll(() => rig.close());

  const said: [string, Entity][] = [
    ["a text", { "@id": "#x", contentUrl: "data/x.csv" }],
    ["a reference", { "@id": "#x", contentUrl: { "@id": "data/x.csv" } }],
    ["one of several", { "@id": "#x", contentUrl: ["https://example.org/x", "data/x.csv"] }],
    ["an alias of contentUrl", { "@id": "#x", path: "data/x.csv" }],
    ["a prefixed contentUrl", { "@id": "#x", "schema:contentUrl": "data/x.csv" }],
    ["an @id with an unescaped #", { "@id": "./data/x#1.csv" }],
  ];
  it.each(said.flatMap(([how, file]) => ["", "sub/"].map((folder) => ({ how, file, folder }))))(
    "is exported where it was and described as it was, by $how, in the folder '$folder'",
    async ({ file, folder }) => {
      const described = { "@type": "File", name: "X", ...file };
      const path = `${folder}data/${file["@id"] === "#x" ? "x" : "x#1"}.csv`;
      const within = metadata([{ "@id": "sub/", "@type": "Dataset" }]);
      const { error, rocrateIdentifier: root } = await rig.upload(
        await zip({
          ...(folder === "" ? {} : { "ro-crate-metadata.json": within }),
          [`${folder}ro-crate-metadata.json`]: metadata([described]),
          [path]: "1,2\n",
        }),
      );
      expect(error).toBeNull();
      const back = await rig.exported(root!);
      const archive = await Archive.open(readerOf(back), LIMITS);
      expect(archive.members.map(({ name }) => name)).toContain(path);
      const member = archive.members.find(({ name }) => name === `${folder}ro-crate-metadata.json`);
      const text = (await buffer(archive.read(member!))).toString();
      const graph = (JSON.parse(text) as { "@graph": Entity[] })["@graph"];
      const { sha256: _hash, contentSize: _size, ...entity } = graph.at(-1)!;
      expect(entity).toEqual(described);
      const { changes } = await rig.plan(back, { update: true });
      expect(changes?.counts).toMatchObject({ created: 0, changed: 0, removed: 0 });
    },
  );
});
