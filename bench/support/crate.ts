import { buffer } from "node:stream/consumers";
import yazl from "yazl";
import type { JsonObject } from "../../src/model/field.js";

export const CONTEXT = "https://w3id.org/ro/crate/1.1/context";

/**
 * Of four entities one is a run, one the program, and two are datasets: its input and its output.
 */
function entity(index: number): JsonObject {
  const first = index - (index % 4);
  const stated = {
    name: `Object ${index}`,
    description:
      "Recorded with a spinning disk microscope at 37 degrees, one stack for every position " +
      "and time.",
  };
  switch (index % 4) {
    case 0:
      return {
        "@id": `#run-${index}`,
        "@type": "CreateAction",
        ...stated,
        startTime: "2024-05-02T09:00:00Z",
        endTime: "2024-05-02T09:42:00Z",
        instrument: { "@id": `#tool-${first + 1}` },
        object: { "@id": `#images-${first + 2}` },
        result: { "@id": `#counts-${first + 3}` },
      };
    case 1:
      return {
        "@id": `#tool-${index}`,
        "@type": "SoftwareApplication",
        ...stated,
        version: "1.4.2",
        url: "https://tools.example.org/segment",
        license: { "@id": "https://spdx.org/licenses/MIT" },
      };
    case 2:
      return {
        "@id": `#images-${index}`,
        "@type": "Dataset",
        ...stated,
        author: "Ada Example",
        keywords: ["microscopy", "cells"],
        datePublished: "2024-05-01",
      };
    default:
      return {
        "@id": `#counts-${index}`,
        "@type": "Dataset",
        ...stated,
        author: "Ada Example",
        keywords: ["counts"],
        isBasedOn: { "@id": `#images-${first + 2}` },
      };
  }
}

/**
 * Metadata of a crate of that many entities besides its root and descriptor; `name` makes it a
 * crate of its own.
 */
export function crateMetadata(entities: number, name: string): JsonObject {
  const graph = Array.from({ length: entities }, (_, index) => entity(index));
  return {
    "@context": CONTEXT,
    "@graph": [
      {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        about: { "@id": "./" },
        conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
      },
      {
        "@id": "./",
        "@type": "Dataset",
        name,
        description: "A crate of metadata only.",
        license: { "@id": "https://spdx.org/licenses/CC-BY-4.0" },
        hasPart: graph.filter((_, index) => index % 4 > 1).map(({ "@id": id }) => ({ "@id": id! })),
      },
      ...graph,
    ],
  };
}

/** The same as an archive. */
export async function zipped(metadata: JsonObject): Promise<Uint8Array<ArrayBuffer>> {
  const archive = new yazl.ZipFile();
  archive.addBuffer(Buffer.from(JSON.stringify(metadata)), "ro-crate-metadata.json");
  archive.end();
  return new Uint8Array(await buffer(archive.outputStream));
}
