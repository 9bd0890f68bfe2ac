import { Parser, type Quad } from "n3";
import { PREFIXES } from "../model/field.js";

const XSD = PREFIXES.xsd;
export const RDF = PREFIXES.rdf;
const LANGUAGE = /^[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*$/;
// eslint-disable-next-line no-control-regex
const ESCAPED = /[\u0000-\u001f"\\\u007f]/g;
const SHORT: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};

/** `<iri>` of N-Quads; the IRI must be safe ({@link import("./predicates.js").safeIri}). */
export const iriTerm = (iri: string): string => `<${iri}>`;

const escaped = (character: string): string =>
  SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/**
 * A literal in the canonical form of RDF 1.1 N-Quads (RDFC-1.0, section 5): only characters that
 * must be escaped are escaped.
 */
export function literalTerm(value: string, datatype?: string, language?: string): string {
  const body = `"${value.replace(ESCAPED, escaped)}"`;
  if (language !== undefined && LANGUAGE.test(language)) return `${body}@${language.toLowerCase()}`;
  return datatype === undefined || datatype === `${XSD}string` ? body : `${body}^^<${datatype}>`;
}

/**
 * A JSON number, boolean or string value as RDF (JSON-LD 1.1 API, section 8.6, data round
 * tripping).
 */
export function nativeTerm(value: string | number | boolean, datatype?: string): string {
  if (typeof value === "boolean") return literalTerm(String(value), datatype ?? `${XSD}boolean`);
  if (typeof value === "string") return literalTerm(value, datatype);
  const isDouble =
    !Number.isInteger(value) || Math.abs(value) >= 1e21 || datatype === `${XSD}double`;
  if (isDouble)
    return literalTerm(
      value.toExponential(15).replace(/(\d)0*e\+?/, "$1E"),
      datatype ?? `${XSD}double`,
    );
  return literalTerm(Object.is(value, -0) ? "0" : value.toFixed(0), datatype ?? `${XSD}integer`);
}

/** JSON Canonicalization Scheme (RFC 8785) for values of `@type: @json`. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.keys(value)
      .sort()
      .map(
        (key) => `${JSON.stringify(key)}:${canonicalJson((value as Record<string, unknown>)[key])}`,
      );
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

const NAMESPACES = Object.entries(PREFIXES);

/** CURIE of a property IRI where one of the product's prefixes fits, else the IRI itself. */
export function compactIri(iri: string): string {
  for (const [prefix, namespace] of NAMESPACES)
    if (iri.startsWith(namespace)) return `${prefix}:${iri.slice(namespace.length)}`;
  return iri;
}

/**
 * Statements by subject, for their canonical text: sorted lines without duplicates. Those of one
 * subject are compared by the text after it; whole lines share so much at their beginning that
 * sorting them took most of the time of making them.
 */
export class Lines {
  readonly #bySubject = new Map<string, string[]>();
  #subject: string | undefined;
  #remainders: string[] = [];

  /**
   * @param subject safe IRI; @param rest the text after its term: `<predicate> object <graph> .`
   */
  add(subject: string, rest: string): void {
    if (subject !== this.#subject) {
      this.#subject = subject;
      this.#remainders = this.#of(`${iriTerm(subject)} `);
    }
    this.#remainders.push(rest);
  }

  /** Canonical N-Quads (RDFC-1.0, section 5). */
  text(): string {
    let text = "";
    // With the blank behind it, a subject that another one begins with comes where its whole lines
    // would.
    for (const subject of [...this.#bySubject.keys()].sort()) {
      const remainders = this.#bySubject.get(subject)!.sort();
      for (let at = 0; at < remainders.length; at++)
        if (remainders[at] !== remainders[at - 1]) text += `${subject}${remainders[at]!}\n`;
    }
    return text;
  }

  #of(subject: string): string[] {
    let remainders = this.#bySubject.get(subject);
    if (remainders === undefined) this.#bySubject.set(subject, (remainders = []));
    return remainders;
  }
}

/** Canonical N-Quads text as quads. */
export function parseNQuads(text: string): Quad[] {
  return new Parser({ format: "N-Quads" }).parse(text);
}
