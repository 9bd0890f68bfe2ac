import type { JsonObject } from "../../model/field.js";
import { SETTINGS } from "../../config.js";
import { schemaRef, type Operation } from "./operation.js";
import { arkPath, query } from "./parameters.js";

const CELLS = "ark:99999/dataset-cells";
const RUN = "ark:99999/computation-count";
const reference = (id: string): JsonObject => ({ "@id": id });

const EXAMPLE: JsonObject = {
  "@context": { "@vocab": "https://schema.org/", evi: "https://w3id.org/EVI#", generatedBy: { "@id": "evi:generatedBy", "@type": "@id" } },
  "@id": CELLS, direction: "upstream",
  "@graph": [
    { "@id": CELLS, "@type": ["evi:Dataset"], name: "Cell counts", generatedBy: [reference(RUN)] },
    { "@id": RUN, "@type": ["evi:Computation"], name: "Counting run", usedDataset: [reference("ark:99999/dataset-images")] },
  ],
  outputs: [reference(CELLS)], dangling: [{ ...reference("ark:99999/dataset-images"), reason: "unknown" }], hidden: {}, truncated: false, asOf: 42,
};

export const EVIDENCE: readonly Operation[] = [
  {
    method: "get", path: "/evidencegraph/query/ark:{NAAN}/{postfix}", operationId: "query_evidence", tag: "evidence", summary: "What supports a record, or what it supports",
    description: "Built for the request and never older than it; nothing is stored. Every stated relation counts, through nested crates and over cycles.",
    parameters: [
      ...arkPath(CELLS),
      query("direction", "`upstream`: what supports the record; `downstream`: what it supports.", { type: "string", enum: ["upstream", "downstream", "both"], default: "upstream" }),
      query("depth", "How many steps from the record; without limit when absent.", { type: "integer", minimum: 1, maximum: 100_000 }),
      query("limit", "Nodes in one answer.", { type: "integer", minimum: 1, maximum: 100_000, default: SETTINGS.EVIDENCE_LIMIT.default }),
      query("cursor", "Where the rest begins: as the answer before said.", { type: "string" }),
    ],
    answer: {
      description: "The evidence graph.",
      content: { "application/ld+json": { schema: schemaRef("EvidenceGraphAnswer"), example: EXAMPLE, exampleName: "EvidenceGraphAnswer" }, "application/json": { schema: schemaRef("EvidenceGraphAnswer"), example: EXAMPLE, exampleName: "EvidenceGraphAnswer" } },
    },
    refusals: ["NOT_FOUND", "AMBIGUOUS", "GONE", "INDEX_LOADING", "INDEX_BEHIND", "QUERY_TIMEOUT"],
  },
];
