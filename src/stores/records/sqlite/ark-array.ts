import { arkKey } from "../../../identifiers/ark.js";
import { textArray } from "./statement.js";

/**
 * JSON array of `[key, identifier]` for `json_each`: records are found by both, which one index holds.
 *
 * @throws StatementError `VALUE` when one is no text that can be stored
 */
export const arkArray = (arks: readonly string[]): string => `[${arks.map((ark) => textArray([arkKey(ark), ark])).join(",")}]`;
