import { tokens, type Token } from "./scan.js";

/** Functions whose values all compare with each other: their conditions stay as they are. */
const OF_ONE_KIND = new Set(["COUNT", "STR", "LCASE", "UCASE", "STRLEN", "BOUND", "RAND"]);
const AFTER_CONDITIONS = new Set(["LIMIT", "OFFSET", "VALUES"]);
const CLOSING: Readonly<Record<string, string>> = { "(": ")", "{": "}" };

/**
 * The query with every ORDER BY made a total order. SPARQL 1.1, section 15.1, leaves open how a number compares with
 * a string, or a moment with a time zone with one without. Oxigraph compares such pairs as text and like pairs by
 * value, which contradict each other (9 < 10, "10" < "9"), and its sort ends the engine when it meets that.
 * Each condition therefore gets two before it: what kind of value it is, and the value where the kind has an
 * order of its own, else its text. Each kind is sorted as section 15.1 says, and unbound values, blank nodes, IRIs
 * and literals follow each other as it says.
 * @param text as {@link import("./scan.js").scan} passed it
 */
export function inTotalOrder(text: string): string {
  if (!/\border\b/i.test(text)) return text;
  const all = [...tokens(text)];
  const textOf = ({ from, to }: Token): string => text.slice(from, to);
  const isWord = (at: number, word: string): boolean => all[at]?.kind === "word" && textOf(all[at]).toUpperCase() === word;
  const parts: string[] = [];
  let done = 0;
  for (let at = 0; at < all.length; at++) {
    if (!isWord(at, "ORDER") || !isWord(at + 1, "BY")) continue;
    at += 2;
    for (let end = conditionEnd(text, all, at); end > at; end = conditionEnd(text, all, at)) {
      const directed = isWord(at, "ASC") || isWord(at, "DESC");
      const first = all[directed ? at + 1 : at]!;
      const expression = text.slice(first.from, all[end - 1]!.to);
      if (!isOfOneKind(expression)) {
        const direction = directed ? textOf(all[at]!) : "ASC";
        parts.push(text.slice(done, all[at]!.from), keysOf(expression).map((key) => `${direction}(${key}) `).join(""));
        done = all[at]!.from;
      }
      at = end;
    }
    at--;
  }
  return parts.join("") + text.slice(done);
}

/** The token behind the condition that begins at one; the same where none begins. */
function conditionEnd(text: string, all: readonly Token[], begin: number): number {
  const first = all[begin];
  if (!first) return begin;
  const token = text.slice(first.from, first.to);
  if (first.kind === "name" && /^[?$]/.test(token)) return begin + 1;
  if (first.kind === "word" && AFTER_CONDITIONS.has(token.toUpperCase())) return begin;
  // A bracketed expression, or a function (ASC and DESC look like one) and its arguments; EXISTS has a pattern.
  let at = begin;
  while (all[at] && all[at]!.kind !== "other") at++;
  const opening = text[all[at]?.from ?? text.length] ?? "";
  if (!(opening in CLOSING)) return begin;
  for (let depth = 0; at < all.length; at++) {
    const character = text[all[at]!.from]!;
    if (all[at]!.kind !== "other") continue;
    if (character in CLOSING) depth++;
    else if ((character === ")" || character === "}") && --depth === 0) return at + 1;
  }
  return begin;
}

function isOfOneKind(expression: string): boolean {
  // A pattern may name blank nodes, which it may do once only.
  if (expression.includes("{")) return true;
  const [name, opening] = /^[\s(]*([a-z]+)\s*(\(?)/i.exec(expression)?.slice(1) ?? [];
  if (name === undefined || opening !== "(" || !OF_ONE_KIND.has(name.toUpperCase())) return false;
  // Nothing follows the call but what closes brackets around it: `STR(?a)`, not `STR(?a) < 2`.
  let depth = 0;
  for (const { kind, from } of tokens(expression.slice(expression.indexOf(name)))) {
    const character = kind === "other" ? expression[expression.indexOf(name) + from] : "";
    if (character === "(") depth++;
    else if (character === ")") depth--;
    else if (depth <= 0 && from > 0) return false;
  }
  return true;
}

/** Kind of value, and value; both fail where the condition does, which sorts first as it does without them. */
function keysOf(x: string): [string, string] {
  // TZ has a value for well-formed dates and times only, and an empty one for those without a time zone.
  const moment = `CONCAT(IF(TZ(${x}) = "", "2", "3"), STR(DATATYPE(${x})))`;
  return [
    `IF(isNumeric(${x}), "1", IF(isLiteral(${x}), COALESCE(${moment}, "4"), "0"))`,
    `IF(isLiteral(${x}) && !isNumeric(${x}), COALESCE(IF(STRLEN(TZ(${x})) >= 0, ${x}, ${x}), STR(${x})), ${x})`,
  ];
}
