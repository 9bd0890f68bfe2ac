import { isStorableText } from "./storable.js";

// eslint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/;

/** Text as names and keywords are compared by: compatibility form (NFKC), without case. ASCII has that form, and most text is. */
export const fold = (text: string): string => (ASCII.test(text) ? text : text.normalize("NFKC")).toLowerCase();

/** Text for the search index, which is ours: what SQLite cannot hold is replaced, not refused. */
export const indexable = (text: string): string => (isStorableText(text) ? text : text.toWellFormed().replaceAll("\0", " "));

/** A keyword as it is compared: without case, blanks in a row as one. */
export const wordOf = (keyword: string): string => indexable(fold(keyword)).replace(/\s+/g, " ").trim();
