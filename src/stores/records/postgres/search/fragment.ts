import type { FragmentPart, SearchedField } from "../../search-port.js";
import { placesOf } from "../../search/words.js";
import type { Analyzer } from "./analyzer.js";

/** Words of a fragment: all of an ordinary name, a stretch of a description. */
const SHOWN: Readonly<Record<SearchedField, number>> = { name: 64, keywords: 64, description: 24 };

/** What of a text shows that a word was found there; absent when none was. The stretch is the one that holds most of the different words. */
export function fragmentOf(field: SearchedField, text: string, stems: ReadonlyMap<string, number>, analyzer: Analyzer): FragmentPart[] | undefined {
  const places = placesOf(text);
  const found = analyzer.stemsOf(places.map(({ word }) => word)).map((stem) => (stems.has(stem) ? stem : undefined));
  if (found.every((stem) => stem === undefined)) return undefined;
  const shown = SHOWN[field];
  const first = bestStart(found, shown);
  const last = Math.min(first + shown, places.length);
  const [from, to] = [first === 0 ? 0 : places[first]!.from, last === places.length ? text.length : places[last - 1]!.to];
  const parts: FragmentPart[] = [];
  let at = from;
  const add = (until: number, isFound: boolean): void => {
    if (until > at) parts.push({ text: text.slice(at, until), found: isFound });
    at = until;
  };
  for (let index = first; index < last; index++) {
    if (found[index] === undefined) continue;
    add(places[index]!.from, false);
    add(places[index]!.to, true);
  }
  add(to, false);
  if (from > 0) parts.unshift({ text: "…", found: false });
  if (to < text.length) parts.push({ text: "…", found: false });
  return joined(parts);
}

/** Where a stretch of `length` words begins that holds most of the different stems, with some words before the first of them. */
function bestStart(found: readonly (string | undefined)[], length: number): number {
  if (found.length <= length) return 0;
  let [best, most] = [0, -1];
  for (const [index, stem] of found.entries()) {
    if (stem === undefined) continue;
    const different = new Set(found.slice(index, index + length).filter((one) => one !== undefined)).size;
    if (different > most) [best, most] = [index, different];
  }
  return Math.max(0, Math.min(best - (length >> 2), found.length - length));
}

/** Neighbours of one sort as one. */
function joined(parts: readonly FragmentPart[]): FragmentPart[] {
  const whole: FragmentPart[] = [];
  for (const part of parts) {
    const before = whole.at(-1);
    if (before && before.found === part.found) whole[whole.length - 1] = { text: before.text + part.text, found: part.found };
    else whole.push(part);
  }
  return whole;
}
