import { createHash } from "node:crypto";
import { pipeline, Transform, type Readable } from "node:stream";
import { ServiceError } from "../../errors.js";

/** What a stream of stored bytes is held to. */
export interface Promised { /** Bytes that must come. */ length: number; /** Their digest, where the whole object is read and its bytes are to be hashed. */ sha256?: string | undefined }

/** @param what is wrong with it, as a part of a sentence */
export function contentDamaged(sha256: string, what: string): ServiceError {
  return new ServiceError("CONTENT_DAMAGED", `The stored object with the SHA-256 ${sha256} is damaged: ${what}. It is not served; uploading the same file again repairs it.`, { sha256 });
}

/** @throws ServiceError `CONTENT_DAMAGED` when a store holds another number of bytes than it was given */
export function assertSize(sha256: string, found: number, expected: number | undefined): void {
  if (expected !== undefined && found !== expected) throw contentDamaged(sha256, `the object store has ${found} bytes of it instead of ${expected}`);
}

/**
 * The same bytes, failing with `CONTENT_DAMAGED` where they are not what was stored. The last chunk is handed on only after all were
 * hashed: whoever reads never has the whole of a damaged object, and a client sees a transfer that was cut, not a file.
 * @param name SHA-256 of the object, for the error
 */
export function verified(source: Readable, name: string, { length, sha256 }: Promised): Readable {
  const hash = sha256 === undefined ? undefined : createHash("sha256");
  let held: Buffer | undefined;
  let seen = 0;
  const checked = new Transform({
    readableHighWaterMark: source.readableHighWaterMark,
    writableHighWaterMark: source.readableHighWaterMark,
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.byteLength;
      hash?.update(chunk);
      if (held) this.push(held);
      held = chunk;
      done();
    },
    flush(done) {
      if (seen !== length) return done(contentDamaged(name, `reading it ended after ${seen} of ${length} bytes`));
      if (hash && hash.digest("hex") !== sha256) return done(contentDamaged(name, "its bytes have another hash"));
      if (held) this.push(held);
      done();
    },
  });
  // Whichever end fails or is given up, the other one is closed.
  pipeline(source, checked, () => {});
  return checked;
}
