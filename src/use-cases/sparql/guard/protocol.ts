import type { ErrorCode } from "../../../errors.js";
import type { Checked, CheckLimits } from "./check.js";
import type { Hidden } from "./hide.js";

/** What the thread is started with. */
export type GuardData = CheckLimits & { hidden: Hidden | undefined };

/** A query for the guard's thread. */
export interface GuardRequest { text: string; base: string }
export type GuardReply = { checked: Checked } | { refusal: { code: ErrorCode; message: string; extra: Record<string, unknown> } };
