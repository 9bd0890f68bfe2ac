import type { Entry } from "yauzl";

/** A file or folder of an archive, as its central directory describes it (APPNOTE 6.3.10, section 4.3.12). */
export interface Member {
  /** Path inside the archive: `/` between parts, none at the end, no `.` parts. */
  readonly name: string;
  readonly folder: boolean;
  /** Declared size of the bytes when inflated. */
  readonly size: number;
  readonly entry: Entry;
  /** Where the next member, or the directory, begins: data may not reach further. */
  readonly end: number;
}
