import { TabularError } from "../errors.js";

/** What the first bytes of a source say it is. */
export type Nature = "text" | "gzip" | "parquet";

/** Bytes that are looked at before reading. */
export const SNIFFED = 4096;

/** Control characters among the first bytes, from which on a file without NUL is no text either. */
const CONTROL_SHARE = 0.1;

const starts = (bytes: Uint8Array, ...magic: number[]): boolean => magic.every((byte, index) => bytes[index] === byte);

/** What the beginning of a source says of text in any encoding. */
export function natureOf(head: Uint8Array): Nature {
  if (starts(head, 0x1f, 0x8b)) return "gzip";
  return starts(head, 0x50, 0x41, 0x52, 0x31) ? "parquet" : "text";
}

/** Looks at the beginning of a source. @throws TabularError `DATA` for UTF-16 and for what is no text */
export function sniff(head: Uint8Array): Nature {
  const nature = natureOf(head);
  if (nature !== "text") return nature;
  if (starts(head, 0xff, 0xfe) || starts(head, 0xfe, 0xff) || isBareUtf16(head)) throw new TabularError("DATA", "it is UTF-16 text: convert it to UTF-8 first, e.g. iconv -f UTF-16 -t UTF-8");
  if (starts(head, 0x50, 0x4b, 3, 4)) throw new TabularError("DATA", "it is a zip archive or a workbook, not a text table: export the sheet as CSV");
  if (head.includes(0)) throw new TabularError("DATA", "it is binary, not a text table");
  let controls = 0;
  for (const byte of head) if (byte < 0x20 && (byte < 0x09 || byte > 0x0d) && byte !== 0x1b) controls++;
  if (controls > head.length * CONTROL_SHARE) throw new TabularError("DATA", "it is binary, not a text table");
  return "text";
}

/** Latin letters in UTF-16 have a NUL at every other byte, at most a few characters apart. */
function isBareUtf16(head: Uint8Array): boolean {
  if (head.length < 4) return false;
  const nuls = [0, 0];
  for (let index = 0; index < head.length; index++) if (head[index] === 0) nuls[index % 2]!++;
  const half = head.length / 2;
  return (nuls[0]! > half * 0.7 && nuls[1]! < half * 0.1) || (nuls[1]! > half * 0.7 && nuls[0]! < half * 0.1);
}

const BOM = [0xef, 0xbb, 0xbf] as const;

/** The bytes without a byte order mark of UTF-8. */
export const withoutMark = (head: Uint8Array): Uint8Array => (starts(head, ...BOM) ? head.subarray(BOM.length) : head);
