import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildDemoCrate } from "../../../../cli/demo/crate.js";
import { Archive } from "../../../../src/services/crates/zip/archive.js";
import {
  crate,
  type Entity,
  LIMITS,
  metadata,
  readerOf,
  realCrate,
  zip,
} from "../../../support/crates.js";
import { sharedData } from "../../../support/shared-data.js";
import { type IntakeRig, openIntakeRig } from "../../../support/registry.js";

const present = sharedData("crates") !== undefined;

const REAL = [
  "fs-cm4ai-release",
  "fs-nf-fanout",
  "fs-mds-reasoning",
  "fs-mds-zip-test-crate.zip",
  "py-crate_with_subcrates",
  "run-profile-ex-process",
  "run-profile-ex-provenance",
  "rb-crate-spec1.3",
  "rb-zip-biobb_hpc_workflows-condapack.zip",
  "eln-kadi4mat-records.eln",
];

/** Crates that are hard to give back. */
const own: Record<string, () => Promise<Buffer>> = {
  "the demo crate": buildDemoCrate,
  "names with spaces, umlauts, percent signs and colons": () =>
    crate(
      ["data/a%20b.csv", "data/ü.csv", "100%25.txt", "./xx:y.txt", "deep/er/a.b.c"].map((id) => ({
        "@id": id,
        "@type": "File",
        name: id,
      })),
      {
        "data/a b.csv": "1",
        "data/ü.csv": "2",
        "100%.txt": "3",
        "xx:y.txt": "4",
        "deep/er/a.b.c": "5",
        "notes.txt": "of nobody",
      },
      { hasPart: [{ "@id": "data/ü.csv" }, { "@id": "./xx:y.txt" }] },
    ),
  "ARKs, URLs, fragments and blank nodes": () =>
    crate(
      [
        {
          "@id": "ark:59852/d",
          "@type": "evi:Dataset",
          contentUrl: "file:///d.csv",
          author: [{ "@id": "https://orcid.org/1" }, { "@id": "#x" }],
          derivedFrom: { "@id": "_:b0" },
        },
        {
          "@id": "https://orcid.org/1",
          "@type": "Person",
          name: "Ada",
          sameAs: "https://example.org/ada",
        },
        { "@id": "https://orcid.org/2", "@type": "Person", name: "Grace" },
        {
          "@id": "#x",
          "@type": "Person",
          name: "X",
          affiliation: { "@type": "Organization", name: "Without a name of its own" },
        },
        { "@id": "_:b0", "@type": "Dataset", name: "Blank" },
        { "@id": "#script", "@type": "SoftwareSourceCode", contentUrl: "run/script.py" },
        {
          "@id": "away.csv",
          "@type": "File",
          contentUrl: "https://example.org/away.csv",
          sha256: "not here",
        },
      ],
      { "d.csv": "d", "run/script.py": "print()" },
      { "@id": "ark:59852/root", hasPart: [{ "@id": "ark:59852/d" }] },
    ),
  "an inline context with a vocabulary": () =>
    zip({
      "ro-crate-metadata.json": {
        ...metadata(
          [
            {
              "@id": "a.csv",
              "@type": "File",
              path: "elsewhere",
              "evi:generatedBy": { "@id": "#run" },
            },
            { "@id": "#run", "@type": "evi:Computation", "evi:used": "text" },
          ],
          {},
          { "@vocab": "https://schema.org/", evi: "https://w3id.org/EVI#" },
        ),
      },
      "a.csv": "a",
    }),
  "terms that no context explains": () =>
    crate(
      [
        { "@id": "a.csv", "@type": "File", sha256: "AB", unheardOf: "yes", Profile: "no" },
        { "@id": "b.csv", "@type": "File" },
      ],
      { "a.csv": "a", "b.csv": "b" },
    ),
  "crates within the crate": () =>
    zip({
      "top/ro-crate-metadata.json": metadata(
        [
          { "@id": "sub/", "@type": "Dataset", name: "Sub" },
          { "@id": "sub/in.csv", "@type": "File" },
        ],
        { hasPart: [{ "@id": "sub/" }] },
      ),
      "top/sub/ro-crate-metadata.json": metadata(
        [{ "@id": "in.csv", "@type": "File", name: "Inside" }],
        { name: "Sub" },
      ),
      "top/sub/in.csv": "in",
      "top/sub/more.csv": "of nobody",
    }),
};

/** Crates whose archive names something otherwise than the one that came. */
const moved: Record<string, () => Promise<Buffer>> = {
  "files that get a place of their own": () =>
    crate(
      [
        { "@id": "ark:59852/a", "@type": "File", name: "A", contentUrl: "../out/a.csv" },
        { "@id": "ark:59852/b", "@type": "File", name: "B", contentUrl: "file:///same.csv" },
        { "@id": "ark:59852/c", "@type": "evi:Dataset", name: "C", contentUrl: "file:///same.csv" },
        { "@id": "#d", "@type": "File", contentUrl: "./d.csv" },
        { "@id": "e#1.csv", "@type": "File" },
        { "@id": "f:1.csv", "@type": "File", contentUrl: "f.csv" },
      ],
      { "a.csv": "a", "same.csv": "b", "d.csv": "d", "e#1.csv": "e", "f.csv": "f" },
      { "@id": "ark:59852/moved" },
    ),
  "names that differ in Unicode normalisation from the files they name": () =>
    crate(
      [
        { "@id": "cafe\u0301.csv", "@type": "File", name: "Decomposed" },
        { "@id": "u\u0308/o\u0308.csv", "@type": "File" },
        { "@id": "%C3%A4.csv", "@type": "File" },
        { "@id": "ark:59852/n", "@type": "File", contentUrl: "n\u0303.csv" },
      ],
      { "caf\u00e9.csv": "1", "\u00fc/\u00f6.csv": "2", "a\u0308.csv": "3", "\u00f1.csv": "4" },
      { "@id": "ark:59852/unicode" },
    ),
};

describe("a crate that is exported and uploaded elsewhere", () => {
  let here: IntakeRig;
  let there: IntakeRig;
  beforeEach(async () => {
    [here, there] = await Promise.all([openIntakeRig(), openIntakeRig()]);
  });
  afterEach(() => Promise.all([here.close(), there.close()]));

  const rebuilt = (rig: IntakeRig, ark: string) => rig.exported(ark);
  /**
   * What each record says of itself and of the nodes it holds. An entity that stood inside another
   * one is said to be what it is in its own record from then on; nothing said of it may be lost by
   * that.
   */
  const graph = async (rig: IntakeRig) => {
    const graphs: Record<string, string[]> = {};
    const ofOthers = new Set<string>();
    const all = new Set<string>();
    for (const { ark, kind } of await rig.all()) {
      const quads = (await rig.records.quads(ark))!
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => /^<([^>]*)> (<[^>]*>) (.*) <[^>]*> \.$/.exec(line)!);
      const own = new Set([ark]);
      for (let size = 0; size < own.size;) {
        size = own.size;
        for (const [, subject, predicate, object] of quads)
          if (
            own.has(subject!) &&
            (object!.startsWith(`<${ark}#genid`) ||
              (subject === ark && predicate === "<https://schema.org/sameAs>"))
          )
            own.add(object!.slice(1, -1));
      }
      for (const [line, subject, predicate, object] of quads) {
        const triple = `<${subject}> ${predicate} ${object}`;
        all.add(triple);
        if (own.has(subject!)) (graphs[`${kind} ${ark}`] ??= []).push(line);
        else if (!triple.includes("#genid")) ofOthers.add(triple);
      }
    }
    return { graphs, ofOthers, all };
  };
  const contents = async (rig: IntakeRig) => {
    const found: Record<string, string[]> = {};
    for (const { ark } of await rig.all())
      found[ark] = (await rig.records.objectsOf(ark))
        .filter(({ role }) => role === "content" || role === "member")
        .map(({ role, sha256 }) => `${role} ${sha256}`)
        .toSorted();
    return found;
  };
  /**
   * What RO-Crate 1.2 asks of the form of an attached crate (its sections "Structure", "Metadata"
   * and "Data entities").
   */
  const isWellFormed = async (back: Buffer, root: string) => {
    const archive = await Archive.open(readerOf(back), LIMITS);
    const files = new Set(archive.members.map(({ name }) => name));
    const written = JSON.parse(
      (
        await buffer(
          archive.read(archive.members.find(({ name }) => name === "ro-crate-metadata.json")!),
        )
      ).toString(),
    ) as { "@context": unknown; "@graph": Entity[] };
    expect(Object.keys(written)).toEqual(["@context", "@graph"]);
    const ids = written["@graph"].map((entity) => entity["@id"] as string);
    const about = (written["@graph"][0]!["about"] as Entity)["@id"];
    expect(ids.slice(0, 2)).toEqual(["ro-crate-metadata.json", about]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(root).toMatch(/^ark:/);
    const relative = ids
      // The author called a file of a server `away.csv`.
      .filter(
        (id) => id !== about && id !== "away.csv" && !/^(?:[a-z][a-z0-9+.-]*:|_:)|#/i.test(id),
      )
      .map((id) => decodeURIComponent(id.replace(/^\.\//, "")));
    expect(
      relative.filter((path) =>
        path.endsWith("/") ? ![...files].some((file) => file.startsWith(path)) : !files.has(path),
      ),
    ).toEqual([]);
  };
  const goesRound = async (archive: Buffer) => {
    const submission = await here.upload(archive);
    expect(submission.error).toBeNull();
    const root = submission.rocrateIdentifier!;
    const back = await rebuilt(here, root);
    await isWellFormed(back, root);
    const again = await there.upload(back);
    expect(again.error).toBeNull();
    expect(again).toMatchObject({ status: "finished", rocrateIdentifier: root });
    const [before, after] = [await graph(here), await graph(there)];
    // The older layout has no descriptor: the archive has one that is made.
    for (const name of Object.keys(after.graphs))
      if (name.endsWith("/ro-crate-metadata.json") && !(name in before.graphs))
        delete after.graphs[name];
    expect(after.graphs).toEqual(before.graphs);
    expect([...before.ofOthers].filter((triple) => !after.all.has(triple))).toEqual([]);
    expect(await contents(there)).toMatchObject(await contents(here));
    return { root, back };
  };

  /**
   * Records that an upload of what is given back makes a revision of, with what it takes for
   * changed.
   */
  const revisedBy = async (archive: Buffer) => {
    const submission = await here.upload(archive);
    expect(submission.error).toBeNull();
    return revisedAgain(submission.rocrateIdentifier!);
  };
  const revisedAgain = async (root: string) => {
    const before = new Map((await here.all()).map(({ ark, revision }) => [ark, revision]));
    const again = await here.upload(await rebuilt(here, root), { input: { update: true } });
    expect(again.error).toBeNull();
    const revised: Record<string, readonly string[]> = {};
    for (const { ark, revision } of await here.all())
      if (revision !== before.get(ark))
        revised[ark.replace(root, "…")] = (
          await here.records.history(ark, { limit: 1 })
        )[0]!.changed;
    return revised;
  };
  it.each(Object.entries({ ...own, ...moved }))(
    "changes no record when it is uploaded again as an update: %s",
    async (_name, make) => {
      expect(await revisedBy(await make())).toEqual({});
    },
  );
  it.skipIf(!present).each(REAL)(
    "changes no record when it comes again as an update: %s",
    async (name) => {
      expect(await revisedBy((await realCrate(name))!)).toEqual({});
    },
  );
  it("changes no record where an entity is inside another one", async () => {
    const archive = await crate(
      [
        {
          "@id": "#run",
          "@type": "evi:Computation",
          agent: { "@id": "#ada", "@type": "Person", name: "Ada" },
        },
      ],
      {},
      { "@id": "ark:59852/holder" },
    );
    expect(await revisedBy(archive)).toEqual({});
  });

  for (const [name, make] of Object.entries(own))
    it(`has the same graph and the same files: ${name}`, async () =>
      void (await goesRound(await make())));

  it.skipIf(!present).each(REAL)(
    "has the same graph and the same files: %s",
    async (name) => void (await goesRound((await realCrate(name))!)),
  );
});
