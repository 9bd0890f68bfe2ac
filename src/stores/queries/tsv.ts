/** SPARQL 1.1 results in TSV: a quarter of the text of the JSON form, and no object a term. */

/** Cells of each row, as they are written; a variable that is not bound is an empty cell. */
export function* tsvRows(tsv: string): Generator<string[], void, undefined> {
  // The first line names the variables.
  for (let start = tsv.indexOf("\n") + 1; start > 0 && start < tsv.length;) {
    const end = tsv.indexOf("\n", start);
    yield tsv.slice(start, end === -1 ? tsv.length : end).split("\t");
    if (end === -1) return;
    start = end + 1;
  }
}

/**
 * Rows of a UNION each of whose arms binds one variable of its own besides the key, or the two keys: an arm's number
 * and what it binds. Nothing is made for the cells that are empty.
 */
export function eachArm(tsv: string, keys: 1 | 2, visit: (key: string, second: string, arm: number, cell: string) => void): void {
  for (let start = tsv.indexOf("\n") + 1; start > 0 && start < tsv.length;) {
    let end = tsv.indexOf("\n", start);
    if (end === -1) end = tsv.length;
    const first = tsv.indexOf("\t", start);
    const before = keys === 1 ? first : tsv.indexOf("\t", first + 1);
    let at = before + 1;
    while (tsv.charCodeAt(at) === TAB) at++;
    if (at < end) {
      const tab = tsv.indexOf("\t", at);
      visit(tsv.slice(start, first), keys === 1 ? "" : tsv.slice(first + 1, before), at - before - 1, tsv.slice(at, tab === -1 || tab > end ? end : tab));
    }
    start = end + 1;
  }
}

const TAB = 9;

/** The IRI that a cell holds; `undefined` for a literal or nothing. */
export const iriIn = (cell: string | undefined): string | undefined => (cell?.startsWith("<") ? cell.slice(1, -1) : undefined);

/** What a cell says without its datatype or language; `undefined` when it is empty. */
export function textIn(cell: string | undefined): string | undefined {
  if (cell === undefined || cell === "") return undefined;
  if (cell.startsWith("<")) return cell.slice(1, -1);
  // Numbers and truth values may stand bare.
  if (!cell.startsWith('"')) return cell;
  const text = cell.slice(1, cell.lastIndexOf('"'));
  return text.includes("\\") ? text.replaceAll(ESCAPE, (_, named: string, short?: string, long?: string) => ESCAPED[named] ?? String.fromCodePoint(Number.parseInt((short ?? long)!, 16))) : text;
}

const ESCAPE = /\\([tbnrf"'\\]|u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8}))/g;
const ESCAPED: Readonly<Record<string, string>> = { t: "\t", b: "\b", n: "\n", r: "\r", f: "\f", '"': '"', "'": "'", "\\": "\\" };
