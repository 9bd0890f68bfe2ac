import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Entity, metadata, RO_CRATE, zip } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json, User } from "../support/registry-client.js";

const EVI = "https://w3id.org/EVI#";
const WEIGHTS = "weights of a model";
const ref = (id: string) => ({ "@id": id });
/** As FAIRSCAPE and FAIR4ML write them. */
const ENTITIES: Entity[] = [
  { "@id": "cells.csv", "@type": ["File", "Dataset"], name: "Cells", generatedBy: ref("#bench") },
  {
    "@id": "#model",
    "@type": `${EVI}MLModel`,
    name: "Outline finder",
    keywords: ["outlines"],
    version: 1.2,
    author: ["Ada", "Bob"],
    framework: ["PyTorch", "Lightning"],
    modelType: "U-Net",
    parametersCount: 31_000_000,
    contentUrl: "file:///model.pt",
    trainedOn: [ref("cells.csv")],
    generatedBy: ref("#training"),
  },
  { "@id": "other.onnx", "@type": ["File", "fair4ml:MLModel"], name: "Other", mlTask: "count" },
  {
    "@id": "#training",
    "@type": `${EVI}Computation`,
    name: "Training",
    usedDataset: [ref("cells.csv")],
    usedMLModel: [ref("other.onnx")],
  },
  {
    "@id": "#bench",
    "@type": ["prov:Activity", `${EVI}Experiment`],
    name: "Staining",
    experimentType: "Light microscopy",
    runBy: ref("#ada"),
    datePerformed: "2024-07-04",
    usedSample: [ref("#plate")],
    usedInstrument: [ref("#microscope")],
    usedTreatment: [ref("#drug")],
    usedStain: [],
  },
  { "@id": "#plate", "@type": `${EVI}Sample`, name: "Plate", cellLineReference: ref("#line") },
  {
    "@id": "#microscope",
    "@type": ["prov:Entity", `${EVI}Instrument`],
    name: "Microscope",
    manufacturer: { "@type": "Organization", name: "Example Optics" },
    model: "EO 12",
    additionalDocumentation: "https://optics.example/eo12",
  },
  {
    "@id": "#notes",
    "@type": `${EVI}Annotation`,
    name: "Notes",
    createdBy: ref("#ada"),
    "evi:annotates": ref("cells.csv"),
  },
  { "@id": "#line", "@type": "BioChemEntity", name: "Cell line" },
  { "@id": "#drug", "@type": "BioChemEntity", name: "Drug" },
  { "@id": "#ada", "@type": "Person", name: "Ada" },
];
const CONTEXT = [RO_CRATE, { "@vocab": "https://schema.org/", evi: EVI }];

let registry: LiveRegistry;
let ada: User;
let root: string;
const ids: Record<string, string> = {};
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
  const files = { "cells.csv": "n\n1\n", "model.pt": WEIGHTS, "other.onnx": "others" };
  const archive = await zip({
    "ro-crate-metadata.json": metadata(ENTITIES, {}, CONTEXT),
    ...files,
  });
  const submission = await registry.take(archive, ada.token);
  root = submission["rocrateIdentifier"] as string;
  const { records } = await ask(`{ records(first: 50) { nodes { id name } } }`);
  for (const { id, name } of records.nodes as Json[]) ids[name as string] = id as string;
});
afterAll(() => registry?.stop());

const ask = async (query: string, variables: object = {}): Promise<Json> => {
  const { body, text } = await registry.graphql(query, variables, ada.token);
  if (body["errors"]) throw new Error(text);
  return body["data"] as Json;
};
const named = (connection: Json): string[] =>
  (connection["nodes"] as Json[]).map(({ name }) => name as string);

describe("models, samples, instruments, experiments and annotations of a crate", () => {
  it("have types of their own with the members that crates state", async () => {
    const data = await ask(
      `query ($model: ID!, $bench: ID!, $plate: ID!, $microscope: ID!, $notes: ID!) {
        mlModel(id: $model) { kind version creators { name } framework modelType parametersCount
          trainedOn { nodes { name } } generatedBy { nodes { __typename name } }
          content { state size hash: sha256 address } }
        experiment(id: $bench) { kind experimentType runBy datePerformed { text date time }
          usedSample { nodes { __typename name } } usedInstrument { nodes { __typename name } }
          usedTreatment { nodes { name } } usedStain { nodes { name } }
          generated { nodes { name } } }
        sample(id: $plate) { kind cellLineReference { nodes { name } } usedBy { nodes { name } } }
        instrument(id: $microscope) { kind manufacturer model additionalDocumentation
          usedBy { nodes { __typename } } }
        annotation(id: $notes) { kind createdBy { record { name } } annotates { nodes { name } } } }`,
      {
        model: ids["Outline finder"],
        bench: ids["Staining"],
        plate: ids["Plate"],
        microscope: ids["Microscope"],
        notes: ids["Notes"],
      },
    );
    expect(data).toEqual({
      mlModel: {
        kind: "ML_MODEL",
        version: "1.2",
        creators: [{ name: "Ada" }, { name: "Bob" }],
        framework: "PyTorch",
        modelType: "U-Net",
        parametersCount: "31000000",
        trainedOn: { nodes: [{ name: "Cells" }] },
        generatedBy: { nodes: [{ __typename: "Computation", name: "Training" }] },
        content: {
          state: "STORED",
          size: WEIGHTS.length,
          hash: createHash("sha256").update(WEIGHTS).digest("hex"),
          address: `${registry.url}/download/${ids["Outline finder"]}`,
        },
      },
      experiment: {
        kind: "EXPERIMENT",
        experimentType: "Light microscopy",
        runBy: ids["Ada"],
        datePerformed: {
          text: "2024-07-04",
          date: "2024-07-04",
          time: "2024-07-04T00:00:00.000Z",
        },
        usedSample: { nodes: [{ __typename: "Sample", name: "Plate" }] },
        usedInstrument: { nodes: [{ __typename: "Instrument", name: "Microscope" }] },
        usedTreatment: { nodes: [{ name: "Drug" }] },
        usedStain: { nodes: [] },
        generated: { nodes: [{ name: "Cells" }] },
      },
      sample: {
        kind: "SAMPLE",
        cellLineReference: { nodes: [{ name: "Cell line" }] },
        usedBy: { nodes: [{ name: "Staining" }] },
      },
      instrument: {
        kind: "INSTRUMENT",
        manufacturer: "Example Optics",
        model: "EO 12",
        additionalDocumentation: "https://optics.example/eo12",
        usedBy: { nodes: [{ __typename: "Experiment" }] },
      },
      annotation: {
        kind: "ANNOTATION",
        createdBy: { record: { name: "Ada" } },
        annotates: { nodes: [{ name: "Cells" }] },
      },
    });
    const bytes = await fetch(data["mlModel"].content.address as string, {
      headers: { Authorization: `Bearer ${ada.token}` },
    });
    expect(await bytes.text()).toBe(WEIGHTS);
  });

  it("are listed, counted and searched by kind, over REST too", async () => {
    const { mlModels, records, recordStatistics, search } = await ask(
      `{ mlModels { totalCount nodes { name mlTask } }
        records(filter: { kinds: [SAMPLE, INSTRUMENT, EXPERIMENT, ANNOTATION] }) { nodes { name } }
        recordStatistics(by: [KIND]) { groups { kind count } }
        search(query: "outlines", filter: { kinds: ML_MODEL }) { totalCount } }`,
    );
    expect(mlModels).toEqual({
      totalCount: 2,
      nodes: expect.arrayContaining([{ name: "Other", mlTask: "count" }]) as unknown,
    });
    expect(named(records).sort()).toEqual(["Microscope", "Notes", "Plate", "Staining"]);
    expect(recordStatistics.groups).toEqual(
      expect.arrayContaining([
        { kind: "ML_MODEL", count: 2 },
        { kind: "EXPERIMENT", count: 1 },
      ]),
    );
    expect(search.totalCount).toBe(1);
    for (const [path, name] of [
      ["/experiment", "Staining"],
      ["/sample", "Plate"],
      ["/instrument", "Microscope"],
      ["/annotation", "Notes"],
      ["/records?kind=experiment", "Staining"],
    ]) {
      const { body } = await registry.ask(path!, { token: ada.token });
      expect(
        (body as unknown as Json[]).map((record) => record["name"]),
        path,
      ).toEqual([name]);
    }
    expect((await registry.ask("/search/basic?query=plate&type=Sample")).body).toMatchObject({
      total_results: 1,
      results: [{ "@type": `${EVI}Sample` }],
    });
    const elsewhere = await registry.ask(`/computation/${ids["Staining"]}`, { token: ada.token });
    expect([elsewhere.status, elsewhere.body["detail"]]).toEqual([
      404,
      `${ids["Staining"]} is an Experiment: ask for /${ids["Staining"]}.`,
    ]);
  });

  it("support what they were used for, with their classes in the graph", async () => {
    const { evidence } = await ask(
      `query ($id: ID!) { evidence(id: $id) { document nodes(kinds: [EXPERIMENT, SAMPLE]) { name } } }`,
      { id: ids["Outline finder"] },
    );
    const types = Object.fromEntries(
      (evidence.document["@graph"] as Json[]).map((node) => [node["name"], node["@type"]]),
    );
    expect((evidence.nodes as Json[]).map(({ name }) => name as string).sort()).toEqual([
      "Plate",
      "Staining",
    ]);
    for (const [name, type] of Object.entries({
      "Outline finder": "evi:MLModel",
      Other: "evi:MLModel",
      Staining: "evi:Experiment",
      Plate: "evi:Sample",
      Microscope: "evi:Instrument",
    }))
      expect(types[name], name).toContain(type);
    expect(types["Staining"]).not.toContain("evi:Computation");
    const picture = await registry.ask(
      `/evidencegraph/query/${ids["Outline finder"]}?format=mermaid&kind=experiment,mlmodel`,
    );
    expect(picture.text).toContain("Staining");
    expect(picture.text).not.toContain("Plate");
  });

  it("come out of the crate with the types that it stated, and go in again unchanged", async () => {
    const { body } = await registry.ask(`/rocrate/${root}`, { token: ada.token });
    const types = Object.fromEntries(
      (body["@graph"] as Json[]).map((entity) => [entity["name"], entity["@type"]]),
    );
    for (const { name, "@type": type } of ENTITIES) expect(types[name as string]).toEqual(type);
    const revisions = async () =>
      (await ask("{ records(first: 50) { nodes { id kind revision } } }"))["records"].nodes as Json;
    const before = await revisions();
    const packed = await fetch(`${registry.url}/rocrate/${root}?format=zip`, {
      headers: { Authorization: `Bearer ${ada.token}` },
    });
    const again = await registry.upload(Buffer.from(await packed.arrayBuffer()), ada.token, {
      path: "/rocrate/upload?update=true",
    });
    expect(again.status).toBe(200);
    expect(await revisions()).toEqual(before);
  });

  it("are changed, replaced and deleted as other entities are", async () => {
    const path = `/${ids["Drug"]!.replace(/drug.*$/, "")}`;
    expect(path.endsWith("/entity/")).toBe(true);
    const patched = await registry.ask(`/${ids["Notes"]}`, {
      method: "PATCH",
      token: ada.token,
      headers: { "Content-Type": "application/merge-patch+json" },
      body: { version: "2" },
    });
    expect(patched.body).toMatchObject({ version: "2", "@type": `${EVI}Annotation` });
    const { annotation } = await ask("query ($id: ID!) { annotation(id: $id) { version } }", {
      id: ids["Notes"],
    });
    expect(annotation.version).toBe("2");
    const put = await registry.ask(`/${ids["Plate"]}`, {
      method: "PUT",
      token: ada.token,
      body: { "@id": ids["Plate"]!, "@type": "evi:Sample", name: "Second plate" },
    });
    expect(put.status).toBe(200);
    const gone = await registry.ask(`/${ids["Notes"]}`, { method: "DELETE", token: ada.token });
    expect(gone.status).toBe(200);
    expect((await registry.ask("/annotation", { token: ada.token })).body).toEqual([]);
  });
});
