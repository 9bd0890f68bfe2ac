/**
 * Answers: bytes, JSON, streams, server-sent events and errors, with their encodings and headers.
 */
import { randomUUID } from "node:crypto";
import {
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Writable } from "node:stream";
import { promisify } from "node:util";
import {
  type BrotliCompress,
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  type Gzip,
  gzip,
} from "node:zlib";
import { requestIdOf } from "../config/client.js";
import { cutMessage, ServiceError, ValidationError } from "../errors.js";
import { type Log, reportDamage } from "../log.js";
import { accepts } from "./negotiation.js";

/** Supported content encodings, the preferred one first. */
export type Encoding = "br" | "gzip";
const ENCODINGS: readonly Encoding[] = ["br", "gzip"];

/** Compressing shorter bodies is not worth its cost. */
export const LEAST_BYTES = 2048;
/**
 * Brotli's default of 11 is for files that are compressed once; this level is as fast as gzip and
 * smaller.
 */
const QUALITY = 5;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } };

const brotliBytes = promisify(brotliCompress);
const gzipBytes = promisify(gzip);

/** Text of any kind; not event streams, each event of which must arrive at once. */
const TEXT = new RegExp(
  String.raw`^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|n-triples|n-quads` +
    String.raw`|trig|javascript|graphql)\b|image\/svg)`,
);
export const isText = (type: string): boolean => TEXT.test(type);

/**
 * The supported encoding that the client prefers (RFC 9110, section 12.5.3); `undefined` for none.
 */
export function acceptedEncoding(req: IncomingMessage): Encoding | undefined {
  const accept = req.headers["accept-encoding"];
  if (typeof accept !== "string" || accept === "" || accept === "identity") return undefined;
  const weights = new Map(
    accept
      .toLowerCase()
      .split(",", 20)
      .map((part) => {
        const [name = "", ...parameters] = part.split(";").map((chunk) => chunk.trim());
        const weight = Number(
          parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1,
        );
        return [name, Number.isFinite(weight) ? weight : 0] as const;
      }),
  );
  let best: Encoding | undefined;
  let most = 0;
  for (const encoding of ENCODINGS) {
    const weight = weights.get(encoding) ?? weights.get("*") ?? 0;
    if (weight > most) [best, most] = [encoding, weight];
  }
  return best;
}

export const encoded = (bytes: Uint8Array, encoding: Encoding): Promise<Buffer> =>
  encoding === "br" ? brotliBytes(bytes, BROTLI) : gzipBytes(bytes);
const encoder = (encoding: Encoding): BrotliCompress | Gzip =>
  encoding === "br" ? createBrotliCompress(BROTLI) : createGzip();

/**
 * The Vary header of an answer whose form depends on Accept-Encoding, with the values set before.
 */
export function varying(res: ServerResponse, headers: OutgoingHttpHeaders = {}): string {
  return [headers["Vary"] ?? res.getHeader("Vary"), "Accept-Encoding"]
    .filter((value) => value !== undefined && value !== "")
    .join(", ");
}

/**
 * On every answer: browsers must not run it as a script of its origin, guess its type or frame it.
 * Other sites get no referrer. Our own pages do, because without one browsers send `Origin: null`
 * with forms, which shows that a form is of this registry.
 */
export const SAFE_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "same-origin",
} as const;

/** On answers that only the caller may see: no cache stores them (RFC 9111, section 5.2.2.5). */
export const NOT_STORED = { "Cache-Control": "no-store" } as const;

interface ReplyOptions {
  status?: number;
  headers?: OutgoingHttpHeaders;
  type?: string;
}

/**
 * Sends bytes with their length, compressed where that saves enough and the client accepts it; HEAD
 * gets the headers only.
 */
export function sendBytes(
  req: IncomingMessage,
  res: ServerResponse,
  bytes: Uint8Array,
  options: ReplyOptions = {},
): void {
  if (bytes.byteLength < LEAST_BYTES || !isText(options.type ?? "application/json"))
    return sendPlain(req, res, bytes, options);
  const headers = { ...options.headers, Vary: varying(res, options.headers) };
  // HEAD describes the uncompressed answer: its length is known without compressing.
  const encoding = req.method === "HEAD" ? undefined : acceptedEncoding(req);
  if (encoding === undefined) return sendPlain(req, res, bytes, { ...options, headers });
  encoded(bytes, encoding).then(
    (smaller) => {
      if (!res.destroyed && !res.headersSent)
        sendPlain(req, res, smaller, {
          ...options,
          headers: { ...headers, "Content-Encoding": encoding },
        });
    },
    // Compression fails only without memory; the uncompressed answer can still be sent.
    () => sendPlain(req, res, bytes, { ...options, headers }),
  );
}

/**
 * Sends content as it is. A text is sent in one chunk with the headers; bytes are a second chunk.
 */
function sendPlain(
  req: IncomingMessage,
  res: ServerResponse,
  content: Uint8Array | string,
  { status = 200, headers = {}, type = "application/json" }: ReplyOptions,
): void {
  // Not SAFE_HEADERS spread at its head: a literal with members after a spread took a twelfth of an
  // answer's time.
  res.writeHead(status, {
    "X-Content-Type-Options": SAFE_HEADERS["X-Content-Type-Options"],
    "Content-Security-Policy": SAFE_HEADERS["Content-Security-Policy"],
    "Referrer-Policy": SAFE_HEADERS["Referrer-Policy"],
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(content),
    ...headers,
  });
  if (req.method === "HEAD") res.end();
  else res.end(content);
}

export function sendJson(
  req: IncomingMessage,
  res: ServerResponse,
  value: unknown,
  options: ReplyOptions = {},
): void {
  sendBytes(req, res, Buffer.from(JSON.stringify(value)), options);
}

/** A list of JSON values in constant memory: waits for a slow client between pages. */
export async function streamJsonArray(
  req: IncomingMessage,
  res: ServerResponse,
  pages: AsyncIterable<readonly Uint8Array[]>,
  headers: OutgoingHttpHeaders = {},
): Promise<void> {
  const iterator = pages[Symbol.asyncIterator]();
  // The first page is read before the status is sent, so that a refusal can still set the status.
  let page = await iterator.next();
  const out = streamedBody(req, res, "application/json", headers);
  if (!out) {
    await iterator.return?.();
    return;
  }
  let separator = "[";
  for (; !page.done; page = await iterator.next()) {
    const chunks: Uint8Array[] = [];
    for (const item of page.value) {
      chunks.push(Buffer.from(separator), item);
      separator = ",";
    }
    if (!out.write(Buffer.concat(chunks))) await drained(out);
    if (res.destroyed) {
      await iterator.return?.();
      return;
    }
  }
  out.end(separator === "[" ? "[]" : "]");
}

/**
 * Begins an answer of unknown length; the client gets the bytes written to the result, compressed
 * if it accepts that. HEAD is answered.
 */
function streamedBody(
  req: IncomingMessage,
  res: ServerResponse,
  type: string,
  headers: OutgoingHttpHeaders = {},
): Writable | undefined {
  const encoding: Encoding | undefined = isText(type) ? acceptedEncoding(req) : undefined;
  res.writeHead(200, {
    ...SAFE_HEADERS,
    "Content-Type": type,
    ...headers,
    ...(isText(type) && { Vary: varying(res, headers) }),
    ...(encoding && req.method !== "HEAD" && { "Content-Encoding": encoding }),
  });
  if (req.method === "HEAD") return void res.end();
  if (encoding === undefined) return res;
  const out = encoder(encoding);
  // An encoder that nobody reads any more would hold its memory, and wait for ever.
  res.once("close", () => out.destroy());
  out.on("error", () => res.destroy()).pipe(res);
  return out;
}

/**
 * Sends an answer while it is produced. An answer of a few chunks is sent with its length; a longer
 * one waits for a slow client between the chunks.
 */
export async function streamBytes(
  req: IncomingMessage,
  res: ServerResponse,
  parts: AsyncIterable<Uint8Array>,
  { headers = {}, type = "application/json" }: Omit<ReplyOptions, "status"> = {},
): Promise<void> {
  const waiting: Uint8Array[] = [];
  let held = 0;
  // An error before this many bytes can still set its own status.
  let out: Writable | undefined;
  for await (const chunk of parts) {
    if (res.destroyed) return;
    if (!out) {
      waiting.push(chunk);
      if ((held += chunk.byteLength) < BUFFERED_BYTES) continue;
      out = streamedBody(req, res, type, headers);
      if (!out) return;
      if (!out.write(Buffer.concat(waiting.splice(0)))) await drained(out);
    } else if (!out.write(chunk)) await drained(out);
  }
  if (out) out.end();
  else sendBytes(req, res, Buffer.concat(waiting), { headers, type });
}

/** Bytes that are buffered before an answer begins. */
const BUFFERED_BYTES = 256 * 1024;

/** Resolves when more may be written, or when the stream is closed. */
function drained(out: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      out.off("drain", done).off("close", done);
      resolve();
    };
    out.on("drain", done).on("close", done);
  });
}

/** Pages run and show only scripts and styles of the registry, and load nothing from elsewhere. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
  "connect-src 'self'; font-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; " +
  "frame-ancestors 'none'";

/** The explorers of other packages write styles into the page, and have fonts in a style sheet. */
export const EXPLORER_POLICY = PAGE_POLICY.replace(
  "style-src 'self'",
  "style-src 'self' 'unsafe-inline'",
).replace("font-src 'self'", "font-src 'self' data:");

/** One event (HTML Standard, section 9.2): `data` without line breaks. */
export interface ServerEvent {
  event: string;
  id: string;
  data: string;
}

interface StreamLimits {
  /** Bound MAX_EVENT_STREAMS. */
  most: number;
  /** Bound EVENT_HEARTBEAT in ms. */
  heartbeat: number;
}

/** Open streams of server-sent events of one server. */
export class EventStreams {
  readonly #open = new Set<() => void>();

  /** Number of open streams. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Sends events until there are no more, the client leaves, or {@link close} is called; then the
   * source is ended. The source waits for a slow client, and heartbeats distinguish a silent source
   * from a dead connection.
   * @throws ServiceError `TOO_MANY_REQUESTS` before anything is sent
   */
  async send(
    res: ServerResponse,
    source: AsyncIterable<ServerEvent>,
    { most, heartbeat }: StreamLimits,
  ): Promise<void> {
    const events = source[Symbol.asyncIterator]();
    if (this.#open.size >= most) {
      await events.return?.();
      throw new ServiceError(
        "TOO_MANY_REQUESTS",
        `Too many event streams are open (${most}, MAX_EVENT_STREAMS). Poll instead, or ` +
          "retry later.",
        {},
        { "Retry-After": "10" },
      );
    }
    const end = () => void events.return?.();
    this.#open.add(end);
    res.once("close", end);
    const beat = setInterval(() => {
      if (!res.writableNeedDrain) res.write(":\n\n");
    }, heartbeat);
    try {
      res.writeHead(200, {
        ...SAFE_HEADERS,
        "Content-Type": "text/event-stream",
        "Cache-Control": "no-store",
        "X-Accel-Buffering": "no",
      });
      res.flushHeaders();
      for (
        let next = await events.next();
        !next.done && !res.destroyed;
        next = await events.next()
      ) {
        const { event, id, data } = next.value;
        if (!res.write(`event: ${event}\nid: ${id}\ndata: ${data}\n\n`)) await drained(res);
      }
    } finally {
      clearInterval(beat);
      this.#open.delete(end);
      res.off("close", end);
      await events.return?.();
    }
    res.end();
  }

  /** Ends every stream when the service stops. */
  close(): void {
    for (const end of this.#open) end();
  }
}

const PROBLEM = "application/problem+json";

/** The refusal of a request, as its client reads it. */
export interface ErrorAnswer {
  status: number;
  body: Readonly<Record<string, unknown>>;
  /** Media type of the body. */
  type: string;
  headers: Record<string, string>;
}

/**
 * The error body and headers of anything thrown: of RFC 9457 where Accept names its media type. An
 * internal fault never shows its text: the client gets an id that is also in the log.
 */
export function errorAnswer(error: unknown, log: Log, req: IncomingMessage): ErrorAnswer {
  const { status, body, headers } = refusalOf(error, log, req);
  if (!accepts(req.headers.accept, PROBLEM))
    return { status, body, headers, type: "application/json" };
  const { detail, ...members } = body;
  return {
    status,
    body: {
      title: STATUS_CODES[status],
      status,
      ...(error instanceof ValidationError
        ? { detail: error.message, code: error.code, errors: detail }
        : { detail, ...members }),
    },
    headers,
    type: PROBLEM,
  };
}

function refusalOf(
  error: unknown,
  log: Log,
  req: IncomingMessage,
): Pick<ErrorAnswer, "status" | "body" | "headers"> {
  if (error instanceof ValidationError)
    return { status: 422, body: { detail: error.items }, headers: {} };
  reportDamage(log, error);
  if (error instanceof ServiceError) {
    const headers: Record<string, string> = { ...error.headers };
    if (error.status === 401) headers["WWW-Authenticate"] ??= "Bearer";
    if (error.status === 503) headers["Retry-After"] ??= "1";
    return {
      status: error.status,
      body: { detail: cutMessage(error.message), code: error.code, ...error.extra },
      headers,
    };
  }
  const id = randomUUID();
  const request = requestIdOf(req);
  log.error(
    { err: error, fault: id, ...(request === undefined ? {} : { request }) },
    "a request failed with an internal error",
  );
  return {
    status: 500,
    body: {
      detail: `Internal error of the service; its log has the details under ${id}.`,
      code: "INTERNAL",
    },
    headers: {},
  };
}

/** Unchanged where its escapes do not decode to text. */
export function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** How long a client may continue to send a refused body before the connection is closed. */
const LINGER = 2_000;

/**
 * Answers before the body has arrived. The rest of the body is read and discarded for a short time:
 * closing at once would reset the connection, and the client might never see the answer.
 */
export function refuseEarly(
  req: IncomingMessage,
  res: ServerResponse,
  { status, body, type, headers }: ErrorAnswer,
): void {
  sendEarly(req, res, status, Buffer.from(JSON.stringify(body)), {
    "Content-Type": type,
    ...headers,
  });
}

/** The same for any answer. */
export function sendEarly(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  bytes: Uint8Array,
  headers: Record<string, string>,
): void {
  res.writeHead(status, {
    ...SAFE_HEADERS,
    "Content-Length": bytes.length,
    ...headers,
    Connection: "close",
  });
  res.write(bytes);
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, LINGER).unref();
  // A parser that waits for somebody to read its file would hold the rest back.
  req.unpipe().on("end", end).on("error", end).on("close", end).resume();
}
