/** Longer texts are for the engine: a regular expression keeps a place to go back to for each escape of a literal. */
const MOST_CHARACTERS = 100_000;

/** `http`, `https` and `ark` with plain characters, at most one fragment, and no port: nobody finds fault with these. */
const CHARACTERS = "[\\w.~/?=&+,;:@!$'()*-]*";
const IRI = `<(?:https?://[\\w.-]+(?=[/#])|ark:(?!//))${CHARACTERS}(?:#${CHARACTERS})?>`;
/** Without a language, and without escapes by number. */
const LITERAL = `"[^"\\\\\\n\\r]*(?:\\\\[tbnrf"'\\\\][^"\\\\\\n\\r]*)*"(?:\\^\\^${IRI})?`;
const LINE = new RegExp(`${IRI} ${IRI} (?:${IRI}|${LITERAL}) ${IRI} \\.\\n`, "y");

/**
 * True for lines as the canonical form (RDFC-1.0, section 5) has them with terms of the common kinds. An engine that is told to be
 * lenient makes the same of them, a quarter faster: what it does not look at then, others can rely on not being there.
 */
export function arePlain(nquads: string): boolean {
  if (nquads.length > MOST_CHARACTERS) return false;
  for (let at = 0; at < nquads.length; at = LINE.lastIndex) {
    LINE.lastIndex = at;
    if (!LINE.test(nquads)) return false;
  }
  return true;
}
