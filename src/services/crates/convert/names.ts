const DATA_PACKAGE = /(?:^|\/)datapackage\.json$/;
/** Common names of Croissant documents. */
const CROISSANT =
  /(?:^|\/)(?:croissant|metadata|croissant-metadata|[^/]+[._-]croissant)\.json(?:ld)?$/i;
/** Files of an archive without RO-Crate metadata whose beginning is looked at. */
const MOST = 8;

/** Files of an archive that may be documents to convert, outermost first. */
export const convertible = (files: readonly string[]): string[] =>
  files
    .filter((file) => DATA_PACKAGE.test(file) || CROISSANT.test(file))
    .toSorted((a, b) => a.split("/").length - b.split("/").length || (a < b ? -1 : 1))
    .slice(0, MOST);

const MARK = Buffer.from("mlcommons.org/croissant");

/** Whether a file with this name and these bytes is worth reading as one of them. */
export const mayConvert = (file: string, bytes: Uint8Array): boolean =>
  DATA_PACKAGE.test(file) ||
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(MARK);
