/** The statements of metadata files: read strictly, within the limits, and converted where needed. */
import type { JsonObject, JsonValue } from "../../model/field.js";
import { isObject, listOf } from "../../model/field.js";
import { step } from "../../model/json/pointer.js";
import { parseStrictJson } from "../../model/json/read.js";
import { GraphScanner } from "../../model/json/scan.js";
import { ContextLimit, checkContextList, eachUnknownContext } from "../../rdf/contexts.js";
import { adviseOnCrate } from "./advise.js";
import { fromCroissant, isCroissant } from "./convert/croissant.js";
import { fromDataPackage, isDataPackage } from "./convert/data-package.js";
import type { Converted } from "./convert/graph.js";
import { crateError, type Findings, quoted } from "./findings.js";
import {
  type CrateDescription,
  type CrateDescriptions,
  type MetadataFile,
  readLayout,
} from "./layout.js";
import type { CrateLimits } from "./upload.js";

/** Smaller texts are cheap to parse with any content. */
const MAX_UNCHECKED_BYTES = 2 ** 20;

/**
 * Scans the entities of large metadata before it is parsed.
 * @returns offset of the first bracket that nests too deep
 * @throws CrateError `TOO_MANY_ENTITIES`, `ENTITY_TOO_LARGE`
 */
function scanMetadata(bytes: Uint8Array, file: string, limits: CrateLimits): number | undefined {
  if (bytes.byteLength <= MAX_UNCHECKED_BYTES) return undefined;
  let entities = 0;
  let began = 0;
  let graphBegan = 0;
  let around = bytes.byteLength;
  const scanner = new GraphScanner();
  const tooDeep = scanner.scan(
    bytes,
    (mark, at) => {
      if (mark === "graph") graphBegan = at;
      else if (mark === "graphEnd") around -= at - graphBegan;
      else if (mark === "entity") {
        began = at;
        if (++entities > limits.MAX_CRATE_ENTITIES + 1)
          throw crateError(
            "TOO_MANY_ENTITIES",
            `The crate describes more than MAX_CRATE_ENTITIES=${limits.MAX_CRATE_ENTITIES} ` +
              "entities.",
            { file },
          );
      } else if (at - began >= limits.MAX_ENTITY_BYTES)
        throw tooLarge(at + 1 - began, file, `/@graph/${entities - 1}`, limits);
    },
    limits.MAX_JSON_DEPTH,
  );
  // The older layout: the crate itself is the object around the graph.
  if (scanner.depth === 0 && around > limits.MAX_ENTITY_BYTES)
    throw tooLarge(around, file, "", limits);
  return tooDeep;
}

const tooLarge = (size: number, file: string, pointer: string, { MAX_ENTITY_BYTES }: CrateLimits) =>
  crateError(
    "ENTITY_TOO_LARGE",
    `The entity has ${size} bytes; MAX_ENTITY_BYTES=${MAX_ENTITY_BYTES}. Put what it holds ` +
      "into a file of the crate.",
    { file, pointer },
  );

/**
 * Reads a metadata file strictly. Reports all its errors at once; the readable part is returned, so
 * that the rest of the crate is checked too.
 * @throws CrateError for a file that is too large to be read at all
 */
function readMetadata(
  bytes: Uint8Array,
  file: string,
  limits: CrateLimits,
  findings: Findings,
): JsonObject | undefined {
  const tooDeep = scanMetadata(bytes, file, limits);
  // Cut after the bracket that exceeds the limit: the rest is not needed to report the error.
  const { value, problems } = parseStrictJson(
    tooDeep === undefined ? bytes : bytes.subarray(0, tooDeep + 1),
    { maxDepth: limits.MAX_JSON_DEPTH },
  );
  for (const { code, message, pointer, line, column } of problems)
    findings.error(
      code,
      line === undefined ? message : `${message} (line ${line}, column ${column})`,
      {
        file,
        pointer,
        ...(line === undefined ? {} : { line }),
        ...(column === undefined ? {} : { column }),
      },
    );
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    findings.error(
      "METADATA_SHAPE",
      "The metadata is not a JSON object; an RO-Crate has one with @context and @graph.",
      { file, pointer: "" },
    );
    return undefined;
  }
  return value;
}

/**
 * Refuses metadata that is more expensive than its size suggests, before it is processed: long
 * lists of contexts, properties with very many values, entities inside entities (each record
 * repeats the entities inside it). Reports the first of each kind.
 * @returns false when it reported a finding
 */
function checkBounds(
  metadata: JsonObject,
  file: string,
  limits: CrateLimits,
  findings: Findings,
): boolean {
  const found = new Set<string>();
  const report = (
    code: "TOO_MANY_REFERENCES" | "NESTED_ENTITIES",
    message: string,
    pointer: string,
  ) => {
    if (!found.has(code)) findings.error(code, message, { file, pointer });
    found.add(code);
  };
  const check = (value: JsonValue, pointer: string, inside: number): void => {
    if (Array.isArray(value)) {
      if (value.length > limits.MAX_CRATE_REFERENCES)
        report(
          "TOO_MANY_REFERENCES",
          `The property has ${value.length} values; ` +
            `MAX_CRATE_REFERENCES=${limits.MAX_CRATE_REFERENCES}. Name fewer, by way of ` +
            "folders that have parts of their own.",
          pointer,
        );
      // Long lists usually hold plain values: no pointer is built for each.
      for (const [index, item] of value.entries())
        if (typeof item === "object") check(item, pointer + step(index), inside);
    } else if (isObject(value)) {
      const within = isObject(value) && typeof value["@id"] === "string" ? inside + 1 : inside;
      if (within > limits.MAX_CRATE_NESTING)
        return report(
          "NESTED_ENTITIES",
          `Entities are nested more than MAX_CRATE_NESTING=${limits.MAX_CRATE_NESTING} ` +
            "levels deep; list them in @graph, and refer to them by @id.",
          pointer,
        );
      for (const key in value)
        if (key === "@context") checkContext(value[key], pointer);
        else if (typeof value[key] === "object" && value[key] !== null)
          check(value[key], pointer + step(key), within);
    }
  };
  const checkContext = (context: JsonValue | undefined, pointer: string) => {
    try {
      checkContextList(context, limits);
    } catch (error) {
      if (!(error instanceof ContextLimit)) throw error;
      if (!found.has(error.code))
        findings.error(error.code, error.message, { file, pointer: `${pointer}/@context` });
      found.add(error.code);
    }
  };
  const { "@graph": graph, ...own } = metadata;
  // The older layout: the crate is the object around the graph.
  check(own, "", -1);
  for (const [index, entity] of listOf(graph).entries())
    if (typeof entity === "object" && entity !== null)
      check(entity, Array.isArray(graph) ? `/@graph${step(index)}` : "/@graph", -1);
  return found.size === 0;
}

/**
 * Warns once of each remote context that is not bundled: terms that only such a context defines
 * have no meaning here.
 */
function checkContexts({ context, entities, file }: CrateDescription, findings: Findings): void {
  const warned = new Set<string>();
  const check = (value: JsonValue, start: string) =>
    eachUnknownContext(
      value,
      (url, pointer) => {
        if (warned.has(url)) return;
        warned.add(url);
        findings.warn(
          "UNKNOWN_CONTEXT",
          `The context <${quoted(url)}> is not known here and is not fetched: terms that ` +
            "only it explains are stored without a meaning. Write those terms into @context.",
          { file, pointer },
        );
      },
      start,
    );
  if (context !== undefined) check({ "@context": context }, "");
  for (const { value, pointer, embedded } of entities) if (!embedded) check(value, pointer);
}

/**
 * RO-Crate metadata from a Croissant document or a Frictionless Data Package; undefined for
 * anything else. Nothing is fetched: addresses in the document stay references.
 */
function converted(document: JsonObject, file: string, findings: Findings): Converted | undefined {
  if (isCroissant(document)) return fromCroissant(document, file, findings);
  if (isDataPackage(document)) return fromDataPackage(document, file, findings);
  return undefined;
}

export interface MetadataBytes extends MetadataFile {
  bytes: Uint8Array;
}

/**
 * Collects the descriptions of a crate from its metadata files.
 * @param metadata the crate's own metadata file first, then those of nested crates
 * @throws CrateError with all errors, when they prevent any further analysis of the crate
 */
export function describeCrate(
  metadata: readonly MetadataBytes[],
  limits: CrateLimits,
  findings: Findings,
): CrateDescriptions {
  const descriptions = metadata.flatMap((file): CrateDescription[] => {
    const value = readMetadata(file.bytes, file.file, limits, findings);
    const description =
      value && checkBounds(value, file.file, limits, findings)
        ? describe(value, file, findings)
        : undefined;
    if (description) checkContexts(description, findings);
    if (description) adviseOnCrate(description, findings);
    return description ? [description] : [];
  });
  const contexts = new Set(descriptions.map(({ context }) => JSON.stringify(context)));
  if (contexts.size > limits.MAX_CRATE_CONTEXTS)
    findings.error(
      "TOO_MANY_CONTEXTS",
      `The metadata files have ${contexts.size} different contexts; ` +
        `MAX_CRATE_CONTEXTS=${limits.MAX_CRATE_CONTEXTS}. Write one @context into ` +
        "all of them.",
    );
  // Without the crate's own description the others have no meaning.
  const [own, ...nested] = descriptions;
  if (own?.file !== metadata[0]?.file) findings.throwIfErrors();
  if (!own) throw new Error("a crate without metadata went on");
  const count = descriptions.reduce(
    (sum, { entities }) => sum + entities.filter(({ descriptor }) => !descriptor).length,
    0,
  );
  if (count > limits.MAX_CRATE_ENTITIES)
    findings.error(
      "TOO_MANY_ENTITIES",
      `The crate describes ${count} entities; ` +
        `MAX_CRATE_ENTITIES=${limits.MAX_CRATE_ENTITIES}.`,
    );
  if (count > limits.MAX_CRATE_ENTITIES) findings.throwIfErrors();
  findings.endStep();
  return [own, ...nested];
}

/**
 * The description in a metadata file, or in a document of another format. Findings about converted
 * entities name the places that they come from.
 */
export function describe(
  value: JsonObject,
  file: MetadataFile,
  findings: Findings,
): CrateDescription | undefined {
  const other = converted(value, file.file, findings);
  if (!other) return readLayout(value, file, findings);
  const description = readLayout(other.metadata, file, findings);
  if (!description) return undefined;
  description.converted = true;
  for (const entity of description.entities)
    entity.pointer = entity.pointer.replace(
      /^\/@graph\/(\d+)/,
      (_, index: string) => other.pointers[Number(index)] ?? "",
    );
  return description;
}
