import { ark, custom, text, textList, type Field, type JsonObject } from "../field.js";

export const DEFAULT_CONTEXT: JsonObject = { "@vocab": "https://schema.org/", evi: "https://w3id.org/EVI#" };
/** The contract writes the licence with one leading space; the graph trims it. */
export const DEFAULT_LICENSE = " https://creativecommons.org/licenses/by/4.0/";

/** `@context` whose values are strings; group, organization and data download take any object. */
export const context = (json: "stringMap" | "object" = "stringMap"): Field =>
  custom(json, "rdf:JSON", "JSON-LD context of the record.", { default: DEFAULT_CONTEXT });

/** A constant `@type` that must be present. */
export const constantType = (value: string): Field => custom("types", "rdf:type", `Type of the record: \`${value}\`.`, { required: true, const: value });
/** A free `@type` with a default. */
export const defaultType = (value: string): Field => custom("types", "rdf:type", "Type of the record.", { default: value });

/** The fields every kind but the user has. */
export const common = {
  url: text("schema:url", "Web page of the object.", { nullable: true }),
  name: text("schema:name", "Name, at most 200 characters.", { required: true, maxLength: 200 }),
  keywords: textList("schema:keywords", "Keywords."),
  description: text("schema:description", "Description, at least 5 characters.", { required: true, minLength: 5 }),
  license: text("schema:license", "URL of the licence.", { nullable: true, default: DEFAULT_LICENSE }),
  owner: ark("schema:owner", "User, group, organization or project that owns the record.", { required: true }),
} as const;

/** The same fields for what crates bring: nothing is required and nothing filled in, so a crate's entities keep what they say. */
export const optionalCommon = {
  url: text("schema:url", "Web page of the object."),
  name: text("schema:name", "Name."),
  keywords: custom("stringList", "schema:keywords", "Keywords."),
  description: text("schema:description", "Description."),
  license: text("schema:license", "URL of the licence."),
  owner: ark("schema:owner", "User, group, organization or project that owns the record."),
} as const;
