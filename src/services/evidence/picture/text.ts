/**
 * Characters that XML forbids or that nobody sees, and those that turn the direction of text around
 * them: a name must not change how its neighbours read.
 */
const UNSEEN =
  // eslint-disable-next-line no-control-regex -- they are what is taken out
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufdd0-\ufdef]|[\ufffe\uffff]/gu;
/** Marks that pile up on one character. */
const PILED = /(\p{M}{3})\p{M}+/gu;

/** Text that is safe to draw. */
export const drawable = (text: string): string =>
  text.toWellFormed().replace(UNSEEN, " ").replace(PILED, "$1").replace(/\s+/gu, " ").trim();

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};
/** Text for the content or a quoted attribute of an XML document. */
export const escapedForXml = (text: string): string =>
  text
    .toWellFormed()
    .replace(UNSEEN, " ")
    .replace(/[&<>"']/g, (character) => ESCAPES[character]!);

/** Wide as a Chinese character; narrow as an i. In widths of a character. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\uff00-\uff60]/u;
const NARROW = /[\s.,:;'|!()[\]ijltfrI1-]/;
const BROAD = /[A-Zmw@%&—…]/;
const NOTHING = /^[\p{M}\u200b-\u200d]$/u;

const widthOf = (character: string): number =>
  NOTHING.test(character)
    ? 0
    : WIDE.test(character)
      ? 1.05
      : NARROW.test(character)
        ? 0.36
        : BROAD.test(character)
          ? 0.78
          : 0.57;

/** Most characters that are considered: many may have no width. */
const MOST = 200;
const SEGMENTS = new Intl.Segmenter("en", { granularity: "grapheme" });

/** As much of a text as fits into a width; with an ellipsis where some is missing. */
export function fitted(text: string, width: number, fontSize: number): string {
  const head = text.slice(0, MOST);
  const room = width / fontSize;
  let used = 0;
  let fits = "";
  let withEllipsis = "";
  for (const { segment } of SEGMENTS.segment(head)) {
    const needed = [...segment].reduce((sum, character) => Math.max(sum, widthOf(character)), 0);
    used += needed;
    if (used > room) return `${withEllipsis.trimEnd()}…`;
    fits += segment;
    if (used <= room - widthOf("…")) withEllipsis = fits;
  }
  return head.length < text.length ? `${withEllipsis.trimEnd()}…` : fits;
}

/** The first characters of a text, with an ellipsis where some are missing. */
export const shortened = (text: string, characters: number): string =>
  text.length <= characters ? text : `${text.slice(0, characters - 1).toWellFormed()}…`;
