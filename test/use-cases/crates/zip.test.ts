import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import yazl from "yazl";
import { CrateError } from "../../../src/use-cases/crates/findings.js";
import type { CrateLimits } from "../../../src/use-cases/crates/limits.js";
import { Archive } from "../../../src/use-cases/crates/zip/archive.js";
import { LIMITS, forge, readerOf, rename, zip } from "../../support/crates.js";

const open = (bytes: Buffer, limits: Partial<CrateLimits> = {}) => Archive.open(readerOf(bytes), { ...LIMITS, ...limits });
const codes = async (work: Promise<unknown>): Promise<string[]> => {
  const error = await work.then(() => undefined, (cause: unknown) => cause);
  if (!(error instanceof CrateError)) throw error ?? new Error("nothing was refused");
  for (const { message } of error.findings) expect(message.length).toBeGreaterThan(10);
  return error.findings.map(({ code }) => code);
};
const readAll = async (archive: Archive) => {
  const contents: Record<string, string> = {};
  for (const member of archive.members) {
    const chunks: Buffer[] = [];
    for await (const chunk of archive.read(member)) chunks.push(chunk);
    if (!member.folder) contents[member.name] = Buffer.concat(chunks).toString();
  }
  return contents;
};

describe("archive of a crate", () => {
  it("lists its members and gives their bytes, deflated or stored, small or large", async () => {
    const large = "0123456789".repeat(300_000);
    for (const compress of [true, false]) {
      const archive = await open(await zip({ "a.txt": "hello", "folder/": null, "folder/ü b.txt": "", "large.txt": large }, { compress }));
      expect(archive.members.map(({ name, folder }) => [name, folder])).toEqual([["a.txt", false], ["folder", true], ["folder/ü b.txt", false], ["large.txt", false]]);
      expect(await readAll(archive)).toEqual({ "a.txt": "hello", "folder/ü b.txt": "", "large.txt": large });
    }
  });

  it("reads names without the UTF-8 flag as UTF-8 when they are, as macOS writes them", async () => {
    const flagged = await zip({ "über.txt": "x" });
    const archive = await open(forge(flagged, 0, (header) => header.writeUInt16LE(header.readUInt16LE(8) & ~0x800, 8)));
    expect(archive.members[0]!.name).toBe("über.txt");
  });

  it("reads archives that were written as a stream, in Zip64, and with a comment", async () => {
    for (const [forceZip64Format, comment] of [[false, ""], [true, "packed by a notebook"]] as const) {
      const packer = new yazl.ZipFile();
      // Of unknown size: sizes come behind the data.
      packer.addReadStream(Readable.from([Buffer.from("hel"), Buffer.from("lo")]), "a.txt", { forceZip64Format });
      packer.addReadStream(Readable.from([Buffer.alloc(3_000_000, "xyz")]), "large.bin", { forceZip64Format, compress: false });
      packer.addBuffer(Buffer.from(""), "empty", { forceZip64Format });
      packer.end({ forceZip64Format, comment });
      const contents = await readAll(await open(await buffer(packer.outputStream)));
      expect(Object.entries(contents).map(([name, { length }]) => [name, length])).toEqual([["a.txt", 5], ["large.bin", 3_000_000], ["empty", 0]]);
    }
  });

  it("passes over the packed folder itself, which some packers list", async () => {
    const archive = await open(rename(await zip({ "xx/": null, "xx/a.txt": "x" }), "xx/", ".//"));
    expect(archive.members.map(({ name }) => name)).toEqual(["a.txt"]);
  });

  it("refuses what is no zip, and says when one is cut off", async () => {
    expect(await codes(open(Buffer.from("hello")))).toEqual(["NOT_A_ZIP"]);
    expect(await codes(open(Buffer.alloc(0)))).toEqual(["NOT_A_ZIP"]);
    const whole = await zip({ "a.txt": "hello" });
    await expect(open(whole.subarray(0, whole.length - 30))).rejects.toThrow("truncated");
    expect(await codes(open(Buffer.concat([whole, Buffer.from("more")])))).toEqual(["CORRUPT_ARCHIVE"]);
  });

  it("refuses names that lead elsewhere when unpacked", async () => {
    for (const [name, safe] of [["../moo", "xx/moo"], ["a/../../b", "a/xx/xx/b"], ["/etc/x", "xetc/x"], ["C:/x", "Cx/x"], ["a\\b", "axb"], ["a\0b", "axb"], ["////", "xxxx"]] as const) {
      expect(await codes(open(rename(await zip({ [safe]: "x" }), safe, name))), name).toEqual(["BAD_MEMBER_NAME"]);
    }
  });

  it("refuses symbolic links, devices and encrypted members", async () => {
    const plain = await zip({ a: "x" });
    expect(await codes(open(forge(plain, 0, (header) => header.writeUInt32LE((0o120777 << 16) >>> 0, 38))))).toEqual(["SPECIAL_MEMBER"]);
    expect(await codes(open(forge(plain, 0, (header) => header.writeUInt32LE((0o020666 << 16) >>> 0, 38))))).toEqual(["SPECIAL_MEMBER"]);
    expect(await codes(open(forge(plain, 0, (header) => header.writeUInt16LE(1, 8))))).toEqual(["MEMBER_ENCRYPTED"]);
    expect(await codes(open(forge(plain, 0, (header) => header.writeUInt16LE(12, 10))))).toEqual(["UNSUPPORTED_COMPRESSION"]);
  });

  it("refuses names that a file system would take for one", async () => {
    expect(await codes(open(await zip({ "data.csv": "1", "DATA.csv": "2" })))).toEqual(["DUPLICATE_NAME"]);
    expect(await codes(open(await zip({ "caf\u00e9": "1", "cafe\u0301": "2" })))).toEqual(["DUPLICATE_NAME"]);
    expect(await codes(open(await zip({ "Straße": "1", "STRASSE": "2" })))).toEqual(["DUPLICATE_NAME"]);
    expect(await codes(open(rename(await zip({ a1: "1", a2: "2" }), "a2", "a1")))).toEqual(["DUPLICATE_NAME"]);
    expect(await codes(open(rename(await zip({ "aa": "1", "bb/c": "2" }), "bb/c", "aa/c")))).toEqual(["DUPLICATE_NAME"]);
  });

  it("refuses members that share bytes", async () => {
    const two = await zip({ a: "hello", b: "world" });
    expect(await codes(open(forge(two, 1, (header) => header.writeUInt32LE(0, 42))))).toContain("MEMBER_OVERLAP");
    expect(await codes(open(forge(two, 1, (header) => header.writeUInt32LE(header.readUInt32LE(42) - 3, 42))))).toContain("MEMBER_OVERLAP");
    expect(await codes(open(forge(two, 1, (header) => header.writeUInt32LE(5000, 20))))).toContain("MEMBER_OVERLAP");
  });

  it("refuses members whose size is a lie, when they are read", async () => {
    for (const content of ["hello hello hello", "x".repeat(3_000_000)]) {
      const honest = await zip({ a: content });
      for (const size of [3, content.length - 1, content.length + 1]) {
        const archive = await open(forge(honest, 0, (header) => header.writeUInt32LE(size, 24)));
        expect(await codes(readAll(archive))).toEqual(["MEMBER_SIZE_MISMATCH"]);
      }
    }
    const stored = await zip({ a: "hello" }, { compress: false });
    expect(await codes(open(forge(stored, 0, (header) => header.writeUInt32LE(3, 24))))).toEqual(["MEMBER_SIZE_MISMATCH"]);
  });

  it("refuses bytes that do not inflate or whose checksum is wrong", async () => {
    const honest = await zip({ a: "hello hello hello" });
    const wrongSum = await open(forge(honest, 0, (header) => header.writeUInt32LE(1, 16)));
    expect(await codes(readAll(wrongSum))).toEqual(["CORRUPT_MEMBER"]);
    const garbled = Buffer.from(honest);
    garbled.fill(0xff, 31, 40);
    expect(await codes(readAll(await open(garbled)))).toEqual(["CORRUPT_MEMBER"]);
  });

  it("keeps to the limits on members, names, sizes and ratio, naming the setting", async () => {
    const three = await zip({ a: "1", b: "2", "long-name": "3".repeat(1000) });
    await expect(open(three, { MAX_CRATE_ENTRIES: 2 })).rejects.toThrow("MAX_CRATE_ENTRIES=2");
    await expect(open(three, { MAX_MEMBER_NAME_BYTES: 5 })).rejects.toThrow("MAX_MEMBER_NAME_BYTES=5");
    await expect(open(three, { MAX_CRATE_INFLATED_BYTES: 1001 })).rejects.toThrow("MAX_CRATE_INFLATED_BYTES=1001");
    const bomb = await zip({ bomb: Buffer.alloc(40 * 2 ** 20) });
    await expect(readAll(await open(bomb))).rejects.toThrow("MAX_CRATE_RATIO=200");
    const small = await zip({ small: Buffer.alloc(10 * 2 ** 20) });
    expect(Object.keys(await readAll(await open(small)))).toEqual(["small"]);
  });

  it("tells everything that is wrong with a directory at once", async () => {
    const bad = rename(await zip({ "xx/a": "1", "b": "2", "B": "3" }), "xx/a", "../a");
    expect(await codes(open(forge(bad, 1, (header) => header.writeUInt16LE(1, 8))))).toEqual(["BAD_MEMBER_NAME", "MEMBER_ENCRYPTED", "DUPLICATE_NAME"]);
  });
});
