/**
 * The published OpenAPI document: the files of `openapi/`, one per resource, joined with what the
 * code knows: kinds, formats and errors.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { json, jsonld } from "../../services/formats/documents.js";
import { fullType, type RecordFormat } from "../../services/formats/format.js";
import { FORMATS, formatsOf } from "../../services/formats/table.js";
import type { KindName } from "../../model/kind.js";
import { packageRoot } from "../../package-root.js";
import { errorResponses, PROBLEM_SCHEMA, REFUSAL_SCHEMA } from "./errors.js";
import { kindExamples, kindPaths, kindSchemas } from "./kinds.js";

const FOLDER = join(packageRoot, "openapi");
/** The document itself. */
const PUBLISHED = "openapi.yaml";

/** @throws Error when two sources state the same member */
export function openApiDocument(): JsonObject {
  const files = readdirSync(FOLDER)
    .filter((file) => file !== PUBLISHED && file.endsWith(".yaml"))
    .map((file) => parse(readFileSync(join(FOLDER, file), "utf8")) as JsonObject);
  const generated: JsonObject = {
    paths: kindPaths(),
    components: {
      schemas: { ...kindSchemas(), Refusal: REFUSAL_SCHEMA, Problem: PROBLEM_SCHEMA },
      examples: { ...kindExamples(), ...formatExamples() },
      responses: errorResponses(),
    },
  };
  const all = [...files, generated].reduce(joined);
  return withFormats(
    Object.fromEntries(MEMBERS.map((member) => [member, all[member]!])),
  ) as JsonObject;
}

/** The document's members in their usual order. */
const MEMBERS = ["openapi", "info", "servers", "tags", "paths", "components"];

/** @throws Error for a member that both have, unless it is an object in both */
function joined(one: JsonObject, other: JsonObject): JsonObject {
  const all = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const known = all[name];
    if (known === undefined) all[name] = value;
    else if (isObject(known) && isObject(value)) all[name] = joined(known, value);
    else throw new Error(`two files of openapi/ state ${name}`);
  }
  return all;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * `x-formats: dataset` stands for the formats of records of that kind, `any` for all: in a schema it
 * becomes their names, in `content` their media types.
 */
function withFormats(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withFormats);
  if (!isObject(value)) return value;
  const { "x-formats": kind, ...rest } = value;
  const members = Object.fromEntries(
    Object.entries(rest).map(([name, member]) => [name, withFormats(member)]),
  );
  if (kind === undefined) return members;
  const formats = kind === "any" ? FORMATS : formatsOf(kind as KindName);
  if (members["type"] === "string") return { ...members, enum: formats.map(({ name }) => name) };
  // What the file states of a media type wins.
  return { ...members, ...formatContents(formats), ...members };
}

/** Media types of formats that have no schema of their own here. */
const formatContents = (formats: readonly RecordFormat[]): JsonObject =>
  Object.fromEntries(
    formats
      .filter((format) => format !== jsonld && format !== json)
      .map((format) => [fullType(format), contentOf(format)]),
  );

function contentOf({ name, mediaType, isBinary, example }: RecordFormat): JsonObject {
  if (isBinary || example === undefined) return { schema: {} };
  return {
    schema: mediaType.endsWith("json")
      ? Array.isArray(JSON.parse(example))
        ? { type: "array", items: {} }
        : { type: "object" }
      : { type: "string" },
    examples: { [`Format_${name}`]: { $ref: `#/components/examples/Format_${name}` } },
  };
}

const formatExamples = (): JsonObject =>
  Object.fromEntries(
    FORMATS.filter((format) => format !== jsonld && format !== json).flatMap(
      ({ name, mediaType, isBinary, example }): [string, JsonObject][] => {
        if (isBinary || example === undefined) return [];
        const value = mediaType.endsWith("json") ? (JSON.parse(example) as JsonValue) : example;
        return [[`Format_${name}`, { value }]];
      },
    ),
  );
