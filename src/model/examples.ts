import type { JsonObject } from "./field.js";
import type { KindName } from "./kind.js";

const ADA = "ark:99999/user-ada";
const LAB = "ark:99999/organization-lab";
const PROJECT = "ark:99999/project-atlas";
const IMAGES = "ark:99999/dataset-images";
const CELLS = "ark:99999/dataset-cells";
const SEGMENT = "ark:99999/software-segment";

/**
 * One body per kind, as a client would send it; together they describe one example: Ada's
 * laboratory counts cells in images. Contract documents, error messages and tests show these.
 */
export const EXAMPLES: Readonly<Record<KindName, JsonObject>> = {
  user: {
    "@id": ADA,
    name: "Ada Example",
    email: "ada@example.org",
    password: "correct horse battery staple",
  },
  group: {
    "@id": "ark:99999/group-microscopy",
    name: "Microscopy",
    description: "Those who run the microscopes.",
    owner: ADA,
    members: [ADA],
  },
  organization: {
    "@id": LAB,
    name: "Example Laboratory",
    description: "A laboratory for cell biology.",
    url: "https://lab.example.org/",
    owner: ADA,
    members: [ADA],
    projects: [PROJECT],
  },
  project: {
    "@id": PROJECT,
    name: "Cell atlas",
    description: "Counts cells in light microscopy images.",
    owner: ADA,
    members: [ADA],
    memberOf: LAB,
    datasets: [IMAGES],
    computations: null,
    software: null,
    evidencegraphs: null,
    rocrates: null,
  },
  software: {
    "@id": SEGMENT,
    name: "segment",
    description: "Finds cells in images.",
    keywords: ["segmentation"],
    owner: ADA,
    author: "Ada Example",
    distribution: ["ark:99999/datadownload-segment.py"],
    sourceOrganization: LAB,
  },
  dataset: {
    "@id": IMAGES,
    "@type": "evi:Dataset",
    name: "Light microscopy images",
    description: "400 fields of view of cultured cells.",
    keywords: ["microscopy", "cells"],
    owner: ADA,
    author: "Ada Example",
    dateCreated: "2024-05-01",
    distribution: ["ark:99999/datadownload-images.tar"],
    sourceOrganization: LAB,
  },
  computation: {
    "@id": "ark:99999/computation-count",
    "@type": "evi:Computation",
    name: "Counting run",
    description: "Counts the cells of every image.",
    owner: ADA,
    author: "Ada Example",
    dateCreated: "2024-05-02T09:00:00Z",
    dateFinished: "2024-05-02T09:42:00Z",
    sourceOrganization: LAB,
    sourceProject: PROJECT,
    container: "docker.io/library/python:3.12",
    command: ["python", "segment.py", "images.tar"],
    usedSoftware: SEGMENT,
    usedDataset: IMAGES,
    containerId: null,
    generated: [CELLS],
  },
  evidencegraph: {
    "@id": "ark:99999/evidence-graph-cells",
    name: "Evidence for the cell counts",
    description: "What supports the table of cell counts.",
    owner: ADA,
  },
  rocrate: {
    "@context": "https://w3id.org/ro/crate/1.2/context",
    "@id": "ark:99999/rocrate-cells",
    "@type": ["Dataset", "https://w3id.org/EVI#ROCrate"],
    name: "Cell counts",
    description: "Images, program and table of a cell count.",
    keywords: ["cells"],
    owner: ADA,
    version: "1.0",
    datePublished: "2024-05-03",
    hasPart: [{ "@id": IMAGES }, { "@id": CELLS }],
  },
  datadownload: {
    "@id": "ark:99999/datadownload-images.tar",
    "@type": "evi:DataDownload",
    name: "images.tar",
    description: "The images, as one archive.",
    owner: ADA,
    encodingFormat: "application/x-tar",
    contentSize: null,
    contentUrl: null,
    encodesCreativeWork: IMAGES,
    sha256: null,
  },
  schema: {
    "@id": "ark:99999/schema-cells",
    name: "Cell counts",
    description: "One row per image.",
    owner: ADA,
    properties: {
      image: { description: "File name of the image.", index: 0, valueURL: null, type: "string" },
    },
    required: ["image"],
    seperator: ",",
    header: true,
    examples: [],
  },
  mlmodel: {
    "@id": "ark:99999/rocrate-cells/model.pt",
    "@type": "evi:MLModel",
    name: "Segmentation model",
    description: "Finds the outlines of cells.",
    author: "Ada Example",
    framework: "PyTorch",
    modelFormat: "pt",
    trainedOn: [{ "@id": IMAGES }],
    owner: ADA,
  },
  sample: {
    "@id": "ark:99999/rocrate-cells/entity/culture-x2m8k4tz",
    "@type": "evi:Sample",
    name: "Cultured cells",
    description: "One plate of cells in culture.",
    owner: ADA,
  },
  instrument: {
    "@id": "ark:99999/rocrate-cells/entity/microscope-b7k2x9qd",
    "@type": "evi:Instrument",
    name: "Microscope",
    manufacturer: "Example Optics",
    model: "EO 12",
    owner: ADA,
  },
  experiment: {
    "@id": "ark:99999/rocrate-cells/entity/imaging-h5w3p9rc",
    "@type": "evi:Experiment",
    name: "Imaging",
    description: "400 fields of view were taken of the plate.",
    experimentType: "Light microscopy",
    datePerformed: "2024-05-01",
    usedSample: [{ "@id": "ark:99999/rocrate-cells/entity/culture-x2m8k4tz" }],
    usedInstrument: [{ "@id": "ark:99999/rocrate-cells/entity/microscope-b7k2x9qd" }],
    generated: [{ "@id": IMAGES }],
    owner: ADA,
  },
  annotation: {
    "@id": "ark:99999/rocrate-cells/entity/notes-q6d4v8nb",
    "@type": "evi:Annotation",
    name: "Notes on the images",
    description: "Fields of view that are out of focus.",
    createdBy: "Ada Example",
    annotates: { "@id": IMAGES },
    owner: ADA,
  },
  entity: {
    "@id": "ark:99999/rocrate-cells/entity/incubator-k3t7m5zf",
    "@type": "Product",
    name: "Incubator",
    owner: ADA,
  },
};

/** An ARK that would be right in a field, for the message that refuses a wrong one. */
export function arkExample(kind: KindName, name: string): string {
  const value = EXAMPLES[kind][name];
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" && first.startsWith("ark:") ? first : ADA;
}
