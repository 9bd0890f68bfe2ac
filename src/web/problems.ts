/** What is wrong with a form, in sentences for people. */
import { ServiceError, ValidationError, type ValidationItem } from "../errors.js";

export interface Problem {
  /** A sentence for the whole form. */
  form?: string;
  /** Sentences by field. */
  fields: Readonly<Record<string, string>>;
}

export const NO_PROBLEM: Problem = { fields: {} };

/** Last steps of places that are no field: a document as a whole. */
const WHOLE: ReadonlySet<string> = new Set(["body", "input", "patch"]);

const characters = (count: unknown): string =>
  count === 1 ? "1 character" : `${Number(count)} characters`;

/** By the type of an item of an answer: programs get another text, with names of the contract. */
const SENTENCES: Readonly<Record<string, (item: ValidationItem) => string>> = {
  missing: () => "Fill this in.",
  string_too_short: ({ ctx }) =>
    Number(ctx?.["min_length"] ?? 1) <= 1
      ? "Fill this in."
      : `Write at least ${characters(ctx!["min_length"])}.`,
  string_too_long: ({ ctx }) => `Write at most ${characters(ctx?.["max_length"])}.`,
  string_pattern_mismatch: () =>
    "Choose one of the suggestions, or give the identifier of a record, such as ark:99999/cells.",
  string_type: () => "Write a text.",
  list_type: () => "Write one value per line.",
  too_short: () => "Give at least one value.",
  datetime_type: () => "Give a date, such as 2026-11-27.",
  datetime_from_date_parsing: () => "Give a date, such as 2026-11-27.",
  bool_parsing: () => "Answer yes or no.",
};

/** One sentence without the words of libraries. */
function sentenceOf(item: ValidationItem): string {
  const known = Object.hasOwn(SENTENCES, item.type) ? SENTENCES[item.type]!(item) : undefined;
  if (known !== undefined) return known;
  const text = item.msg.replace(/^(?:value error, |value is )/i, "").trim();
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

/**
 * What is wrong with a form, for those errors that the reader can correct.
 * @throws the error itself otherwise
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof ValidationError) {
    const fields: Record<string, string> = {};
    const others: string[] = [];
    for (const item of error.items) {
      const name = item.loc.findLast((part) => typeof part === "string");
      if (typeof name === "string" && !WHOLE.has(name)) fields[name] ??= sentenceOf(item);
      else others.push(sentenceOf(item));
    }
    return { fields, ...(others.length > 0 ? { form: others.join(" ") } : {}) };
  }
  if (error instanceof ServiceError && error.status >= 400 && error.status < 500)
    return { form: error.message, fields: {} };
  throw error;
}
