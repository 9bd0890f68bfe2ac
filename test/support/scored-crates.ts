import { createHash } from "node:crypto";
import { readConfig } from "../../src/config/config.js";
import { arkKey } from "../../src/identifiers/ark.js";
import type { JsonObject } from "../../src/model/field.js";
import { type PublicationStatus, kindOfTypes, typeNames } from "../../src/model/kind.js";
import { KINDS } from "../../src/model/kinds.js";
import { stateOf } from "../../src/services/records/state.js";
import { Share } from "../../src/services/scoring/facts/fields.js";
import { gather } from "../../src/services/scoring/facts/gather.js";
import { type AiReadyScore, scoreOf } from "../../src/services/scoring/score.js";
import type { RecordStore, RecordWrite, StoredRecord } from "../../src/storage/records/port.js";
import { documentsHere } from "./documents-here.js";

/** An entity of a crate; `@id` stands behind the crate's own identifier. */
export interface Part {
  document: JsonObject;
  content?: string;
  status?: PublicationStatus;
}
export interface Sketch {
  root: JsonObject;
  parts: Record<string, Part>;
  status?: PublicationStatus;
  /** Tables that were checked, and how many conform. */ checked?: [good: number, total: number];
}

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
/** Without a large one, whose processing would take most of the time. */
export const CONTEXT = {
  "@vocab": "https://schema.org/",
  evi: "https://w3id.org/EVI#",
  rai: "http://mlcommons.org/croissant/RAI/",
};

const TABLE = "image,cells\n1,3\n";

/** A crate that has everything; `~` in identifiers stands for that of the crate. */
export const perfect = (): Sketch => ({
  status: "PUBLISHED",
  root: {
    "@type": ["Dataset", "evi:ROCrate"],
    name: "Cells",
    description: "Cells, counted.",
    keywords: ["cells"],
    datePublished: "2024-05-03",
    license: "https://creativecommons.org/licenses/by/4.0/",
    identifier: "https://doi.org/10.1234/cells",
    conformsTo: { "@id": "https://w3id.org/fairscape/profile/0.1" },
    hasPart: ["images", "counts", "tool"].map((id) => ({ "@id": `~/${id}` })),
    author: { "@id": "https://orcid.org/0000-0002-1825-0097" },
    publisher: "A university",
    "rai:dataBiases": "One microscope.",
    "rai:dataCollectionMissingData": "None is missing.",
    "rai:dataUseCases": "Counting.",
    "rai:dataLimitations": "Few cells.",
    "rai:dataCollection": "With a microscope.",
    "rai:personalSensitiveInformation": "None.",
    "rai:dataReleaseMaintenancePlan": "Yearly.",
    ethicalReview: "Board 7",
    confidentialityLevel: "unrestricted",
    humanSubjectResearch: "Yes",
    additionalProperty: [
      { "@type": "PropertyValue", name: "Data Governance Committee", value: "The committee" },
    ],
  },
  parts: {
    images: {
      document: {
        "@type": "evi:Dataset",
        name: "Images",
        sourceOrganization: "A laboratory",
        encodingFormat: "image/png",
        contentSize: "10",
      },
      content: "0123456789",
      status: "PUBLISHED",
    },
    counts: {
      document: {
        "@type": "evi:Dataset",
        name: "Counts",
        encodingFormat: "text/csv",
        schema: { "@id": "~/columns" },
        hasSummaryStatistics: { "@id": "~/images" },
        generatedBy: { "@id": "~/run" },
        sha256: sha256(TABLE),
      },
      content: TABLE,
      status: "PUBLISHED",
    },
    columns: {
      document: {
        "@type": "evi:Schema",
        name: "Columns",
        properties: {
          image: {
            type: "integer",
            index: 0,
            valueURL: "http://purl.obolibrary.org/obo/IAO_0000101",
          },
          cells: {
            type: "integer",
            index: 1,
            valueURL: "http://purl.obolibrary.org/obo/CL_0000000",
          },
        },
      },
    },
    run: {
      document: {
        "@type": "evi:Computation",
        name: "Run",
        usedDataset: { "@id": "~/images" },
        usedSoftware: { "@id": "~/tool" },
        generated: { "@id": "~/counts" },
      },
    },
    tool: {
      document: {
        "@type": "evi:Software",
        name: "Tool",
        url: "https://example.org/tool",
        softwareRequirements: "Python 3.12",
      },
    },
  },
});

/** Stores crates, and reads them for scoring. */
export class ScoredCrates {
  #count = 0;
  readonly config = readConfig({});

  constructor(readonly records: RecordStore) {}

  /** Stores the crate under an identifier of its own. */
  async store(
    { root, parts, status = "DRAFT" }: Sketch,
    ark = `ark:99999/crate${++this.#count}x`,
  ): Promise<StoredRecord> {
    const write = async (
      id: string,
      { document, content, status: own = status }: Part,
      crate?: string,
    ): Promise<RecordWrite> => {
      const whole = JSON.parse(
        JSON.stringify({
          "@context": document["@context"] ?? CONTEXT,
          "@id": id,
          ...document,
        }).replaceAll('"~', `"${ark}`),
      ) as JsonObject;
      const kind =
        crate === undefined ? "rocrate" : kindOfTypes(typeNames(whole, whole["@context"]));
      const objects =
        content === undefined
          ? []
          : [
              {
                sha256: sha256(content),
                size: content.length,
                mediaType: "text/plain",
                name: "content",
                role: "content" as const,
              },
            ];
      return {
        op: "create",
        ark: id,
        key: arkKey(id),
        publicationStatus: own,
        objects,
        ...(crate === undefined ? {} : { crate }),
        ...(await stateOf({ documents: documentsHere }, KINDS[kind], id, whole, {
          fromCrate: true,
        })),
      };
    };
    const writes = [await write(ark, { document: root, status })];
    for (const [id, part] of Object.entries(parts))
      writes.push(await write(`${ark}/${id}`, part, ark));
    await this.records.commit({ by: null, at: Date.now(), records: writes });
    return (await this.records.findMany([ark]))[0]!;
  }

  async score(sketch: Sketch): Promise<AiReadyScore> {
    const root = await this.store(sketch);
    const { facts } = await gather(
      { records: this.records, config: this.config },
      root,
      new AbortController().signal,
    );
    if (sketch.checked) {
      facts.checked = new Share();
      for (let index = 0; index < sketch.checked[1]; index++)
        facts.checked.add(index < sketch.checked[0], `${root.ark}#`);
    }
    return scoreOf(root, facts, 0);
  }
}
