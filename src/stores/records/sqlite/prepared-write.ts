import { arkKey } from "../../../identifiers/ark.js";
import type { Link } from "../../../model/link.js";
import { fold, indexable } from "../fold.js";
import { unpackLinks } from "../links-codec.js";
import type { Commit, RecordState, RecordWrite, SearchText } from "../port.js";
import { packQuads } from "../quads-codec.js";
import { keywordsOf, searchedTextOf } from "../searched-text.js";

/** A record's state as the tables take it. */
export interface PreparedState extends Omit<RecordState, "quads" | "links"> {
  links: readonly Link[];
  /** The name without case. */
  folded: string;
  ownerKey: string | null;
  /** Packed. */
  quads: Uint8Array;
  /** As the search index takes it. */
  text: SearchText;
  /** Distinct, as they are compared. */
  keywords: string[];
}
type Prepared<Write> = Write extends RecordState ? Omit<Write, keyof RecordState> & PreparedState : Write;

/** A write with all worked out that needs no table: the writer's time is the scarcest. */
export type PreparedWrite = Prepared<RecordWrite>;
export interface PreparedCommit extends Omit<Commit, "records"> { records: PreparedWrite[] }

export function prepareWrite(write: RecordWrite): PreparedWrite {
  if (!("document" in write)) return write;
  const { name, owner, document } = write;
  return {
    ...write, document: ownBytes(document), folded: indexable(fold(name ?? "")), ownerKey: owner === null ? null : arkKey(owner),
    quads: packQuads(write.quads), links: unpackLinks(write.links), text: searchedTextOf(write), keywords: keywordsOf(write),
  };
}

export const prepareCommit = (commit: Commit): PreparedCommit => ({ ...commit, records: commit.records.map(prepareWrite) });

/** The same write, to be prepared in the other thread. */
export const rawWrite = (write: RecordWrite): RecordWrite => ("document" in write ? { ...write, document: ownBytes(write.document) } : write);

/**
 * A message between threads carries the whole buffer behind an array of bytes, which for a small Buffer is
 * Node's shared pool: 8 KiB for 300 bytes. So bytes that are part of a larger buffer are copied out.
 */
const ownBytes = (bytes: Uint8Array): Uint8Array => (bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes));
