import { xmlText, xmlValue } from "../../model/markup.js";

/** Attributes of an element; one without a value is left out. */
export type Attributes = Readonly<Record<string, string | null | undefined>>;

/** An element with text; nothing where there is no text. */
export function element(name: string, text: string | null, attributes: Attributes = {}): string {
  const escaped = text === null ? "" : xmlText(text);
  return escaped.trim() === "" ? "" : `<${name}${attributesOf(attributes)}>${escaped}</${name}>\n`;
}

/** An element with elements; nothing where there is none. */
export function parent(
  name: string,
  children: readonly string[],
  attributes: Attributes = {},
): string {
  const inner = children.join("");
  return inner === "" ? "" : `<${name}${attributesOf(attributes)}>\n${inner}</${name}>\n`;
}

const attributesOf = (attributes: Attributes): string =>
  Object.entries(attributes)
    .map(([name, value]) =>
      value === null || value === undefined ? "" : ` ${name}="${xmlValue(value)}"`,
    )
    .join("");
