/** An S3 bucket and how it is used, as plain data: threads open their own instance from it. */
export interface S3Location {
  /** Origin, without a slash at the end. */
  endpoint: string;
  accessKey: string;
  secretKey: string;
  bucket: string;
  region: string;
  /** Before every key; empty, or ends with a slash. */
  prefix: string;
  /** Bytes of one part of an upload; an upload holds two of them in memory. */
  partSize: number;
  /** How long (ms) the server may be silent. */
  timeout: number;
  /** How often a call that may pass is tried again. */
  retries: number;
  /** How long (ms) an address that is handed out is good; 0 when none are. */
  presigned: number;
  /** Bytes that the server copies in one call; 5 GiB is the most that S3 allows, fewer are for tests. */
  copyPart?: number;
}
