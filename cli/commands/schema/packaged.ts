import { findPackagedSchema, PACKAGED_SCHEMAS } from "../../../src/tabular/schema/packaged.js";
import { Failure } from "../../failure.js";

/** `schema list`: the packaged schemas, one a line. */
export function listSchemas(): void {
  const width = Math.max(...PACKAGED_SCHEMAS.map((schema) => schema["@id"].length));
  process.stdout.write(PACKAGED_SCHEMAS.map((schema) => `${schema["@id"].padEnd(width)}  ${schema.name}\n`).join(""));
}

/** `schema show <ARK>`: a packaged schema as JSON. @throws Failure */
export function showSchema(ark: string): void {
  const schema = findPackagedSchema(ark);
  if (!schema) throw new Failure(`${ark}: no schema with this identifier is packaged; arkgraph schema list shows those that are`);
  process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
}
