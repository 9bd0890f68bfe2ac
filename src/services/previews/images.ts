export interface ImageFacts {
  mediaType: string;
  width: number | null;
  height: number | null;
}

/** Formats that every browser shows, by their first bytes; never SVG, which may hold scripts. */
export function imageOf(bytes: Buffer): ImageFacts | undefined {
  const ascii = (from: number, to: number): string => bytes.toString("latin1", from, to);
  const facts = (mediaType: string, size?: [width: number, height: number]): ImageFacts => ({
    mediaType,
    width: size?.[0] ?? null,
    height: size?.[1] ?? null,
  });
  if (ascii(0, 8) === "\u0089PNG\r\n\u001a\n")
    return facts(
      "image/png",
      bytes.length >= 24 ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] : undefined,
    );
  if (/^GIF8[79]a$/.test(ascii(0, 6)))
    return facts(
      "image/gif",
      bytes.length >= 10 ? [bytes.readUInt16LE(6), bytes.readUInt16LE(8)] : undefined,
    );
  if (ascii(0, 3) === "\u00ff\u00d8\u00ff") return facts("image/jpeg", jpegSize(bytes));
  if (ascii(0, 4) === "RIFF" && ascii(8, 12) === "WEBP")
    return facts("image/webp", webpSize(bytes));
  return ascii(4, 12) === "ftypavif" ? facts("image/avif") : undefined;
}

/** From the first frame header; segments before it say how long they are. */
function jpegSize(bytes: Buffer): [number, number] | undefined {
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at++;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

function webpSize(bytes: Buffer): [number, number] | undefined {
  if (bytes.length < 30) return undefined;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    case "VP8 ":
      return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return [(bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1];
    }
    default:
      return undefined;
  }
}
