import type { RecordWrite } from "../port.js";

/**
 * A message between threads carries the whole buffer behind an array of bytes, which for a small Buffer is
 * Node's shared pool: 8 KiB for 300 bytes. So bytes that are part of a larger buffer are copied out first.
 */
export function exactWrite(write: RecordWrite): RecordWrite {
  if (!("document" in write) || write.document.byteLength === write.document.buffer.byteLength) return write;
  return { ...write, document: new Uint8Array(write.document) };
}
