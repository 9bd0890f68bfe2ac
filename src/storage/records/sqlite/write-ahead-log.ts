/**
 * The write-ahead log as an unclean stop left it (https://sqlite.org/fileformat2.html#walformat).
 * SQLite recovers it up to the last commit before the first frame whose checksum is wrong, and says
 * nothing about what stands behind.
 */
import { closeSync, openSync, readSync } from "node:fs";

const HEADER = 32;
const FRAME_HEADER = 24;
/** The last bit says in which order of bytes the words of checksums are read. */
const MAGIC = 0x377f0682;

/** The running checksum: two sums of words, each of which the other goes into. */
class Checksum {
  #one = 0;
  #two = 0;
  readonly #littleEndian: boolean;

  constructor(littleEndian: boolean) {
    this.#littleEndian = littleEndian;
  }

  add(bytes: DataView, from: number, to: number): void {
    for (let at = from; at < to; at += 8) {
      this.#one = (this.#one + bytes.getUint32(at, this.#littleEndian) + this.#two) >>> 0;
      this.#two = (this.#two + bytes.getUint32(at + 4, this.#littleEndian) + this.#one) >>> 0;
    }
  }

  isAt(bytes: DataView, at: number): boolean {
    return this.#one === bytes.getUint32(at) && this.#two === bytes.getUint32(at + 4);
  }
}

/**
 * Whether a log may have held commits that SQLite does not recover: its header is damaged, a commit
 * of the same run of the log stands at or behind a damaged frame, or the file ends inside a frame.
 * Frames without a commit are normal: a transaction was interrupted or rolled back. Read it before
 * the database is opened, which empties it.
 * @param path of the log; where it is absent or cannot be read, the answer is no
 */
export function endsEarly(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return false;
  }
  try {
    return holdsMore(file);
  } finally {
    closeSync(file);
  }
}

function holdsMore(file: number): boolean {
  const header = new DataView(new ArrayBuffer(HEADER));
  const size = readSync(file, header, 0, HEADER, 0);
  if (size === 0) return false;
  const magic = header.getUint32(0);
  const checksum = new Checksum((magic & 1) === 0);
  checksum.add(header, 0, 24);
  if (size < HEADER || (magic & ~1) !== MAGIC || !checksum.isAt(header, 24)) return true;

  const frame = new DataView(new ArrayBuffer(FRAME_HEADER + header.getUint32(8)));
  let sound = true;
  for (let at = HEADER; ; at += frame.byteLength) {
    const read = readSync(file, frame, 0, frame.byteLength, at);
    // Frames of an earlier run, which was copied into the database, have another salt.
    const isOfThisRun =
      frame.getUint32(8) === header.getUint32(16) && frame.getUint32(12) === header.getUint32(20);
    if (read < frame.byteLength) return read > 0 && isOfThisRun;
    checksum.add(frame, 0, 8);
    checksum.add(frame, FRAME_HEADER, frame.byteLength);
    sound &&= isOfThisRun && checksum.isAt(frame, 16);
    const isCommit = frame.getUint32(4) !== 0;
    if (!sound && isOfThisRun && isCommit) return true;
  }
}
