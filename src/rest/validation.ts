import { DataFactory, Writer } from "n3";
import { SchemaResolver } from "../graphql/resolvers/validation-resolver.js";
import { readJsonBytes, takeFile } from "../http/body.js";
import { preferred } from "../http/negotiation.js";
import { sendBytes, sendJson } from "../http/reply.js";
import { expandCurie, PREFIXES } from "../model/field.js";
import type { ShapeReport } from "../services/validation/document.js";
import { validateShapes } from "../services/validation/validate.js";
import { arkOf, type Handlers, presence } from "./request.js";

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

const HEADERS = { "Cache-Control": "no-store", Vary: "Accept" };

export const validationOperations: Handlers = {
  validate: async (request) => {
    const { req, res, query, context } = request;
    const type = preferred(req.headers.accept, ["application/json", "text/turtle"]);
    const report = await validateShapes(
      context.deps,
      await readJsonBytes(req, context.deps.config),
      query["kind"],
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

const schemas = new SchemaResolver();

export const schemaOperations: Handlers = {
  validate_table: async (request) => {
    const { req, res, context } = request;
    const ark = arkOf(request);
    const checked = await takeFile(req, ["file"], (file) => schemas.check(ark, file, context));
    sendJson(req, res, checked);
  },
};
