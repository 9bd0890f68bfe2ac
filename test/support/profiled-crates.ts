/** Crates of our own, one of each profile whose sections pages show. */
import { crate, type Entity, type Json, metadata, zip } from "./crates.js";

const to = (...ids: string[]): Json => ids.map((id) => ({ "@id": id }));
const property = (id: string, name: string, value: string, more: Entity = {}): Entity => ({
  "@id": id,
  "@type": "PropertyValue",
  name,
  value,
  ...more,
});
const parameter = (name: string, additionalType: string, more: Entity = {}): Entity => ({
  "@id": `#param-${name}`,
  "@type": "FormalParameter",
  name,
  additionalType,
  ...more,
});
const file = (id: string, more: Entity = {}): Entity => ({ "@id": id, "@type": "File", ...more });

/** A pixel. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPhfDwAChAGAZ8kyfwAAAABJRU5ErkJggg==",
  "base64",
);

const PEOPLE: Entity[] = [
  {
    "@id": "https://orcid.org/0000-0002-1825-0097",
    "@type": "Person",
    name: "Josiah Carberry",
    affiliation: to("https://ror.org/05gq02987"),
  },
  { "@id": "https://ror.org/05gq02987", "@type": "Organization", name: "Brown University" },
  { "@id": "#maria", "@type": "Person", givenName: "María", familyName: "de la Cruz" },
];

const CWL = "https://w3id.org/workflowhub/workflow-ro-crate#cwl";
const WORKFLOW: Entity[] = [
  {
    "@id": "count.cwl",
    "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
    name: "Count cells",
    description: "Counts **cells** in images.",
    version: "2.1.0",
    programmingLanguage: to(CWL),
    image: to("diagram.png"),
    creator: to("https://orcid.org/0000-0002-1825-0097", "#maria"),
    license: to("https://spdx.org/licenses/Apache-2.0"),
    input: to("#param-images", "#param-threshold"),
    output: to("#param-counts"),
    hasPart: to("#segment"),
    step: to("#step-1"),
  },
  { "@id": CWL, "@type": "ComputerLanguage", name: "Common Workflow Language", version: "v1.2" },
  file("diagram.png", { "@type": ["File", "ImageObject"], name: "Diagram of the workflow" }),
  parameter("images", "Collection", { valueRequired: true, description: "Microscope images" }),
  parameter("threshold", "Float", { defaultValue: "0.5" }),
  parameter("counts", "File", { encodingFormat: "text/csv" }),
  {
    "@id": "#segment",
    "@type": "SoftwareApplication",
    name: "Segmenter",
    softwareVersion: "4.0",
    url: "https://segmenter.example/",
  },
  {
    "@id": "#step-1",
    "@type": "HowToStep",
    position: 1,
    name: "Find the cells",
    workExample: to("#segment"),
  },
  {
    "@id": "#tests",
    "@type": "TestSuite",
    name: "Counts of known images",
    definition: to("tests.yml"),
    mainEntity: to("count.cwl"),
  },
  {
    "@id": "tests.yml",
    "@type": ["File", "TestDefinition"],
    conformsTo: to("https://w3id.org/ro/terms/test#PlanemoEngine"),
  },
  {
    "@id": "https://w3id.org/ro/terms/test#PlanemoEngine",
    "@type": "SoftwareApplication",
    name: "Planemo",
  },
];
const WORKFLOW_FILES = { "count.cwl": "cwlVersion: v1.2", "diagram.png": PNG, "tests.yml": "a: b" };

export const workflowCrate = (): Promise<Buffer> =>
  crate([...WORKFLOW, ...PEOPLE], WORKFLOW_FILES, {
    name: "A workflow that counts cells",
    conformsTo: to("https://w3id.org/workflowhub/workflow-ro-crate/1.0"),
    mainEntity: to("count.cwl"),
    mentions: to("#tests"),
    hasPart: to("count.cwl", "diagram.png", "tests.yml"),
  });

const RUN: Entity[] = [
  {
    "@id": "#run",
    "@type": "CreateAction",
    name: "Count of 4 May",
    instrument: to("count.cwl"),
    agent: to("https://orcid.org/0000-0002-1825-0097"),
    startTime: "2026-05-04T10:00:00Z",
    endTime: "2026-05-04T12:05:00Z",
    actionStatus: "http://schema.org/CompletedActionStatus",
    object: to("images.zip", "#value-threshold"),
    result: to("counts.csv"),
  },
  file("images.zip", { name: "Images of plate 7", exampleOfWork: to("#param-images") }),
  file("counts.csv", { name: "Counts of plate 7", exampleOfWork: to("#param-counts") }),
  property("#value-threshold", "threshold", "0.75", { exampleOfWork: to("#param-threshold") }),
  {
    "@id": "#organize",
    "@type": "OrganizeAction",
    name: "Run of the engine",
    instrument: to("#engine"),
    object: to("#control"),
    result: to("#run"),
    startTime: "2026-05-04T09:59:58Z",
  },
  {
    "@id": "#engine",
    "@type": "SoftwareApplication",
    name: "Flow engine",
    softwareVersion: "24.10",
  },
  {
    "@id": "#control",
    "@type": "ControlAction",
    instrument: to("#step-1"),
    object: to("#step-run"),
  },
  {
    "@id": "#step-run",
    "@type": "CreateAction",
    name: "Segmentation",
    instrument: to("#segment"),
    startTime: "2026-05-04T10:00:00Z",
    endTime: "2026-05-04T10:00:12.5Z",
  },
];

export const runCrate = (): Promise<Buffer> =>
  crate(
    [...WORKFLOW, ...RUN, ...PEOPLE],
    { ...WORKFLOW_FILES, "images.zip": "a", "counts.csv": "cells\n4\n" },
    {
      name: "A run of the workflow",
      conformsTo: to(
        "https://w3id.org/ro/wfrun/provenance/0.5",
        "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
      ),
      mainEntity: to("count.cwl"),
      mentions: to("#run"),
      hasPart: to("count.cwl", "diagram.png", "tests.yml", "images.zip", "counts.csv"),
    },
  );

const NOTEBOOK: Entity[] = [
  {
    "@id": "./staining/",
    "@type": "Dataset",
    name: "Staining of plate 7",
    author: to("#maria"),
    dateCreated: "2026-05-02T09:00:00Z",
    genre: "experiment",
    text:
      "<h2>Goal</h2><p>See the <strong>nuclei</strong>.</p><ul><li>Fix</li><li>Stain</li></ul>" +
      '<script>alert(1)</script><img src="https://img.example/a.png" alt="Plate">',
    encodingFormat: "text/html",
    variableMeasured: to("#temperature"),
    comment: to("#comment"),
    step: to("#wash"),
    hasPart: to("./staining/notes.txt"),
  },
  property("#temperature", "Temperature", "21.5", { unitText: "°C" }),
  {
    "@id": "#comment",
    "@type": "Comment",
    text: "Try less dye.",
    author: to("https://orcid.org/0000-0002-1825-0097"),
    dateCreated: "2026-05-03T09:00:00Z",
  },
  { "@id": "#wash", "@type": "HowToStep", position: 1, text: "Wash three times" },
  file("./staining/notes.txt"),
  { "@id": "https://notebook.example", "@type": "Organization", name: "Paperless Notebook" },
  ...PEOPLE,
];

/** An export of an electronic notebook: an `.eln` file. */
export function notebookCrate(): Promise<Buffer> {
  const root = { name: "An export of a notebook", hasPart: to("./staining/") };
  const document = metadata(NOTEBOOK, root) as { "@graph": Entity[] };
  const [descriptor, ...others] = document["@graph"];
  const exported = {
    ...descriptor,
    sdPublisher: { "@id": "https://notebook.example" },
    version: "1.0",
    dateCreated: "2026-05-05T08:00:00Z",
  };
  return zip({
    "export/ro-crate-metadata.json": { ...document, "@graph": [exported, ...others] },
    "export/staining/notes.txt": "notes",
  });
}

/** A collection of recordings. */
export const collectionCrate = (): Promise<Buffer> =>
  crate(
    [
      {
        "@id": "#stories",
        "@type": "RepositoryCollection",
        name: "Stories",
        "pcdm:hasMember": to("#story"),
      },
      {
        "@id": "#story",
        "@type": "RepositoryObject",
        name: "The tale of the river",
        speaker: to("#maria"),
        hasPart: to("river.txt"),
      },
      file("river.txt", { name: "Transcript" }),
      { "@id": "#language", "@type": "Language", name: "Quechua" },
      { "@id": "#place", "@type": "Place", name: "Ayacucho" },
      ...PEOPLE,
    ],
    { "river.txt": "words" },
    {
      "@type": ["Dataset", "RepositoryCollection"],
      name: "Voices of the river",
      "pcdm:hasMember": to("#stories"),
      inLanguage: to("#language"),
      contentLocation: to("#place"),
      speaker: to("#maria"),
      temporalCoverage: "1998/2003",
    },
  );

const phase = (name: string, term: string, status: string, more: Entity = {}): Entity => ({
  "@id": `#${term}`,
  "@type": "AssessAction",
  additionalType: { "@id": `https://w3id.org/shp#${term}` },
  name,
  actionStatus: `http://schema.org/${status}ActionStatus`,
  agent: { "@id": "#maria" },
  startTime: "2026-05-04T10:00:00Z",
  ...more,
});

/** A request that is reviewed by the Five Safes. */
export const reviewCrate = (): Promise<Buffer> =>
  crate(
    [
      phase("The hash was checked", "CheckValue", "Completed"),
      phase("The crate was validated", "ValidationCheck", "Completed"),
      phase("The workflow was signed off", "SignOff", "Completed", {
        endTime: "2026-05-04T11:30:00Z",
      }),
      phase("The results are checked for disclosure", "DisclosureCheck", "Potential"),
      {
        "@id": "#query",
        "@type": "CreateAction",
        name: "Count of the cohort",
        agent: to("https://orcid.org/0000-0002-1825-0097"),
        instrument: to("https://workflows.example/cohort"),
        object: to("#age"),
        actionStatus: "http://schema.org/ActiveActionStatus",
      },
      property("#age", "Least age", "18", { unitText: "years" }),
      {
        "@id": "https://workflows.example/cohort",
        "@type": ["Dataset"],
        name: "Cohort counter",
      },
      { "@id": "#project", "@type": "Project", name: "Heart study" },
      ...PEOPLE,
    ],
    {},
    {
      name: "A request to count a cohort",
      conformsTo: to("https://w3id.org/5s-crate/0.4"),
      mainEntity: to("https://workflows.example/cohort"),
      sourceOrganization: to("#project"),
      mentions: to("#CheckValue", "#ValidationCheck", "#SignOff", "#DisclosureCheck", "#query"),
    },
  );
