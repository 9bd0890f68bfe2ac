import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/model/field.js";
import type { KindName } from "../../../src/model/kind.js";
import { isLicence } from "../../../src/services/scoring/criteria.js";
import { CrateFacts, Fields } from "../../../src/services/scoring/facts/fields.js";
import {
  isPersistentName,
  relatedOf,
  rootFacts,
} from "../../../src/services/scoring/facts/gather.js";
import { urlLinks } from "../../../src/services/scoring/facts/relations.js";
import { Formats, survey, Terms } from "../../../src/services/scoring/facts/survey.js";
import { scoreOf } from "../../../src/services/scoring/score.js";
import type { StoredRecord } from "../../../src/storage/records/port.js";

const ARK = "ark:99999/any";
const KINDS: readonly KindName[] = [
  "dataset",
  "datadownload",
  "software",
  "computation",
  "schema",
  "rocrate",
  "entity",
];
const KEYS = [
  "@context",
  "@id",
  "@type",
  "name",
  "description",
  "keywords",
  "license",
  "author",
  "publisher",
  "identifier",
  "additionalProperty",
  "hasPart",
  "schema",
  "evi:Schema",
  "properties",
  "about",
  "sameAs",
  "encodingFormat",
  "format",
  "contentUrl",
  "contentSize",
  "sha256",
  "md5",
  "url",
  "usedDataset",
  "usedSoftware",
  "generated",
  "conformsTo",
  "datePublished",
  "rai:dataBiases",
  "humanSubjectResearch",
  "confidentialityLevel",
  "evi:datasetCount",
  "metadataType",
  "container",
  "__proto__",
  "constructor",
  "toString",
];
const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;
const value = fc.oneof(
  json,
  fc.constantFrom<JsonValue[]>(
    "ark:99999/x",
    "https://example.org/a",
    "",
    "No",
    "TBD",
    "10.1234/x",
    { "@id": ARK },
    [{ name: "Human Subject", value: "No" }],
    { name: "x", value: null },
    [null],
    [[]],
    "text/csv",
    "\u0000",
    "a".repeat(5000),
  ),
);
const document = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom(...KEYS), fc.string()), value), { maxLength: 15 })
  .map((entries) => Object.fromEntries<JsonValue>(entries));

const recordOf = (ark: string, kind: KindName, stated: JsonObject): StoredRecord => ({
  ark,
  key: ark,
  kind,
  name: null,
  owner: null,
  revision: 1,
  createdAt: 0,
  modifiedAt: 0,
  publicationStatus: "EMBARGOED",
  private: false,
  embargoedUntil: null,
  crate: ark === ARK ? null : ARK,
  tombstone: null,
  archived: null,
  newestBacklink: 0,
  document: Buffer.from(JSON.stringify(stated)),
});

describe("any documents of a crate", () => {
  it("are scored, and the answer is JSON of the same shape", async () => {
    const tools = { formats: await Formats.load(), terms: new Terms() };
    const shapes = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        document,
        fc.array(fc.tuple(fc.constantFrom(...KINDS), document), { maxLength: 4 }),
        async (stated, parts) => {
          const record = recordOf(ARK, "rocrate", stated);
          const root = await rootFacts(
            { findMany: async (arks) => arks.map((ark) => recordOf(ark, "entity", stated)) },
            record,
            relatedOf(record),
            "99999",
          );
          const facts = new CrateFacts(root);
          survey(facts, record, stated, undefined, tools);
          for (const [index, [kind, part]] of parts.entries()) {
            survey(
              facts,
              recordOf(`${ARK}/${index}`, kind, part),
              part,
              index % 2
                ? { sha256: "0".repeat(64), size: 1, mediaType: "a/b", name: "n", role: "content" }
                : undefined,
              tools,
            );
            urlLinks(ARK, part);
          }
          const score = JSON.parse(JSON.stringify(scoreOf(record, facts, 0))) as Record<
            string,
            Record<string, object>
          >;
          shapes.add(
            Object.entries(score)
              .map(
                ([name, inner]) =>
                  `${name}:${
                    typeof inner === "object"
                      ? Object.entries(inner)
                          .map(
                            ([each, leaf]) =>
                              `${each}(${typeof leaf === "object" ? Object.keys(leaf).join() : ""})`,
                          )
                          .join()
                      : ""
                  }`,
              )
              .join(" "),
          );
          for (const category of Object.values(score))
            for (const leaf of Object.values(typeof category === "object" ? category : {})) {
              if (typeof leaf !== "object") continue;
              const { details, evidence } = leaf as { details: string; evidence: string[] };
              expect(details.length).toBeLessThan(1500);
              expect(evidence.length).toBeLessThanOrEqual(10);
            }
        },
      ),
      { numRuns: 300 },
    );
    expect(shapes.size).toBe(1);
  });

  it("names that every object has are no fields", () => {
    const fields = new Fields(ARK, JSON.parse('{"@id":"x"}') as JsonObject);
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"])
      expect(fields.has(name)).toBe(false);
  });
});

describe("texts are classified", () => {
  it.each([
    "https://orcid.org/0000-0002-1825-0097",
    "0000-0002-1694-233X",
    "ORCID: 0000-0002-1825-0097",
    "https://ror.org/03yrm5c26",
  ])("%s names somebody", (text) => expect(isPersistentName(text)).toBe(true));
  it.each([
    "https://orcid.org/0000-0002-1825-0098",
    "0000-0000-0000-0000",
    "https://ror.org/",
    "Ada",
    "https://orcid.org/0000-0002-1825-00971",
  ])("%s names nobody", (text) => expect(isPersistentName(text)).toBe(false));
  it.each([
    "https://spdx.org/licenses/MIT",
    "http://creativecommons.org/publicdomain/zero/1.0/",
    "CC-BY-4.0",
    "CC0-1.0",
    "GPL-3.0-or-later",
    "mit",
    "(MIT AND Apache-2.0)",
    "GPL-2.0-only WITH Classpath-exception-2.0",
  ])("%s is a licence", (text) => expect(isLicence(text)).toBe(true));
  it.each(["proprietary", "CC-BY", "all rights reserved", "https://", "", "MIT OR mine"])(
    "%s is ordinary text",
    (text) => expect(isLicence(text)).toBe(false),
  );
});
