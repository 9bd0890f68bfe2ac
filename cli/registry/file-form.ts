import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { Sending } from "./transport.js";

/** A `multipart/form-data` request with one file (RFC 7578), sent as it is read. */
export function fileForm(file: { name: string; size: number | undefined; type: string; stream: Readable }): Sending {
  const boundary = `arkgraph-${randomUUID()}`;
  // A name in a header: quotes, backslashes and line breaks would end it.
  const name = file.name.replace(/[\p{Cc}"\\]/gu, "_");
  const head = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: ${file.type}\r\n\r\n`);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* form(): AsyncGenerator<Buffer> {
    yield head;
    yield* file.stream as AsyncIterable<Buffer>;
    yield tail;
  }
  return {
    method: "POST", body: Readable.from(form(), { objectMode: false }),
    headers: { "Content-Type": `multipart/form-data; boundary=${boundary}`, ...(file.size === undefined ? {} : { "Content-Length": String(head.length + file.size + tail.length) }) },
  };
}
