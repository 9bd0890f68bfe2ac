import { lookupArk } from "../../identifiers/ark.js";
import { isObject, type JsonObject, type JsonValue, referencesIn } from "../../model/field.js";
import { textOf } from "../../model/texts.js";
import type { Fields } from "../scoring/facts/fields.js";
import { typeOf } from "../../tabular/schema/table-schema.js";
import { SCHEMAS } from "../scoring/facts/survey.js";
import { isHttp } from "./agents.js";

/** The schema that a table names, as it is stored. */
export function schemaArkOf(fields: Fields): string | undefined {
  const [named] = referencesIn(fields.first(...SCHEMAS)?.value);
  return named === undefined ? undefined : lookupArk(named)?.stored;
}

/** A column of a table, as its schema describes it. */
export interface Column {
  name: string;
  /** `string`, `number`, `integer`, `boolean` or `array`. */
  type: string;
  /** Of an array: the type of its elements. */
  itemType: string | null;
  /** Position; a range where several columns are elements of one array. */
  index: JsonValue | undefined;
  description: string | null;
  /** Term of a vocabulary that the column stands for. */
  term: string | null;
  unit: string | null;
}

/** Most columns of one schema that a document lists. */
export const MAX_COLUMNS = 10_000;

/** The columns that the record of a schema describes. */
export function columnsOf(schema: JsonObject): Column[] {
  const { properties } = schema;
  if (!isObject(properties)) return [];
  return Object.entries(properties)
    .slice(0, MAX_COLUMNS)
    .flatMap(([name, property]) => {
      if (!isObject(property) || name.trim() === "") return [];
      const term = textOf(property["valueURL"] ?? property["value-url"]);
      const items = property["items"];
      return [
        {
          name,
          type: textOf(typeOf(property["type"]).type as JsonValue) ?? "string",
          itemType: isObject(items)
            ? textOf(typeOf(items["type"] ?? items["datatype"]).type as JsonValue)
            : null,
          index: property["index"],
          description: textOf(property["description"]),
          term: term !== null && isHttp(term) ? term : null,
          unit: textOf(property["unit"] ?? property["unitText"]),
        },
      ];
    });
}
