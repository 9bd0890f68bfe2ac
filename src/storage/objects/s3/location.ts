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
  /** Folder on this node for bytes that are not in the bucket yet, or are read from it at random. */
  staging: string;
  /** Bytes of one part of an upload, which are in memory while they are sent. */
  partSize: number;
  /** How long (ms) the server may be silent. */
  timeout: number;
  /** How often a call that failed for the moment is tried again. */
  retries: number;
  /** How long (ms) an address that is handed out is good; 0 when none are. */
  presigned: number;
}

/** Names of all objects in the bucket. */
export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  get objects(): string {
    return `${this.#prefix}objects/`;
  }

  /** An object that is written and removed to see whether the bucket can be written. */
  get health(): string {
    return `${this.#prefix}health`;
  }

  /** `undefined` for a text that is no SHA-256. */
  object(sha256: string): string | undefined {
    return /^[0-9a-f]{64}$/.test(sha256)
      ? `${this.objects}${sha256.slice(0, 2)}/${sha256.slice(2)}`
      : undefined;
  }

  sha256Of(key: string): string | undefined {
    const sha256 = key.slice(this.objects.length).replace("/", "");
    return this.object(sha256) === key ? sha256 : undefined;
  }
}
