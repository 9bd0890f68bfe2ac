/** The texts of documents: values as text, and text without markup. */
import { decodeHTMLStrict } from "entities";
import { isObject, type JsonValue, listOf } from "./field.js";

/** Languages of a reader, the best first. */
const ENGLISH: readonly string[] = ["en"];
/** Values of one member that are read. */
const MAX_VALUES = 200;
const DEEPEST = 6;

interface Text {
  text: string;
  language: string | null;
}

/** The texts of a value, each with its language where one is stated. */
function textsIn(value: JsonValue | undefined, depth = 0): Text[] {
  if (depth > DEEPEST) return [];
  if (typeof value === "string")
    return value.trim() === "" ? [] : [{ text: value.trim(), language: null }];
  if (typeof value === "number") return [{ text: String(value), language: null }];
  if (Array.isArray(value))
    return value.slice(0, MAX_VALUES).flatMap((item) => textsIn(item, depth + 1));
  if (!isObject(value)) return [];
  const language = typeof value["@language"] === "string" ? value["@language"] : null;
  for (const name of ["@value", "@list", "@set", "name", "value"]) {
    if (!Object.hasOwn(value, name)) continue;
    const found = textsIn(value[name], depth + 1);
    if (found.length > 0)
      return language === null ? found : found.map(({ text }) => ({ text, language }));
  }
  return Object.entries(value).every(([name, text]) => isLanguage(name) && isText(text))
    ? Object.entries(value).flatMap(([name, text]) =>
        textsIn(text, depth + 1).map((found) => ({ ...found, language: name })),
      )
    : [];
}

/** A member of a language map; `id` is the name of an identifier more often than Indonesian. */
const isLanguage = (name: string): boolean =>
  /^[a-z]{2}(?:-[A-Za-z0-9]{2,8})*$/.test(name) && name !== "id";
const isText = (value: JsonValue): boolean =>
  listOf(value).every((item) => typeof item === "string");

function inBestLanguage(texts: readonly Text[], languages: readonly string[]): Text[] {
  if (texts.every(({ language }) => language === null)) return [...texts];
  for (const wanted of [...languages, ...ENGLISH]) {
    const range = wanted.toLowerCase();
    const found = texts.filter(({ language }) => {
      const stated = language?.toLowerCase();
      return stated === range || stated?.startsWith(`${range}-`) === true;
    });
    if (found.length > 0) return found;
  }
  return texts.slice(0, 1);
}

/**
 * A value as text: in JSON-LD a value, a list of one and a text with its language are one
 * statement. Of texts in several languages the reader's is read, else the English one, else the
 * first.
 * @param languages of the reader, the best first
 */
export const textOf = (
  value: JsonValue | undefined,
  languages: readonly string[] = ENGLISH,
): string | null => inBestLanguage(textsIn(value), languages)[0]?.text ?? null;

/** The same of a member with several texts, such as a description in parts. */
export function wholeTextOf(
  value: JsonValue | undefined,
  languages: readonly string[] = ENGLISH,
): string | null {
  const texts = inBestLanguage(textsIn(value), languages);
  return texts.length === 0 ? null : texts.map(({ text }) => text).join("\n\n");
}

/** Characters that markup has, and other white space than single lines have. */
const MARKS = /[<&*_`[#~\\\t\n\r\v\f]/;
/** Longest text whose markup is reduced: longer ones are data. */
const MAX_MARKUP_CHARS = 200_000;

const names = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));
/** Elements of HTML that end a line. */
const BLOCKS = names(`
  address article aside blockquote br caption center dd details dir div dl dt figcaption figure
  footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot
  th thead tr ul`);
/** Elements within a line. */
const INLINE = names(`
  a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q s samp
  small span strike strong sub sup time tt u var wbr jats:p jats:title jats:sec jats:italic
  jats:bold jats:sub jats:sup`);
/** What begins a part that is no text, and what ends it. */
const SILENT =
  /<(?:(script|style|template|noscript|iframe|object|svg|math|head|title)(?=[\s>])|!--)/gi;
const DECLARATION = /<!\[CDATA\[|\]\]>|<!doctype\s[^<>]{0,200}>/gi;
const ATTRIBUTE = String.raw`\s+[a-zA-Z_:][\w:.-]*\s*=\s*(?:"[^"]{0,2000}"|'[^']{0,2000}'|[^\s"'<>=\x60]{1,2000})`;
const TAG = new RegExp(String.raw`<(/?)([a-zA-Z][\w:]*)((?:${ATTRIBUTE}){0,20})\s*(/?)>`, "g");

/** Text without scripts, styles and comments. */
function withoutSilent(text: string): string {
  const lower = text.toLowerCase();
  const unclosed = new Set<string>();
  let plain = "";
  let end = 0;
  for (const { index, 1: name } of text.matchAll(SILENT)) {
    const close = name === undefined ? "-->" : `</${name.toLowerCase()}`;
    if (index < end || unclosed.has(close)) continue;
    const found = lower.indexOf(close, index);
    if (found < 0) {
      unclosed.add(close);
      continue;
    }
    plain += `${text.slice(end, index)} `;
    const after = name === undefined ? found + 2 : text.indexOf(">", found);
    end = after < 0 ? text.length : after + 1;
  }
  return plain + text.slice(end);
}

/**
 * Text without tags of HTML. Only elements of HTML are tags: `p<0.05 & n>3` and `List<String>` stay
 * as they are.
 */
export function withoutTags(text: string): string {
  if (!text.includes("<")) return text;
  const plain = withoutSilent(text).replace(DECLARATION, " ");
  const closed = new Set(
    Array.from(plain.matchAll(/<\/([a-zA-Z][\w:]*)\s*>/g), ([, name]) => name?.toLowerCase()),
  );
  return plain.replace(TAG, (tag, slash: string, written: string, attributes: string) => {
    const name = written.toLowerCase();
    if (BLOCKS.has(name)) return ["td", "th"].includes(name) ? " " : "\n";
    if (!INLINE.has(name)) return tag;
    // `a <b> c` may compare: an element within a line is closed, or has attributes.
    const isTag = slash !== "" || closed.has(name) || attributes !== "" || name === "wbr";
    return isTag ? (name.startsWith("jats:") && /p$|title$|sec$/.test(name) ? "\n" : "") : tag;
  });
}

const LINK_TARGET =
  String.raw`\(\s*<?(?:https?:|mailto:|ftp:|\.{0,2}/|#|[\w.-]+/|[\w-]+\.\w{2,5}\b)` +
  String.raw`[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*>?(?:\s+"[^"]*")?\s*\)`;
const IMAGE = new RegExp(String.raw`!\[[^[\]]{0,500}\](?:${LINK_TARGET}|\[[^[\]]{0,200}\])`, "g");
/** What is left of a link around an image: `[](https://…)`. */
const EMPTY_LINK = new RegExp(String.raw`\[\s*\]${LINK_TARGET}`, "g");
const LINK = new RegExp(String.raw`\[([^[\]]{1,500})\]${LINK_TARGET}`, "g");

/** Text without the marks of Markdown, where they cannot be anything else. */
const withoutMarkdown = (text: string): string =>
  text
    .replace(IMAGE, "")
    .replace(EMPTY_LINK, "")
    .replace(LINK, "$1")
    .replace(/^ {0,3}#{1,6}[ \t]+(.{0,500}?)[ \t]{0,20}#{0,6}$/gm, "$1")
    .replace(/^ {0,3}(?:`{3,}|~{3,})[\w-]*[ \t]*$/gm, "")
    .replace(/`([^`\n]{1,500})`/g, "$1")
    .replace(
      /(^|[\s([{"'‘“])(\*{1,3}|_)(?=\S)([^*_\n]{1,500}?)(?<=\S)\2(?=$|[\s\])}"'’”.,;:!?])/gm,
      "$1$3",
    )
    .replace(/\\([\\`*_{}[\]()#+.!-])(?=\S|$)/g, "$1");

/** A tag that is written with entities: text that was escaped twice. */
const ESCAPED = /<\/[a-zA-Z][\w:]*\s*>|<br\s*\/?>/;

/**
 * Text as people read it, for every format that is not a page: without tags of HTML, marks of
 * Markdown, badges and character references. What only looks like markup stays.
 */
export function plainText(markup: string): string {
  if (markup.length > MAX_MARKUP_CHARS) return markup.trim();
  if (!MARKS.test(markup)) return markup.replace(UNSEEN, "").replace(/ {2,}/g, " ").trim();
  const decoded = withoutMarks(decodeHTMLStrict(withoutTags(withoutMarkdown(markup))));
  return decoded
    .replace(/\r\n?/g, "\n")
    .replace(UNSEEN, "")
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

const withoutMarks = (decoded: string): string =>
  ESCAPED.test(decoded) ? withoutTags(decoded) : decoded;

/** Control characters and noncharacters, which hide what a text says. */
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]/g;

/**
 * A text in one line: one space for each run of white space. A single space is not replaced by
 * itself, which takes 30 times as long for a text of megabytes.
 */
export const oneLine = (text: string): string => text.replace(/[^\S ]\s*| \s+/g, " ");

/** The same in one line: a name, a keyword. */
export const plainLine = (markup: string): string => oneLine(plainText(markup));

/** Abbreviations that no sentence ends with. */
const ABBREVIATION =
  /(?:^|[\s(])(?:e\.g|i\.e|et al|cf|vs|approx|ca|resp|no|fig|eq|dr|prof|mr|mrs|st|\p{Lu})\.$/iu;

/** A text that is cut at the end of a sentence, else at a space, with `…`. */
export function cutAtSentence(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most - 1).toWellFormed();
  for (const { index, 0: end } of [
    ...start.matchAll(/[.!?。！？]["'”’)\]]*(?=\s)|[。！？]/g),
  ].reverse()) {
    const sentence = start.slice(0, index + end.length);
    if (sentence.length < most / 2) break;
    if (!ABBREVIATION.test(sentence)) return sentence;
  }
  const space = start.lastIndexOf(" ");
  return `${start.slice(0, space > most / 2 ? space : start.length).trimEnd()}…`;
}
