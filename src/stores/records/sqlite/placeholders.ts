import { StatementError } from "./statement-error.js";

/** What stands in SQL text and may hold a `?` or `;` that means nothing: strings, quoted names, comments. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\?(\d*)|([:@$][A-Za-z_]\w*)|(;)|(\s+)|([^\s'"`[?;])/g;

/**
 * Counts the parameters of one SQL statement: `?` takes the number after the largest so far, `?N` is number N.
 * @throws StatementError `SQL` for named parameters, no statement, or more than one (libsql runs only the first and says nothing)
 */
export function countPlaceholders(sql: string): number {
  let largest = 0;
  let seen = false;
  let ended = false;
  for (const match of sql.matchAll(TOKEN)) {
    const [text, number, named, semicolon, blank] = match;
    if (blank !== undefined || text.startsWith("--") || text.startsWith("/*")) continue;
    if (ended) throw new StatementError("SQL", "one statement at a time: there is more SQL after the semicolon");
    if (semicolon !== undefined) {
      ended = true;
      continue;
    }
    seen = true;
    if (named !== undefined) throw new StatementError("SQL", `named parameter ${named}: parameters are ? or ?N`);
    if (number !== undefined) largest = number === "" ? largest + 1 : Math.max(largest, Number(number));
  }
  if (!seen) throw new StatementError("SQL", "there is no statement in the text");
  return largest;
}
