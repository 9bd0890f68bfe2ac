const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Characters that no XML 1.0 document may hold, not even escaped (section 2.2). */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** Text as XML holds it: characters that XML forbids are replaced by U+FFFD. */
export const xmlText = (text: string): string =>
  text
    .replace(FORBIDDEN, "\u{FFFD}")
    .replace(/[&<>"']/g, (character) => ESCAPES[character]!)
    // A parser would read a bare carriage return as a line feed.
    .replaceAll("\r", "&#13;");

/** An element that holds text. */
export const element = (
  name: string,
  text: string,
  attributes: Readonly<Record<string, string>> = {},
): string => `<${name}${attributesOf(attributes)}>${xmlText(text)}</${name}>`;

export const attributesOf = (attributes: Readonly<Record<string, string>>): string =>
  Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${xmlText(value)}"`)
    .join("");
