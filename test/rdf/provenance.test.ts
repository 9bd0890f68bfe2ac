import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/model/field.js";
import type { KindName } from "../../src/model/kind.js";
import { graphOf } from "../../src/rdf/graph.js";

const ME = "ark:99999/me";
const IT = "ark:99999/it";
const EVI = "https://w3id.org/EVI#";
const PROV = "http://www.w3.org/ns/prov#";
const SCHEMA = {
  "@vocab": "https://schema.org/",
  evi: EVI,
  EVI,
  prov: PROV,
  http: "http://schema.org/",
  own: "https://own.example/",
};
const CRATE = "https://w3id.org/ro/crate/1.1/context";

/**
 * What a record says of provenance, in the one form it has: EVI and PROV-O edges, and the inferred
 * support.
 */
async function edges(
  kind: KindName,
  document: JsonObject,
  context: JsonValue = SCHEMA,
  fromCrate = true,
): Promise<{ stated: string[]; support: string[]; links: string[] }> {
  const graph = await graphOf({
    ark: ME,
    kind,
    fromCrate,
    document: { "@context": context, "@id": ME, ...document },
  });
  const lines = graph.quads.trim().split("\n");
  const provenance = (namespace: string) =>
    lines.filter(
      (line) =>
        line.includes(`> <${namespace}`) && line.endsWith(`<${ME}> .`) && !line.includes("#type>"),
    );
  const short = (line: string) =>
    line
      .replaceAll(`<${EVI}`, "<evi:")
      .replaceAll(`<${PROV}`, "<prov:")
      .split(" ")
      .slice(0, 3)
      .join(" ");
  return {
    stated: [...provenance(EVI), ...provenance(PROV)].map(short).sort(),
    support: lines.filter((line) => line.endsWith(`<${ME}#inferred> .`)).map(short),
    links: graph.links.map(({ predicate, target }) => `${predicate} ${target}`).sort(),
  };
}

const ARK_SPELLINGS: [string, JsonValue][] = [
  ["a string", IT],
  ["an object", { "@id": IT }],
  ["a list of strings", [IT]],
  ["a list of objects", [{ "@id": IT }]],
  ["a list of both", [IT, { "@id": IT }]],
  ["an ordered list", { "@list": [{ "@id": IT }] }],
  ["the old label", "ark:/99999/it"],
  ["the old label in an object", { "@id": "ark:/99999/it" }],
  ["a resolver's URL", "https://n2t.net/ark:/99999/it"],
  ["a resolver's URL in an object", { "@id": "https://n2t.net/ark:/99999/it" }],
  ["upper case", { "@id": "ARK:99999/it" }],
  ["a text in a language", { "@value": IT, "@language": "en" }],
];

describe("a reference is one edge", () => {
  const expected = {
    stated: [`<${ME}> <evi:generatedBy> <${IT}>`, `<${ME}> <prov:wasGeneratedBy> <${IT}>`],
    support: [`<${ME}> <evi:directlySupportedBy> <${IT}>`],
    links: [`evi:generatedBy ${IT}`],
  };
  it.each(ARK_SPELLINGS.filter(([how]) => how !== "an ordered list"))(
    "written as %s",
    async (_how, value) => expect(await edges("dataset", { generatedBy: value })).toEqual(expected),
  );
  it.each([
    "generatedBy",
    "evi:generatedBy",
    "EVI:generatedBy",
    `${EVI}generatedBy`,
    "http:generatedBy",
    "prov:wasGeneratedBy",
    `${PROV}wasGeneratedBy`,
  ])("under the name %s", async (name) => {
    expect(await edges("dataset", { [name]: { "@id": IT } })).toEqual(expected);
  });
  it("under a prefix that no context explains", async () => {
    expect(await edges("dataset", { "evi:generatedBy": { "@id": IT } }, CRATE)).toEqual(expected);
    expect(await edges("dataset", { "EVI:generatedBy": IT }, CRATE)).toEqual(expected);
  });
  it("under a name that no context explains", async () =>
    expect(await edges("dataset", { generatedBy: { "@id": IT } }, CRATE)).toEqual(expected));
  it("in every place of an ordered list", async () => {
    const { support, links } = await edges("dataset", {
      derivedFrom: { "@list": [IT, { "@id": "ark:99999/other" }] },
    });
    expect(support).toEqual(
      [IT, "ark:99999/other"]
        .map((target) => `<${ME}> <evi:directlySupportedBy> <${target}>`)
        .sort(),
    );
    expect(links).toEqual([`evi:derivedFrom ${IT}`, "evi:derivedFrom ark:99999/other"].sort());
  });
});

/**
 * Name of a property → canonical EVI and PROV-O terms; `<` when the object supports the subject,
 * `>` the other way.
 */
const TERMS: [string, string, string | null, "<" | ">"][] = [
  ["used", "used", "used", "<"],
  ["usedDataset", "usedDataset", "used", "<"],
  ["usedSoftware", "usedSoftware", "used", "<"],
  ["usedSample", "usedSample", "used", "<"],
  ["usedInstrument", "usedInstrument", "used", "<"],
  ["usedStain", "usedStain", "used", "<"],
  ["usedTreatment", "usedTreatment", "used", "<"],
  ["usedMLModel", "usedMLModel", "used", "<"],
  ["generatedBy", "generatedBy", "wasGeneratedBy", "<"],
  ["derivedFrom", "derivedFrom", "wasDerivedFrom", "<"],
  ["associatedWith", "associatedWith", "wasAssociatedWith", "<"],
  ["createdBy", "createdBy", "wasAttributedTo", "<"],
  ["generated", "generated", "generated", ">"],
  ["usedBy", "usedBy", null, ">"],
  ["datasetUsedBy", "datasetUsedBy", null, ">"],
  ["softwareUsedBy", "softwareUsedBy", null, ">"],
  ["sampleUsedBy", "sampleUsedBy", null, ">"],
  ["instrumentUsedBy", "instrumentUsedBy", null, ">"],
  ["mlModelUsedBy", "mlModelUsedBy", null, ">"],
  ["derivedTo", "derivedTo", null, ">"],
  ["usedByComputation", "usedBy", null, ">"],
  ["usedByExperiment", "usedBy", null, ">"],
  ["usedByDataset", "usedBy", null, ">"],
  ["prov:used", "used", "used", "<"],
  ["prov:generated", "generated", "generated", ">"],
  ["prov:wasDerivedFrom", "derivedFrom", "wasDerivedFrom", "<"],
  ["prov:wasAssociatedWith", "associatedWith", "wasAssociatedWith", "<"],
  ["prov:wasAttributedTo", "createdBy", "wasAttributedTo", "<"],
  ["prov:wasInformedBy", "directlySupportedBy", "wasInformedBy", "<"],
];
const GENERATIONS = [
  "https://bioschemas.org/ComputationalWorkflow#",
  "https://bioschemas.org/properties/",
  "https://bioschemas.org/terms/",
];
const ACTIVITY_TERMS: [string, string, string | null, "<" | ">"][] = [
  ["object", "usedDataset", "used", "<"],
  ["result", "generated", "generated", ">"],
  ["instrument", "usedSoftware", "used", "<"],
  ["agent", "associatedWith", "wasAssociatedWith", "<"],
  ["http:object", "usedDataset", "used", "<"],
  ["http:result", "generated", "generated", ">"],
  ["http:instrument", "usedSoftware", "used", "<"],
  ...GENERATIONS.flatMap((base): [string, string, string | null, "<" | ">"][] => [
    [`${base}input`, "usedDataset", "used", "<"],
    [`${base}output`, "generated", "generated", ">"],
  ]),
];

const supportOf = (direction: "<" | ">") =>
  direction === "<"
    ? `<${ME}> <evi:directlySupportedBy> <${IT}>`
    : `<${IT}> <evi:directlySupportedBy> <${ME}>`;

describe("a provenance term", () => {
  it.each(TERMS)("%s becomes evi:%s and prov:%s", async (name, evi, prov, direction) => {
    for (const value of [IT, { "@id": IT }]) {
      const { stated, support } = await edges("entity", { [name]: value });
      expect(stated).toEqual(
        [
          `<${ME}> <evi:${evi}> <${IT}>`,
          ...(prov === null ? [] : [`<${ME}> <prov:${prov}> <${IT}>`]),
        ].sort(),
      );
      expect(support).toEqual([supportOf(direction)]);
    }
  });
  it.each(ACTIVITY_TERMS)(
    "%s of an activity becomes evi:%s and prov:%s",
    async (name, evi, prov, direction) => {
      for (const [kind, type] of [
        ["computation", "evi:Computation"],
        ["entity", "CreateAction"],
        ["entity", "http:UpdateAction"],
        ["entity", "prov:Activity"],
        ["entity", "EVI:Experiment"],
      ] as const) {
        const { stated, support } = await edges(kind, { "@type": type, [name]: { "@id": IT } });
        expect(stated, `${kind} ${type}`).toEqual(
          [`<${ME}> <evi:${evi}> <${IT}>`, `<${ME}> <prov:${prov}> <${IT}>`].sort(),
        );
        expect(support).toEqual([supportOf(direction)]);
      }
    },
  );
  it.each(ACTIVITY_TERMS)("%s of something else is no provenance", async (name) => {
    expect(await edges("entity", { "@type": "Thing", [name]: { "@id": IT } })).toMatchObject({
      stated: [],
      support: [],
    });
  });
  it("in another vocabulary is no provenance", async () =>
    expect(await edges("entity", { "own:generatedBy": { "@id": IT } })).toMatchObject({
      stated: [],
      support: [],
    }));
  it("isBasedOn is a derivation", async () => {
    for (const name of ["isBasedOn", "http:isBasedOn"])
      expect((await edges("dataset", { [name]: { "@id": IT } })).support).toEqual([supportOf("<")]);
  });
  it("that refers to the record itself supports nothing", async () =>
    expect((await edges("dataset", { derivedFrom: ME })).support).toEqual([]));
  it("stated in reverse counts for the other record", async () => {
    const { support, stated } = await edges("dataset", {
      "@reverse": { "evi:generated": { "@id": IT } },
    });
    expect(support).toEqual([`<${ME}> <evi:directlySupportedBy> <${IT}>`]);
    expect(stated).toEqual([`<${IT}> <evi:generated> <${ME}>`, `<${IT}> <prov:generated> <${ME}>`]);
  });
  it("means the same under an RO-Crate context of any version", async () => {
    for (const version of ["1.0", "1.1", "1.2", "1.3"]) {
      const context = `https://w3id.org/ro/crate/${version}/context`;
      const { support } = await edges(
        "entity",
        {
          "@type": "CreateAction",
          object: { "@id": IT },
          result: { "@id": "ark:99999/out" },
          input: { "@id": "ark:99999/in" },
        },
        context,
      );
      expect(support, version).toContain(`<${ME}> <evi:directlySupportedBy> <${IT}>`);
      expect(support, version).toContain(`<ark:99999/out> <evi:directlySupportedBy> <${ME}>`);
    }
  });
});

describe("a record written over the API", () => {
  it("has links by the model's meaning of its fields, whatever its context maps them to", async () => {
    const { stated } = await edges(
      "computation",
      { "@type": "evi:Computation", usedDataset: IT },
      { "@vocab": "https://own.example/", usedDataset: "https://own.example/other" },
      false,
    );
    expect(stated).toEqual([`<${ME}> <evi:usedDataset> <${IT}>`, `<${ME}> <prov:used> <${IT}>`]);
  });
});
