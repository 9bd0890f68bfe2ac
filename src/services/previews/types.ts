/** What a preview holds, and how text is cut for it. */
import { isUtf8 } from "node:buffer";

/** The first rows of a table. Rows are data rows: the header is in `columns`. */
export interface TablePreview {
  form: "table";
  columns: string[];
  rows: string[][];
  errors: CellError[];
  /** There are more rows, or more columns, than shown. */
  moreRows: boolean;
  moreColumns: boolean;
  /** The schema that the rows were checked against. */
  schema: string | null;
  /** Why they could not be checked or read to the end. */
  problem: string | null;
}

/** `column` is null for an error of the row as a whole; both count from 0 and are data rows. */
export interface CellError {
  row: number;
  column: number | null;
  keyword: string | null;
  message: string;
}

/** Text, code, or JSON with one value per line. */
export interface TextPreview {
  form: "text";
  text: string;
  charset: string;
  /** `json`, or the extension of the file in lower case. */
  language: string;
  truncated: boolean;
}

/** An image that every browser shows, at an address for `<img>`. */
export interface ImagePreview {
  form: "image";
  mediaType: string;
  width: number | null;
  height: number | null;
}

/** A notebook as it was stored: nothing is run. */
export interface NotebookPreview {
  form: "notebook";
  /** Of its code; `txt` where the notebook states none. */
  language: string;
  cells: NotebookCell[];
  truncated: boolean;
}
export interface NotebookCell {
  kind: "code" | "markdown" | "raw";
  text: string;
  outputs: string[];
}

/** A document that browsers show by themselves: PDF. */
export interface DocumentPreview {
  form: "document";
  mediaType: string;
}

export type NoPreviewReason =
  | "NO_CONTENT"
  | "NOT_READABLE"
  | "ARCHIVE"
  | "BINARY"
  | "TOO_LARGE"
  | "DAMAGED"
  | "TIMEOUT"
  | "BUSY";
export interface NoPreview {
  form: "none";
  reason: NoPreviewReason;
  about: string;
}

export type ReadPreview =
  TablePreview | TextPreview | ImagePreview | NotebookPreview | DocumentPreview | NoPreview;

/** What a preview is made of; plain data, for threads. */
export interface PreviewInput {
  /** The first bytes of the file, or all of it. */
  bytes: Uint8Array;
  /** Size of the file. */
  size: number;
  /** Name of the file. */
  name: string;
  mediaType: string;
  schema: { ark: string; document: unknown } | null;
  limits: PreviewLimits;
}

export interface PreviewLimits {
  /** Bytes of text that are shown. */
  text: number;
  rows: number;
  columns: number;
  /** Bytes of a file that must be read as a whole. */
  whole: number;
}

export const none = (reason: NoPreviewReason, about: string): NoPreview => ({
  form: "none",
  reason,
  about,
});

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

const BYTE_ORDER_MARKS = [
  [Buffer.of(0xff, 0xfe), "utf-16le"],
  [Buffer.of(0xfe, 0xff), "utf-16be"],
  [Buffer.of(0xef, 0xbb, 0xbf), "utf-8"],
] as const;

function charsetOf(bytes: Buffer, cut: boolean): string | undefined {
  for (const [mark, charset] of BYTE_ORDER_MARKS)
    if (mark.equals(bytes.subarray(0, mark.length))) return charset;
  let [evenNuls, oddNuls, controls] = [0, 0, 0];
  for (const [at, byte] of bytes.entries()) {
    if (byte === 0) {
      if (at % 2 === 0) evenNuls++;
      else oddNuls++;
    } else if (isControl(byte)) controls++;
  }
  const half = bytes.length / 2;
  if (oddNuls > half * 0.7 && evenNuls < half * 0.1) return "utf-16le";
  if (evenNuls > half * 0.7 && oddNuls < half * 0.1) return "utf-16be";
  if (evenNuls + oddNuls > 0 || controls > bytes.length * CONTROL_SHARE) return undefined;
  const longest = cut ? 3 : 0;
  for (let missing = 0; missing <= longest && missing <= bytes.length; missing++)
    if (isUtf8(bytes.subarray(0, bytes.length - missing))) return "utf-8";
  return "windows-1252";
}

/** A control character that is neither white space nor the begin of a terminal's colours. */
const isControl = (byte: number): boolean =>
  byte < 0x20 && (byte < 0x09 || byte > 0x0d) && byte !== 0x1b;
