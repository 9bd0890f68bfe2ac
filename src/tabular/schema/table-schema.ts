import { TabularError } from "../limits.js";
import { type ColumnIndex, keywordProblem, parseColumnIndex } from "./keywords.js";

/** A property that is sound: its index read, its keywords of the right kind. */
export interface TableProperty {
  name: string;
  type: Datatype | "null";
  index: ColumnIndex;
  keywords: PropertyObject;
  /** Of an array's elements. */
  items: ItemsObject | undefined;
}

/** A schema that is sound and can be compiled. */
export interface TableSchema {
  /** The document it was read from. */
  document: Record<string, unknown>;
  /** In the order of the document. */
  properties: TableProperty[];
  required: string[];
  /** Empty when the schema gives none: such a schema can be shown but not applied to text. */
  separator: string;
  header: boolean;
}

const TYPES = new Set(["string", "number", "integer", "array", "boolean", "null"]);
const ITEM_TYPES = new Set(["string", "number", "integer", "boolean"]);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const refuse = (message: string): never => {
  throw new TabularError("SCHEMA", message);
};

/** Reads a schema from its text. @throws TabularError `SCHEMA` */
export function parseSchemaText(text: string): TableSchema {
  let document: unknown;
  try {
    document = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw new TabularError(
      "SCHEMA",
      `the schema is not JSON: ${(cause as Error).message.replaceAll(/\s+/g, " ")}`,
      { cause },
    );
  }
  return readSchema(document);
}

/** Reads a schema from its JSON document. @throws TabularError `SCHEMA`, naming the property */
export function readSchema(document: unknown): TableSchema {
  if (!isObject(document)) return refuse("the schema is not a JSON object");
  const { properties = {}, required, header } = document;
  if (!isObject(properties))
    return refuse("the schema's properties must be an object of property name and property");
  if (
    required !== undefined &&
    required !== null &&
    !(Array.isArray(required) && required.every((name) => typeof name === "string"))
  )
    return refuse("the schema's required must be an array of property names");
  if (header !== undefined && header !== null && typeof header !== "boolean")
    return refuse("the schema's header must be true or false");
  return {
    document,
    properties: Object.entries(properties).map(([name, property]) => readProperty(name, property)),
    required: (required as string[] | undefined) ?? [],
    separator: separatorOf(document),
    header: header === true,
  };
}

function separatorOf({ seperator, separator }: Record<string, unknown>): string {
  const given = seperator ?? separator ?? "";
  return typeof given === "string" ? given : refuse("the schema's seperator must be text");
}

/** Reads one property. @throws TabularError `SCHEMA` */
export function readProperty(name: string, value: unknown): TableProperty {
  const wrong = (problem: string): never => refuse(`property ${name}: ${problem}`);
  if (!isObject(value)) return wrong("it must be an object");
  const { type } = value;
  if (typeof type !== "string" || !TYPES.has(type))
    return wrong(
      "its type must be string, number, integer, array or boolean, not " +
        (JSON.stringify(type) ?? "absent"),
    );
  const index = parseColumnIndex(value["index"], type === "array");
  if (typeof index === "string") return wrong(index);
  const problem = keywordProblem(value, type);
  if (problem !== undefined) return wrong(problem);
  return {
    name,
    type: type as TableProperty["type"],
    index,
    keywords: value as unknown as PropertyObject,
    items: type === "array" ? readItems(value["items"], wrong) : undefined,
  };
}

function readItems(items: unknown, wrong: (problem: string) => never): ItemsObject {
  if (!isObject(items)) return wrong("an array needs items with the type of its elements");
  const { type } = items;
  if (typeof type !== "string" || !ITEM_TYPES.has(type))
    return wrong(
      "the type of its items must be string, number, integer or boolean, not " +
        (JSON.stringify(type) ?? "absent"),
    );
  const problem = keywordProblem(items, type);
  if (problem !== undefined) return wrong(`items: ${problem}`);
  return items as unknown as ItemsObject;
}

/**
 * Datatypes of a column that a schema may be given; packaged schemas also know `null`: a column
 * that is not checked.
 */
const DATATYPES = ["string", "number", "integer", "array", "boolean"] as const;
export type Datatype = (typeof DATATYPES)[number];

/** JSON Schema keywords that validate a single value. A key that is null counts as absent. */
export interface ValueKeywords {
  pattern?: string | null;
  minLength?: number | null;
  maxLength?: number | null;
  format?: string | null;
  minimum?: number | null;
  maximum?: number | null;
  exclusiveMinimum?: number | null;
  exclusiveMaximum?: number | null;
  multipleOf?: number | null;
  enum?: unknown[] | null;
  const?: unknown;
}

/** Datatype and constraints of the elements of an array. */
export interface ItemsObject extends ValueKeywords {
  type: Exclude<Datatype, "array">;
}

/** One entry of `properties`, as it is written. */
export interface PropertyObject extends ValueKeywords {
  description: string;
  index: number | string;
  valueURL: string | null;
  type: Datatype | "null";
  minItems?: number | null;
  maxItems?: number | null;
  uniqueItems?: boolean | null;
  items?: ItemsObject | null;
}

/** The schema of a table, as it is written; `seperator` is spelt as the contract spells it. */
export interface SchemaDocument {
  "@context": Record<string, string>;
  "@id": string;
  "@type": string;
  name: string;
  description: string;
  properties: Record<string, PropertyObject>;
  type: "object";
  additionalProperties: boolean;
  required: string[];
  seperator: string;
  header: boolean;
  examples: unknown[];
}

/** A new schema without properties, its keys in the contract's order. */
export function newSchemaDocument(given: {
  id: string;
  name: string;
  description: string;
  separator: string;
  header: boolean;
}): SchemaDocument {
  return {
    "@context": { "@vocab": "https://schema.org/", EVI: "https://w3id.org/EVI#" },
    "@id": given.id,
    "@type": "EVI:Schema",
    name: given.name,
    description: given.description,
    properties: {},
    type: "object",
    additionalProperties: true,
    required: [],
    seperator: given.separator,
    header: given.header,
    examples: [],
  };
}

/** The document with one more property, named in `required` as well. */
export function withProperty<
  T extends { properties: Record<string, PropertyObject>; required?: string[] },
>(document: T, name: string, property: PropertyObject): T {
  // `fromEntries` because assigning `__proto__` would not make a key.
  const properties = Object.fromEntries([...Object.entries(document.properties), [name, property]]);
  return { ...document, properties, required: [...(document.required ?? []), name] };
}

/** A separator as typed or written: `\t` as two characters means a tab. */
export const unescapeSeparator = (text: string): string => text.replaceAll("\\t", "\t");
