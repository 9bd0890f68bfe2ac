import type { EvidenceGraph } from "../types.js";
import { dot, mermaid } from "./diagrams.js";
import { provJson, turtle } from "./prov.js";

/**
 * Forms of an evidence graph besides JSON-LD. PROV-JSON has no media type of its own: clients
 * request it by name.
 */
export const EVIDENCE_FORMATS = {
  "prov-json": { type: "application/json", write: provJson },
  turtle: { type: "text/turtle", write: turtle },
  dot: { type: "text/vnd.graphviz", write: dot },
  mermaid: { type: "text/vnd.mermaid", write: mermaid },
} as const satisfies Record<
  string,
  { type: string; write: (graph: EvidenceGraph) => string | Promise<string> }
>;
export type EvidenceFormat = keyof typeof EVIDENCE_FORMATS;
