import { SETTINGS } from "../../config.js";
import type { JsonObject } from "../../model/field.js";
import { KIND_NAMES } from "../../model/kind.js";
import { BODY_REFUSALS, FIND_REFUSALS, json, schemaRef, type Operation } from "./operation.js";
import { path, query } from "./parameters.js";

const DRAFT = { "@type": "evi:Dataset", name: "Cell counts", description: "four", owner: "ark:99999/user-ada" };
const SHORT: JsonObject = {
  node: "ark:99999/unnamed", kind: "dataset", path: "https://schema.org/description", value: "four",
  message: "Value has less than 5 characters (description: Description, at least 5 characters.)",
  severity: "Violation", constraint: "MinLengthConstraintComponent", shape: "https://w3id.org/EVI#DatasetShape",
};
const REPORT: JsonObject = { conforms: false, results: [SHORT], checked: 1, truncated: false };

/** Checks by shapes, and the vocabulary that the graph is written in. */
export const VALIDATION: readonly Operation[] = [
  {
    method: "post", path: "/validate", operationId: "validate", tag: "evidence", summary: "Check a record by the SHACL shape of its kind",
    description: `The body is a record as it would be created, the metadata document of a crate (each of its entities is checked as the record it would be), or \`{"@id": …}\` alone: what is stored under it, of a crate also its members. Nothing is stored. At most ${SETTINGS.VALIDATE_MAX_RESULTS.default} results (VALIDATE_MAX_RESULTS); \`/rocrate/validate\` tells what an upload would come to.`,
    parameters: [query("kind", "Kind to check the record as; else its `@type` tells it.", { type: "string", enum: [...KIND_NAMES] })],
    body: json({ type: "object" }, DRAFT),
    answer: {
      description: "What the shapes found.",
      content: { ...json(schemaRef("ShapeReport"), REPORT), "text/turtle": { schema: { type: "string", description: "A `sh:ValidationReport`." }, example: "[] a sh:ValidationReport; sh:conforms true." } },
    },
    refusals: [...BODY_REFUSALS, ...FIND_REFUSALS, "NOT_ACCEPTABLE", "BUSY", "VALIDATION_TIMEOUT"],
  },
  {
    method: "get", path: "/ontology/{name}", operationId: "ontology", tag: "evidence", summary: "Vocabulary, shapes and context of the graph",
    description: "`evi`: the evidence vocabulary; `shapes`: the SHACL shapes of every kind; `context`: the JSON-LD context of the terms.",
    parameters: [path("name", "Which of them.", { type: "string", enum: ["evi", "shapes", "context"] }, "evi")],
    answer: { description: "The vocabulary.", content: {
      "text/turtle": { schema: { type: "string" }, example: "evi:usedDataset rdfs:subPropertyOf evi:used." },
      "application/n-triples": { schema: { type: "string" }, example: "<https://w3id.org/EVI#usedDataset> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <https://w3id.org/EVI#used> .\n" },
      "application/ld+json": { schema: {}, example: [{ "@id": "https://w3id.org/EVI#usedDataset", "http://www.w3.org/2000/01/rdf-schema#subPropertyOf": [{ "@id": "https://w3id.org/EVI#used" }] }] },
    } },
    refusals: ["NOT_FOUND", "NOT_ACCEPTABLE"],
  },
];
