export { evidenceGraph, openEvidence, type EvidenceDeps } from "./evidence-graph.js";
export { EVIDENCE_CONTEXT } from "./context.js";
export { supportTree } from "./tree.js";
export * from "./types.js";
