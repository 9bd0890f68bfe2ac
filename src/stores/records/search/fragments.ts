import type { FragmentPart } from "../search-port.js";

/** What SQLite is told to put around what it found: code points that no text has (Unicode noncharacters). */
export const OPEN = "\uFDD0";
export const CLOSE = "\uFDD1";
const MARK = /[\uFDD0\uFDD1]/g;

/** Cuts marked text into parts; absent when nothing in it was found. Marks that a text brings along change nothing but where it is cut. */
export function partsOf(marked: string): FragmentPart[] | undefined {
  const parts: FragmentPart[] = [];
  let found = false;
  let from = 0;
  const add = (to: number): void => {
    if (to > from) parts.push({ text: marked.slice(from, to), found });
  };
  for (const { 0: mark, index } of marked.matchAll(MARK)) {
    add(index);
    found = mark === OPEN;
    from = index + 1;
  }
  add(marked.length);
  return parts.some((part) => part.found) ? parts : undefined;
}
