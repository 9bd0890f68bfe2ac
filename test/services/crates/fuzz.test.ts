import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { graphsOf } from "../../../src/rdf/graph.js";
import { buildRecords } from "../../../src/services/crates/build-records.js";
import { CrateError } from "../../../src/services/crates/findings.js";
import { Archive } from "../../../src/services/crates/zip/archive.js";
import { LIMITS, readerOf, zip } from "../../support/crates.js";
import { resolveHere } from "../../support/resolve-here.js";

/**
 * Only what is the crate's fault may be found in a crate; any other error would be tried again and
 * again.
 */
const onlyCrateErrors = (error: unknown): void => {
  if (!(error instanceof CrateError)) throw error;
};

describe("any input", () => {
  it("is ingested or refused with findings, whatever the metadata contains", async () => {
    const id = fc.constantFrom(
      "./",
      "ro-crate-metadata.json",
      "a.txt",
      "a/",
      "#x",
      "_:b",
      "",
      ".",
      "/",
      "..",
      "../x",
      "https://orcid.org/1",
      "ark:59852/x",
      "ark:/59852/x/",
      "ark:x",
      "urn:x",
      "%",
      "%zz",
      "file:///a.txt",
      "\\",
      "é ",
      "?",
      "a#b",
      "@type",
      "http://",
    );
    const text = fc.oneof(
      id,
      fc.string(),
      fc.constantFrom("File", "Dataset", "evi:Computation", "CreateAction", "Embargoed", "5"),
    );
    const value = fc.letrec<{ node: fc.JsonValue }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.jsonValue({ maxDepth: 0 }),
        fc.array(tie("node"), { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom(
            "@id",
            "@type",
            "@value",
            "@list",
            "@set",
            "@reverse",
            "@language",
            "@context",
            "@graph",
            "@included",
            "@index",
            "@none",
            "@foo",
            "name",
            "hasPart",
            "contentUrl",
            "__proto__",
            "x:y",
            "",
          ),
          tie("node"),
          { maxKeys: 3 },
        ),
      ),
    })).node;
    const entity = fc.dictionary(
      fc.constantFrom(
        "@type",
        "@context",
        "@reverse",
        "@graph",
        "name",
        "description",
        "keywords",
        "contentUrl",
        "contentSize",
        "sha256",
        "md5",
        "hasPart",
        "usedDataset",
        "generated",
        "author",
        "url",
        "encodingFormat",
        "about",
        "sameAs",
        "metadataType",
        "__proto__",
        "constructor",
      ),
      value,
      { maxKeys: 6 },
    );
    const graph = fc.array(
      fc.tuple(id, entity).map(([name, rest]) => ({ "@id": name, ...rest })),
      { maxLength: 6 },
    );
    const context = fc.constantFrom<fc.JsonValue[]>(
      "https://w3id.org/ro/crate/1.1/context",
      null,
      { "@vocab": "https://schema.org/" },
      [{ "@base": null }],
      { name: null },
      { a: "b" },
      5,
    );
    await fc.assert(
      fc.asyncProperty(
        context,
        entity,
        graph,
        fc.boolean(),
        async (shared, own, entities, older) => {
          const descriptor = { "@id": "ro-crate-metadata.json", about: { "@id": "./" } };
          const metadata = older
            ? { ...own, "@context": shared, "@graph": entities }
            : { "@context": shared, "@graph": [descriptor, { "@id": "./", ...own }, ...entities] };
          const bytes = Buffer.from(JSON.stringify(metadata));
          try {
            const crate = resolveHere(
              [{ file: "ro-crate-metadata.json", folder: "", bytes }],
              [{ name: "a.txt", folder: false, size: 1 }],
              { limits: LIMITS, naan: "99999", acceptedNaans: "*" },
            );
            const stored = new Map([["a.txt", { sha256: "0".repeat(64), size: 1 }]]);
            for await (const records of buildRecords(
              crate,
              stored,
              { limits: LIMITS, baseUrl: "https://x.example", owner: "ark:99999/u" },
              graphsOf,
            )) {
              for (const { ark, key, document, name } of records) {
                expect(ark).toMatch(/^ark:[0-9a-z]{5,}\/[^\s?#]+$/);
                expect(key).not.toBe("");
                expect(name === null || typeof name === "string").toBe(true);
                expect(
                  (JSON.parse(Buffer.from(document).toString()) as { "@id": string })["@id"],
                ).toBe(ark);
              }
            }
          } catch (error) {
            onlyCrateErrors(error);
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  it("is read or refused with findings, whatever bytes an archive has", async () => {
    const whole = await zip({
      "ro-crate-metadata.json": "{}",
      "data/a.txt": "hello hello hello",
      "b.bin": Buffer.alloc(2 ** 21 + 5, "xyz"),
      "folder/": null,
    });
    const change = fc.record({
      at: fc.oneof(
        fc.nat(whole.length - 1),
        fc.integer({ min: whole.length - 350, max: whole.length - 1 }),
        fc.nat(120),
      ),
      byte: fc.nat(255),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 4 }),
        fc.option(fc.nat(whole.length)),
        async (changes, cut) => {
          const bytes = Buffer.from(whole);
          for (const { at, byte } of changes) bytes[at] = byte;
          try {
            const archive = await Archive.open(
              readerOf(cut === null ? bytes : bytes.subarray(0, cut)),
              LIMITS,
            );
            for (const member of archive.members)
              for await (const chunk of archive.read(member))
                expect(chunk.length).toBeGreaterThan(0);
          } catch (error) {
            onlyCrateErrors(error);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
