import { ServiceError } from "../../errors.js";

/**
 * Characters that may not stand between the angle brackets in IRIREF of SPARQL 1.1 (rule 139); a
 * text without a scheme is no IRI here.
 */
// eslint-disable-next-line no-control-regex
const ABSOLUTE_IRI = /^[A-Za-z][A-Za-z0-9+.-]*:[^\u0000-\u0020<>"{}|^`\\\u007f]*$/;

/**
 * True for text that can be written into a query as an IRI and ends where it should. An engine may
 * still refuse it.
 */
export function isIri(text: string): boolean {
  return ABSOLUTE_IRI.test(text) && text.isWellFormed();
}

/**
 * `<iri>` for a query or an update: the only way an identifier gets into one.
 * @throws {ServiceError} `BAD_REQUEST` for text that an IRI cannot hold; an IRI has no escape for
 * it
 */
export function iriTerm(iri: string): string {
  if (!isIri(iri))
    throw new ServiceError(
      "BAD_REQUEST",
      "The identifier holds characters that an IRI cannot; percent-encode them.",
    );
  return `<${iri}>`;
}

/** SPARQL 1.1 results in TSV: a quarter of the text of the JSON form, and no object a term. */

/** How many rows there are. */
export function rowsIn(tsv: string): number {
  let lines = 0;
  for (let at = tsv.indexOf("\n"); at !== -1; at = tsv.indexOf("\n", at + 1)) lines++;
  return lines - 1;
}

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
 * Visits the bound cells in rows that begin with one or two keys: the place of each cell after the
 * keys, and its text. Empty cells cost no allocation.
 */
export function eachCell(
  tsv: string,
  keys: 1 | 2,
  visit: (key: string, second: string, place: number, cell: string) => void,
): void {
  let key = "\n";
  for (let start = tsv.indexOf("\n") + 1; start > 0 && start < tsv.length;) {
    let end = tsv.indexOf("\n", start);
    if (end === -1) end = tsv.length;
    if (tsv.charCodeAt(start + key.length) !== TAB || !tsv.startsWith(key, start))
      key = tsv.slice(start, tsv.indexOf("\t", start));
    const first = start + key.length;
    const before = keys === 1 ? first : tsv.indexOf("\t", first + 1);
    const second = keys === 1 ? "" : tsv.slice(first + 1, before);
    for (let place = 0, at = before + 1; at < end; place++, at++) {
      if (tsv.charCodeAt(at) === TAB) continue;
      const tab = tsv.indexOf("\t", at);
      const stop = tab === -1 || tab > end ? end : tab;
      visit(key, second, place, tsv.slice(at, stop));
      at = stop;
    }
    start = end + 1;
  }
}

const TAB = 9;

/** The IRI in a cell; `undefined` for a literal or an empty cell. */
export const iriIn = (cell: string | undefined): string | undefined =>
  cell?.startsWith("<") ? cell.slice(1, -1) : undefined;

/** The text of a cell without its datatype or language; `undefined` when it is empty. */
export function textIn(cell: string | undefined): string | undefined {
  if (cell === undefined || cell === "") return undefined;
  if (cell.startsWith("<")) return cell.slice(1, -1);
  // Numbers and booleans may stand bare.
  if (!cell.startsWith('"')) return cell;
  const text = cell.slice(1, cell.lastIndexOf('"'));
  return text.includes("\\")
    ? text.replaceAll(
        ESCAPE,
        (_, named: string, short?: string, long?: string) =>
          ESCAPED[named] ?? String.fromCodePoint(Number.parseInt((short ?? long)!, 16)),
      )
    : text;
}

const ESCAPE = /\\([tbnrf"'\\]|u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8}))/g;
const ESCAPED: Readonly<Record<string, string>> = {
  t: "\t",
  b: "\b",
  n: "\n",
  r: "\r",
  f: "\f",
  '"': '"',
  "'": "'",
  "\\": "\\",
};
