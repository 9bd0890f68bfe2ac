import { crc32 } from "node:zlib";

/**
 * A zip archive without compression, made in one pass: packers take minutes for a hundred thousand
 * members. Names may be any text that a hostile packer writes.
 */
export function plainZip(
  members: Iterable<readonly [name: string, content: string | Uint8Array]>,
): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  let count = 0;
  for (const [name, text] of members) {
    const content = Buffer.from(text);
    const bytes = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800, 2);
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(content.byteLength, 14);
    common.writeUInt32LE(content.byteLength, 18);
    common.writeUInt16LE(bytes.byteLength, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\x00", "latin1"), common, tail, bytes);
    parts.push(Buffer.from("PK\x03\x04", "latin1"), common, bytes, content);
    at += 30 + bytes.byteLength + content.byteLength;
    count++;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(98);
  end.write("PK\x06\x06", 0, "latin1");
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt16LE(45, 12);
  end.writeUInt16LE(45, 14);
  for (const place of [24, 32]) end.writeBigUInt64LE(BigInt(count), place);
  end.writeBigUInt64LE(BigInt(listed.byteLength), 40);
  end.writeBigUInt64LE(BigInt(at), 48);
  end.write("PK\x06\x07", 56, "latin1");
  end.writeBigUInt64LE(BigInt(at + listed.byteLength), 64);
  end.writeUInt32LE(1, 72);
  end.write("PK\x05\x06", 76, "latin1");
  for (const place of [84, 86]) end.writeUInt16LE(Math.min(count, 0xffff), place);
  end.writeUInt32LE(listed.byteLength, 88);
  end.writeUInt32LE(at, 92);
  return Buffer.concat([...parts, listed, end]);
}
