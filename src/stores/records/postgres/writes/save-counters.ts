import { statement } from "../statement.js";

/** The numbers given out so far. */
export const SAVE = statement("UPDATE counter SET sequence = $1, record = $2, object = $3, submission = $4 WHERE id = 1");
