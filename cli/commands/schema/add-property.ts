import type { Datatype, PropertyObject, SchemaDocument } from "../../../src/tabular/schema/document.js";
import { withProperty } from "../../../src/tabular/schema/document.js";
import { readProperty } from "../../../src/tabular/schema/table-schema.js";
import { Failure } from "../../failure.js";
import { inFile, readSchemaFile, writeDocument } from "./schema-file.js";

export interface PropertyOptions {
  name: string;
  index: string;
  description: string;
  valueUrl?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  itemsDatatype?: Exclude<Datatype, "array">;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
}

/** `schema add-property <datatype>`: adds a property to a schema file; a property that is not sound changes nothing. @throws Failure */
export async function addProperty(datatype: Datatype, path: string, options: PropertyOptions): Promise<void> {
  const { name } = options;
  if (name.trim() === "") throw new Failure("--name is empty: give the property a name");
  const schema = await readSchemaFile(path);
  if (schema.properties.some((property) => property.name === name)) throw new Failure(`${path}: property ${name} is in the schema already: names are unique`);
  await inFile(path, async () => {
    const property = propertyObject(datatype, options);
    readProperty(name, property);
    await writeDocument(path, withProperty(schema.document as unknown as SchemaDocument, name, property));
  });
  process.stdout.write(`Added Property\tname: ${name}\ttype: ${datatype}\n`);
}

/** Keys in the contract's order; what was not given is left out, but for `valueURL`. */
function propertyObject(type: Datatype, options: PropertyOptions): PropertyObject {
  const { description, valueUrl, pattern, minLength, maxLength, minimum, maximum, minItems, maxItems, uniqueItems, itemsDatatype } = options;
  const index = type !== "array" && /^\d+$/.test(options.index) ? Number(options.index) : options.index;
  const object = {
    description, index, valueURL: valueUrl ?? null, type,
    pattern, minLength, maxLength, minimum, maximum, minItems, maxItems, uniqueItems,
    items: itemsDatatype === undefined ? undefined : { type: itemsDatatype },
  };
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as unknown as PropertyObject;
}
