import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pipeline } from "node:stream/promises";
import yazl from "yazl";
import type { Bench, Figure } from "./bench.js";
import { Client } from "./support/client.js";
import { alternating, timed } from "./support/measure.js";
import { peakResident, resident } from "./support/resident.js";
import { startRegistry, untilLoaded } from "./support/server.js";
import { uploadFile } from "./support/upload.js";

/** ms for the Croissant document of a crate of 10,000 files. */
const CROISSANT_MS = 1500;
const CROISSANT_MIB = 64;

const ROOT = "ark:99999/bench-formats";
const DATASET = "ark:99999/bench-formats/described";

/** The Croissant document of a crate of many files. */
export const formats: Bench = async ({ sizes, folder, say }) => {
  const dataDir = await folder();
  const archive = join(dataDir, "crate.zip");
  await writeCrate(archive, sizes.entities);
  const server = await startRegistry(join(dataDir, "data"));
  try {
    await untilLoaded(server);
    const client = await Client.register(server);
    await uploadFile(client, archive);
    await pause(sizes.settle * 1000);
    const figures: Figure[] = [];
    const fetchCroissant = async (): Promise<void> => {
      const document = await (await client.get(`/${ROOT}?format=croissant`)).json();
      const { length } = (document as { distribution: object[] }).distribution;
      if (length < sizes.entities) throw new Error(`the document has ${length} files`);
    };
    await fetchCroissant();
    const idle = resident(server.pid);
    const peak = await peakResident(server.pid, fetchCroissant);
    const { croissant } = await alternating(sizes.rounds, {
      croissant: () => timed(fetchCroissant),
    });
    say(`Croissant of ${sizes.entities} files: ${croissant.toFixed(0)} ms`);
    figures.push(
      {
        name: `Croissant of ${sizes.entities} files`,
        value: croissant,
        unit: "ms",
        wanted: { below: CROISSANT_MS },
      },
      {
        name: "memory growth meanwhile",
        value: Math.max(0.1, peak - idle),
        unit: "MiB",
        wanted: { below: CROISSANT_MIB },
      },
    );
    return figures;
  } finally {
    await server.stop();
  }
};

/** A crate of small described files in folders, and a dataset that states what formats ask for. */
async function writeCrate(file: string, count: number): Promise<void> {
  const zip = new yazl.ZipFile();
  const files = Array.from({ length: count }, (_, at) => `data/${at % 100}/file-${at}.csv`);
  const graph = [
    {
      "@id": "ro-crate-metadata.json",
      "@type": "CreativeWork",
      about: { "@id": ROOT },
      conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
    },
    {
      "@id": ROOT,
      "@type": "Dataset",
      name: "Many files",
      description: "Small files in a hundred folders.",
      license: { "@id": "https://creativecommons.org/licenses/by/4.0/" },
      author: { "@id": "https://orcid.org/0000-0002-1825-0097" },
      datePublished: "2024-05-03",
      hasPart: [DATASET, ...files].map((id) => ({ "@id": id })),
    },
    {
      "@id": "https://orcid.org/0000-0002-1825-0097",
      "@type": "Person",
      name: "Example Researcher",
    },
    {
      "@id": DATASET,
      "@type": "Dataset",
      name: "A described dataset",
      description: "It states what citations and catalogues ask for.",
      license: { "@id": "https://creativecommons.org/licenses/by/4.0/" },
      author: { "@id": "https://orcid.org/0000-0002-1825-0097" },
      datePublished: "2024-05-03",
      keywords: ["cells", "images"],
      version: "1.0",
    },
    ...files.map((id) => ({
      "@id": id,
      "@type": "File",
      name: id.slice(id.lastIndexOf("/") + 1),
      description: "A small table.",
      encodingFormat: "text/csv",
    })),
  ];
  zip.addBuffer(
    Buffer.from(
      JSON.stringify({ "@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph }),
    ),
    "ro-crate-metadata.json",
  );
  for (const [at, path] of files.entries()) zip.addBuffer(Buffer.from(`a,b\n${at},1\n`), path);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(file));
}
