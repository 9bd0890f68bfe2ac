import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip, type BrotliCompress, type Gzip } from "node:zlib";

/** Forms in which a body is sent smaller, the better one first. */
export type Encoding = "br" | "gzip";
const ENCODINGS: readonly Encoding[] = ["br", "gzip"];

/** Shorter bodies gain less than the work costs. */
export const LEAST_BYTES = 2048;
/** Brotli's default of 11 is for files that are compressed once; this is as fast as gzip and smaller. */
const QUALITY = 5;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } };

const brotliBytes = promisify(brotliCompress);
const gzipBytes = promisify(gzip);

/** Text of any kind; not streams of events, each of which must arrive at once. */
const TEXT = /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|n-triples|n-quads|trig|javascript|graphql)\b|image\/svg)/;
export const isText = (type: string): boolean => TEXT.test(type);

/** The encoding that the client prefers among ours (RFC 9110, section 12.5.3); `undefined` for none. */
export function acceptedEncoding(req: IncomingMessage): Encoding | undefined {
  const accept = req.headers["accept-encoding"];
  if (typeof accept !== "string" || accept === "" || accept === "identity") return undefined;
  const weights = new Map(accept.toLowerCase().split(",", 20).map((part) => {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const weight = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
    return [name, Number.isFinite(weight) ? weight : 0] as const;
  }));
  let best: Encoding | undefined;
  let most = 0;
  for (const encoding of ENCODINGS) {
    const weight = weights.get(encoding) ?? weights.get("*") ?? 0;
    if (weight > most) [best, most] = [encoding, weight];
  }
  return best;
}

export const encoded = (bytes: Uint8Array, encoding: Encoding): Promise<Buffer> => (encoding === "br" ? brotliBytes(bytes, BROTLI) : gzipBytes(bytes));
export const encoder = (encoding: Encoding): BrotliCompress | Gzip => (encoding === "br" ? createBrotliCompress(BROTLI) : createGzip());

/** The Vary header of an answer whose form depends on Accept-Encoding, and on what was said of it before. */
export function varying(res: ServerResponse, headers: OutgoingHttpHeaders = {}): string {
  return [headers["Vary"] ?? res.getHeader("Vary"), "Accept-Encoding"].filter((value) => value !== undefined && value !== "").join(", ");
}
