import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import yazl from "yazl";
import { CrateError } from "../../../src/services/crates/findings.js";
import type { CrateLimits } from "../../../src/services/crates/upload.js";
import { Archive } from "../../../src/services/crates/zip/archive.js";
import { forge, LIMITS, readerOf, rename, zip } from "../../support/crates.js";

const open = (bytes: Buffer, limits: Partial<CrateLimits> = {}) =>
  Archive.open(readerOf(bytes), { ...LIMITS, ...limits });
const codes = async (work: Promise<unknown>): Promise<string[]> => {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
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
  it("lists its members and returns their bytes, deflated or stored, small or large", async () => {
    const large = "0123456789".repeat(300_000);
    for (const compress of [true, false]) {
      const archive = await open(
        await zip(
          { "a.txt": "hello", "folder/": null, "folder/ü b.txt": "", "large.txt": large },
          { compress },
        ),
      );
      expect(archive.members.map(({ name, folder }) => [name, folder])).toEqual([
        ["a.txt", false],
        ["folder", true],
        ["folder/ü b.txt", false],
        ["large.txt", false],
      ]);
      expect(await readAll(archive)).toEqual({
        "a.txt": "hello",
        "folder/ü b.txt": "",
        "large.txt": large,
      });
    }
  });

  it("reads names without the UTF-8 flag as UTF-8 when they are, as macOS writes them", async () => {
    const flagged = await zip({ "über.txt": "x" });
    const archive = await open(
      forge(flagged, 0, (header) => header.writeUInt16LE(header.readUInt16LE(8) & ~0x800, 8)),
    );
    expect(archive.members[0]!.name).toBe("über.txt");
  });

  it("reads archives that were written as a stream, in Zip64, and with a comment", async () => {
    for (const [forceZip64Format, comment] of [
      [false, ""],
      [true, "packed by a notebook"],
    ] as const) {
      const packer = new yazl.ZipFile();
      // Of unknown size: sizes come behind the data.
      packer.addReadStream(Readable.from([Buffer.from("hel"), Buffer.from("lo")]), "a.txt", {
        forceZip64Format,
      });
      packer.addReadStream(Readable.from([Buffer.alloc(3_000_000, "xyz")]), "large.bin", {
        forceZip64Format,
        compress: false,
      });
      packer.addBuffer(Buffer.from(""), "empty", { forceZip64Format });
      packer.end({ forceZip64Format, comment });
      const contents = await readAll(await open(await buffer(packer.outputStream)));
      expect(Object.entries(contents).map(([name, { length }]) => [name, length])).toEqual([
        ["a.txt", 5],
        ["large.bin", 3_000_000],
        ["empty", 0],
      ]);
    }
  });

  it("skips an entry for the packed folder itself, which some tools add", async () => {
    const archive = await open(rename(await zip({ "xx/": null, "xx/a.txt": "x" }), "xx/", ".//"));
    expect(archive.members.map(({ name }) => name)).toEqual(["a.txt"]);
  });

  describe("with the signature of an archive's end in its comment", () => {
    const signature = Buffer.from("PK\x05\x06", "latin1");
    const commented = (bytes: Buffer, comment: Buffer) => {
      const end = Buffer.from(bytes);
      end.writeUInt16LE(comment.length, bytes.length - 2);
      return Buffer.concat([end, comment]);
    };
    /** A record that describes a directory of this size and place. */
    const record = (entries: number, size: number, offset: number, comment = 0) => {
      const bytes = Buffer.alloc(22);
      signature.copy(bytes);
      for (const at of [8, 10]) bytes.writeUInt16LE(entries, at);
      bytes.writeUInt32LE(size, 12);
      bytes.writeUInt32LE(offset, 16);
      bytes.writeUInt16LE(comment, 20);
      return bytes;
    };
    const zip64 = async () => {
      const packer = new yazl.ZipFile();
      packer.addBuffer(Buffer.from("hello"), "a.txt", { forceZip64Format: true });
      packer.end({ forceZip64Format: true, comment: "" });
      return buffer(packer.outputStream);
    };

    it("is read where only its own end leads to a directory", async () => {
      for (const whole of [await zip({ "a.txt": "hello" }), await zip64()]) {
        for (const comment of [
          signature,
          Buffer.concat([Buffer.from("what "), signature, Buffer.from(" is")]),
          Buffer.concat([
            signature,
            Buffer.from(" stands at the end of an archive, before its comment"),
          ]),
          Buffer.concat([signature, signature, signature, Buffer.alloc(300, "text ")]),
          // As if it were there, and leads to no directory.
          record(1, 3, 5),
          record(1, 3, 5, 7),
          record(9, 0xfffffff0, 0xfffffff0),
        ])
          expect(await readAll(await open(commented(whole, comment)))).toEqual({
            "a.txt": "hello",
          });
      }
    });
    it("is refused where another tool would unpack other contents", async () => {
      const whole = await zip({ "a.txt": "hello" });
      const other = await zip({ "b.txt": "another" });
      // The same with its offsets counted from the start of the file, as a self-extracting archive
      // has them.
      const moved = Buffer.from(other);
      const directory = moved.indexOf("PK\x01\x02", 0, "latin1");
      moved.writeUInt32LE(whole.length, directory + 42);
      moved.writeUInt32LE(directory + whole.length, moved.length - 6);
      const own = {
        size: whole.readUInt32LE(whole.length - 10),
        offset: whole.readUInt32LE(whole.length - 6),
      };
      for (const comment of [
        other,
        moved,
        await zip64(),
        Buffer.concat([other, Buffer.from("and more")]),
        record(0, 0, 0),
        record(0, 40, 40),
        record(1, 22 + own.size, own.offset),
        record(1, own.size, own.offset, 3),
        Buffer.concat([
          Buffer.from("PK\x06\x07", "latin1"),
          Buffer.alloc(16),
          record(0xffff, 0xffffffff, 0xffffffff),
        ]),
        // Each would cost reads anywhere in the archive.
        Buffer.alloc(65_532, signature),
      ])
        expect(await codes(open(commented(whole, comment))), comment.toString("latin1")).toEqual([
          "AMBIGUOUS_ARCHIVE",
        ]);
    });
  });

  it("is read in one way only: the directory must match its offset, size and count", async () => {
    const whole = await zip({ "a.txt": "hello", "b.txt": "b" });
    const at = whole.length - 22;
    const change = (make: (bytes: Buffer) => void) => {
      const bytes = Buffer.from(whole);
      make(bytes);
      return bytes;
    };
    for (const bytes of [
      // One member less than there are: by count it is not there, by size it is.
      change((end) => {
        for (const place of [8, 10]) end.writeUInt16LE(1, at + place);
      }),
      change((end) => end.writeUInt32LE(end.readUInt32LE(at + 12) - 51, at + 12)),
      // Another directory before the one that the size leads to.
      Buffer.concat([
        whole.subarray(0, at),
        whole.subarray(whole.readUInt32LE(at + 16), at),
        whole.subarray(at),
      ]),
      // Bytes before the archive, of which its offsets know nothing.
      Buffer.concat([Buffer.from("#!/bin/sh\n"), whole]),
    ])
      expect(await codes(open(bytes))).toEqual(["CORRUPT_ARCHIVE"]);
  });

  it("refuses a file that is no zip, and reports a truncated one", async () => {
    expect(await codes(open(Buffer.from("hello")))).toEqual(["NOT_A_ZIP"]);
    expect(await codes(open(Buffer.alloc(0)))).toEqual(["NOT_A_ZIP"]);
    const whole = await zip({ "a.txt": "hello" });
    await expect(open(whole.subarray(0, whole.length - 30))).rejects.toThrow("truncated");
    expect(await codes(open(Buffer.concat([whole, Buffer.from("more")])))).toEqual([
      "CORRUPT_ARCHIVE",
    ]);
  });

  it("refuses names that lead outside when unpacked", async () => {
    for (const [name, safe] of [
      ["../moo", "xx/moo"],
      ["a/../../b", "a/xx/xx/b"],
      ["/etc/x", "xetc/x"],
      ["C:/x", "Cx/x"],
      ["a\\b", "axb"],
      ["a\0b", "axb"],
      ["////", "xxxx"],
    ] as const) {
      expect(await codes(open(rename(await zip({ [safe]: "x" }), safe, name))), name).toEqual([
        "BAD_MEMBER_NAME",
      ]);
    }
  });

  it("refuses symbolic links, devices and encrypted members", async () => {
    const plain = await zip({ a: "x" });
    expect(
      await codes(
        open(forge(plain, 0, (header) => header.writeUInt32LE((0o120777 << 16) >>> 0, 38))),
      ),
    ).toEqual(["SPECIAL_MEMBER"]);
    expect(
      await codes(
        open(forge(plain, 0, (header) => header.writeUInt32LE((0o020666 << 16) >>> 0, 38))),
      ),
    ).toEqual(["SPECIAL_MEMBER"]);
    expect(await codes(open(forge(plain, 0, (header) => header.writeUInt16LE(1, 8))))).toEqual([
      "MEMBER_ENCRYPTED",
    ]);
    expect(await codes(open(forge(plain, 0, (header) => header.writeUInt16LE(12, 10))))).toEqual([
      "UNSUPPORTED_COMPRESSION",
    ]);
  });

  it("refuses names that a file system treats as equal", async () => {
    expect(await codes(open(await zip({ "data.csv": "1", "DATA.csv": "2" })))).toEqual([
      "DUPLICATE_NAME",
    ]);
    expect(await codes(open(await zip({ "caf\u00e9": "1", "cafe\u0301": "2" })))).toEqual([
      "DUPLICATE_NAME",
    ]);
    expect(await codes(open(await zip({ Straße: "1", STRASSE: "2" })))).toEqual(["DUPLICATE_NAME"]);
    expect(await codes(open(rename(await zip({ a1: "1", a2: "2" }), "a2", "a1")))).toEqual([
      "DUPLICATE_NAME",
    ]);
    expect(await codes(open(rename(await zip({ aa: "1", "bb/c": "2" }), "bb/c", "aa/c")))).toEqual([
      "DUPLICATE_NAME",
    ]);
  });

  it("refuses members that share bytes", async () => {
    const two = await zip({ a: "hello", b: "world" });
    expect(await codes(open(forge(two, 1, (header) => header.writeUInt32LE(0, 42))))).toContain(
      "MEMBER_OVERLAP",
    );
    expect(
      await codes(
        open(forge(two, 1, (header) => header.writeUInt32LE(header.readUInt32LE(42) - 3, 42))),
      ),
    ).toContain("MEMBER_OVERLAP");
    expect(await codes(open(forge(two, 1, (header) => header.writeUInt32LE(5000, 20))))).toContain(
      "MEMBER_OVERLAP",
    );
  });

  it("refuses members with a wrong size, when they are read", async () => {
    for (const content of ["hello hello hello", "x".repeat(3_000_000)]) {
      const honest = await zip({ a: content });
      for (const size of [3, content.length - 1, content.length + 1]) {
        const archive = await open(forge(honest, 0, (header) => header.writeUInt32LE(size, 24)));
        expect(await codes(readAll(archive))).toEqual(["MEMBER_SIZE_MISMATCH"]);
      }
    }
    const stored = await zip({ a: "hello" }, { compress: false });
    expect(await codes(open(forge(stored, 0, (header) => header.writeUInt32LE(3, 24))))).toEqual([
      "MEMBER_SIZE_MISMATCH",
    ]);
  });

  it("refuses bytes that do not inflate or whose checksum is wrong", async () => {
    const honest = await zip({ a: "hello hello hello" });
    const wrongSum = await open(forge(honest, 0, (header) => header.writeUInt32LE(1, 16)));
    expect(await codes(readAll(wrongSum))).toEqual(["CORRUPT_MEMBER"]);
    const garbled = Buffer.from(honest);
    garbled.fill(0xff, 31, 40);
    expect(await codes(readAll(await open(garbled)))).toEqual(["CORRUPT_MEMBER"]);
  });

  it("enforces the limits on members, names, sizes and ratio, and names the setting", async () => {
    const three = await zip({ a: "1", b: "2", "long-name": "3".repeat(1000) });
    await expect(open(three, { MAX_CRATE_ENTRIES: 2 })).rejects.toThrow("MAX_CRATE_ENTRIES=2");
    await expect(open(three, { MAX_MEMBER_NAME_BYTES: 5 })).rejects.toThrow(
      "MAX_MEMBER_NAME_BYTES=5",
    );
    await expect(open(three, { MAX_CRATE_INFLATED_BYTES: 1001 })).rejects.toThrow(
      "MAX_CRATE_INFLATED_BYTES=1001",
    );
    const bomb = await zip({ bomb: Buffer.alloc(40 * 2 ** 20) });
    await expect(readAll(await open(bomb))).rejects.toThrow("MAX_CRATE_RATIO=200");
    const small = await zip({ small: Buffer.alloc(10 * 2 ** 20) });
    expect(Object.keys(await readAll(await open(small)))).toEqual(["small"]);
  });

  it("reports all errors of a directory at once", async () => {
    const bad = rename(await zip({ "xx/a": "1", b: "2", B: "3" }), "xx/a", "../a");
    expect(await codes(open(forge(bad, 1, (header) => header.writeUInt16LE(1, 8))))).toEqual([
      "BAD_MEMBER_NAME",
      "MEMBER_ENCRYPTED",
      "DUPLICATE_NAME",
    ]);
  });
});
