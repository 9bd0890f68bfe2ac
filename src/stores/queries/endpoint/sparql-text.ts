import { isIri } from "../iri.js";

/** One statement of N-Quads without blank nodes, in its four terms. */
const LINE = /^<([^<>]*)> <([^<>]*)> (<([^<>]*)>|"((?:[^"\\\n\r]|\\.)*)"(@[a-zA-Z]+(?:-[a-zA-Z0-9]+)*|\^\^<([^<>]*)>)?) <([^<>]*)> \.$/s;
const CODEPOINT = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gs;
/** STRING_LITERAL2 of SPARQL 1.1 (rule 157) holds anything but these. */
// eslint-disable-next-line no-control-regex
const ESCAPED = /["\\\n\r\b\f\t](?:[uU])?/g;
const SHORT: Readonly<Record<string, string>> = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\" };
const NAMED: Readonly<Record<string, string>> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r" };

/** A statement as an update writes it, and its graph. */
export interface SparqlStatement { graph: string; triple: string }

/**
 * A line of N-Quads in SPARQL. The two differ in what is hidden: SPARQL reads codepoint escapes before anything else
 * (section 19.2), so that the `\u0022` of a literal would end it.
 * @returns `undefined` for a line that SPARQL cannot hold
 */
export function statementOf(line: string): SparqlStatement | undefined {
  const match = LINE.exec(line);
  if (!match) return undefined;
  const [, subject, predicate, , iri, text, suffix = "", datatype, graph] = match;
  for (const term of [subject!, predicate!, iri, datatype, graph!]) if (term !== undefined && !isIri(term)) return undefined;
  const lexical = datatype === DECIMAL ? decimal(text!) : text;
  return { graph: graph!, triple: `<${subject!}> <${predicate!}> ${iri === undefined ? `"${literal(lexical!)}"${suffix}` : `<${iri}>`} .` };
}

const DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal";

/**
 * The same number as XSD 1.0 has it in canonical form (part 2, section 3.2.3.2). Jena's TDB2 keeps the digits of any
 * other form, gives the canonical one, and then finds nothing to delete under it.
 */
function decimal(text: string): string {
  const [, sign = "", whole = "", fraction = ""] = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(text) ?? [];
  if (!/\d/.test(text) || (whole === "" && fraction === "" && !/^[+-]?[0.]+$/.test(text))) return text;
  return `${sign === "-" && whole + fraction !== "" ? "-" : ""}${whole || "0"}.${fraction || "0"}`;
}

function literal(text: string): string {
  if (!text.includes("\\")) return text;
  const value = text.replaceAll(CODEPOINT, (_, short?: string, long?: string, named?: string) => (named === undefined ? String.fromCodePoint(Number.parseInt((short ?? long)!, 16)) : NAMED[named] ?? named));
  // A backslash before a u must not look like the beginning of an escape to whoever reads those first.
  return value.replaceAll(ESCAPED, (found) => SHORT[found[0]!]! + (found.length === 1 ? "" : found[0] === "\\" ? `\\u${found.codePointAt(1)!.toString(16).padStart(4, "0")}` : found[1]!));
}
