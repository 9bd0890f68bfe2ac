import type { ErrorCode } from "../../../errors.js";
import type { Checked } from "./check.js";

/** A query for the guard's thread. */
export interface GuardRequest { text: string; base: string }
export type GuardReply = { checked: Checked } | { refusal: { code: ErrorCode; message: string; extra: Record<string, unknown> } };
