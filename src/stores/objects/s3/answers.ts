import type { IncomingMessage } from "node:http";

/** One answer to a GET, not yet read. */
export interface Body { stream: IncomingMessage; /** Bytes to come. */ length: number; /** Bytes of the whole object. */ total: number }

/** An ETag without its quotation marks. */
export const bare = (etag: string | undefined): string => (etag ?? "").replace(/^"|"$/g, "");

/** `undefined` for an answer that does not say what it holds, or holds something else than was asked for. */
export function bodyOf(stream: IncomingMessage, start: number, ranged: boolean): Body | undefined {
  const length = Number(stream.headers["content-length"] ?? NaN);
  if (!Number.isSafeInteger(length)) return undefined;
  if (stream.statusCode !== 206) return ranged ? undefined : { stream, length, total: length };
  const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(stream.headers["content-range"] ?? "");
  if (!range || Number(range[1]) !== start || Number(range[2]) - start + 1 !== length) return undefined;
  return { stream, length, total: Number(range[3]) };
}
