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
    const key = frame.keys?.[frame.done] ?? frame.done;
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
  return open.map((frame) => frame.keys?.[frame.done - 1] ?? frame.done - 1);
}

/**
 * Control characters, line separators, and characters that change the direction of text (Unicode
 * 16, UAX #9): a name with such a character is displayed as another name.
 */
// eslint-disable-next-line no-control-regex
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const codePoint = (character: string): string =>
  `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** The text with such characters as `U+202E`, for messages. */
export const visible = (text: string): string => text.replace(INVISIBLE, codePoint);

/** The text with `_` in place of such characters, for names. */
export const withoutInvisible = (text: string): string => text.replace(INVISIBLE, "_");

/** The first such character of a name, as `U+202E`. */
export function invisibleIn(name: string): string | undefined {
  const at = name.search(INVISIBLE);
  return at < 0 ? undefined : codePoint(name.charAt(at));
}
