/** One thing found in the input of a job: where, what, and the fix. */
export interface Finding {
  /** Name of the member of the archive, or null for the archive itself. */
  file: string | null;
  /** JSON pointer (RFC 6901) inside the file, or null. */
  pointer: string | null;
  /** Where in a text that is not JSON as it should be; from 1. */
  line?: number;
  /** From 1, in UTF-16 units. */
  column?: number;
  message: string;
  code: string;
}
