/**
 * Control characters, line separators, and characters that change the direction of text (Unicode 16, UAX #9): a name with one is shown as
 * another name than it is.
 */
// eslint-disable-next-line no-control-regex
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const codePoint = (character: string): string => `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** The text with such characters as `U+202E`, for messages. */
export const visible = (text: string): string => text.replace(INVISIBLE, codePoint);

/** The text with `_` in place of such characters, for names. */
export const withoutInvisible = (text: string): string => text.replace(INVISIBLE, "_");

/** The first such character of a name, as `U+202E`. */
export function invisibleIn(name: string): string | undefined {
  const at = name.search(INVISIBLE);
  return at < 0 ? undefined : codePoint(name[at]!);
}
