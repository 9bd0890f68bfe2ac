import type { ValidationItem } from "../errors.js";

/** An array or object being walked: its keys, and how many of them are done. */
interface Frame {
  readonly holder: object;
  readonly keys: readonly string[] | null;
  done: number;
}

/**
 * Where a JSON value holds a string that no store can hold: one with NUL or a lone surrogate, as a
 * value or as a key (the place then ends with that key). `undefined` when there is none; `[]` means
 * the value itself. Iterative: the client decides the depth of the value.
 */
export function findBadString(value: unknown): (string | number)[] | undefined {
  if (typeof value === "string") return isBad(value) ? [] : undefined;
  const open: Frame[] = [];
  enter(open, value);
  for (let frame = open.at(-1); frame; frame = open.at(-1)) {
    if (frame.done === (frame.keys ?? (frame.holder as unknown[])).length) {
      open.pop();
      continue;
    }
    const key = frame.keys ? frame.keys[frame.done]! : frame.done;
    frame.done++;
    const member = (frame.holder as Record<string | number, unknown>)[key];
    if ((frame.keys && isBad(key as string)) || (typeof member === "string" && isBad(member)))
      return placeOf(open);
    enter(open, member);
  }
  return undefined;
}

/** The item that reports a bad string at `loc` to a client. */
export function badStringItem(loc: (string | number)[]): ValidationItem {
  return {
    loc,
    msg: "Input should be a valid string, unable to parse raw data as a unicode string",
    type: "string_unicode",
  };
}

function isBad(text: string): boolean {
  return text.includes("\0") || !text.isWellFormed();
}

function enter(open: Frame[], value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  open.push({ holder: value, keys: Array.isArray(value) ? null : Object.keys(value), done: 0 });
}

function placeOf(open: readonly Frame[]): (string | number)[] {
  return open.map((frame) => (frame.keys ? frame.keys[frame.done - 1]! : frame.done - 1));
}
