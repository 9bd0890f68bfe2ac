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
  /**
   * Bytes that the server copies in one call; 5 GiB is the most that S3 allows, fewer are for
   * tests.
   */
  copyPart?: number;
}

/** An object under `<prefix>staging/`. */
type Staged =
  | { kind: "bytes"; key: string }
  | {
      kind: "upload";
      key: string;
      /** Key that is being uploaded, or copied to, in parts. */ target: string;
      uploadId: string;
    };

const UPLOADS = "uploads";
const STAGED = "staged";
const PLACE = /^[0-9a-f-]{36}$/;

/** Names of all objects in the bucket. */
export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  get staging(): string {
    return `${this.#prefix}staging/`;
  }

  get objects(): string {
    return `${this.#prefix}objects/`;
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

  /** `undefined` for an id that no staging made. */
  staged(place: string): string | undefined {
    return PLACE.test(place) ? this.staging + place : undefined;
  }

  /**
   * Name of an empty object that marks an upload in parts as active: not every server lists
   * unfinished uploads of unknown names.
   */
  marker(place: string, target: string, uploadId: string): string {
    // Split: servers on files allow names of 255 bytes between two slashes.
    const id =
      Buffer.from(uploadId)
        .toString("base64url")
        .match(/.{1,100}/g) ?? [];
    return [`${this.staging}${UPLOADS}`, place, this.sha256Of(target) ?? STAGED, ...id].join("/");
  }

  /** The meaning of a key under {@link staging}. */
  read(key: string): Staged {
    const [kind, place, target, ...id] = key.slice(this.staging.length).split("/");
    const of = target === STAGED ? this.staged(place ?? "") : this.object(target ?? "");
    if (kind !== UPLOADS || of === undefined) return { kind: "bytes", key };
    return {
      kind: "upload",
      key,
      target: of,
      uploadId: Buffer.from(id.join(""), "base64url").toString(),
    };
  }
}
