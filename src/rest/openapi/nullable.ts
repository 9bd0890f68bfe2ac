import type { JsonObject } from "../../model/field.js";

/** Schema of a value of a type, or null. */
export const nullable = (type: string, description: string, more: JsonObject = {}): JsonObject => ({ type: [type, "null"], description, ...more });
