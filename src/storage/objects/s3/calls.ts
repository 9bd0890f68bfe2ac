import { AsyncLocalStorage } from "node:async_hooks";
import * as http from "node:http";
import type { IncomingMessage } from "node:http";
import * as https from "node:https";
import { Client } from "minio";
import {
  AnsweredFault,
  asStoreError,
  bare,
  type Body,
  bodyOf,
  codeOf,
  CutShort,
  isMissing,
  isUploadGone,
  mayPass,
  retried,
  Silence,
} from "./faults.js";
import type { S3Location } from "./location.js";

/** The settings of one call for its connection; the client has no place for them. */
interface CallNeeds {
  /** How long (ms) the server may be silent. */
  limit: number;
  signal?: AbortSignal | undefined;
  /**
   * The answer is read as a stream, whose reader sets its own time limit: a slow reader is no
   * silent server.
   */
  streams?: boolean;
}

type Transport = Pick<typeof http, "request">;
const needs = new AsyncLocalStorage<CallNeeds>();

/** Statuses of a fault that may pass. 501 and 507 are answers. */
const PASSING = new Set([408, 425, 429, 499, 500, 502, 503, 504, 520, 529]);

/** Makes a call whose requests end according to its needs. */
function withNeeds<T>(of: CallNeeds, call: () => Promise<T>): Promise<T> {
  return needs.run(of, call);
}

/** Connections to one server, and the time on its clock. */
class Connections implements Transport {
  readonly #module: Transport;
  readonly agent: http.Agent;
  #ahead = 0;

  constructor(secure: boolean) {
    this.#module = secure ? https : http;
    this.agent = secure
      ? new https.Agent({ keepAlive: true })
      : new http.Agent({ keepAlive: true });
  }

  /** The server's time, to the second. */
  now(): number {
    return Date.now() + this.#ahead;
  }

  readonly request = ((
    options: https.RequestOptions,
    answered: (response: http.IncomingMessage) => void,
  ): http.ClientRequest => {
    const { limit, signal, streams } = needs.getStore() ?? { limit: 0 };
    const request = this.#module.request({
      ...options,
      timeout: limit,
      ...(signal ? { signal } : {}),
    });
    let response: http.IncomingMessage | undefined;
    request.on("timeout", () => (response ?? request).destroy(new Silence(limit)));
    request.once("response", (arrived) => {
      response = arrived;
      const date = Date.parse(arrived.headers.date ?? "");
      if (!Number.isNaN(date)) this.#ahead = date - Date.now();
      if (PASSING.has(arrived.statusCode ?? 0)) {
        // Read to its end, so that the connection can be used again.
        arrived.on("error", () => {}).resume();
        request.emit("error", new AnsweredFault(arrived.statusCode!));
        return;
      }
      if (streams && (arrived.statusCode ?? 0) < 300) arrived.socket.setTimeout(0);
      answered(arrived);
    });
    return request;
  }) as Transport["request"];
}

/** Bytes a server copies in a second, at the least. */
const COPY_RATE = 8 * 2 ** 20;

/**
 * In none of the keys: the client sends a delimiter in any case, and Swift takes an empty one for
 * the end of every name.
 */
const NO_DELIMITER = "|";

export interface Part {
  part: number;
  etag: string;
}
interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Instead of the location's. */ retries?: number;
}

/**
 * The calls of S3 that every server knows, each tried again while its fault may pass, then ended
 * with `STORE_UNAVAILABLE`.
 */
export class S3Calls {
  readonly #client: Client;
  readonly #connections: Connections;
  readonly #bucket: string;
  /** A plain connection has each body signed; the hash is asked for then. */
  readonly signsBodies: boolean;

  constructor(readonly location: S3Location) {
    const { hostname, port, protocol } = new URL(location.endpoint);
    const secure = protocol === "https:";
    this.signsBodies = !secure;
    this.#bucket = location.bucket;
    this.#connections = new Connections(secure);
    this.#client = new Client({
      endPoint: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? (secure ? 443 : 80) : Number(port),
      useSSL: secure,
      region: location.region,
      accessKey: location.accessKey,
      secretKey: location.secretKey,
      transport: this.#connections,
      transportAgent: this.#connections.agent,
      // The client's own retries log to the console, and ignore signals and lost connections.
      retryOptions: { disableRetry: true },
    });
  }

  /** The server's time in ms, as far as it is known: its answers are exact to the second only. */
  now(): number {
    return this.#connections.now();
  }

  /**
   * Returns the first page of the bucket's listing.
   * @throws ServiceError that names the fault in the settings
   */
  probe(options?: CallOptions): Promise<unknown> {
    return this.#made(
      () => this.#client.listObjectsV2Query(this.#bucket, this.location.prefix, "", "", 1, ""),
      options,
    );
  }

  makeBucket(): Promise<void> {
    return this.#made(async () => {
      try {
        await this.#client.makeBucket(this.#bucket, this.location.region);
      } catch (error) {
        if (!["BucketAlreadyOwnedByYou", "BucketAlreadyExists"].includes(codeOf(error)))
          throw error;
      }
    });
  }

  /** Size in bytes; `undefined` when there is no such object. */
  head(key: string, options?: CallOptions): Promise<number | undefined> {
    return this.#made(async () => {
      const { size } = await this.#client.statObject(this.#bucket, key).catch((error: unknown) => {
        if (isMissing(error)) return { size: undefined };
        throw error;
      });
      return size;
    }, options);
  }

  /** Another one for every write of the object; `undefined` when there is none. */
  version(key: string, options?: CallOptions): Promise<string | undefined> {
    return this.#made(async () => {
      const found = await this.#client.statObject(this.#bucket, key).catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      });
      return found && `${found.size}-${bare(found.etag)}-${found.lastModified.getTime()}`;
    }, options);
  }

  /**
   * @param end inclusive; `undefined` when there is no such object, "outside" when the range lies
   * behind its end
   */
  get(
    key: string,
    start = 0,
    end?: number,
    options?: CallOptions,
  ): Promise<Body | "outside" | undefined> {
    return this.#made(
      async () => {
        const ranged = start > 0 || end !== undefined;
        try {
          const stream = (await (ranged
            ? this.#client.getPartialObject(
                this.#bucket,
                key,
                start,
                end === undefined ? 0 : end - start + 1,
              )
            : this.#client.getObject(this.#bucket, key))) as IncomingMessage;
          const body = bodyOf(stream, start, ranged);
          if (!body) {
            stream.destroy();
            throw new CutShort(0, end === undefined ? 0 : end - start + 1);
          }
          return body;
        } catch (error) {
          if (isMissing(error)) return undefined;
          if (codeOf(error) === "InvalidRange") return "outside";
          throw error;
        }
      },
      options,
      { streams: true },
    );
  }

  /**
   * Answers the ETag.
   * @param sha256 of the bytes, where {@link signsBodies}
   */
  put(key: string, bytes: Buffer, sha256: string, options?: CallOptions): Promise<string> {
    return this.#made(
      async () => bare((await this.#send({ objectName: key }, bytes, sha256)).headers.etag),
      options,
    );
  }

  startUpload(key: string, options?: CallOptions): Promise<string> {
    return this.#made(
      () => this.#client.initiateNewMultipartUpload(this.#bucket, key, {}),
      options,
    );
  }

  putPart(
    key: string,
    uploadId: string,
    part: number,
    bytes: Buffer,
    sha256: string,
    options?: CallOptions,
  ): Promise<Part> {
    return this.#made(async () => {
      const answer = await this.#send(
        { objectName: key, query: `partNumber=${part}&uploadId=${encodeURIComponent(uploadId)}` },
        bytes,
        sha256,
      );
      return { part, etag: bare(answer.headers.etag) };
    }, options);
  }

  copyPart(
    from: string,
    key: string,
    uploadId: string,
    part: number,
    start: number,
    end: number,
    options?: CallOptions,
  ): Promise<Part> {
    const headers = {
      "x-amz-copy-source": this.#source(from),
      "x-amz-copy-source-range": `bytes=${start}-${end}`,
    };
    return this.#made(
      async () => {
        const { etag } = await this.#client.uploadPart(
          {
            bucketName: this.#bucket,
            objectName: key,
            uploadID: encodeURIComponent(uploadId),
            partNumber: part,
            headers,
          },
          "",
        );
        return { part, etag: bare(etag) };
      },
      options,
      { limit: this.#copyTimeout(end - start + 1) },
    );
  }

  /**
   * Whole or not at all; also when an answer was lost and the upload is gone because it is done.
   */
  complete(
    key: string,
    uploadId: string,
    parts: readonly Part[],
    size: number,
    options?: CallOptions,
  ): Promise<void> {
    return this.#made(
      async () => {
        try {
          await this.#client.completeMultipartUpload(this.#bucket, key, uploadId, [...parts]);
        } catch (error) {
          if (mayPass(error)) throw error;
          const done = await this.#client.statObject(this.#bucket, key).catch(() => undefined);
          if (done?.size !== size) throw error;
        }
      },
      options,
      { limit: this.#copyTimeout(size) },
    );
  }

  /** Removes an upload in parts completely; also when there is no such upload. */
  abort(key: string, uploadId: string, options?: CallOptions): Promise<void> {
    return this.#made(
      () =>
        this.#client
          .abortMultipartUpload(this.#bucket, key, encodeURIComponent(uploadId))
          .catch((error: unknown) => {
            if (!isUploadGone(error)) throw error;
          }),
      options,
    );
  }

  /** Returns the ETag of the copy; `undefined` when there is nothing to copy. */
  copy(from: string, to: string, size: number): Promise<string | undefined> {
    return this.#made(
      async () => {
        try {
          return bare(
            (
              (await this.#client.copyObject(this.#bucket, to, this.#source(from))) as {
                etag?: string;
              }
            ).etag,
          );
        } catch (error) {
          if (isMissing(error)) return undefined;
          throw error;
        }
      },
      {},
      { limit: this.#copyTimeout(size) },
    );
  }

  remove(key: string, options?: CallOptions): Promise<void> {
    return this.#made(
      () =>
        this.#client.removeObject(this.#bucket, key).catch((error: unknown) => {
          if (!isMissing(error)) throw error;
        }),
      options,
    );
  }

  /** Keys under a prefix with the server's time (ms) of their last change, page by page. */
  async *list(prefix: string): AsyncGenerator<{ key: string; changed: number }> {
    for (let token = ""; ;) {
      const page = await this.#made(() =>
        this.#client.listObjectsV2Query(this.#bucket, prefix, token, "", 1000, ""),
      );
      for (const { name, lastModified } of page.objects)
        if (name !== undefined) yield { key: name, changed: lastModified.getTime() };
      if (!page.isTruncated) return;
      token = page.nextContinuationToken;
    }
  }

  /** Unfinished uploads in parts, as far as the server lists them by prefix. */
  async uploads(prefix: string): Promise<{ key: string; uploadId: string; begun: number }[]> {
    const page = await this.#made(() =>
      this.#client
        .listIncompleteUploadsQuery(this.#bucket, prefix, "", "", NO_DELIMITER)
        .catch((error: unknown) => {
          if (["NotImplemented", "MethodNotAllowed"].includes(codeOf(error)))
            return { uploads: [] };
          throw error;
        }),
    );
    return page.uploads.map(({ key, uploadId, initiated }) => ({
      key,
      uploadId,
      begun: new Date(initiated as unknown as string).getTime(),
    }));
  }

  /** A signed address: its holder may read the object. */
  address(key: string, headers: Record<string, string>): Promise<string> {
    return this.#client.presignedGetObject(
      this.#bucket,
      key,
      Math.ceil(this.location.presigned / 1000),
      headers,
    );
  }

  #source(key: string): string {
    return `/${this.#bucket}/${key}`;
  }

  #copyTimeout(size: number): number {
    return this.location.timeout + Math.ceil(size / COPY_RATE) * 1000;
  }

  async #send(
    to: { objectName: string; query?: string },
    bytes: Buffer,
    sha256: string,
  ): Promise<IncomingMessage> {
    const answer = await this.#client.makeRequestStreamAsync(
      {
        method: "PUT",
        bucketName: this.#bucket,
        headers: { "content-length": String(bytes.byteLength) },
        ...to,
      },
      bytes,
      this.signsBodies ? sha256 : "",
      [200],
      "",
    );
    for await (const _ of answer);
    return answer;
  }

  #made<T>(
    call: () => Promise<T>,
    { signal, retries = this.location.retries }: CallOptions = {},
    needs: Partial<CallNeeds> = {},
  ): Promise<T> {
    const tried = () => withNeeds({ limit: this.location.timeout, signal, ...needs }, call);
    return retried(tried, { signal, retries }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw asStoreError(error, this.location);
    });
  }
}
