import { ERRORS } from "../../errors.js";
import { EXAMPLES } from "../../model/examples.js";
import type { JsonObject } from "../../model/field.js";
import {
  inputSchema,
  recordSchema,
  withDefaults,
  withoutSecrets,
} from "../../model/json-schema.js";
import { MAX_PATCH_OPERATIONS } from "../../model/json/patch.js";
import type { Kind } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { schemaRef } from "./rows.js";
import { SERVICE_SCHEMAS } from "./service-schemas.js";

const nullable = (type: string, description: string): JsonObject => ({
  type: [type, "null"],
  description,
});
const list = (name: string, description: string): JsonObject => ({
  type: "array",
  items: schemaRef(name),
  description,
});

const FINDING: JsonObject = {
  file: nullable("string", "Member of the archive; null for the archive itself."),
  pointer: nullable("string", "JSON pointer (RFC 6901) inside the file."),
  line: nullable("integer", "Of a JSON error, from 1."),
  column: nullable("integer", "Of a JSON error, from 1."),
  severity: {
    type: "string",
    enum: ["REQUIRED", "RECOMMENDED"],
    description: "`REQUIRED` refuses the crate; `RECOMMENDED` is advice.",
  },
  code: { type: "string", description: "Stable; docs/crates.md lists all." },
  message: { type: "string" },
  fix: { type: "string" },
};
const IDENTIFIER: JsonObject = {
  entity: { type: "string", description: "`@id` as the crate writes it." },
  identifier: { type: "string", description: "ARK of the record." },
  kind: { type: "string", description: "The record's kind." },
};

const CHANGES = ["created", "changed", "unchanged", "removed", "revived"] as const;

/** Schemas of dry runs: crates that are validated before ingestion. */
const CRATE_PLAN_SCHEMAS: JsonObject = {
  CrateMetadata: {
    type: "object",
    description: "An RO-Crate metadata document, 1.0 to 1.3, or one of the older layout.",
    properties: {
      "@context": { description: "One of RO-Crate's, and further terms." },
      "@graph": {
        type: "array",
        items: { type: "object" },
        description: "Entities; the descriptor `ro-crate-metadata.json` names the crate.",
      },
    },
    additionalProperties: true,
  },
  PlanFinding: { type: "object", required: Object.keys(FINDING), properties: FINDING },
  PlannedIdentifier: { type: "object", required: Object.keys(IDENTIFIER), properties: IDENTIFIER },
  IdentifierConflict: {
    type: "object",
    required: [...Object.keys(IDENTIFIER), ...Object.keys(FINDING)],
    properties: { ...IDENTIFIER, ...FINDING },
  },
  RemovedRecord: {
    type: "object",
    required: ["identifier", "kind"],
    properties: { identifier: IDENTIFIER["identifier"]!, kind: IDENTIFIER["kind"]! },
  },
  CrateChanges: {
    type: "object",
    description:
      "What an update of a crate would do. Lists end at PLAN_LIST_LIMIT; `counts` are whole.",
    required: ["counts", ...CHANGES],
    properties: {
      counts: {
        type: "object",
        required: [...CHANGES],
        properties: Object.fromEntries(CHANGES.map((name) => [name, { type: "integer" }])),
      },
      created: list("PlannedIdentifier", "Records that would be new."),
      changed: list("PlannedIdentifier", "Records that would get another revision."),
      unchanged: list("PlannedIdentifier", "Records that would stay unchanged."),
      removed: list(
        "RemovedRecord",
        "Records of the stored crate that are not described any more: they would be " +
          "deleted, and their identifiers stay tombstones.",
      ),
      revived: list("PlannedIdentifier", "Deleted records that would be restored."),
    },
  },
  CratePlan: {
    type: "object",
    description:
      "What an upload of a crate would do. Lists of identifiers end at PLAN_LIST_LIMIT; " +
      "`counts` are whole.",
    required: [
      "conforms",
      "rocrateIdentifier",
      "records",
      "counts",
      "minted",
      "kept",
      "known",
      "conflicting",
      "warned",
      "refused",
      "changes",
    ],
    properties: {
      conforms: {
        type: "boolean",
        description: "The upload would be accepted: nothing conflicts and nothing is refused.",
      },
      rocrateIdentifier: nullable(
        "string",
        "Identifier of the crate; one that is minted is another at the upload. Null when " +
          "the metadata cannot be read.",
      ),
      records: {
        type: "array",
        description: "Records that an upload would create, by kind.",
        items: {
          type: "object",
          required: ["kind", "count"],
          properties: { kind: { type: "string" }, count: { type: "integer" } },
        },
      },
      counts: {
        type: "object",
        required: ["minted", "kept", "known", "conflicting"],
        properties: Object.fromEntries(
          ["minted", "kept", "known", "conflicting"].map((name) => [name, { type: "integer" }]),
        ),
      },
      minted: list("PlannedIdentifier", "Identifiers that would be made."),
      kept: list("PlannedIdentifier", "ARKs of the crate that would be used unchanged."),
      known: list(
        "PlannedIdentifier",
        "Records that the uploader has already: they are equal, or an update would change them.",
      ),
      conflicting: list("IdentifierConflict", "Identifiers that are taken."),
      warned: list("PlanFinding", "Advice: the crate would be accepted nevertheless."),
      refused: list("PlanFinding", "Reasons to refuse the upload, besides conflicts."),
      changes: {
        anyOf: [schemaRef("CrateChanges"), { type: "null" }],
        description:
          "With `update=true`: what would become of each record. Null without it, and where " +
          "not every entity could be read to its end.",
      },
    },
  },
};

/** Schema of a body of the kind. */
export const bodyOf = (kind: Kind): JsonObject => schemaRef(kind.typeName);

/**
 * Schema of an answered record. Records of some kinds come from crates, and hold what their crate
 * states.
 */
export function answerOf(kind: Kind): JsonObject {
  const record = schemaRef(`${kind.typeName}Record`);
  return kind.fromCrates && !kind.loose ? { anyOf: [record, schemaRef("EntityRecord")] } : record;
}

/** A record of the kind, as it is answered. */
export const recordExample = (kind: Kind): JsonObject =>
  withDefaults(kind, withoutSecrets(kind, EXAMPLES[kind.name]));

/** Bodies of `PATCH`. */
const PATCH_SCHEMAS: JsonObject = {
  MergePatch: {
    type: "object",
    description:
      "JSON Merge Patch (RFC 7396): members of the record with their new values. `null` removes " +
      "a member; lists are replaced whole.",
    additionalProperties: true,
  },
  JsonPatch: {
    type: "array",
    description: "JSON Patch (RFC 6902). All operations apply, or none.",
    maxItems: MAX_PATCH_OPERATIONS,
    items: {
      type: "object",
      required: ["op", "path"],
      properties: {
        op: { type: "string", enum: ["add", "remove", "replace", "move", "copy", "test"] },
        path: { type: "string", description: "JSON pointer (RFC 6901)." },
        from: { type: "string", description: "JSON pointer: of `move` and `copy`." },
        value: { description: "Any JSON: of `add`, `replace` and `test`." },
      },
    },
  },
};

/** `components.schemas`. */
export function componentSchemas(): JsonObject {
  const schemas: JsonObject = {};
  for (const kind of Object.values(KINDS)) {
    if (!kind.loose) schemas[kind.typeName] = inputSchema(kind);
    schemas[`${kind.typeName}Record`] = { ...recordSchema(kind), title: `${kind.typeName}Record` };
  }
  return {
    ...schemas,
    ...PATCH_SCHEMAS,
    ...SERVICE_SCHEMAS,
    ...CRATE_PLAN_SCHEMAS,
    ...ERROR_SCHEMAS,
  };
}

/** Names of the validation schemas: clients of such services were generated from these names. */
const ERROR_SCHEMAS: JsonObject = {
  Error: {
    type: "object",
    required: ["detail", "code"],
    properties: {
      detail: { type: "string", description: "One sentence that names the place and the fix." },
      code: {
        type: "string",
        enum: Object.keys(ERRORS),
        description: "Stable; see docs/errors.md.",
      },
    },
  },
  ValidationError: {
    title: "ValidationError",
    type: "object",
    required: ["loc", "msg", "type"],
    properties: {
      loc: {
        type: "array",
        items: { anyOf: [{ type: "string" }, { type: "integer" }] },
        description: "Where: `body`, `query`, `path` or `header`, then keys and indexes.",
      },
      msg: { type: "string" },
      type: { type: "string", description: "The broken rule, in the vocabulary of pydantic 2." },
      ctx: { type: "object", description: "The limit that was broken." },
    },
  },
  HTTPValidationError: {
    title: "HTTPValidationError",
    type: "object",
    required: ["detail"],
    properties: { detail: { type: "array", items: schemaRef("ValidationError") } },
  },
};
