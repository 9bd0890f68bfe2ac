/** The name of each limit where it is set: errors name it. */
interface LimitNames {
  maxText: string;
  maxCell: string;
  maxRow: string;
  maxColumns: string;
  patternSeconds: string;
  maxKeys: string;
  maxPart: string;
  /** The option that states another encoding than UTF-8; none where there is no such option. */
  encoding?: string | undefined;
}

/**
 * Sizes and times that keep memory flat and a run finite. Every error about one names its option.
 */
export interface TableLimits {
  /** Bytes of the whole text, once unpacked. */
  maxText: number;
  /** Bytes of one cell. */
  maxCell: number;
  /** Bytes of one row: a row must be in memory as a whole. */
  maxRow: number;
  /** Columns of one row. */
  maxColumns: number;
  /**
   * Seconds that checking one file may take when its schema has patterns on the native engine;
   * every {@link PATTERN_BYTES_PER_SECOND} read add one, so that honest files of any size pass.
   */
  patternSeconds: number;
  /** Values of one key that are remembered, to find those that occur twice. */
  maxKeys: number;
  /** Bytes of a part that must be in memory as a whole: the texts of a workbook, a page of Parquet. */
  maxPart: number;
  names: LimitNames;
}

/** The encoding of a text that is not said to have another one. */
export const UTF_8 = "utf-8";

/** Far below the speed of any pattern that does not explode. */
export const PATTERN_BYTES_PER_SECOND = 1 << 20;

export const DEFAULT_LIMITS: TableLimits = {
  maxText: Infinity,
  maxCell: 16 << 20,
  maxRow: 32 << 20,
  maxColumns: 250_000,
  patternSeconds: 10,
  maxKeys: 5_000_000,
  maxPart: 256 << 20,
  names: {
    maxText: "--max-text",
    maxCell: "--max-cell",
    maxRow: "--max-row",
    maxColumns: "--max-columns",
    patternSeconds: "--pattern-seconds",
    maxKeys: "--max-keys",
    maxPart: "--max-part",
    encoding: "--encoding",
  },
};

/** Bytes as the largest unit that divides them, e.g. `16 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes >= 1 << 20 && bytes % (1 << 20) === 0) return `${bytes / (1 << 20)} MiB`;
  if (bytes >= 1024 && bytes % 1024 === 0) return `${bytes / 1024} KiB`;
  return `${bytes} bytes`;
}

/**
 * A fault that prevents any check of a table or its schema. The message is one sentence for the
 * user; it names the place and what to do. The caller that knows the file's name puts it in front.
 */
export class TabularError extends Error {
  constructor(
    /**
     * `SCHEMA`: the schema is not sound. `DATA`: the bytes are no text table. `LIMIT`: a
     * {@link TableLimits} was reached.
     */
    readonly code: "SCHEMA" | "DATA" | "LIMIT",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
