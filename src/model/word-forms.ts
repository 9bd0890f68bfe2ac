/**
 * Other ways to write a word of a query, by rule and not by dictionary: what is no word is in no
 * record and finds nothing.
 */
import pluralize from "pluralize";

/** Spellings of British and American English, each in place of the other. */
const SPELLINGS: readonly (readonly [british: string, american: string])[] = [
  ["is(?=(?:e[drs]?|ers|es|ing|ation|ations|able)$)", "iz"],
  ["ys(?=(?:e[drs]?|ers|ing)$)", "yz"],
  ["(?<=..)our", "or"],
  ["ae", "e"],
  ["oe", "e"],
  ["(?<=[bt])re(?=s?$)", "er"],
  ["ogue(?=s?$)", "og"],
  ["(?<=[aeiou])ll(?=(?:ed|ing|er|ers)$)", "l"],
  ["(?<=gra)mme(?=s?$)", "m"],
  ["ph(?=[aiou])", "f"],
];
/** The American side as it is looked for: with what may stand behind it. */
const AMERICAN: readonly (readonly [pattern: string, british: string])[] = [
  ["iz(?=(?:e[drs]?|ers|es|ing|ation|ations|able)$)", "is"],
  ["yz(?=(?:e[drs]?|ers|ing)$)", "ys"],
  ["(?<=..)or", "our"],
  ["e", "ae"],
  ["e", "oe"],
  ["(?<=[bt])er(?=s?$)", "re"],
  ["(?<=[aeiou].*)og(?=s?$)", "ogue"],
  ["(?<=[aeiou])l(?=(?:ed|ing|er|ers)$)", "ll"],
  ["(?<=gra)m(?=s?$)", "mme"],
  ["f(?=[aiou])", "ph"],
];
const RULES = [...SPELLINGS, ...AMERICAN].map(
  ([pattern, other]) => [new RegExp(pattern, "g"), other] as const,
);
/** Shorter words have no other spelling by these rules. */
const SHORTEST_RESPELT = 5;
/** Places of one rule in a word that are changed, each by itself. */
const MAX_PLACES = 3;
/** Longer words have no other forms. */
const LONGEST = 40;

const GREEK_NAMES =
  "α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu " +
  "ν nu ξ xi ο omicron π pi ρ rho σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega";
/** Each letter and its name, in place of each other. */
const GREEK = new Map<string, string>();
for (const [, letter = "", name = ""] of GREEK_NAMES.matchAll(/(\S+) (\S+)/g))
  GREEK.set(letter, name).set(name, letter);
/** A unit of a millionth: "uM" is typed for "µM", which has two code points. */
const MILLIONTH = /^[u\u00B5\u03BC](?:m|l|g|s|a|v|w|f|h|j|ci|sv|gy|mol|mols|mole|moles)$/;
/** Latin letters, then a Greek one: "tnfα". */
const ENDS_GREEK = /^[a-z0-9]+[α-ω]$/;

function respelt(word: string): string[] {
  if (word.length < SHORTEST_RESPELT) return [];
  return RULES.flatMap(([pattern, other]) =>
    [...word.matchAll(pattern)]
      .slice(0, MAX_PLACES)
      .map(({ 0: { length }, index }) => word.slice(0, index) + other + word.slice(index + length)),
  );
}

/**
 * Other forms of a word in lower case; each is one word, or several that stand next to each other.
 * The stem of the word is the database's matter: "cells" is no form of "cell".
 */
export function formsOf(word: string): string[][] {
  if (word.length > LONGEST) return [];
  const greek = GREEK.get(word);
  const forms: string[][] = greek === undefined ? [] : [[greek]];
  const unit = MILLIONTH.test(word);
  if (unit) for (const micro of ["u", "\u00B5", "\u03BC"]) forms.push([micro + word.slice(1)]);
  if (ENDS_GREEK.test(word)) {
    const [latin, letter] = [word.slice(0, -1), word.slice(-1)];
    const name = GREEK.get(letter) ?? letter;
    forms.push([latin + name], [latin, name], [latin, letter]);
  }
  const parts = word.match(/\p{N}+|[^\p{N}]+/gu) ?? [];
  if (parts.length === 2 || parts.length === 3) forms.push([...parts]);
  if (/^[a-z]{3,}$/.test(word)) {
    const counted = [pluralize.singular(word), pluralize.plural(word)];
    for (const form of new Set([...counted, ...respelt(word)])) forms.push([form]);
  }
  return forms.filter((form) => form.length > 1 || form[0] !== word);
}
