import { ServiceError } from "../../../errors.js";

/*
 * A scanner beside the parser's own: the lexer of sparqljs takes a minute for 64 KB of unclosed
 * strings or dots, and this runs in the thread that serves requests, before a parser sees the query.
 */

/**
 * Line and column of a place in a text, both counted from 1; columns in UTF-16 units, as editors
 * count them.
 */
export function placeOf(text: string, offset: number): Place {
  let [line, start] = [1, 0];
  for (const ended of text.slice(0, offset).matchAll(/\r\n|\r|\n/g)) {
    line++;
    start = ended.index + ended[0].length;
  }
  return { line, column: offset - start + 1 };
}

/** The offset of a place in a text; its end where it has no such place. */
export function offsetOf(text: string, { line, column }: Place): number {
  let from = 0;
  if (line > 1)
    for (const ended of text.matchAll(/\r\n|\r|\n/g)) {
      from = ended.index + ended[0].length;
      if (--line === 1) break;
    }
  return line > 1 ? text.length : Math.min(from + column - 1, text.length);
}

/** `QUERY_SYNTAX` with the place, in the sentence and as members. */
export function syntaxError(what: string, place?: { line: number; column: number }): ServiceError {
  if (!place) return new ServiceError("QUERY_SYNTAX", `The query is malformed: ${what}.`);
  return new ServiceError(
    "QUERY_SYNTAX",
    `The query is malformed at line ${place.line}, column ${place.column}: ${what}.`,
    { ...place },
  );
}

export interface ScanLimits {
  SPARQL_MAX_QUERY_BYTES: number;
  SPARQL_MAX_DEPTH: number;
}

/** A query that is small and flat enough for a parser. */
export interface Scanned {
  /** Without codepoint escapes outside of strings: the scanned text is the text that runs. */
  text: string;
  /** The number after LIMIT of the outermost query. */
  limit?: { from: number; to: number };
  /** Where the VALUES of the outermost query begins: the limit on rows must precede it. */
  values?: number;
  /** Where the `*` of the outermost SELECT is. */
  star?: number;
  /** The place of an offset of `text` in the query as it was sent. */
  placeOf(offset: number): Place;
}

/** Line and column in a query, see {@link placeOf}. */
export interface Place {
  line: number;
  column: number;
}

/** IRIREF (rule 139); a `<` that begins none is an operator. */
// eslint-disable-next-line no-control-regex
const IRI = /<[^<>"{}|^`\u0000-\u0020]*>/y;
/** PN_CHARS_BASE and PN_CHARS (rules 164 and 167): not the letters of Unicode, but whole ranges. */
const BASE =
  "A-Za-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff" +
  "\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd" +
  "\\u{10000}-\\u{effff}";
const CHARS = `_${BASE}0-9\\u00b7\\u0300-\\u036f\\u203f\\u2040-`;
const WORD = new RegExp(`[_${BASE}][.${CHARS}]*`, "uy");
/**
 * A name with a prefix, a variable, a language tag, a blank node: never a keyword, whatever its
 * spelling.
 */
const NAME = new RegExp(
  `(?:[?$]|@|[${BASE}][.${CHARS}]*:|_?:)` +
    `(?:[:.${CHARS}]|%[0-9A-Fa-f]{2}|\\\\[_~.\\-!$&'()*+,;=/?#@%])*`,
  "uy",
);
const INTEGER = /\d+/y;
const ESCAPE = /\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})/y;
const ANY_ESCAPE = new RegExp(ESCAPE.source, "g");
const OPENING: Readonly<Record<string, string>> = { "{": "}", "(": ")", "[": "]" };
const CLOSING = new Set(Object.values(OPENING));
const UPDATES = new Set([
  "INSERT",
  "DELETE",
  "LOAD",
  "CLEAR",
  "DROP",
  "CREATE",
  "ADD",
  "MOVE",
  "COPY",
  "WITH",
]);
const AFTER_SELECT = new Set(["SELECT", "DISTINCT", "REDUCED"]);
const QUERIES = new Set(["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"]);

/**
 * Scans a query in one pass, with no more knowledge of SPARQL than comments, strings, IRIs, names
 * and brackets: safe for any input, and a query that passes is safe for a recursive parser.
 * @throws ServiceError `QUERY_SYNTAX` with line and column, `QUERY_REFUSED`, `UPDATE_REFUSED`,
 * `TOO_LARGE`
 */
// oxlint-disable-next-line complexity -- one pass over characters
export function scan(query: string, limits: ScanLimits): Scanned {
  if (Buffer.byteLength(query) > limits.SPARQL_MAX_QUERY_BYTES)
    throw new ServiceError(
      "TOO_LARGE",
      `The query is longer than ${limits.SPARQL_MAX_QUERY_BYTES} bytes (SPARQL_MAX_QUERY_BYTES).`,
    );
  if (!query.isWellFormed()) throw syntaxError("a lone surrogate, which no text can hold");
  const nul = query.indexOf("\0");
  if (nul >= 0) throw syntaxError("a NUL character", placeOf(query, nul));
  const { text, escapes } = withoutEscapes(query);
  const placeIn = (offset: number): Place => {
    let before = 0;
    for (const { at, length } of escapes) if (at < offset) before += length;
    return placeOf(query, Math.min(offset + before, query.length));
  };
  const found: Scanned = { text, placeOf: placeIn };
  const open: string[] = [];
  let begun = false;
  let before = "";
  for (const { kind, from: at, to } of tokens(text)) {
    if (kind === "iri") continue;
    const character = text.charAt(at);
    const closing = OPENING[character];
    if (closing !== undefined) {
      open.push(closing);
      if (open.length > limits.SPARQL_MAX_DEPTH)
        throw new ServiceError(
          "QUERY_REFUSED",
          `The query nests deeper than ${limits.SPARQL_MAX_DEPTH} brackets ` +
            "(SPARQL_MAX_DEPTH); reduce the nesting.",
          { ...placeIn(at) },
        );
    } else if (CLOSING.has(character) && open.pop() !== character) {
      throw syntaxError(`a ${character} without its opening counterpart`, placeIn(at));
    }
    const word = kind === "word" ? text.slice(at, to).toUpperCase() : undefined;
    if (word === "SERVICE")
      throw new ServiceError(
        "QUERY_REFUSED",
        "The query calls another service (SERVICE), which is not supported; query that " +
          "service directly.",
        { ...placeIn(at) },
      );
    if (!begun && word !== undefined && UPDATES.has(word))
      throw new ServiceError(
        "UPDATE_REFUSED",
        `${word} is an update; /sparql answers queries only. Records are changed through ` +
          "REST and GraphQL.",
      );
    if (word !== undefined && QUERIES.has(word)) begun = true;
    if (open.length === 0 && word === "VALUES") found.values = at;
    const number = open.length === 0 && before === "LIMIT" ? match(INTEGER, text, at) : undefined;
    if (number !== undefined) found.limit = { from: at, to: at + number.length };
    if (character === "*" && open.length === 0 && AFTER_SELECT.has(before)) found.star ??= at;
    before = word ?? "";
  }
  if (!begun) throw syntaxError("it has no SELECT, ASK, CONSTRUCT or DESCRIBE");
  if (open.length > 0) throw syntaxError(`it ends before ${open.at(-1)}`, placeIn(text.length));
  return found;
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** The end of the space, comment, IRI or string that begins here; the same place when none does. */
function skip(text: string, at: number): number {
  const character = text[at];
  if (character === " " || character === "\n" || character === "\r" || character === "\t")
    return at + 1;
  if (character === "#") {
    while (at < text.length && text[at] !== "\n" && text[at] !== "\r") at++;
    return at;
  }
  if (character === "<") return at + (match(IRI, text, at)?.length ?? 0);
  return character === '"' || character === "'" ? stringEnd(text, at) : at;
}

function stringEnd(text: string, from: number): number {
  const quote = text.charAt(from);
  const long = text.startsWith(quote.repeat(3), from);
  const closing = long ? quote.repeat(3) : quote;
  for (let at = from + closing.length; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") at++;
    else if (text.startsWith(closing, at)) return at + closing.length;
    else if (!long && (character === "\n" || character === "\r")) break;
  }
  throw syntaxError("an unterminated string", placeOf(text, from));
}

/** Characters that an escape may stand for: none that begins, ends or separates tokens. */
const IN_NAME = new RegExp(`^[:.${CHARS}]$`, "u");
// eslint-disable-next-line no-control-regex
const IN_IRI = /^[^<>"{}|^`\\\u0000-\u0020]$/u;

/**
 * Decodes codepoint escapes (SPARQL 1.1, section 19.2) in names, keywords and IRIs, where engines
 * do not: the scanned text is the text that runs. Strings stay unchanged; every engine decodes
 * those.
 */
function withoutEscapes(query: string): { text: string; escapes: Escape[] } {
  const escapes: Escape[] = [];
  if (!query.includes("\\")) return { text: query, escapes };
  const parts: string[] = [];
  let written = 0;
  const push = (part: string): void => {
    parts.push(part);
    written += part.length;
  };
  const decoded = (escape: string, allowed: RegExp, from: number): string => {
    const character = read(escape, allowed, query, from);
    escapes.push({ at: written, length: escape.length - character.length });
    return character;
  };
  for (let at = 0; at < query.length;) {
    const iri = query[at] === "<" ? match(IRI, query, at) : undefined;
    const end = iri === undefined ? skip(query, at) : at + iri.length;
    if (iri !== undefined) {
      push(
        iri.includes("\\")
          ? iri.replaceAll(ANY_ESCAPE, (escape) => decoded(escape, IN_IRI, at))
          : iri,
      );
    } else if (end > at) {
      push(query.slice(at, end));
    } else if (query[at] === "\\") {
      const escape = match(ESCAPE, query, at);
      // Any other escape belongs to a local name: it is two characters, and the second is not a
      // separate token.
      push(escape === undefined ? query.slice(at, at + 2) : decoded(escape, IN_NAME, at));
      at += escape?.length ?? 2;
      continue;
    } else {
      push(query.charAt(at));
    }
    at = Math.max(end, at + 1);
  }
  return { text: parts.join(""), escapes };
}

/** An escape that was decoded: where its character is in the text, and how much longer it was. */
interface Escape {
  at: number;
  length: number;
}

/**
 * A token of a query, as far as this scanner distinguishes tokens; other tokens are one character
 * long.
 */
export interface Token {
  kind: "iri" | "name" | "word" | "other";
  from: number;
  to: number;
}

/**
 * The tokens of a query, without space, comments and strings.
 * @param text as {@link scan} passed it
 */
export function* tokens(text: string): Generator<Token> {
  for (let at = 0; at < text.length;) {
    const iri = text[at] === "<" ? match(IRI, text, at) : undefined;
    const end = iri === undefined ? skip(text, at) : at;
    if (end > at) {
      at = end;
      continue;
    }
    const name = iri === undefined ? match(NAME, text, at) : undefined;
    const word = iri === undefined && name === undefined ? match(WORD, text, at) : undefined;
    const to = at + (iri ?? name ?? word ?? text.charAt(at)).length;
    yield {
      kind:
        iri !== undefined
          ? "iri"
          : name !== undefined
            ? "name"
            : word !== undefined
              ? "word"
              : "other",
      from: at,
      to,
    };
    at = to;
  }
}

/**
 * The query with each IRI as `map` returns it, and booleans in lower case: keywords have any case
 * (SPARQL 1.1, section 19.8, note 1), and the engine accepts these in lower case only. A name with a
 * prefix becomes an IRI where `map` changes more than its namespace. Strings, comments and other
 * names stay.
 * @param text as {@link scan} passed it
 */
export function plainTokens(text: string, map: (iri: string) => string): string {
  const parts: string[] = [];
  const namespaces = new Map<string, string>();
  let done = 0;
  let [before, last] = ["", ""];
  for (const { kind, from, to } of tokens(text)) {
    const token = text.slice(from, to);
    if (kind === "iri" && /^prefix$/i.test(before)) namespaces.set(last, token.slice(1, -1));
    [before, last] = [last, token];
    const plain =
      kind === "iri"
        ? `<${map(token.slice(1, -1))}>`
        : kind === "name"
          ? plainName(token, namespaces, map)
          : /^(?:true|false)$/i.test(token)
            ? token.toLowerCase()
            : token;
    if (plain === token) continue;
    parts.push(text.slice(done, from), plain);
    done = to;
  }
  return done === 0 ? text : parts.join("") + text.slice(done);
}

function plainName(
  name: string,
  namespaces: ReadonlyMap<string, string>,
  map: (iri: string) => string,
): string {
  const colon = name.indexOf(":") + 1;
  const namespace = namespaces.get(name.slice(0, colon));
  if (namespace === undefined) return name;
  const local = name.slice(colon).replaceAll("\\", "");
  const meant = map(namespace + local);
  return meant === map(namespace) + local ? name : `<${meant}>`;
}

function read(escape: string, allowed: RegExp, query: string, at: number): string {
  const code = Number.parseInt(escape.slice(2), 16);
  const character =
    code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "";
  if (!allowed.test(character))
    throw syntaxError(
      `the escape ${escape} stands for a character that is not allowed there`,
      placeOf(query, at),
    );
  return character;
}
