// The table engine: what others may import. It knows nothing of the service.
export { TabularError } from "./errors.js";
export { DEFAULT_LIMITS, type TableLimits } from "./limits.js";
export { validateRows, validateTable, type CheckOptions, type TableCheck } from "./validate.js";
export { ErrorKind, TableError, type TableSummary } from "./summary.js";
export type { PatternEngine } from "./rules/environment.js";
export { parseSchemaText, readProperty, readSchema, type TableProperty, type TableSchema } from "./schema/table-schema.js";
export { DATATYPES, newSchemaDocument, withProperty, type Datatype, type PropertyObject, type SchemaDocument } from "./schema/document.js";
