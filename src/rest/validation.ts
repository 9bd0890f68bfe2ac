import { DataFactory, Writer } from "n3";
import { SETTINGS } from "../config/config.js";
import { SchemaResolver, ValidationResolver } from "../graphql/resolvers/validation-resolver.js";
import { readJsonBytes, takeFile } from "../http/body.js";
import { preferred } from "../http/negotiation.js";
import { sendBytes, sendJson } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import { expandCurie, type JsonObject, PREFIXES } from "../model/field.js";
import { KIND_NAMES } from "../model/kind.js";
import type { ShapeReport } from "../services/validation/document.js";
import {
  arkPath,
  BODY_REFUSALS,
  type ContractRow,
  FIND_REFUSALS,
  json,
  path,
  query,
  schemaRef,
} from "./contract/rows.js";
import { arkOf, type Handlers, presence } from "./request.js";

const DRAFT = {
  "@type": "evi:Dataset",
  name: "Cell counts",
  description: "four",
  owner: "ark:99999/user-ada",
};
const SHORT: JsonObject = {
  node: "ark:99999/unnamed",
  kind: "dataset",
  path: "https://schema.org/description",
  value: "four",
  message: "Value has less than 5 characters (description: Description, at least 5 characters.)",
  severity: "Violation",
  constraint: "MinLengthConstraintComponent",
  shape: "https://w3id.org/EVI#DatasetShape",
};
const REPORT: JsonObject = { conforms: false, results: [SHORT], checked: 1, truncated: false };

/** Checks by shapes, and the vocabulary that the graph is written in. */
export const VALIDATION: readonly ContractRow[] = [
  {
    method: "post",
    path: "/validate",
    operationId: "validate",
    tag: "evidence",
    summary: "Check a record by the SHACL shape of its kind",
    description:
      "The body is a record as it would be created, the metadata document of a crate " +
      '(each of its entities is checked as the record it would be), or `{"@id": …}` ' +
      "alone: what is stored under it, of a crate also its members. Nothing is stored. " +
      `At most ${SETTINGS.VALIDATE_MAX_RESULTS.default} results (VALIDATE_MAX_RESULTS); ` +
      "`/rocrate/validate` does a dry run of an upload.",
    parameters: [
      query("kind", "Kind to check the record as; otherwise its `@type` decides.", {
        type: "string",
        enum: [...KIND_NAMES],
      }),
    ],
    body: json({ type: "object" }, DRAFT),
    answer: {
      description: "What the shapes found.",
      content: {
        ...json(schemaRef("ShapeReport"), REPORT),
        "text/turtle": {
          schema: { type: "string", description: "A `sh:ValidationReport`." },
          example: "[] a sh:ValidationReport; sh:conforms true.",
        },
      },
    },
    refusals: [...BODY_REFUSALS, ...FIND_REFUSALS, "NOT_ACCEPTABLE", "BUSY", "VALIDATION_TIMEOUT"],
  },
  {
    method: "get",
    path: "/ontology/{name}",
    operationId: "ontology",
    tag: "evidence",
    summary: "Vocabulary, shapes and context of the graph",
    description:
      "`evi`: the evidence vocabulary; `shapes`: the SHACL shapes of every kind; `context`: " +
      "the JSON-LD context of the terms.",
    parameters: [
      path("name", "Which of them.", { type: "string", enum: ["evi", "shapes", "context"] }, "evi"),
    ],
    answer: {
      description: "The vocabulary.",
      content: {
        "text/turtle": {
          schema: { type: "string" },
          example: "evi:usedDataset rdfs:subPropertyOf evi:used.",
        },
        "application/n-triples": {
          schema: { type: "string" },
          example:
            "<https://w3id.org/EVI#usedDataset> " +
            "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf> " +
            "<https://w3id.org/EVI#used> .\n",
        },
        "application/ld+json": {
          schema: {},
          example: [
            {
              "@id": "https://w3id.org/EVI#usedDataset",
              "http://www.w3.org/2000/01/rdf-schema#subPropertyOf": [
                { "@id": "https://w3id.org/EVI#used" },
              ],
            },
          ],
        },
      },
    },
    refusals: ["NOT_FOUND", "NOT_ACCEPTABLE"],
  },
];

const { literal, namedNode, quad, blankNode } = DataFactory;
const term = (curie: string) => namedNode(expandCurie(curie));

/** The report in SHACL's terms (section 3.6), in Turtle. */
function shapeReportTurtle({ conforms, results }: ShapeReport): string {
  const writer = new Writer({
    prefixes: { sh: PREFIXES.sh, xsd: PREFIXES.xsd, schema: PREFIXES.schema, evi: PREFIXES.evi },
  });
  const report = blankNode("report");
  writer.addQuad(quad(report, term("rdf:type"), term("sh:ValidationReport")));
  writer.addQuad(quad(report, term("sh:conforms"), literal(String(conforms), term("xsd:boolean"))));
  for (const { node, path, value, message, severity, constraint, shape } of results) {
    writer.addQuad(
      report,
      term("sh:result"),
      writer.blank([
        { predicate: term("rdf:type"), object: term("sh:ValidationResult") },
        { predicate: term("sh:focusNode"), object: namedNode(node) },
        ...(path === null ? [] : [{ predicate: term("sh:resultPath"), object: namedNode(path) }]),
        ...(value === null ? [] : [{ predicate: term("sh:value"), object: literal(value) }]),
        { predicate: term("sh:resultMessage"), object: literal(message) },
        { predicate: term("sh:resultSeverity"), object: term(`sh:${severity}`) },
        { predicate: term("sh:sourceConstraintComponent"), object: term(`sh:${constraint}`) },
        { predicate: term("sh:sourceShape"), object: namedNode(shape) },
      ]),
    );
  }
  let turtle = "";
  writer.end((error, result: string) => {
    if (error) throw error;
    turtle = result;
  });
  return turtle;
}

const validation = new ValidationResolver();
const HEADERS = { "Cache-Control": "no-store", Vary: "Accept" };

export const validationOperations: Handlers = {
  validate: async (request) => {
    const { req, res, query, context } = request;
    const type = preferred(req.headers.accept, ["application/json", "text/turtle"]);
    const report = await validation.validate(
      await readJsonBytes(req, context.deps.config),
      query["kind"],
      context,
      presence(request),
    );
    if (type === "text/turtle")
      sendBytes(req, res, Buffer.from(shapeReportTurtle(report)), {
        type: "text/turtle; charset=utf-8",
        headers: HEADERS,
      });
    else sendJson(req, res, report, { headers: HEADERS });
  },
};

export const TABLES: readonly ContractRow[] = [
  {
    method: "post",
    path: "/schema/ark:{NAAN}/{postfix}/validate",
    operationId: "validate_table",
    tag: "records",
    summary: "Check a table against a schema",
    description:
      "Separated text in UTF-8, gzip or not; separator and header are those of the " +
      "schema. It is checked while it arrives, and nothing of it is stored. Patterns run " +
      "in linear time: look-around and back-references are not available. After " +
      "TABLE_MAX_ERRORS errors the check ends. Other limits are MAX_TABLE_BYTES, " +
      "TABLE_MAX_TEXT, TABLE_MAX_ROW, TABLE_MAX_CELL, TABLE_MAX_COLUMNS and " +
      "TABLE_TIMEOUT.",
    parameters: arkPath(EXAMPLES.schema["@id"] as string),
    body: {
      "multipart/form-data": {
        schema: schemaRef("TableUpload"),
        example: { file: "fov-001.tif,214\n" },
      },
    },
    answer: {
      description: "The result of the check.",
      content: json(schemaRef("TableCheck"), { conforms: true, errors: [], truncated: false }),
    },
    refusals: [
      ...FIND_REFUSALS,
      "SCHEMA_UNUSABLE",
      "TOO_LARGE",
      "UNSUPPORTED_MEDIA_TYPE",
      "QUERY_TIMEOUT",
    ],
  },
];

const schemas = new SchemaResolver();

export const schemaOperations: Handlers = {
  validate_table: async (request) => {
    const { req, res, context } = request;
    const ark = arkOf(request);
    const checked = await takeFile(req, ["file"], (file) => schemas.check(ark, file, context));
    sendJson(req, res, checked);
  },
};
