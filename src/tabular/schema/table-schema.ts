import { TabularError } from "../errors.js";
import { parseColumnIndex, type ColumnIndex } from "./column-index.js";
import type { Datatype, ItemsObject, PropertyObject } from "./document.js";
import { keywordProblem } from "./keywords.js";

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
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const refuse = (message: string): never => {
  throw new TabularError("SCHEMA", message);
};

/** Reads a schema from its text. @throws TabularError `SCHEMA` */
export function parseSchemaText(text: string): TableSchema {
  let document: unknown;
  try {
    document = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw new TabularError("SCHEMA", `the schema is not JSON: ${(cause as Error).message.replaceAll(/\s+/g, " ")}`, { cause });
  }
  return readSchema(document);
}

/** Reads a schema from its JSON document. @throws TabularError `SCHEMA`, naming the property */
export function readSchema(document: unknown): TableSchema {
  if (!isObject(document)) return refuse("the schema is not a JSON object");
  const { properties = {}, required, header } = document;
  if (!isObject(properties)) return refuse("the schema's properties must be an object of property name and property");
  if (required !== undefined && required !== null && !(Array.isArray(required) && required.every((name) => typeof name === "string"))) return refuse("the schema's required must be an array of property names");
  if (header !== undefined && header !== null && typeof header !== "boolean") return refuse("the schema's header must be true or false");
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
  if (typeof type !== "string" || !TYPES.has(type)) return wrong(`its type must be string, number, integer, array or boolean, not ${JSON.stringify(type) ?? "absent"}`);
  const index = parseColumnIndex(value["index"], type === "array");
  if (typeof index === "string") return wrong(index);
  const problem = keywordProblem(value, type);
  if (problem !== undefined) return wrong(problem);
  return { name, type: type as TableProperty["type"], index, keywords: value as unknown as PropertyObject, items: type === "array" ? readItems(value["items"], wrong) : undefined };
}

function readItems(items: unknown, wrong: (problem: string) => never): ItemsObject {
  if (!isObject(items)) return wrong("an array needs items with the type of its elements");
  const { type } = items;
  if (typeof type !== "string" || !ITEM_TYPES.has(type)) return wrong(`the type of its items must be string, number, integer or boolean, not ${JSON.stringify(type) ?? "absent"}`);
  const problem = keywordProblem(items, type);
  if (problem !== undefined) return wrong(`items: ${problem}`);
  return items as unknown as ItemsObject;
}
