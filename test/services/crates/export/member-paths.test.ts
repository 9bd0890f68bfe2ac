import { buffer } from "node:stream/consumers";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crateArchive, MemberPaths } from "../../../../src/services/crates/export/archive.js";
import { Archive } from "../../../../src/services/crates/zip/archive.js";
import { crate, LIMITS, readerOf, zip } from "../../../support/crates.js";
import { openIntakeRig, UPLOADER } from "../../../support/registry.js";

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
