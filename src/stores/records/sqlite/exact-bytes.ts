import type { Commit } from "../port.js";

/**
 * A message between threads carries the whole buffer behind an array of bytes, which for a small Buffer is
 * Node's shared pool: 8 KiB for 300 bytes. So bytes that are part of a larger buffer are copied out first.
 */
function exact(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

export const exactCommit = (commit: Commit): Commit => ({
  ...commit,
  records: commit.records.map((write) => ("document" in write ? { ...write, document: exact(write.document) } : write)),
});
