/** A document that is checked but not stored, and the report on it. */
import { invalid, ValidationError } from "../../errors.js";
import { parseArk } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { isObject, listOf } from "../../model/field.js";
import { withDefaults, withoutSecrets } from "../../model/json-schema.js";
import { jsonRefusal, parseStrictJson } from "../../model/json/read.js";
import { KIND_NAMES, type KindName, kindOfTypes, typeNames } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { boundsForDocuments } from "../../rdf/contexts.js";
import { boundedGraphs } from "../../rdf/graph.js";
import { refuseUnknownContexts, statementsOf } from "../records/reserved.js";
import { pairs } from "../../pairs.js";

/** One broken constraint: a `sh:ValidationResult` in plain words. */
export interface ShapeResult {
  /** Identifier of the record; for an entity of crate metadata its `@id` there. */
  node: string;
  kind: KindName;
  /** IRI of the property, or null when the constraint is about the record itself. */
  path: string | null;
  /**
   * The invalid value; null when a value is missing. Text longer than 200 characters is truncated.
   */
  value: string | null;
  message: string;
  severity: "Violation" | "Warning" | "Info";
  /** Local name of the SHACL constraint component, e.g. `MinCountConstraintComponent`. */
  constraint: string;
  /** IRI of the node shape, as `ontology/shapes.ttl` names it. */
  shape: string;
}

export interface ShapeReport {
  conforms: boolean;
  results: ShapeResult[];
  /** Number of validated records. */
  checked: number;
  /** There are more results than VALIDATE_MAX_RESULTS; the answer has the first. */
  truncated: boolean;
}

/** A document that a client sent for validation. */
export interface SentDocument {
  /** JSON text, UTF-8. */
  document: Uint8Array;
  /** The kind to validate a single record as; else its `@type` decides. */
  kind: string | undefined;
  /** Bound MAX_JSON_DEPTH. */
  maxDepth: number;
}

/** A record's statements, sent to the thread that validates them. */
export interface RecordToCheck {
  ark: string;
  kind: KindName;
  /** Canonical N-Quads of the record, inferred ones among them. */
  quads: string;
  /**
   * It was sent for validation as a request body; otherwise it is stored, or is part of a crate.
   */
  sent?: true;
  /** Its name in results, when that is not its identifier. */
  shownAs?: string;
}

/**
 * @throws ValidationError naming the first member that is not an entity, or if there are no
 * entities
 */
function entitiesOf(graph: JsonValue | undefined): JsonObject[] {
  const entities = listOf(graph);
  const odd = entities.findIndex((entity) => !isObject(entity));
  if (odd >= 0)
    throw invalid(
      ["body", "@graph", odd],
      "Input should be a valid dictionary or object to extract fields from",
      "model_attributes_type",
    );
  if (entities.length === 0)
    throw invalid(
      ["body", "@graph"],
      "List should have at least 1 item after validation, not 0",
      "too_short",
    );
  return entities as JsonObject[];
}

/** Entities expanded together: the context is processed once for all of them. */
const BATCH = 250;
const DESCRIPTOR = /(?:^|\/)ro-crate-metadata\.json(?:ld)?$/;

/**
 * The entities of a crate's metadata document, each as its future record. Its identifier is the one
 * the crate gives it; the descriptor is left out.
 * @throws ValidationError when an entity is no valid JSON-LD
 */
export async function* entitiesToValidate(document: JsonObject): AsyncGenerator<RecordToCheck[]> {
  const context = document["@context"];
  const entities = entitiesOf(document["@graph"]);
  const isDescriptor = (entity: JsonObject): boolean =>
    typeof entity["@id"] === "string" && DESCRIPTOR.test(entity["@id"]);
  const roots = new Set(
    entities
      .filter(isDescriptor)
      .flatMap((entity) =>
        listOf(entity["about"]).map((about) => (isObject(about) ? about["@id"] : about)),
      ),
  );
  const graphsOf = boundedGraphs(boundsForDocuments());
  const records = entities.filter((entity) => !isDescriptor(entity));
  for (let start = 0; start < records.length; start += BATCH) {
    const batch = records.slice(start, start + BATCH).map((entity, index) => {
      const id = entity["@id"];
      const ark =
        (typeof id === "string" ? parseArk(id)?.stored : undefined) ??
        `ark:99999/entity-${start + index}`;
      const kind = roots.has(id) ? ("rocrate" as const) : kindOfTypes(typeNames(entity, context));
      return { ark, kind, id: typeof id === "string" ? id : ark, document: entity };
    });
    const graphs = await graphsOf(
      context,
      batch.map(({ ark, kind, document: entity }) => ({
        ark,
        kind,
        document: entity,
        fromCrate: true as const,
      })),
    ).catch((error: Error) => {
      if (!["JsonLdError", "ContextLimit"].includes(error.name)) throw error;
      const { entity } = error as { entity?: number };
      const refused = entity === undefined ? undefined : records[start + entity];
      throw new ValidationError([
        {
          loc:
            refused === undefined
              ? ["body", "@context"]
              : ["body", "@graph", entities.indexOf(refused)],
          msg: `Value error, ${error.message}`,
          type: "value_error",
        },
      ]);
    });
    yield pairs(batch, graphs).map(([{ ark, kind, id }, { quads }]) => ({
      ark,
      kind,
      quads,
      shownAs: id,
    }));
  }
}

/** Placeholder for the identifier that a document does not have yet. */
const UNNAMED = "ark:99999/unnamed";

/**
 * A document that a client sent, as its future records: one, or the entities of crate metadata.
 * @param kind the kind to validate a single record as; else its `@type` decides
 * @throws ValidationError when the document is not JSON, not valid JSON-LD, or states no kind
 */
export async function* sentToValidate(
  document: JsonObject,
  kind: string | undefined,
): AsyncGenerator<RecordToCheck[]> {
  if (Array.isArray(document["@graph"])) yield* entitiesToValidate(document);
  else yield [await documentToValidate(document, kindOf(document, kind))];
}

/** @throws ValidationError when the bytes are not JSON, or not an object */
export function readSent(bytes: Uint8Array, maxDepth: number): JsonObject {
  const { value, problems } = parseStrictJson(bytes, { maxDepth });
  if (problems.length > 0) throw jsonRefusal(problems, ["body"]);
  return sentObject(value);
}

/** @throws ValidationError for anything but an object */
function sentObject(input: JsonValue | undefined): JsonObject {
  if (input === undefined || input === null) throw invalid(["body"], "Field required", "missing");
  if (typeof input === "object" && !Array.isArray(input)) return input;
  throw invalid(
    ["body"],
    "Input should be a valid dictionary or object to extract fields from",
    "model_attributes_type",
  );
}

/** With the members that the service would add, so that the result applies to the future record. */
async function documentToValidate(document: JsonObject, kind: KindName): Promise<RecordToCheck> {
  const id = document["@id"];
  const ark = typeof id === "string" ? parseArk(id)?.stored : UNNAMED;
  if (ark === undefined || (id !== undefined && typeof id !== "string"))
    throw invalid(
      ["body", "@id"],
      "Value error, not an ARK; for example ark:99999/dataset-example",
    );
  refuseUnknownContexts(KINDS[kind], document);
  const whole = withDefaults(KINDS[kind], withoutSecrets(KINDS[kind], document), ark);
  const { quads } = await statementsOf({
    ark,
    kind,
    document: whole,
    ...(KINDS[kind].loose ? { fromCrate: true } : {}),
  });
  return { ark, kind, quads, sent: true };
}

/** Types of records that only the API can write. */
const BY_TYPE: Readonly<Record<string, KindName>> = {
  Person: "user",
  Organization: "organization",
  Project: "project",
  EvidenceGraph: "evidencegraph",
};

/** @throws ValidationError when neither the parameter nor the document states a kind */
function kindOf(document: JsonObject, asked: string | undefined): KindName {
  if (asked !== undefined) {
    const kind = KIND_NAMES.find((name) => name === asked);
    if (kind) return kind;
    const expected = KIND_NAMES.map((name) => `'${name}'`).join(", ");
    throw invalid(["query", "kind"], `Input should be one of ${expected}`, "literal_error", {
      expected,
    });
  }
  const types = typeNames(document, document["@context"]);
  const kind =
    types
      .map((type) => (Object.hasOwn(BY_TYPE, type) ? BY_TYPE[type] : undefined))
      .find((name) => name !== undefined) ?? kindOfTypes(types);
  if (kind === "entity")
    throw invalid(
      ["query", "kind"],
      "Value error, the record's @type does not determine its kind: name one, for " +
        "example ?kind=dataset",
      "value_error",
    );
  return kind;
}
