import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { arkKey } from "../../../src/identifiers/ark.js";
import type { RecordWrite } from "../../../src/storage/records/port.js";
import { sweepObjects } from "../../../src/services/objects/damage.js";
import {
  RO_CRATE,
  RO_CRATE_ADVICE,
  crate,
  metadata,
  zip,
  type Json,
} from "../../support/crates.js";
import { ingestInThisThread } from "../../support/intake-here.js";
import { BASE_URL, UPLOADER, openIntakeRig, type IntakeRig } from "../../support/registry.js";

const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex");
const md5 = (text: string) => createHash("md5").update(text).digest("hex");

describe("intake of a crate", () => {
  let rig: IntakeRig;
  /** Crates are ingested in threads of their own, as in the service. */
  const open = async (...settings: Parameters<typeof openIntakeRig>) => {
    await rig?.close();
    rig = await openIntakeRig(...settings);
  };
  // What a thread sends back is plain data, whatever the crate is. To start it takes ten times as
  // long as to ingest a small crate.
  beforeEach(async () => {
    rig = await openIntakeRig({}, ingestInThisThread);
  });
  afterEach(() => rig.close());

  const codes = (findings: { code: string }[] | null) =>
    [...new Set((findings ?? []).map(({ code }) => code))].filter(
      (code) => !RO_CRATE_ADVICE.has(code),
    );
  const keys = async () => {
    const found: string[] = [];
    for await (const key of rig.objects.list()) found.push(key);
    return found;
  };

  it("creates a record of every entity, with context first, ids rewritten, owner and crate", async () => {
    await open();
    const archive = await crate(
      [
        {
          "@id": "data/a.csv",
          "@type": "File",
          name: "A",
          encodingFormat: "text/csv",
          author: { "@id": "https://orcid.org/1" },
          keywords: ["x", "y"],
        },
        {
          "@id": "https://orcid.org/1",
          "@type": "Person",
          name: "Ada",
          sameAs: "https://example.org/ada",
        },
        {
          "@id": "#run",
          "@type": "CreateAction",
          name: "Run",
          object: [{ "@id": "data/a.csv" }],
          result: { "@id": "lost.txt" },
          agent: { "@id": "https://orcid.org/1" },
        },
      ],
      { "data/a.csv": "1,2\n", "ro-crate-preview.html": "<html>", "data/": null },
      { "@id": "./", hasPart: [{ "@id": "data/a.csv" }], name: "My crate" },
    );
    const submission = await rig.upload(archive, { input: { name: "mine.zip" } });
    expect(submission).toMatchObject({
      status: "finished",
      identifiersMinted: 4,
      error: null,
      sha256: sha256(archive),
    });
    const root = submission.rocrateIdentifier!;
    expect(root).toMatch(/^ark:99999\/rocrate-my-crate-/);
    const records = await rig.all();
    expect(records.map(({ kind }) => kind)).toEqual([
      "rocrate",
      "datadownload",
      "entity",
      "computation",
      "entity",
    ]);
    expect(await rig.document(`${root}/ro-crate-metadata.json`)).toEqual({
      "@context": "https://w3id.org/ro/crate/1.1/context",
      "@id": `${root}/ro-crate-metadata.json`,
      "@type": "CreativeWork",
      about: { "@id": root },
      conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
    });
    expect(
      records.every(
        ({ owner, crate: of, ark }) => owner === UPLOADER && of === (ark === root ? null : root),
      ),
    ).toBe(true);

    const rootDocument = await rig.document(root);
    expect(Object.keys(rootDocument)[0]).toBe("@context");
    expect(rootDocument).toMatchObject({
      "@context": "https://w3id.org/ro/crate/1.1/context",
      "@id": root,
      hasPart: [{ "@id": `${root}/data/a.csv` }],
    });
    expect(await rig.records.objectsOf(root)).toEqual([
      {
        sha256: sha256(archive),
        size: archive.length,
        mediaType: "application/zip",
        name: "mine.zip",
        role: "archive",
      },
      expect.objectContaining({ role: "metadata", name: "ro-crate-metadata.json" }),
      {
        sha256: sha256("<html>"),
        size: 6,
        mediaType: "text/html",
        name: "ro-crate-preview.html",
        role: "member",
      },
    ]);

    const file = `${root}/data/a.csv`;
    expect(await rig.document(file)).toEqual({
      "@context": [
        "https://w3id.org/ro/crate/1.1/context",
        { sha256: "https://schema.org/sha256" },
      ],
      "@id": file,
      "@type": "File",
      name: "A",
      encodingFormat: "text/csv",
      author: { "@id": "https://orcid.org/1" },
      keywords: ["x", "y"],
      contentUrl: `${BASE_URL}/datadownload/${file}/download`,
      contentSize: "4",
      sha256: sha256("1,2\n"),
    });
    expect(await rig.records.objectsOf(file)).toEqual([
      { sha256: sha256("1,2\n"), size: 4, mediaType: "text/csv", name: "a.csv", role: "content" },
    ]);
    expect(
      Buffer.concat(await (await rig.objects.open(sha256("1,2\n"))).toArray()).toString(),
    ).toBe("1,2\n");

    const person = records.find(({ kind }) => kind === "entity")!;
    expect(await rig.document(person.ark)).toMatchObject({
      "@id": person.ark,
      sameAs: ["https://example.org/ada", { "@id": "https://orcid.org/1" }],
    });
    const run = records.find(({ kind }) => kind === "computation")!;
    expect(await rig.document(run.ark)).toMatchObject({
      object: [{ "@id": file }],
      result: { "@id": `${root}/lost.txt` },
      agent: { "@id": "https://orcid.org/1" },
    });
    expect(await rig.records.quads(run.ark)).toContain(
      `<${run.ark}> <https://w3id.org/EVI#usedDataset> <${file}>`,
    );
    const [links] = await rig.records.linksTo([arkKey(file)], { limit: 10 });
    expect(links!.items.map(({ predicate, source }) => `${predicate} ${source}`)).toEqual(
      expect.arrayContaining([`schema:hasPart ${root}`, `evi:usedDataset ${run.ark}`]),
    );
    // Of lost.txt, which the run names.
    expect(codes(submission.warnings)).toEqual(["REFERENCE_NOWHERE"]);
  });

  it(
    "serves the content of every kind at that kind's address, and preserves the crate's " +
      "own contentUrl",
    async () => {
      const submission = await rig.upload(
        await crate(
          [
            { "@id": "ark:59852/d", "@type": "evi:Dataset", contentUrl: "file:///d.csv" },
            { "@id": "s.py", "@type": "SoftwareSourceCode" },
            { "@id": "note.txt", "@type": "CreativeWork" },
          ],
          { "d.csv": "d", "s.py": "s", "note.txt": "n" },
        ),
      );
      const root = submission.rocrateIdentifier!;
      expect(await rig.document("ark:59852/d")).toMatchObject({
        contentUrl: `${BASE_URL}/dataset/download/ark:59852/d`,
        sourceContentUrl: "file:///d.csv",
      });
      expect(await rig.document(`${root}/s.py`)).toMatchObject({
        contentUrl: `${BASE_URL}/software/download/${root}/s.py`,
      });
      expect(await rig.document(`${root}/note.txt`)).toMatchObject({
        contentUrl: `${BASE_URL}/download/${root}/note.txt`,
      });
    },
  );

  it("does not publish embargoed content", async () => {
    await rig.upload(
      await crate([{ "@id": "ark:59852/d", "@type": "evi:Dataset", contentUrl: "Embargoed" }]),
    );
    const [record] = await rig.records.findMany(["ark:59852/d"]);
    expect(record!.publicationStatus).toBe("EMBARGOED");
  });

  it("compares sizes and digests, and reports all differences", async () => {
    await open();
    const fine = await rig.upload(
      await crate(
        [
          {
            "@id": "a",
            "@type": "File",
            contentSize: 1,
            md5: md5("a"),
            sha256: sha256("a").toUpperCase(),
            sha512: "not hex",
          },
          { "@id": "b", "@type": "File", contentSize: "1 KB" },
        ],
        { a: "a", b: "b" },
      ),
    );
    expect(fine.error).toBeNull();
    const wrong = await rig.upload(
      await crate(
        [
          { "@id": "a", "@type": "File", contentSize: "2" },
          { "@id": "b", "@type": "File", md5: md5("a") },
          { "@id": "c", "@type": "File", sha256: sha256("a") },
          { "@id": "d", "@type": "File", sha512: "0".repeat(128) },
        ],
        { a: "a", b: "b", c: "c", d: "d" },
      ),
    );
    const written = await rig.upload(
      await crate(
        [
          { "@id": "a", "@type": "File", contentSize: [2], sha256: [sha256("b")] },
          { "@id": "b", "@type": "File", contentSize: { "@value": "7" } },
          {
            "@id": "c",
            "@type": "File",
            contentSize: ["1"],
            sha256: [{ "@value": sha256("c") }],
            md5: [md5("x"), md5("y")],
          },
        ],
        { a: "a", b: "b", c: "c" },
      ),
    );
    const sizes = ({ warnings }: { warnings: { code: string; pointer: string | null }[] | null }) =>
      (warnings ?? []).filter(({ code }) => code === "SIZE_MISMATCH").map(({ pointer }) => pointer);
    expect(written.error!.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      "DIGEST_MISMATCH /@graph/2",
    ]);
    expect(wrong.error!.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      "DIGEST_MISMATCH /@graph/3",
      "DIGEST_MISMATCH /@graph/4",
      "DIGEST_MISMATCH /@graph/5",
    ]);
    expect([sizes(written), sizes(wrong)]).toEqual([["/@graph/2", "/@graph/3"], ["/@graph/2"]]);
  });

  it(
    "stores the measured size of a file whose contentSize is stale, and preserves the " +
      "stated one",
    async () => {
      const submission = await rig.upload(
        await crate([{ "@id": "a", "@type": "File", contentSize: "5" }], { a: "aaaa" }),
      );
      expect([submission.status, codes(submission.warnings)]).toEqual([
        "finished",
        ["SIZE_MISMATCH"],
      ]);
      const record = (await rig.all()).find(({ ark }) => ark.endsWith("/a"))!;
      expect(await rig.document(record.ark)).toMatchObject({ contentSize: "5" });
      expect(await rig.records.objectsOf(record.ark)).toMatchObject([{ size: 4 }]);
    },
  );

  it("leaves an empty string unchanged, also in reference fields", async () => {
    await rig.upload(
      await crate(
        [{ "@id": "a", "@type": "File", creator: "", author: ["", "Ada"], isPartOf: "./" }],
        { a: "a" },
      ),
    );
    const records = await rig.all();
    const file = records.find(({ ark }) => ark.endsWith("/a"))!;
    const root = records.find(({ kind }) => kind === "rocrate")!;
    // The document has the text, the graph the link.
    expect(await rig.document(file.ark)).toMatchObject({
      creator: "",
      author: ["", "Ada"],
      isPartOf: "./",
    });
    expect(await rig.records.quads(file.ark)).toContain(`isPartOf> <${root.ark}>`);
  });

  it("reads a text as a reference in reference fields only", async () => {
    const person = { "@id": "#ada", "@type": "Person", name: "#lab", memberOf: "#lab" };
    await rig.upload(
      await crate([person, { "@id": "#lab", "@type": "Organization", name: "Lab" }]),
    );
    const records = await rig.all();
    const [ada, lab] = ["/ada-", "/lab-"].map((part) =>
      records.find(({ ark }) => ark.includes(part)),
    );
    expect(await rig.document(ada!.ark)).toMatchObject({ name: "#lab", memberOf: "#lab" });
    const quads = await rig.records.quads(ada!.ark);
    expect(quads).toContain(`memberOf> <${lab!.ark}>`);
    expect(quads).toContain('name> "#lab"');
  });

  it("reads ro-crate-metadata.json where the legacy .jsonld is beside it, with a warning", async () => {
    const submission = await rig.upload(
      await zip({
        "ro-crate-metadata.json": metadata([], { "@id": "./", name: "The newer" }),
        "ro-crate-metadata.jsonld": metadata([], { "@id": "./", name: "The legacy one" }),
      }),
    );
    expect([submission.status, codes(submission.warnings)]).toEqual([
      "finished",
      ["METADATA_TWICE"],
    ]);
    expect((await rig.all()).map(({ name }) => name)).toContain("The newer");
  });

  it(
    "ingests <prefix>-ro-crate-metadata.json as a detached crate, where no other " +
      "metadata is present",
    async () => {
      const submission = await rig.upload(
        await zip({
          "cells-ro-crate-metadata.json": metadata([], {
            "@id": "https://example.org/cells/",
            name: "Detached",
          }),
          "note.txt": "x",
        }),
      );
      expect(submission.status, JSON.stringify(submission.error)).toBe("finished");
      expect((await rig.all()).map(({ name }) => name)).toContain("Detached");
      expect(
        (
          await rig.upload(
            await zip({
              "a-ro-crate-metadata.json": metadata(),
              "b-ro-crate-metadata.json": metadata(),
            }),
          )
        ).error,
      ).toMatchObject([{ code: "AMBIGUOUS_METADATA" }]);
    },
  );

  it("leaves neither a record nor, after a sweep, an object of a crate that fails", async () => {
    const submission = await rig.upload(
      await crate([{ "@id": "a", "@type": "File", md5: md5("b") }], { a: "aaaa", b: "bbbb" }),
    );
    expect(submission).toMatchObject({
      status: "failed",
      identifiersMinted: 0,
      rocrateIdentifier: null,
    });
    expect(await rig.all()).toEqual([]);
    expect((await keys()).length).toBeGreaterThan(0);
    await sweepObjects({ objects: rig.objects, records: rig.records, intentLifetime: 86_400_000 });
    expect(await keys()).toEqual([]);
  });

  it("preserves every object of an ingested crate in a sweep", async () => {
    await rig.upload(await crate([{ "@id": "a", "@type": "File" }], { a: "aaaa", b: "bbbb" }));
    const before = await keys();
    await sweepObjects({
      objects: rig.objects,
      records: rig.records,
      intentLifetime: 0,
      now: () => Date.now() + 1e9,
    });
    expect((await keys()).sort()).toEqual(before.sort());
  });

  it("reports a crate of another owner, with the fix", async () => {
    await rig.upload(await crate([], {}, { "@id": "ark:59852/rocrate-of-bob" }), {
      user: "ark:99999/user-bob",
    });
    const mine = await rig.upload(
      await crate([], { more: "x" }, { "@id": "ark:59852/rocrate-of-bob" }),
    );
    expect(mine.error).toMatchObject([
      {
        code: "IDENTIFIER_TAKEN",
        message: expect.stringMatching(/ROCrate.*; give the crate another @id, and take/),
      },
    ]);
  });

  it("reports an existing crate of the uploader, with the fix", async () => {
    await rig.upload(await crate([], {}, { "@id": "ark:59852/rocrate-mine" }));
    const again = await rig.upload(
      await crate([], { more: "x" }, { "@id": "ark:/59852/rocrate-mine", name: "changed" }),
    );
    expect(again.error).toMatchObject([
      { code: "CRATE_EXISTS", message: expect.stringContaining("?update=true") },
    ]);
  });

  it("refuses an identifier of another owner's record, in any spelling", async () => {
    await rig.upload(
      await crate(
        [{ "@id": "ark:59852/shared-data", "@type": "evi:Dataset", name: "secret name" }],
        {},
        { "@id": "ark:59852/rocrate-a" },
      ),
      { user: "ark:99999/user-bob" },
    );
    const taken = await rig.upload(
      await crate(
        [{ "@id": "ark:/59852/shareddata", "@type": "evi:Dataset" }, { "@id": "#fine" }],
        {},
        { "@id": "ark:59852/rocrate-b" },
      ),
    );
    expect(taken.error).toMatchObject([
      {
        code: "IDENTIFIER_TAKEN",
        pointer: "/@graph/2",
        message: expect.stringContaining("a Dataset"),
      },
    ]);
    expect(JSON.stringify(taken.error)).not.toContain("secret name");
    const root = await rig.upload(
      await crate([], {}, { "@id": "ark:59852/rocrate-a", name: "mine" }),
    );
    expect(codes(root.error)).toEqual(["IDENTIFIER_TAKEN"]);
  });

  it("lets two crates of one owner contain one identifier when their statements are equal", async () => {
    const tool = { "@id": "ark:59852/tool", "@type": "evi:Software", name: "Tool" };
    await rig.upload(await crate([tool], {}, { name: "one" }));
    const second = await rig.upload(await crate([tool], {}, { name: "two" }));
    expect(second).toMatchObject({ status: "finished", identifiersMinted: 1 });
    const other = await rig.upload(
      await crate([{ ...tool, name: "Another" }], {}, { name: "three" }),
    );
    expect(codes(other.error)).toEqual(["IDENTIFIER_TAKEN"]);
  });

  it("stops at a commit that finds an identifier taken meanwhile", async () => {
    const commit = rig.records.commit.bind(rig.records);
    rig.records.commit = async (input) => {
      const [first] = input.records as Extract<RecordWrite, { op: "create" }>[];
      rig.records.commit = commit;
      await commit({
        by: "ark:99999/user-bob",
        at: 1,
        records: [{ ...first!, objects: [], owner: "ark:99999/user-bob" }],
      });
      return commit(input);
    };
    const submission = await rig.upload(
      await crate([{ "@id": "#x" }], {}, { "@id": "ark:59852/rocrate-late" }),
    );
    expect(codes(submission.error)).toEqual(["IDENTIFIER_TAKEN"]);
    expect(await rig.all()).toHaveLength(1);
  });

  it("stores the members `a-b.csv` and `ab.csv` of one crate as two records", async () => {
    const submission = await rig.upload(
      await crate(
        [
          { "@id": "a-b.csv", "@type": "File" },
          { "@id": "ab.csv", "@type": "File" },
        ],
        { "a-b.csv": "1", "ab.csv": "2" },
      ),
    );
    expect(submission).toMatchObject({ status: "finished", identifiersMinted: 3 });
  });

  it("ingests metadata alone, without requiring its files", async () => {
    const text = JSON.stringify(metadata([{ "@id": "a.csv", "@type": "File" }]));
    const submission = await rig.upload(Buffer.from(text), { input: { format: "metadata" } });
    expect(submission).toMatchObject({ status: "finished", identifiersMinted: 2 });
    expect(codes(submission.warnings)).toEqual(["FILE_NOT_IN_ARCHIVE"]);
    expect(
      (await rig.records.objectsOf(submission.rocrateIdentifier!)).map(({ role }) => role),
    ).toEqual(["metadata"]);
  });

  it("stores an entity with an invalid JSON-LD member, names the member, and states the rest", async () => {
    const submission = await rig.upload(
      await crate([
        { "@id": "#a", "@type": "Person", name: "A" },
        {
          "@id": "#b",
          "@type": ["Person", { no: "type" }],
          name: "B",
          "@reverse": 5,
          knows: { "@id": "#a" },
          "@included": "x",
        },
      ]),
    );
    expect(submission).toMatchObject({ status: "finished", error: null });
    expect(
      submission.warnings
        .filter(({ code }) => code === "JSONLD_INVALID")
        .map(({ pointer }) => pointer),
    ).toEqual(["/@graph/3/@type", "/@graph/3/@reverse", "/@graph/3/@included"]);
    expect(submission.warnings.find(({ code }) => code === "JSONLD_INVALID")).toMatchObject({
      file: "ro-crate-metadata.json",
      message: expect.stringContaining("type"),
    });
    const record = (await rig.all()).find(({ name }) => name === "B")!;
    const document = await rig.document(record.ark);
    expect(document).toMatchObject({
      "@type": ["Person", { no: "type" }],
      "@reverse": 5,
      "@included": "x",
    });
    const quads = await rig.records.quads(record.ark);
    expect(quads).toContain(
      `<${record.ark}> <urn:arkgraph:term:%40type> ` +
        `"[\\"Person\\",{\\"no\\":\\"type\\"}]"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>`,
    );
    expect(quads).toContain(`<${record.ark}> <https://schema.org/name> "B"`);
    expect(quads).toContain("<https://schema.org/knows>");
  });

  it("refuses an invalid context, of the crate or of an entity, with its place", async () => {
    const entity = await rig.upload(
      await crate([{ "@id": "#a" }, { "@id": "#b", "@context": 5, "@type": "Person" }]),
    );
    expect(entity.error).toMatchObject([
      { code: "CONTEXT_INVALID", pointer: "/@graph/3/@context" },
    ]);
    const context = await rig.upload(
      await zip({ "ro-crate-metadata.json": metadata([], {}, [RO_CRATE, 5]) }),
    );
    expect(context.error).toMatchObject([{ code: "CONTEXT_INVALID", pointer: "/@context" }]);
  });

  it(
    "preserves the terms of a context that is not bundled, without a meaning, and the " +
      "context itself",
    async () => {
      const context = [RO_CRATE, "https://example.org/ctx"];
      const submission = await rig.upload(
        await zip({
          "ro-crate-metadata.json": metadata(
            [
              {
                "@id": "#b",
                "@type": "Person",
                name: "B",
                odd: "x",
                address: { "@context": "https://example.org/inner", street: "y" },
              },
            ],
            {},
            context,
          ),
        }),
      );
      expect(submission).toMatchObject({ status: "finished", error: null });
      expect(submission.warnings.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
        "UNKNOWN_CONTEXT /@context",
        "UNKNOWN_CONTEXT /@graph/2/address/@context",
        "NESTED_WITHOUT_ID /@graph/2/address",
        "LOST_TERM /@graph/2",
        "LOST_TERM /@graph/2",
      ]);
      const record = (await rig.all()).find(({ name }) => name === "B")!;
      expect(await rig.document(record.ark)).toMatchObject({
        "@context": context,
        odd: "x",
        address: { "@context": "https://example.org/inner", street: "y" },
      });
      const quads = await rig.records.quads(record.ark);
      expect(quads).toContain(`<${record.ark}> <urn:arkgraph:term:odd> "x"`);
      expect(quads).toContain(`<urn:arkgraph:term:street> "y"`);
      expect(quads).toContain(`<${record.ark}> <https://schema.org/name> "B"`);
    },
  );

  it("leaves a wrong definition out of a context, with a warning that names the term", async () => {
    const definitions = {
      ex: "https://example.org/",
      "ex:kept": "https://example.org/kept",
      bad: { "@id": "ex:bad", "@container": "@wrong" },
      "ex:odd": "https://other.example/odd",
      good: "ex:good",
      worse: { "@id": 5 },
      loop: "pool:x",
      pool: "loop:y",
      "@version": "1.1",
    };
    const submission = await rig.upload(
      await zip({
        "ro-crate-metadata.json": metadata(
          [
            { "@id": "#b", "@type": "Person", name: "B", bad: "x", good: "y", "ex:kept": "z" },
            {
              "@id": "#c",
              "@context": { term: 5, own: "https://example.org/own" },
              "@type": "Person",
              name: "C",
              term: 1,
              own: 2,
            },
          ],
          {},
          [RO_CRATE, definitions] as Json,
        ),
      }),
    );
    expect(submission).toMatchObject({ status: "finished", error: null });
    const dropped = submission.warnings.filter(({ code }) => code === "TERM_INVALID");
    expect(dropped.map(({ pointer }) => pointer).toSorted()).toEqual([
      "/@context/1/@version",
      "/@context/1/bad",
      "/@context/1/ex:odd",
      "/@context/1/pool",
      "/@context/1/worse",
      "/@graph/3/@context/term",
    ]);
    expect(dropped.find(({ pointer }) => pointer === "/@context/1/bad")!.message).toContain(
      '"bad"',
    );
    const record = async (wanted: string) => (await rig.all()).find(({ name }) => name === wanted)!;
    const {
      "@version": _version,
      bad: _bad,
      worse: _worse,
      pool: _pool,
      "ex:odd": _odd,
      ...kept
    } = definitions;
    expect((await rig.document((await record("B")).ark))["@context"]).toEqual([RO_CRATE, kept]);
    const [b, c] = [
      await rig.records.quads((await record("B")).ark),
      await rig.records.quads((await record("C")).ark),
    ];
    for (const statement of [
      '<urn:arkgraph:term:bad> "x"',
      '<https://example.org/good> "y"',
      '<https://example.org/kept> "z"',
      '<https://schema.org/name> "B"',
    ])
      expect(b).toContain(statement);
    expect(c).toContain("<https://example.org/own>");
    expect(c).toContain("<urn:arkgraph:term:term>");
  });

  it("refuses a context with thousands of wrong definitions, in seconds", async () => {
    await open();
    const wrong = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [
        `t${index}`,
        { "@id": `https://example.org/${index}`, "@container": "@wrong" },
      ]),
    );
    const submission = await rig.upload(
      await zip({ "ro-crate-metadata.json": metadata([], {}, [RO_CRATE, wrong]) }),
    );
    expect(submission.error).toMatchObject([{ code: "CONTEXT_INVALID", pointer: "/@context" }]);
  }, 60_000);

  it(
    "warns about terms that no context explains, and about texts that are too long, and " +
      "stores them",
    async () => {
      const submission = await rig.upload(
        await crate([
          { "@id": "#a", "@type": "SoftwareApplication", name: "n".repeat(201), strangeTerm: 1 },
          { "@id": "#b", strangeTerm: 2 },
        ]),
      );
      const record = (await rig.all()).find(({ kind }) => kind === "software")!;
      expect((await rig.document(record.ark))["name"]).toHaveLength(201);
      expect(codes(submission.warnings)).toEqual(["FIELD_LENGTH", "LOST_TERM"]);
      expect(submission.warnings.find(({ code }) => code === "LOST_TERM")!.message).toContain(
        "strangeTerm",
      );
    },
  );

  it("preserves a key named __proto__ and every odd value as sent", async () => {
    const text = JSON.stringify(
      metadata([
        { "@id": "#odd", nothing: null, empty: [], nested: { deep: [[1, [2]]] }, number: 0.1 },
      ]),
    ).replace('"nothing":null', '"__proto__":{"polluted":true},"nothing":null');
    const submission = await rig.upload(await zip({ "ro-crate-metadata.json": text }));
    expect(submission.error).toBeNull();
    const record = (await rig.all()).find(({ kind }) => kind === "entity")!;
    const document = Buffer.from(record.document).toString();
    expect(document).toContain(
      '"__proto__":{"polluted":true},"nothing":null,"empty":[],"nested":{"deep":[[1,[2]]]},"number":0.1',
    );
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("reads metadata as deep as MAX_JSON_DEPTH allows, and refuses deeper ones", async () => {
    const nested = (depth: number) =>
      JSON.parse(`${'{"inner":['.repeat(depth)}1${"]}".repeat(depth)}`) as Record<string, never>;
    expect(
      (await rig.upload(await crate([{ "@id": "#deep", nested: nested(98) }]))).error,
    ).toBeNull();
    expect(
      codes((await rig.upload(await crate([{ "@id": "#deep", nested: nested(100) }]))).error),
    ).toEqual(["too_deep"]);
    await open({ MAX_JSON_DEPTH: 10_000 });
    const deep = await rig.upload(await crate([{ "@id": "#deep", nested: nested(2000) }]));
    expect(deep.status).toBe("finished");
  });

  it("ends failed at its time and memory limits, naming the setting", async () => {
    await open({ INTAKE_TIMEOUT: 1 });
    const late = await rig.upload(await crate([]));
    expect(late.error).toMatchObject([
      { code: "INTAKE_TIMEOUT", message: expect.stringContaining("INTAKE_TIMEOUT=1") },
    ]);
    await open({ INTAKE_MEMORY: 64 * 2 ** 20 });
    const many = Array.from({ length: 60_000 }, (_, n) => ({
      "@id": `#${n}`,
      "@type": "Person",
      name: `Person ${n}`,
      description: "x".repeat(500),
      list: Array.from({ length: 20 }, (__, m) => `value ${n} ${m}`),
    }));
    const large = await rig.upload(await crate(many));
    expect(large.error).toMatchObject([{ code: "OUT_OF_MEMORY" }]);
    expect(await rig.all()).toEqual([]);
  }, 60_000);

  it("plans a crate without storing anything", async () => {
    const archive = await crate([{ "@id": "a", "@type": "File", md5: md5("x") }, { "@id": "#b" }], {
      a: "x",
      more: "y",
    });
    const plan = await rig.plan(archive);
    expect(plan).toMatchObject({
      conforms: true,
      refused: [],
      records: [
        { kind: "ROCrate", count: 1 },
        { kind: "DataDownload", count: 1 },
        { kind: "Entity", count: 1 },
      ],
    });
    expect(await keys()).toEqual([]);
    expect(await rig.all()).toEqual([]);
  });

  it("ends failed when it is cancelled, and leaves nothing", async () => {
    await open();
    const staged = await rig.objects.stage(
      Readable.from([await crate(Array.from({ length: 5000 }, (_, n) => ({ "@id": `#${n}` })))]),
    );
    await staged.publish();
    await rig.records.submit({
      id: "cancel-me",
      type: "crate",
      user: UPLOADER,
      sha256: staged.sha256,
      input: {},
      at: 1,
    });
    await rig.jobs.enqueue("cancel-me");
    for await (const _ of rig.jobs.watch("cancel-me"))
      if (await rig.jobs.progress("cancel-me")) await rig.jobs.cancel("cancel-me");
    expect(await rig.records.submission("cancel-me")).toMatchObject({
      status: "failed",
      error: [{ code: "CANCELLED" }],
    });
    expect(await rig.all()).toEqual([]);
  });

  it("passes its stages in order", async () => {
    await open();
    const stages = new Set<string>();
    const setStage = rig.records.setStage.bind(rig.records);
    rig.records.setStage = (id, attempt, stage) => {
      stages.add(stage);
      return setStage(id, attempt, stage);
    };
    await rig.upload(await crate([{ "@id": "a", "@type": "File" }], { a: "x" }));
    expect([...stages]).toEqual([
      "reading archive",
      "reading metadata",
      "storing files",
      "building records",
      "committing",
    ]);
  });
});
