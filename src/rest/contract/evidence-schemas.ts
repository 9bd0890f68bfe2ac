import type { JsonObject } from "../../model/field.js";
import { CATEGORIES, CATEGORY_NAMES } from "../../services/scoring/criteria.js";
import { schemaRef } from "./rows.js";

/** Schema of a value of a type, or null. */
export const nullable = (type: string, description: string, more: JsonObject = {}): JsonObject => ({
  type: [type, "null"],
  description,
  ...more,
});

/** Who states an edge. */
const SAID: JsonObject = {
  owner: nullable("string", "Owner of that record."),
  ownsSource: {
    type: "boolean",
    description: "That owner owns the node that states the edge as well, or may change it.",
  },
  ownsTarget: {
    type: "boolean",
    description: "That owner owns what the edge leads to as well, or may change it.",
  },
  thirdParty: {
    type: "boolean",
    const: true,
    description:
      "Present when that owner has no right over the end of the edge that the walk comes from.",
  },
};

/** Schemas of provenance answers. */
export const EVIDENCE_SCHEMAS: JsonObject = {
  EvidenceNode: {
    type: "object",
    required: ["@id", "@type"],
    description: "A node with its provenance, by name of the relation.",
    properties: {
      "@id": { type: "string" },
      "@type": { type: "array", items: { type: "string" } },
      name: { type: "string" },
      description: { type: "string" },
      count: {
        type: "integer",
        description: "How many like siblings the node stands for; absent when it is itself.",
      },
      group: { type: "string", description: "Pass it in `expand` to get them one by one." },
      statements: {
        type: "array",
        description: "Who states the node's edges.",
        items: {
          type: "object",
          required: ["property", "object", "record", "owner", "ownsSource", "ownsTarget"],
          properties: {
            property: { type: "string" },
            object: { type: "string" },
            record: nullable(
              "string",
              "The record whose document says it; null where the members of a group have " +
                "each their own.",
            ),
            field: nullable("string", "The field that says it; present with `statements=true`."),
            ...SAID,
            derived: {
              type: "boolean",
              const: true,
              description:
                "Present when the record states the inverse: `generatedBy` of a result " +
                "that only its computation names.",
            },
          },
        },
      },
    },
    additionalProperties: true,
  },
  KindCounts: {
    type: "array",
    description: "Most first.",
    items: {
      type: "object",
      required: ["kind", "count"],
      properties: { kind: { type: "string" }, count: { type: "integer" } },
    },
  },
  Impact: {
    type: "object",
    required: ["@id", "total", "direct", "furthest", "byKind", "byOwner", "unresolved", "asOf"],
    properties: {
      "@id": { type: "string", description: "The record that was asked for." },
      total: {
        type: "integer",
        description: "Records that it supports, directly or through others.",
      },
      direct: { type: "integer", description: "Records that it supports directly." },
      furthest: { type: "integer", description: "Steps to the furthest of them." },
      byKind: schemaRef("KindCounts"),
      byOwner: {
        type: "array",
        description: "Most first.",
        items: {
          type: "object",
          required: ["owner", "name", "count", "kinds"],
          properties: {
            owner: nullable("string", "ARK of the owner."),
            name: nullable("string", "Name of the owner."),
            count: { type: "integer" },
            kinds: schemaRef("KindCounts"),
          },
        },
      },
      unresolved: {
        type: "integer",
        description: "Identifiers that it supports and that no record here describes.",
      },
      hidden: {
        type: "object",
        additionalProperties: { type: "integer" },
        description: "Edges that are left out, with `assertedBy=owner`.",
      },
      asOf: { type: "integer", description: "Sequence of the commit that the answer reflects." },
    },
  },
  SupportPath: {
    type: "object",
    required: ["from", "to", "direction", "length", "nodes", "edges", "asOf"],
    properties: {
      from: { type: "string" },
      to: { type: "string" },
      direction: nullable(
        "string",
        "`upstream`: `to` supports `from`; `downstream`: the other way.",
        { enum: ["upstream", "downstream", null] },
      ),
      length: nullable("integer", "Steps."),
      nodes: {
        type: "array",
        items: schemaRef("EvidenceNode"),
        description: "From the one to the other.",
      },
      edges: {
        type: "array",
        description: "What was stated along the way, by whom.",
        items: {
          type: "object",
          required: ["source", "name", "target", "statedBy"],
          properties: {
            source: { type: "string" },
            name: { type: "string" },
            target: { type: "string" },
            thirdParty: {
              type: "boolean",
              const: true,
              description: "Present when only third parties state it.",
            },
            statedBy: {
              type: "array",
              items: {
                type: "object",
                required: ["record", "field", "owner", "ownsSource", "ownsTarget"],
                properties: {
                  record: { type: "string" },
                  field: nullable("string", "The field that says it."),
                  ...SAID,
                },
              },
            },
          },
        },
      },
      asOf: { type: "integer", description: "Sequence of the commit that the answer reflects." },
    },
  },
  EvidenceGraphAnswer: {
    type: "object",
    description: "What supports a record (or what it supports), as JSON-LD.",
    required: [
      "@context",
      "@id",
      "direction",
      "@graph",
      "outputs",
      "dangling",
      "hidden",
      "truncated",
      "asOf",
    ],
    properties: {
      "@context": { type: "object" },
      "@id": { type: "string", description: "The record that was asked for." },
      direction: { type: "string", enum: ["upstream", "downstream", "both"] },
      "@graph": {
        type: "array",
        items: schemaRef("EvidenceNode"),
        description: "The record that was asked for, then by distance from it.",
      },
      outputs: {
        type: "array",
        items: schemaRef("Reference"),
        description: "Nodes of this answer that support no other: the final results.",
      },
      dangling: {
        type: "array",
        items: {
          ...schemaRef("Reference"),
          required: ["reason"],
          additionalProperties: true,
          properties: {
            reason: { type: "string", enum: ["external", "deleted", "unknown"] },
            count: { type: "integer" },
            group: { type: "string" },
          },
        },
        description: "References to what is not stored here.",
      },
      hidden: {
        type: "object",
        additionalProperties: { type: "integer" },
        description: "How many nodes are left out, by reason.",
      },
      truncated: { type: "boolean", description: "True when `limit` cut the answer." },
      cursor: {
        type: "string",
        description: "Cursor of the next page; present when the answer is truncated.",
      },
      asOf: {
        type: "integer",
        description: "Sequence of the newest commit that the answer reflects.",
      },
    },
  },
};

/** Reusable schemas of AI-readiness scores. */
export const SCORE_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  ScorePoint: {
    type: "object",
    description: "The totals of one score of a crate.",
    required: ["revision", "computedAt", "met", "partly", "total"],
    properties: {
      revision: { type: "integer", description: "Of the crate." },
      computedAt: { type: "string", format: "date-time" },
      met: { type: "integer" },
      partly: { type: "integer" },
      total: { type: "integer", description: "Criteria that apply." },
    },
  },
  AiReadyScore: {
    type: "object",
    description: "How ready a crate is for AI.",
    required: ["name", "rocrateIdentifier", ...CATEGORY_NAMES, "score", "revision", "computedAt"],
    properties: {
      name: { type: "string" },
      rocrateIdentifier: { type: "string", description: "ARK of the crate." },
      ...Object.fromEntries(
        CATEGORY_NAMES.map((category) => {
          const names = Object.keys(CATEGORIES[category]);
          return [
            category,
            {
              type: "object",
              required: names,
              properties: Object.fromEntries(
                names.map((name) => [name, { $ref: "#/components/schemas/AiReadyCriterion" }]),
              ),
            },
          ];
        }),
      ),
      score: {
        type: "object",
        required: ["met", "partly", "total"],
        properties: {
          met: { type: "integer" },
          partly: { type: "integer" },
          total: { type: "integer", description: "Criteria that apply." },
        },
      },
      revision: { type: "integer", description: "Revision of the crate that was evaluated." },
      computedAt: { type: "string", format: "date-time", description: "RFC 3339, UTC." },
    },
  },
  AiReadyCriterion: {
    type: "object",
    description: "The verdict on one criterion.",
    required: ["has_content", "details", "status", "evidence", "fix", "legacy"],
    properties: {
      has_content: { type: "boolean", description: "True when the status is `met` or `partly`." },
      details: nullable("string", "What was found."),
      status: { type: "string", enum: ["met", "partly", "not_met", "not_applicable"] },
      evidence: {
        type: "array",
        maxItems: 10,
        items: { type: "string" },
        description:
          "JSON pointers (RFC 6901) into the records that decided, behind their " +
          "identifiers: `ark:…#/license`.",
      },
      fix: nullable("string", "What to add, and where; null where nothing is missing."),
      legacy: { type: "boolean", description: "The result by the rule of older registries." },
    },
  },
};
