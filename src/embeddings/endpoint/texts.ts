import { createHash } from "node:crypto";
import { EmbeddingsRefused } from "../port.js";

/** Counted up when a text comes to be sent in another way: vectors from before are not compared with those made then. */
const MANNER = 1;

/** Characters that a text is not shortened below. */
const SHORTEST = 200;

/** What vectors of a model are called that are made of texts with this prefix, cut to so many characters. */
export const nameOf = (model: string, passagePrefix: string, maxText: number): string => `${model}#${createHash("sha256").update(JSON.stringify([MANNER, passagePrefix, maxText])).digest("hex").slice(0, 8)}`;

/**
 * A text as it is sent: well-formed, since servers fail on half a surrogate pair; with spaces for control characters, since
 * some end a text at NUL; without spaces around it; of so many characters (code points) at the most.
 * @throws EmbeddingsRefused when nothing is left
 */
export function prepared(text: string, most: number): string {
  const clean = cut(text.toWellFormed().replaceAll(/\p{Cc}/gu, " ").trim(), most).trimEnd();
  if (clean === "") throw new EmbeddingsRefused("there is no vector of a text that is empty, or only spaces");
  return clean;
}

/** The first half of a prepared text; `undefined` for one that is too short to be refused for its length. */
export function firstHalf(text: string): string | undefined {
  const characters = [...text].length;
  return characters < 2 * SHORTEST ? undefined : prepared(text, Math.floor(characters / 2));
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = 0;
  for (let left = most; left > 0 && end < text.length; left--) end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return text.slice(0, end);
}
