import type { TableSchema } from "../../../src/tabular/schema/table-schema.js";
import type { CheckOptions, TableCheck } from "../../../src/tabular/validate.js";
export function validateParquetFile(_f: string, _s: TableSchema, _o: CheckOptions): TableCheck { throw new Error("todo"); }
