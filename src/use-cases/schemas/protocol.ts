import type { TableLimits } from "../../tabular/limits.js";

/** What the thread of one check is started with. */
export interface CheckInput { schema: unknown; limits: TableLimits; /** Errors that are looked for; the check ends with the last of them. */ maxErrors: number }

/** One row of the contract's table of errors. */
export interface CheckedError { row: number; error_type: "ParsingError" | "ValidationError"; failed_keyword: string | null; message: string }

/** To the thread: a part of the data, or the end of it. */
export type ToCheck = { part: Uint8Array } | { end: true };
/** From the thread: it wants another part; or what came of it. */
export type FromCheck = { more: true } | { errors: CheckedError[] } | { refused: { code: "SCHEMA" | "DATA" | "LIMIT"; message: string } } | { fault: string };
