/**
 * The example crate: its metadata, the archive, and the command that writes it. `crate-files.ts`
 * makes its files.
 */
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { extname } from "node:path";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { ZipFile } from "yazl";
import { writeFailure } from "../terminal.js";
import { type CrateFile, type Field, imagePath, makeFiles, PATHS } from "./crate-files.js";

type Entity = Record<string, unknown> & { "@id": string; "@type": string | string[] };
const to = (...ids: string[]): object =>
  ids.length === 1 ? { "@id": ids[0] } : ids.map((id) => ({ "@id": id }));

const CONTEXT = [
  "https://w3id.org/ro/crate/1.1/context",
  {
    evi: "https://w3id.org/EVI#",
    sha256: "http://schema.org/sha256",
    ...Object.fromEntries(
      ["command", "container", "containerId", "dateFinished"].map((name) => [name, `evi:${name}`]),
    ),
    ...Object.fromEntries(
      [
        "sourceProject",
        "usedDataset",
        "usedSoftware",
        "usedSample",
        "usedInstrument",
        "generated",
        "generatedBy",
        "derivedFrom",
      ].map((name) => [name, { "@id": `evi:${name}`, "@type": "@id" }]),
    ),
  },
];
const LICENSE = "https://creativecommons.org/licenses/by/4.0/";
/** The identifier of ORCID's fictitious example researcher. */
const AUTHOR = "https://orcid.org/0000-0002-1825-0097";
const [ACQUISITION, EMBEDDING, CLUSTERING, MICROSCOPE, LABORATORY, PROJECT] = [
  "#acquisition",
  "#image-embedding",
  "#clustering",
  "#microscope",
  "#laboratory",
  "#project",
] as const;
const TYPES: Record<string, string> = {
  ".csv": "text/csv",
  ".png": "image/png",
  ".py": "text/x-python",
};

/** The crate's `ro-crate-metadata.json`, RO-Crate 1.1. */
function describeCrate(fields: readonly Field[], files: readonly CrateFile[]): string {
  const images = fields.map(imagePath);
  const file = (path: string, name: string, description: string, more: object = {}): Entity => {
    const bytes = files.find((candidate) => candidate.path === path)?.bytes;
    if (bytes === undefined) throw new Error(`The crate has no file ${path}.`);
    return {
      "@id": path,
      "@type": "File",
      name,
      description,
      encodingFormat: TYPES[extname(path)],
      contentSize: String(bytes.length),
      sha256: createHash("sha256").update(bytes).digest("hex"),
      license: to(LICENSE),
      author: to(AUTHOR),
      encodesCreativeWork: to(path.startsWith(PATHS.images) ? PATHS.images : "./"),
      ...more,
    };
  };
  /** A run of a script; both took place on one day, in a container that no longer exists. */
  const run = (
    id: string,
    name: string,
    description: string,
    [begun, ended]: readonly [string, string],
    more: object,
  ): Entity => ({
    "@id": id,
    "@type": "evi:Computation",
    name,
    description,
    author: to(AUTHOR),
    agent: to(AUTHOR),
    dateCreated: `2025-01-14T${begun}Z`,
    dateFinished: `2025-01-14T${ended}Z`,
    sourceOrganization: to(LABORATORY),
    sourceProject: to(PROJECT),
    container: "docker.io/library/python:3.12",
    containerId: null,
    ...more,
  });
  const script = (path: string, name: string, description: string): Entity =>
    file(path, name, description, {
      "@type": ["File", "SoftwareSourceCode"],
      programmingLanguage: to("https://www.python.org/"),
      version: "1.0",
    });
  const graph: Entity[] = [
    {
      "@id": "ro-crate-metadata.json",
      "@type": "CreativeWork",
      about: to("./"),
      conformsTo: to("https://w3id.org/ro/crate/1.1"),
    },
    {
      "@id": "./",
      "@type": "Dataset",
      name: "Cells from images to clusters",
      description:
        "Six fluorescence images of treated and untreated cells, described by numbers and " +
        "grouped by what they show. Everything in it was drawn and computed for " +
        "demonstration; no cell was harmed.",
      datePublished: "2025-01-15",
      license: to(LICENSE),
      author: to(AUTHOR),
      keywords: ["example", "microscopy", "image embedding", "clustering", "provenance"],
      hasPart: to(
        PATHS.samples,
        PATHS.images,
        PATHS.embedScript,
        PATHS.clusterScript,
        PATHS.embeddings,
        PATHS.clusters,
        PATHS.figure,
      ),
      mentions: to(ACQUISITION, EMBEDDING, CLUSTERING),
    },
    { "@id": AUTHOR, "@type": "Person", name: "Example Researcher" },
    { "@id": LABORATORY, "@type": "Organization", name: "Example Laboratory" },
    {
      "@id": PROJECT,
      "@type": "Project",
      name: "Example of a pipeline",
      description: "Shows what a registry does with a pipeline.",
    },
    {
      "@id": LICENSE,
      "@type": "CreativeWork",
      name: "Creative Commons Attribution 4.0 International",
      identifier: LICENSE,
    },
    {
      "@id": "https://www.python.org/",
      "@type": "ComputerLanguage",
      name: "Python",
      url: "https://www.python.org/",
    },
    {
      "@id": MICROSCOPE,
      "@type": ["IndividualProduct", "evi:Instrument"],
      name: "Confocal microscope",
      description: "The instrument that took the images.",
      manufacturer: "Arkgraph Optics",
      model: "Demo 64",
    },
    file(PATHS.samples, "Samples", "Which well holds which cells and treatment."),
    {
      "@id": ACQUISITION,
      "@type": "evi:Experiment",
      name: "Image acquisition",
      description: "Nuclei (blue) and a protein (green) imaged in two wells, three fields each.",
      startTime: "2025-01-13T09:00:00Z",
      endTime: "2025-01-13T09:20:00Z",
      agent: to(AUTHOR),
      usedSample: to(PATHS.samples),
      usedInstrument: to(MICROSCOPE),
      // oxlint-disable-next-line arkgraph/spread-into-call -- files of the demo
      generated: to(...images),
    },
    {
      "@id": PATHS.images,
      "@type": "Dataset",
      name: "Microscope images",
      description: "Six fields of view, 64 by 64 pixels.",
      license: to(LICENSE),
      author: to(AUTHOR),
      generatedBy: to(ACQUISITION),
      // oxlint-disable-next-line arkgraph/spread-into-call -- files of the demo
      hasPart: to(...images),
    },
    ...fields.map((field) =>
      file(
        imagePath(field),
        `Well ${field.well}, field ${field.name.slice(-1)} (${field.treatment})`,
        `Nuclei in blue, the protein in green; cells ${field.treatment}.`,
        { generatedBy: to(ACQUISITION) },
      ),
    ),
    script(PATHS.embedScript, "embed_images.py", "Describes each image by eight numbers."),
    run(
      EMBEDDING,
      "Image embedding",
      "Describes each image by eight numbers.",
      ["10:00:00", "10:00:05"],
      {
        command: "python software/embed_images.py images/*.png > results/embeddings.csv",
        usedSoftware: to(PATHS.embedScript),
        // oxlint-disable-next-line arkgraph/spread-into-call -- files of the demo
        usedDataset: to(...images),
        generated: to(PATHS.embeddings),
      },
    ),
    file(
      PATHS.embeddings,
      "Image embeddings",
      "One row an image: eight numbers on nuclei and protein.",
      { generatedBy: to(EMBEDDING), derivedFrom: to(PATHS.images) },
    ),
    script(
      PATHS.clusterScript,
      "cluster_embeddings.py",
      "Places the images in two dimensions and groups them.",
    ),
    run(
      CLUSTERING,
      "Clustering",
      "Places the images in two dimensions and groups them in two clusters.",
      ["10:05:00", "10:05:02"],
      {
        command:
          "python software/cluster_embeddings.py results/embeddings.csv > results/clusters.csv",
        usedSoftware: to(PATHS.clusterScript),
        usedDataset: to(PATHS.embeddings),
        generated: to(PATHS.clusters, PATHS.figure),
      },
    ),
    file(PATHS.clusters, "Clusters", "One row an image: two coordinates and the cluster.", {
      generatedBy: to(CLUSTERING),
      derivedFrom: to(PATHS.embeddings),
    }),
    file(PATHS.figure, "Clusters, drawn", "One dot an image, coloured by cluster.", {
      generatedBy: to(CLUSTERING),
      derivedFrom: to(PATHS.clusters),
    }),
  ];
  return `${JSON.stringify({ "@context": CONTEXT, "@graph": graph }, null, 2)}\n`;
}

/**
 * The time of every member. Archives store local time without a zone, so it is given as parts: the
 * bytes do not depend on the machine's zone.
 */
const MTIME = new Date(2025, 0, 15, 12, 0, 0);

/**
 * An example RO-Crate 1.1 as a zip archive, generated and byte for byte the same each time:
 * microscope images, two computations on them, their software and results, and their provenance.
 */
export async function buildDemoCrate(): Promise<Buffer> {
  const { fields, files } = makeFiles();
  const zip = new ZipFile();
  const members = [
    { path: "ro-crate-metadata.json", bytes: Buffer.from(describeCrate(fields, files)) },
    ...files,
  ];
  for (const { path, bytes } of members)
    zip.addBuffer(bytes, path, { mtime: MTIME, mode: 0o100644, forceDosTimestamp: true });
  zip.end();
  return buffer(zip.outputStream as Readable);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [path] = process.argv.slice(2);
  try {
    if (path === undefined)
      throw new Error("name the output file: node dist/cli/demo/crate.js crate.zip");
    await writeFile(path, await buildDemoCrate());
    process.stdout.write(`Wrote ${path}\n`);
  } catch (error) {
    process.stderr.write(`arkgraph: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

/** Writes the example crate. @throws Failure when its folder is missing; the error of writing */
export async function demoCrateCommand(file: string): Promise<void> {
  await writeFile(file, await buildDemoCrate()).catch(async (error: unknown) => {
    throw await writeFailure(file, error);
  });
  process.stdout.write(`Wrote ${file}\n`);
}
