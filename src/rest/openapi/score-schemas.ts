import { CATEGORIES, CATEGORY_NAMES } from "../../use-cases/scoring/index.js";
import type { JsonObject } from "../../model/field.js";
import { nullable } from "./nullable.js";

/** Reusable schemas of AI-readiness scores. */
export const SCORE_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  AiReadyScore: {
    type: "object", description: "How ready a crate is for AI.", required: ["name", "rocrateIdentifier", ...CATEGORY_NAMES, "score", "revision", "computedAt"],
    properties: {
      name: { type: "string" }, rocrateIdentifier: { type: "string", description: "ARK of the crate." },
      ...Object.fromEntries(CATEGORY_NAMES.map((category) => {
        const names = Object.keys(CATEGORIES[category]);
        return [category, { type: "object", required: names, properties: Object.fromEntries(names.map((name) => [name, { $ref: "#/components/schemas/AiReadyCriterion" }])) }];
      })),
      score: {
        type: "object", required: ["met", "partly", "total"],
        properties: { met: { type: "integer" }, partly: { type: "integer" }, total: { type: "integer", description: "Criteria that apply." } },
      },
      revision: { type: "integer", description: "Of the crate when it was looked at." },
      computedAt: { type: "string", format: "date-time", description: "RFC 3339, UTC." },
    },
  },
  AiReadyCriterion: {
    type: "object", description: "The verdict on one criterion.", required: ["has_content", "details", "status", "evidence", "fix", "legacy"],
    properties: {
      has_content: { type: "boolean", description: "True when the status is `met` or `partly`." },
      details: nullable("string", "What was found."),
      status: { type: "string", enum: ["met", "partly", "not_met", "not_applicable"] },
      evidence: { type: "array", maxItems: 10, items: { type: "string" }, description: "JSON pointers (RFC 6901) into the records that decided, behind their identifiers: `ark:…#/license`." },
      fix: nullable("string", "What to add, and where; null where nothing is missing."),
      legacy: { type: "boolean", description: "What the rule of older registries gives." },
    },
  },
};
