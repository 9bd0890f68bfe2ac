import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/model/field.js";
import {
  CATEGORIES,
  CATEGORY_NAMES,
  type CategoryName,
} from "../../../src/services/scoring/criteria.js";
import type { Status } from "../../../src/services/scoring/criterion.js";
import { gather } from "../../../src/services/scoring/facts/gather.js";
import { currentScore, scoreOf, storedScore } from "../../../src/services/scoring/score.js";
import type { RecordStore } from "../../../src/storage/records/port.js";
import { openSqliteRecordStore } from "../../../src/storage/records/sqlite/index.js";
import { overlay } from "../../support/overlay.js";
import { perfect, ScoredCrates, type Sketch } from "../../support/scored-crates.js";

let folder: string;
let records: RecordStore;
let crates: ScoredCrates;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "scores-"));
  records = await openSqliteRecordStore({ file: join(folder, "records.db") });
  crates = new ScoredCrates(records);
});
afterAll(async () => {
  await records.close();
  await rm(folder, { recursive: true });
});

type Change = (sketch: Sketch) => void;
const root =
  (changes: Record<string, JsonValue | undefined>): Change =>
  (sketch) => {
    sketch.root = Object.fromEntries(
      Object.entries({ ...sketch.root, ...changes }).filter(
        (entry): entry is [string, JsonValue] => entry[1] !== undefined,
      ),
    );
  };
const without = (...names: string[]): Change =>
  root(Object.fromEntries(names.map((name) => [name, undefined])));
const part =
  (id: string, changes: JsonObject): Change =>
  ({ parts }) =>
    void Object.assign(parts[id]!.document, changes);
const partWithout =
  (id: string, ...names: string[]): Change =>
  ({ parts }) =>
    names.forEach((name) => delete parts[id]!.document[name]);
const drop =
  (...ids: string[]): Change =>
  ({ parts }) =>
    ids.forEach((id) => delete parts[id]);
const noContent =
  (id: string): Change =>
  ({ parts }) =>
    delete parts[id]!.content;
const status =
  (id: string, to: "DRAFT" | "EMBARGOED" | "ARCHIVED"): Change =>
  ({ parts }) =>
    void (parts[id]!.status = to);
const all =
  (...changes: Change[]): Change =>
  (sketch) =>
    changes.forEach((change) => change(sketch));
const property = (name: string, value: JsonValue): JsonValue => [
  { "@type": "PropertyValue", name, value },
];

const ONLY_DATA = drop("run", "tool", "columns", "counts");
const NOTHING = all(drop("run", "tool", "columns", "counts", "images"), without("hasPart"));

/** What is changed in a crate that has everything, and what that makes of one criterion. */
const CASES: Record<string, [what: string, change: Change, status: Status][]> = {
  "fairness.findable": [
    ["without keywords", without("keywords"), "partly"],
    [
      "without name, description and keywords",
      without("name", "description", "keywords"),
      "not_met",
    ],
    ["with a placeholder for a description", root({ description: "TBD" }), "partly"],
  ],
  "fairness.accessible": [
    ["one file without content or address", noContent("images"), "partly"],
    ["no file with content or address", all(noContent("images"), noContent("counts")), "not_met"],
    [
      "addresses in place of content",
      all(noContent("images"), part("images", { contentUrl: "https://example.org/i.png" })),
      "met",
    ],
    [
      "a local path is no address",
      all(noContent("images"), part("images", { contentUrl: "file:///i.png" })),
      "partly",
    ],
    ["an archived file", status("images", "ARCHIVED"), "partly"],
    ["an archived crate", (sketch) => void (sketch.status = "ARCHIVED"), "not_met"],
    ["an embargo without conditions", status("images", "EMBARGOED"), "partly"],
    [
      "an embargo with conditions",
      all(status("images", "EMBARGOED"), root({ conditionsOfAccess: "Ask." })),
      "met",
    ],
    ["nothing to be had", NOTHING, "not_met"],
  ],
  "fairness.interoperable": [
    [
      "a term that no context explains",
      part("images", {
        "@context": { "@vocab": null, name: "https://schema.org/name" },
        colour: "red",
      }),
      "partly",
    ],
    ["a prefix that no context declares", part("images", { "lab:colour": "red" }), "partly"],
    ["a format that is no media type", part("counts", { encodingFormat: "csv" }), "partly"],
    [
      "a media type that IANA does not know",
      part("counts", { encodingFormat: "text/x-r-sweave-thing" }),
      "partly",
    ],
    [
      "PRONOM",
      part("counts", {
        encodingFormat: ["CSV", { "@id": "https://www.nationalarchives.gov.uk/PRONOM/x-fmt/18" }],
      }),
      "met",
    ],
    [
      "neither terms nor formats",
      (sketch) => {
        for (const { document } of [{ document: sketch.root }, ...Object.values(sketch.parts)])
          Object.assign(document, {
            "@context": { evi: "https://w3id.org/EVI#" },
            colour: "red",
            ...(document["encodingFormat"] ? { encodingFormat: "abc" } : {}),
          });
      },
      "not_met",
    ],
  ],
  "fairness.reusable": [
    ["an SPDX identifier", root({ license: "Apache-2.0" }), "met"],
    ["an SPDX expression", root({ license: "MIT OR Apache-2.0" }), "met"],
    [
      "the default licence with its blank",
      root({ license: " https://creativecommons.org/licenses/by/4.0/" }),
      "met",
    ],
    [
      "an entity that has an address",
      all(
        root({ license: { "@id": "~/licence" } }),
        ({ parts }) =>
          void (parts["licence"] = {
            document: {
              "@type": "CreativeWork",
              name: "Licence",
              url: "https://example.org/licence",
            },
          }),
      ),
      "met",
    ],
    ["words", root({ license: "Free for research" }), "partly"],
    ["none", without("license"), "not_met"],
  ],
  "provenance.transparent": [
    ["one without source", partWithout("images", "sourceOrganization"), "partly"],
    ["a computation tells it", partWithout("counts", "generatedBy"), "met"],
    ["none with source", all(ONLY_DATA, partWithout("images", "sourceOrganization")), "not_met"],
    ["no data", NOTHING, "not_met"],
    [
      "a folder needs none",
      ({ parts }) =>
        void (parts["folder"] = {
          document: { "@type": "Dataset", name: "Folder", hasPart: { "@id": "~/images" } },
        }),
      "met",
    ],
  ],
  "provenance.traceable": [
    [
      "one of two runs without output",
      ({ parts }) =>
        void (parts["idle"] = {
          document: { "@type": "CreateAction", name: "Idle", object: { "@id": "~/images" } },
        }),
      "partly",
    ],
    [
      "an input that does not exist",
      part("run", { usedDataset: [{ "@id": "~/images" }, { "@id": "~/nothing" }] }),
      "not_met",
    ],
    ["the output says it", partWithout("run", "generated"), "met"],
    ["no input", partWithout("run", "usedDataset"), "not_met"],
    ["no run", drop("run"), "not_met"],
    [
      "an action that only arranges others",
      ({ parts }) =>
        void (parts["order"] = { document: { "@type": "OrganizeAction", name: "Order" } }),
      "met",
    ],
  ],
  "provenance.interpretable": [
    ["software without a location", partWithout("tool", "url"), "partly"],
    [
      "neither location nor software named",
      all(partWithout("tool", "url"), partWithout("run", "usedSoftware")),
      "not_met",
    ],
    ["software that does not exist", part("run", { usedSoftware: { "@id": "~/none" } }), "partly"],
    [
      "software by its URL",
      all(part("run", { usedSoftware: { "@id": "https://example.org/tool" } })),
      "partly",
    ],
    ["no software", drop("tool"), "not_met"],
    [
      "an experiment needs no software",
      ({ parts }) =>
        void (parts["bench"] = { document: { "@type": "evi:Experiment", name: "Bench" } }),
      "met",
    ],
  ],
  "provenance.key_actors_identified": [
    ["a name without identifier", root({ author: "Someone" }), "partly"],
    [
      "an ORCID whose check digit is wrong",
      root({ author: { "@id": "https://orcid.org/0000-0002-1825-0098" } }),
      "partly",
    ],
    [
      "a ROR",
      root({ author: "Someone", publisher: { "@id": "https://ror.org/03yrm5c26" } }),
      "met",
    ],
    [
      "an entity with an ORCID",
      all(
        root({ author: { "@id": "~/ada" } }),
        ({ parts }) =>
          void (parts["ada"] = {
            document: {
              "@type": "Person",
              name: "Ada",
              identifier: "https://orcid.org/0000-0002-1825-0097",
            },
          }),
      ),
      "met",
    ],
    ["nobody", without("author", "publisher"), "not_met"],
  ],
  "characterization.semantics": [
    [
      "one column without a term",
      part("columns", {
        properties: { a: { valueURL: "http://example.org/a" }, b: { type: "string" } },
      }),
      "partly",
    ],
    [
      "no column with a term",
      part("columns", { properties: { a: { type: "string" } } }),
      "not_met",
    ],
    [
      "another spelling",
      part("columns", { properties: { a: { "value-url": "http://example.org/a" } } }),
      "met",
    ],
    [
      "no columns, and a subject",
      all(drop("columns"), root({ about: { "@id": "http://purl.obolibrary.org/obo/CL_0000000" } })),
      "met",
    ],
    [
      "columns without terms, and a subject",
      all(part("columns", { properties: { a: {} } }), root({ about: "cells" })),
      "partly",
    ],
    [
      "about the crate itself only",
      all(drop("columns"), part("images", { about: { "@id": "~" } })),
      "not_met",
    ],
    ["no columns", drop("columns"), "not_met"],
  ],
  "characterization.statistics": [
    ["a table without statistics", partWithout("counts", "hasSummaryStatistics"), "partly"],
    ["no table", all(drop("counts"), partWithout("images", "contentSize")), "met"],
    [
      "neither sizes nor statistics",
      all(
        noContent("images"),
        noContent("counts"),
        partWithout("images", "contentSize"),
        partWithout("counts", "hasSummaryStatistics"),
      ),
      "not_met",
    ],
    ["a total size alone", all(NOTHING, root({ "evi:totalContentSizeBytes": 12 })), "partly"],
    ["nothing", NOTHING, "not_met"],
  ],
  "characterization.standards": [
    ["a schema that does not exist", part("counts", { schema: { "@id": "~/none" } }), "not_met"],
    [
      "one of two",
      ({ parts }) => void (parts["more"] = { document: { "@type": "Dataset", name: "more.tsv" } }),
      "partly",
    ],
    ["no table", ONLY_DATA, "not_applicable"],
    ["what is no schema", part("counts", { schema: { "@id": "~/images" } }), "not_met"],
  ],
  "characterization.potential_sources_of_bias": [
    ["without", without("rai:dataBiases"), "not_met"],
    [
      "under its IRI",
      all(
        without("rai:dataBiases"),
        root({ "http://mlcommons.org/croissant/RAI/dataBiases": "Some." }),
      ),
      "met",
    ],
    [
      "as a property",
      all(
        without("rai:dataBiases"),
        root({ additionalProperty: property("rai:dataBiases", "Some.") }),
      ),
      "met",
    ],
    ["a placeholder", root({ "rai:dataBiases": "N/A" }), "not_met"],
  ],
  "characterization.data_quality": [
    ["without", without("rai:dataCollectionMissingData"), "not_met"],
    [
      "tables that conform",
      all(without("rai:dataCollectionMissingData"), (sketch) => void (sketch.checked = [2, 2])),
      "met",
    ],
    [
      "some conform",
      all(without("rai:dataCollectionMissingData"), (sketch) => void (sketch.checked = [1, 2])),
      "partly",
    ],
    [
      "none conforms",
      all(without("rai:dataCollectionMissingData"), (sketch) => void (sketch.checked = [0, 2])),
      "not_met",
    ],
  ],
  "pre_model_explainability.data_documentation_template": [
    ["without the collection", without("rai:dataCollection"), "partly"],
    [
      "without all three",
      without("rai:dataUseCases", "rai:dataCollection", "rai:dataLimitations"),
      "not_met",
    ],
    [
      "under other names",
      all(
        without("rai:dataUseCases"),
        root({ additionalProperty: property("Intended Use", "Counting.") }),
      ),
      "met",
    ],
  ],
  "pre_model_explainability.fit_for_purpose": [
    ["one of the two", without("rai:dataUseCases"), "met"],
    ["neither", without("rai:dataUseCases", "rai:dataLimitations"), "not_met"],
  ],
  "pre_model_explainability.verifiable": [
    ["one without content", noContent("images"), "partly"],
    ["a checksum that disagrees", part("counts", { sha256: "0".repeat(64) }), "partly"],
    ["checksums that nobody computed", all(noContent("images"), noContent("counts")), "not_met"],
    ["no files", NOTHING, "not_applicable"],
  ],
  "ethics.ethically_acquired": [
    ["neither", without("rai:dataCollection", "humanSubjectResearch"), "not_met"],
    [
      "Human Subject",
      all(
        without("rai:dataCollection", "humanSubjectResearch"),
        root({ additionalProperty: property("Human Subject", "No") }),
      ),
      "met",
    ],
  ],
  "ethics.ethically_managed": [
    ["neither", without("ethicalReview", "additionalProperty"), "not_met"],
    [
      "no human subjects",
      all(
        without("ethicalReview", "additionalProperty"),
        root({ humanSubjectResearch: "No human subjects" }),
      ),
      "not_applicable",
    ],
    ["no human subjects, and a review", root({ humanSubjectResearch: false }), "met"],
  ],
  "ethics.ethically_disseminated": [
    [
      "prohibited uses alone",
      all(
        without("license", "rai:personalSensitiveInformation"),
        root({ prohibitedUses: "Clinical use" }),
      ),
      "met",
    ],
    ["nothing", without("license", "rai:personalSensitiveInformation"), "not_met"],
  ],
  "ethics.secure": [["without", without("confidentialityLevel"), "not_met"]],
  "sustainability.persistent": [
    ["an ARK for tests", without("identifier"), "partly"],
    ["an address that is no DOI", root({ identifier: "https://example.org/cells" }), "partly"],
    ["a bare DOI", root({ identifier: "doi:10.1234/x" }), "met"],
  ],
  "sustainability.domain_appropriate": [
    ["without", without("rai:dataReleaseMaintenancePlan"), "not_met"],
  ],
  "sustainability.well_governed": [
    ["without", without("additionalProperty"), "not_met"],
    [
      "as a field",
      all(without("additionalProperty"), root({ dataGovernanceCommittee: "The committee" })),
      "met",
    ],
  ],
  "sustainability.associated": [
    ["a file that no list names", root({ hasPart: [{ "@id": "~/images" }] }), "partly"],
    [
      "through a folder",
      all(
        root({ hasPart: { "@id": "~/folder" } }),
        ({ parts }) =>
          void (parts["folder"] = {
            document: {
              "@type": "Dataset",
              name: "F",
              hasPart: [{ "@id": "~/images" }, { "@id": "~/counts" }],
            },
          }),
      ),
      "met",
    ],
    [
      "from the other end",
      all(root({ hasPart: [{ "@id": "~/images" }] }), part("counts", { isPartOf: { "@id": "~" } })),
      "met",
    ],
    [
      "a reference that leads nowhere",
      part("images", { isBasedOn: { "@id": "~/nothing" } }),
      "partly",
    ],
    ["nothing at all", NOTHING, "met"],
  ],
  "computability.standardized": [
    ["one without", partWithout("images", "encodingFormat"), "partly"],
    [
      "none",
      all(partWithout("images", "encodingFormat"), partWithout("counts", "encodingFormat")),
      "not_met",
    ],
    ["no files", NOTHING, "not_applicable"],
  ],
  "computability.computationally_accessible": [
    ["drafts", status("images", "DRAFT"), "partly"],
    ["no publisher", without("publisher"), "partly"],
    [
      "no content, no publisher",
      all(noContent("images"), noContent("counts"), without("publisher")),
      "not_met",
    ],
  ],
  "computability.portable": [
    ["no environment", partWithout("tool", "softwareRequirements"), "not_met"],
    [
      "the run's container",
      all(partWithout("tool", "softwareRequirements"), part("run", { container: "python:3.12" })),
      "met",
    ],
    [
      "one of two",
      ({ parts }) =>
        void (parts["other"] = { document: { "@type": "evi:Software", name: "Other" } }),
      "partly",
    ],
    ["no software", drop("tool", "run"), "not_applicable"],
  ],
  "computability.contextualized": [
    ["no profile", without("conformsTo"), "partly"],
    ["a date that is none", root({ datePublished: "last May" }), "partly"],
    ["neither valid nor a profile", without("conformsTo", "datePublished"), "not_met"],
  ],
};

const of = (score: Awaited<ReturnType<ScoredCrates["score"]>>, name: string) => {
  const [category, criterion] = name.split(".") as [CategoryName, string];
  return score[category][criterion]!;
};

it("the 28 criteria in seven categories all have cases here", () => {
  const names = CATEGORY_NAMES.flatMap((category) =>
    Object.keys(CATEGORIES[category]).map((name) => `${category}.${name}`),
  );
  expect(CATEGORY_NAMES).toHaveLength(7);
  expect(names).toHaveLength(28);
  expect(Object.keys(CASES).toSorted()).toEqual(names.toSorted());
});

it("a crate that has everything meets every criterion", async () => {
  const score = await crates.score(perfect());
  const short = CATEGORY_NAMES.flatMap((category) =>
    Object.entries(score[category])
      .filter(([, { status: found }]) => found !== "met")
      .map(([name, { details }]) => `${category}.${name}: ${details}`),
  );
  expect(short).toEqual([]);
  expect(score.score).toEqual({ met: 28, partly: 0, total: 28 });
});

describe.each(Object.keys(CASES))("%s", (name) => {
  it.each(CASES[name]!)("%s", async (_what, change, expected) => {
    const sketch = perfect();
    change(sketch);
    const verdict = of(await crates.score(sketch), name);
    expect(verdict.status, verdict.details!).toBe(expected);
    expect(verdict.has_content).toBe(expected === "met" || expected === "partly");
    expect(verdict.fix === null).toBe(expected === "met" || expected === "not_applicable");
    expect(verdict.evidence.length).toBeLessThanOrEqual(10);
    for (const place of verdict.evidence)
      expect(place).toMatch(/^ark:99999\/crate\d+x[^#]*#(?:\/.*)?$/);
  });
});

it("a crate with only a name scores nothing by default", async () => {
  const score = await crates.score({ root: { "@type": "Dataset", name: "Bare" }, parts: {} });
  const met = CATEGORY_NAMES.flatMap((category) =>
    Object.entries(score[category])
      .filter(([, { has_content }]) => has_content)
      .map(([name, { status: found }]) => `${name} ${found}`),
  );
  expect(met).toEqual([
    "findable partly",
    "interoperable met",
    "persistent partly",
    "associated met",
  ]);
  // What older registries give the same crate.
  expect(
    CATEGORY_NAMES.flatMap((category) =>
      Object.entries(score[category])
        .filter(([, { legacy }]) => legacy)
        .map(([name]) => name),
    ),
  ).toEqual([
    "findable",
    "accessible",
    "interoperable",
    "semantics",
    "data_documentation_template",
    "persistent",
    "associated",
    "portable",
    "contextualized",
  ]);
});

it(
  "a score that a change overtook while it was computed does not count for the changed " + "crate",
  async () => {
    const stored = await crates.store(perfect());
    // The change comes when the crate's state was read, and before its records are.
    let changed = false;
    const overtaken = overlay(records, {
      stateOfCrate: async (crate: string) => {
        const state = await records.stateOfCrate(crate);
        if (!changed) {
          changed = true;
          await records.commit({
            by: null,
            at: Date.now(),
            records: [{ op: "publish", ark: stored.ark, status: "ARCHIVED", embargoedUntil: null }],
          });
        }
        return state;
      },
    });
    const deps = { config: crates.config, records: overtaken };
    const { facts, grounds } = await gather(deps, stored, new AbortController().signal);
    expect(facts.root.status).toBe("ARCHIVED");
    const kept = storedScore(deps, scoreOf(stored, facts, 0), grounds, false);
    expect(await currentScore(deps, stored, kept, new AbortController().signal)).toBeUndefined();
    const again = await gather(deps, stored, new AbortController().signal);
    expect(
      await currentScore(
        deps,
        stored,
        storedScore(deps, scoreOf(stored, again.facts, 0), again.grounds, false),
        new AbortController().signal,
      ),
    ).toBeDefined();
  },
);

it("a crate of more records than SCORE_MAX_RECORDS is refused", async () => {
  const stored = await crates.store(perfect());
  await expect(
    gather(
      { records, config: { ...crates.config, SCORE_MAX_RECORDS: 3 } },
      stored,
      new AbortController().signal,
    ),
  ).rejects.toMatchObject({
    code: "TOO_LARGE",
    message: expect.stringContaining("SCORE_MAX_RECORDS") as string,
  });
});
