/** How many letters may differ: none in short words, where every other word is near. */
export const tolerance = (word: string): number => (word.length < 4 ? 0 : word.length < 8 ? 1 : 2);

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** Nobody mistypes one letter of more. */
const LONGEST = 64;

/**
 * What a word may have been meant to be: all with one letter less, more, another one, or two swapped. Stems are near
 * each other only where the slip is not in an ending; these have endings that are taken off as they should be.
 */
export function oneLetterOff(word: string): string[] {
  const letters = [...word];
  if (tolerance(word) === 0 || letters.length > LONGEST) return [];
  const found = new Set<string>();
  for (let at = 0; at <= letters.length; at++) {
    const before = letters.slice(0, at).join("");
    const [first = "", second = "", ...rest] = letters.slice(at);
    const after = rest.join("");
    for (const letter of LETTERS) found.add(before + letter + first + second + after);
    if (first === "") continue;
    found.add(before + second + after);
    for (const letter of LETTERS) found.add(before + letter + second + after);
    if (second !== "") found.add(before + second + first + after);
  }
  found.delete(word);
  return [...found];
}

/**
 * Optimal string alignment distance: letters added, left out, changed, or two swapped. Answers `most + 1` as soon
 * as it is known to be above `most`.
 */
export function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
      if (cost < least) least = cost;
    }
    if (least > most) return most + 1;
    [before, last] = [last, row];
  }
  return Math.min(last[b.length]!, most + 1);
}
