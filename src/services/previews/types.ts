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
