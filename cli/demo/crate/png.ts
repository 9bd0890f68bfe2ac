import { crc32, deflateSync } from "node:zlib";

/** An image of 8-bit red, green and blue. */
export interface Image {
  readonly width: number;
  readonly height: number;
  /** Row by row, three bytes a pixel. */
  readonly pixels: Uint8Array;
}

export const blankImage = (width: number, height: number, value = 0): Image => ({ width, height, pixels: new Uint8Array(width * height * 3).fill(value) });

/** Sets a pixel; outside the image nothing happens. */
export function plot({ width, height, pixels }: Image, x: number, y: number, [red, green, blue]: readonly [number, number, number]): void {
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  pixels.set([red, green, blue], (y * width + x) * 3);
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The image as PNG: 8-bit truecolour, no interlacing, filter 0 on each row (PNG specification, sections 5 and 11). */
export function encodePng({ width, height, pixels }: Image): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.alloc(height * (width * 3 + 1));
  for (let y = 0; y < height; y++) rows.set(pixels.subarray(y * width * 3, (y + 1) * width * 3), y * (width * 3 + 1) + 1);
  return Buffer.concat([SIGNATURE, chunk("IHDR", header), chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
