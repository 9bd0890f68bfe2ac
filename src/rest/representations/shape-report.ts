import { DataFactory, Writer } from "n3";
import { PREFIXES, expandCurie } from "../../model/field.js";
import type { ShapeReport } from "../../use-cases/validation/report.js";

const { literal, namedNode, quad, blankNode } = DataFactory;
const term = (curie: string) => namedNode(expandCurie(curie));

/** The report as SHACL has it (section 3.6), in Turtle. */
export function shapeReportTurtle({ conforms, results }: ShapeReport): string {
  const writer = new Writer({ prefixes: { sh: PREFIXES.sh, xsd: PREFIXES.xsd, schema: PREFIXES.schema, evi: PREFIXES.evi } });
  const report = blankNode("report");
  writer.addQuad(quad(report, term("rdf:type"), term("sh:ValidationReport")));
  writer.addQuad(quad(report, term("sh:conforms"), literal(String(conforms), term("xsd:boolean"))));
  for (const { node, path, value, message, severity, constraint, shape } of results) {
    writer.addQuad(report, term("sh:result"), writer.blank([
      { predicate: term("rdf:type"), object: term("sh:ValidationResult") },
      { predicate: term("sh:focusNode"), object: namedNode(node) },
      ...(path === null ? [] : [{ predicate: term("sh:resultPath"), object: namedNode(path) }]),
      ...(value === null ? [] : [{ predicate: term("sh:value"), object: literal(value) }]),
      { predicate: term("sh:resultMessage"), object: literal(message) },
      { predicate: term("sh:resultSeverity"), object: term(`sh:${severity}`) },
      { predicate: term("sh:sourceConstraintComponent"), object: term(`sh:${constraint}`) },
      { predicate: term("sh:sourceShape"), object: namedNode(shape) },
    ]));
  }
  let turtle = "";
  writer.end((error, result: string) => {
    if (error) throw error;
    turtle = result;
  });
  return turtle;
}
