/** Datatypes of a column that a schema may be given; packaged schemas also know `null`: a column that is not checked. */
export const DATATYPES = ["string", "number", "integer", "array", "boolean"] as const;
export type Datatype = (typeof DATATYPES)[number];

/** JSON Schema keywords that judge a single value. A key that is null counts as absent. */
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
export function newSchemaDocument(given: { id: string; name: string; description: string; separator: string; header: boolean }): SchemaDocument {
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
export function withProperty<T extends { properties: Record<string, PropertyObject>; required?: string[] }>(document: T, name: string, property: PropertyObject): T {
  // `fromEntries` because assigning `__proto__` would not make a key.
  const properties = Object.fromEntries([...Object.entries(document.properties), [name, property]]);
  return { ...document, properties, required: [...(document.required ?? []), name] };
}

/** A separator as typed or written: `\t` as two characters means a tab. */
export const unescapeSeparator = (text: string): string => text.replaceAll("\\t", "\t");
