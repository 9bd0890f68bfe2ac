/** Header of a frame: the stream's number, three zeros, the length (Docker Engine API, "Stream format"). */
const HEADER = 8;

/**
 * The last `most` bytes of what a container wrote, both streams as they came.
 * @param pieces frames, cut anywhere
 */
export async function logText(pieces: AsyncIterable<Uint8Array>, most: number): Promise<string> {
  let head = Buffer.alloc(0);
  let left = 0;
  let tail = Buffer.alloc(0);
  for await (const piece of pieces) {
    let bytes = Buffer.from(piece);
    while (bytes.byteLength > 0) {
      if (left === 0) {
        const wanted = HEADER - head.byteLength;
        head = Buffer.concat([head, bytes.subarray(0, wanted)]);
        bytes = bytes.subarray(wanted);
        if (head.byteLength < HEADER) break;
        left = head.readUInt32BE(4);
        head = Buffer.alloc(0);
        continue;
      }
      const part = bytes.subarray(0, left);
      left -= part.byteLength;
      bytes = bytes.subarray(part.byteLength);
      tail = Buffer.concat([tail, part]).subarray(-most);
    }
  }
  // What a terminal would obey, and what no store takes, is no text.
  return tail.toString("utf8").replace(/^\uFFFD+/, "").replace(/\r\n/g, "\n").replace(/[\p{Cc}\p{Cs}]/gu, (character) => (character === "\n" || character === "\t" ? character : "\uFFFD")).trim();
}
