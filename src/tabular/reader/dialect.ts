/** How separated text is written: what its bytes mean before any schema says what cells hold. */
export interface Dialect {
  /** Between cells: one or more characters. */
  separator: string;
  /** Around cells that hold separators or line breaks; null where quotes are plain text. */
  quote: string | null;
  /** Makes the next character plain text; null where a quote inside quotes is doubled. */
  escape: string | null;
  /** Lines that begin with it are no rows; null for none. */
  comment: string | null;
  /** Lines before the header or the first row. */
  skipRows: number;
  /** Where blanks are no part of a cell. */
  trim: Trim;
}

export const TRIMS = ["none", "start", "end", "both"] as const;
export type Trim = (typeof TRIMS)[number];

/** RFC 4180, but for the separator. */
export const PLAIN_DIALECT: Omit<Dialect, "separator"> = {
  quote: '"',
  escape: null,
  comment: null,
  skipRows: 0,
  trim: "none",
};

/** The dialect of text whose cells this stands between. */
export const separatedBy = (separator: string): Dialect => ({ separator, ...PLAIN_DIALECT });

/** Why a dialect cannot be read; `undefined` for one that can. */
export function dialectProblem({
  separator,
  quote,
  escape,
  comment,
}: Pick<Dialect, "separator" | "quote" | "escape" | "comment">): string | undefined {
  for (const [name, text] of Object.entries({
    separator,
    quoteChar: quote,
    escapeChar: escape,
    commentPrefix: comment,
  }))
    if (text !== null && /[\r\n\0]/.test(text)) return `its ${name} holds a line break or a NUL`;
  for (const [name, text] of Object.entries({ quoteChar: quote, escapeChar: escape }))
    if (text !== null && !/^[\p{ASCII}]$/u.test(text))
      return `its ${name} ${JSON.stringify(text)} must be one ASCII character`;
  if (quote !== null && separator.includes(quote))
    return `its separator ${JSON.stringify(separator)} holds the quote character`;
  if (escape !== null && separator.includes(escape))
    return `its separator ${JSON.stringify(separator)} holds the escape character`;
  return undefined;
}
