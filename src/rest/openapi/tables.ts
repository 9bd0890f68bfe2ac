import { EXAMPLES } from "../../model/examples.js";
import { FIND_REFUSALS, json, schemaRef, type Operation } from "./operation.js";
import { arkPath } from "./parameters.js";

export const TABLES: readonly Operation[] = [
  {
    method: "post", path: "/schema/ark:{NAAN}/{postfix}/validate", operationId: "validate_table", tag: "records", summary: "Check a table against a schema",
    description: "Separated text in UTF-8, gzip or not; separator and header are those of the schema. It is checked while it arrives, and nothing of it is kept. Patterns run in linear time: look-around and back-references are not available. After TABLE_MAX_ERRORS errors the check ends. Other limits are MAX_TABLE_BYTES, TABLE_MAX_TEXT, TABLE_MAX_ROW, TABLE_MAX_CELL, TABLE_MAX_COLUMNS and TABLE_TIMEOUT.",
    parameters: arkPath(EXAMPLES.schema["@id"] as string),
    body: { "multipart/form-data": { schema: schemaRef("TableUpload"), example: { file: "fov-001.tif,214\n" } } },
    answer: { description: "What it came to.", content: json(schemaRef("TableCheck"), { conforms: true, errors: [], truncated: false }) },
    refusals: [...FIND_REFUSALS, "SCHEMA_UNUSABLE", "TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "QUERY_TIMEOUT"],
  },
];
