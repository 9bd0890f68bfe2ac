import { readFile } from "node:fs/promises";
import { type IncomingMessage, request as plainRequest, type RequestOptions } from "node:http";
import { request as secureRequest } from "node:https";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { EngineAway, EngineRefusal } from "./port.js";

/** Where the engine answers: a socket of this host, or a host and port; with `tls` over HTTPS. */
export interface EngineAddress {
  socketPath?: string;
  host?: string;
  port?: number;
  tls?: { ca?: Buffer; cert?: Buffer; key?: Buffer };
}

interface Call {
  query?: Readonly<Record<string, string>>;
  json?: unknown;
  /** An archive. */
  body?: Uint8Array | AsyncIterable<Uint8Array>;
}

/** Longest answer that is read whole: descriptions, lists and messages. */
const MAX_ANSWER_BYTES = 16 * 2 ** 20;
/**
 * Statuses that proxies send in place of an unavailable engine; no engine answers the calls made
 * here with one of them.
 */
const PROXIED: ReadonlySet<number> = new Set([502, 503, 504]);
/** Longest text of the engine that is passed on. */
const MAX_MESSAGE_CHARS = 500;

/**
 * Speaks the Docker Engine API (docs.docker.com/reference/api/engine), in the newest version that
 * the engine names. It is own code because dockerode brings 19 MB, an SSH client and install scripts.
 */
export class DockerClient {
  #server: Promise<{ version: string; podman: boolean }> | undefined;

  readonly #address: EngineAddress;
  readonly #timeout: number;

  /** @param timeout ms for which the engine may be silent, during any call */
  constructor(address: EngineAddress, timeout: number) {
    this.#address = address;
    this.#timeout = timeout;
  }

  /** @throws EngineAway */
  async ping(): Promise<void> {
    await this.#send("GET", "/_ping", {}).then(gather);
  }

  /** The answer as JSON; `undefined` without one. @throws EngineAway, EngineRefusal */
  async json<T>(method: string, path: string, call: Call = {}): Promise<T> {
    const text = (await gather(await this.open(method, path, call))).toString("utf8");
    if (text === "") return undefined as T;
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new EngineAway(
        `the response of the container engine to ${method} ${path} is not JSON: check that ` +
          "CONTAINER_HOST names a Docker-compatible engine",
      );
    }
  }

  /** The answer as it comes. @throws EngineAway, EngineRefusal */
  async open(method: string, path: string, call: Call = {}): Promise<IncomingMessage> {
    const answer = await this.#send(method, `/v${(await this.server()).version}${path}`, call);
    const { statusCode: status = 0 } = answer;
    if (status < 300 || status === 304) return answer;
    const text = (await gather(answer)).toString("utf8");
    throw new EngineRefusal(status, `${messageOf(text)} (status ${status})`);
  }

  /**
   * An engine that refuses old versions gets the version it requires: Docker 29 refuses 1.41, the
   * only one that Podman knows.
   */
  server(): Promise<{ version: string; podman: boolean }> {
    this.#server ??= this.#send("GET", "/_ping", {}).then(async (answer) => {
      await gather(answer);
      const { "api-version": version, "libpod-api-version": libpod } = answer.headers;
      return {
        version: typeof version === "string" && /^1\.\d{1,3}$/.test(version) ? version : "1.41",
        podman: libpod !== undefined,
      };
    });
    return this.#server.catch((error: unknown) => {
      this.#server = undefined;
      throw error;
    });
  }

  async #send(method: string, path: string, { query, json, body }: Call): Promise<IncomingMessage> {
    const { tls, ...where } = this.#address;
    const payload = json === undefined ? body : Buffer.from(JSON.stringify(json));
    const options: RequestOptions = {
      ...where,
      method,
      agent: false,
      path: query ? `${path}?${new URLSearchParams(query)}` : path,
      timeout: this.#timeout,
      headers: {
        ...(payload === undefined
          ? { "Content-Length": 0 }
          : { "Content-Type": json === undefined ? "application/x-tar" : "application/json" }),
        ...(payload instanceof Uint8Array ? { "Content-Length": payload.byteLength } : {}),
      },
    };
    const request = tls ? secureRequest({ ...options, ...tls }) : plainRequest(options);
    // Silence, not duration: an archive may take as long as its bytes flow.
    request.on("timeout", () =>
      request.destroy(
        new EngineAway(
          `the container engine did not answer ${method} ${path} within ` +
            `CONTAINER_TIMEOUT=${this.#timeout} ms`,
        ),
      ),
    );
    const answered = new Promise<IncomingMessage>((resolve, reject) =>
      request.once("response", resolve).on("error", reject),
    );
    answered.catch(() => {});
    let fault: { error: unknown } | undefined;
    if (payload === undefined || payload instanceof Uint8Array) request.end(payload);
    // A fault of the payload itself is thrown as that fault; an engine that hangs up shows by its
    // answer or by the lack of one.
    else
      void pipeline(Readable.from(watched(payload, (error) => (fault = { error }))), request).catch(
        () => {},
      );
    let answer: IncomingMessage;
    try {
      answer = await answered;
    } catch (error) {
      if (fault) throw fault.error;
      throw asAway(error, `${method} ${path}`);
    }
    if (!PROXIED.has(answer.statusCode!)) return answer;
    answer.destroy();
    throw new EngineAway(
      `the container engine cannot be reached: a proxy in front of it answered ${method} ` +
        `${path} with status ${answer.statusCode}`,
    );
  }
}

async function* watched(
  bytes: AsyncIterable<Uint8Array>,
  failed: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    failed(error);
    throw error;
  }
}

/** The body of an answer, chunk by chunk. @throws EngineAway when it breaks off */
export async function* piecesOf(answer: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of answer) yield chunk as Buffer;
  } catch (error) {
    throw asAway(error, "an answer");
  } finally {
    answer.destroy();
  }
}

async function gather(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of piecesOf(answer)) {
    if ((size += chunk.byteLength) > MAX_ANSWER_BYTES)
      throw new EngineAway(
        `a response of the container engine has more than ${MAX_ANSWER_BYTES} bytes`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const asAway = (error: unknown, what: string): EngineAway =>
  error instanceof EngineAway
    ? error
    : new EngineAway(
        `the container engine cannot be reached for ${what}: ${(error as Error).message}`,
      );

function messageOf(text: string): string {
  let message = text;
  try {
    const said = (JSON.parse(text) as { message?: unknown }).message;
    if (typeof said === "string") message = said;
  } catch {
    // Not every proxy in front of an engine speaks JSON.
  }
  return message.replace(/\s+/g, " ").trim().slice(0, MAX_MESSAGE_CHARS);
}

/**
 * Where CONTAINER_HOST points.
 * @param certificates folder with `ca.pem`, `cert.pem` and `key.pem`, as Docker's own clients have
 * it
 */
export async function engineAddress(
  host: string,
  certificates: string | null,
): Promise<EngineAddress> {
  if (host.startsWith("unix://")) return { socketPath: host.slice("unix://".length) };
  const url = new URL(host.replace(/^tcp:/, certificates === null ? "http:" : "https:"));
  const secure = url.protocol === "https:";
  const where = {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || (secure ? 2376 : 2375)),
  };
  if (!secure) return where;
  if (certificates === null) return { ...where, tls: {} };
  const [ca, cert, key] = await Promise.all([
    readFile(join(certificates, "ca.pem")),
    readFile(join(certificates, "cert.pem")),
    readFile(join(certificates, "key.pem")),
  ]);
  return { ...where, tls: { ca, cert, key } };
}
