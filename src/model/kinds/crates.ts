import { custom, text } from "../field.js";
import type { Kind } from "../kind.js";
import { common, context, defaultType, optionalCommon } from "./common.js";

/** A crate's `@type` and `@context` are whatever its metadata says. */
const loose = {
  "@context": custom("object", "rdf:JSON", "JSON-LD context of the record."),
  "@type": custom("types", "rdf:type", "Types, as the crate states them."),
};

export const rocrate: Kind = {
  name: "rocrate", typeName: "ROCrate", plural: "roCrates", path: "rocrate", rdfClass: "evi:ROCrate", loose: true, fromCrates: true,
  description: "A research-object crate: the root of an uploaded archive.",
  fields: { ...loose, ...optionalCommon, version: text("schema:version", "Version."), datePublished: text("schema:datePublished", "When it was published.") },
};

export const entity: Kind = {
  name: "entity", typeName: "Entity", plural: "entities", path: null, rdfClass: "schema:Thing", loose: true, fromCrates: true,
  description: "Anything else that a crate describes: a person, an instrument, a place.",
  fields: { ...loose, ...optionalCommon },
};

export const schema: Kind = {
  name: "schema", typeName: "Schema", plural: "schemas", path: "schema", rdfClass: "evi:Schema", fromCrates: true,
  description: "Describes the columns of a table.",
  fields: {
    "@context": { ...context(), default: { "@vocab": "https://schema.org/", EVI: "https://w3id.org/EVI#" } },
    "@type": defaultType("EVI:Schema"),
    ...common,
    properties: custom("object", "evi:properties", "Columns by name, as JSON Schema properties with `index` and `valueURL`.", { default: {} }),
    type: text("evi:schemaType", "Always `object`.", { default: "object" }),
    additionalProperties: custom("boolean", "evi:additionalProperties", "Whether undescribed columns are allowed.", { default: true }),
    required: custom("stringList", "evi:required", "Names of the columns every row must have.", { default: [] }),
    seperator: text("evi:separator", "Column separator (the contract's spelling)."),
    separator: text("evi:separator", "Column separator, in the usual spelling; read like `seperator`."),
    header: custom("boolean", "evi:header", "Whether the first row names the columns."),
    examples: custom("list", "evi:examples", "Example rows."),
  },
};
