import { isUtf8 } from "node:buffer";

/** The first characters of a text, never half of one; with an ellipsis where some are missing. */
export const shortened = (text: string, characters: number): string =>
  text.length <= characters ? text : `${text.slice(0, characters - 1).toWellFormed()}…`;

export interface Decoded {
  text: string;
  /** A label of the Encoding standard. */
  charset: string;
}

/** Control characters, of all, from which on bytes are no text. */
const CONTROL_SHARE = 0.02;

/**
 * Bytes as text, by their byte order mark, else as UTF-8, else as UTF-16 where every other byte is
 * NUL, else as Windows-1252, of which ISO 8859-1 is a part.
 * @param cut the bytes end anywhere, even within a character
 * @returns `undefined` for bytes that are no text
 */
export function decodedText(bytes: Buffer, cut: boolean): Decoded | undefined {
  const charset = charsetOf(bytes, cut);
  if (charset === undefined) return undefined;
  // The last character may be cut: streaming drops it.
  return { text: new TextDecoder(charset).decode(bytes, { stream: cut }), charset };
}

function charsetOf(bytes: Buffer, cut: boolean): string | undefined {
  const [a, b, c] = bytes;
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  const nuls = [0, 0];
  let controls = 0;
  for (const [at, byte] of bytes.entries()) {
    if (byte === 0) nuls[at % 2]!++;
    else if (byte < 0x20 && (byte < 0x09 || byte > 0x0d) && byte !== 0x1b) controls++;
  }
  const half = bytes.length / 2;
  if (nuls[1]! > half * 0.7 && nuls[0]! < half * 0.1) return "utf-16le";
  if (nuls[0]! > half * 0.7 && nuls[1]! < half * 0.1) return "utf-16be";
  if (nuls[0]! + nuls[1]! > 0 || controls > bytes.length * CONTROL_SHARE) return undefined;
  const longest = cut ? 3 : 0;
  for (let missing = 0; missing <= longest && missing <= bytes.length; missing++)
    if (isUtf8(bytes.subarray(0, bytes.length - missing))) return "utf-8";
  return "windows-1252";
}
