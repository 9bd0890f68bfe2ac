import { indexable, wordOf } from "./fold.js";
import type { RecordState, SearchText } from "./port.js";

/** The text that search sees of a record, as a store keeps it. */
export const searchedTextOf = ({ text }: RecordState): SearchText =>
  ({ name: indexable(text.name), description: indexable(text.description), keywords: indexable(text.keywords), other: indexable(text.other) });

/** Distinct keywords as they are compared. */
export const keywordsOf = ({ keywords }: RecordState): string[] => [...new Set(keywords.map(wordOf))].filter((word) => word !== "");
