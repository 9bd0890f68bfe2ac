import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TarFile } from "../../../src/adapters/containers/port.js";
import { readTar, TarError, writeTar } from "../../../src/adapters/containers/tar.js";

async function* pieces(bytes: Uint8Array, size = 700): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function entriesOf(
  bytes: Uint8Array,
  { read = true, size = 700 } = {},
): Promise<{ name: string | null; type: string; text: string }[]> {
  const found: { name: string | null; type: string; text: string }[] = [];
  for await (const { name, type, content } of readTar(pieces(bytes, size))) {
    const chunks: Uint8Array[] = [];
    if (read) for await (const chunk of content()) chunks.push(chunk);
    found.push({ name, type, text: Buffer.concat(chunks).toString("utf8") });
  }
  return found;
}

const file = (path: string, text: string, size = Buffer.byteLength(text)): TarFile => ({
  path,
  size,
  open: async () => pieces(Buffer.from(text), 3),
});

async function written(...files: TarFile[]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of writeTar(
    (async function* () {
      yield* files;
    })(),
  ))
    chunks.push(chunk);
  return Buffer.concat(chunks);
}

const LONG = `${"a-folder-with-a-long-name/".repeat(12)}größe – ${"x".repeat(90)}.txt`;

describe("archives", () => {
  it("are readable by other programs", async () => {
    const folder = mkdtempSync(join(tmpdir(), "arkgraph-tar-"));
    try {
      writeFileSync(
        join(folder, "a.tar"),
        await written(file("plain.txt", "plain"), file(LONG, "long"), file("d/empty", "")),
      );
      execFileSync("tar", ["-x", "-f", "a.tar"], { cwd: folder });
      // Folders of the archive may be read-only, also for who removes them afterwards.
      execFileSync("chmod", ["-R", "u+rwX", "."], { cwd: folder });
      expect(
        ["plain.txt", LONG, "d/empty"].map((name) => readFileSync(join(folder, name), "utf8")),
      ).toEqual(["plain", "long", ""]);
      for (const format of ["gnu", "pax", "ustar"]) {
        execFileSync(
          "tar",
          [
            "-c",
            "-f",
            "b.tar",
            `--format=${format}`,
            "plain.txt",
            ...(format === "ustar" ? [] : [LONG]),
            "d",
          ],
          { cwd: folder },
        );
        for (const size of [1, 700, 100_000])
          expect(await entriesOf(readFileSync(join(folder, "b.tar")), { size })).toEqual([
            { name: "plain.txt", type: "file", text: "plain" },
            ...(format === "ustar" ? [] : [{ name: LONG, type: "file", text: "long" }]),
            { name: "d/", type: "folder", text: "" },
            { name: "d/empty", type: "file", text: "" },
          ]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("skip unused members, and refuse a file whose length differs from its header", async () => {
    const archive = await written(file("a", "x".repeat(5000)), file(LONG, "b"));
    expect((await entriesOf(archive, { read: false })).map(({ name }) => name).at(-1)).toBe(LONG);
    await expect(written(file("a", "abc", 2))).rejects.toThrow(
      /a has another size than the 2 bytes/,
    );
    await expect(written(file("a", "abc", 4))).rejects.toThrow(
      /a has another size than the 4 bytes/,
    );
  });

  it("that are inconsistent, truncated or too large are refused", async () => {
    const archive = await written(file("a", "content"));
    await expect(entriesOf(archive.subarray(0, 515))).rejects.toThrow(TarError);
    const spoilt = (change: (bytes: Buffer) => void, mend = true): Buffer => {
      const bytes = Buffer.from(archive);
      change(bytes);
      if (!mend) return bytes;
      bytes.write(" ".repeat(8), 148, "latin1");
      bytes.write(
        bytes
          .subarray(0, 512)
          .reduce((sum, byte) => sum + byte, 0)
          .toString(8)
          .padStart(6, "0"),
        148,
        "latin1",
      );
      bytes[154] = 0;
      return bytes;
    };
    await expect(entriesOf(spoilt((bytes) => bytes.write("b", 0), false))).rejects.toThrow(
      /checksum/,
    );
    await expect(entriesOf(spoilt((bytes) => bytes.write("9", 124)))).rejects.toThrow(/number/);
    // GNU's notation of a number: the first bit is set.
    await expect(
      entriesOf(spoilt((bytes) => bytes.fill(0xff, 124, 136).writeUInt8(0x80, 124))),
    ).rejects.toThrow(/too large/);
    // An extended header of 8 GiB would be held in memory; one that runs over its end says nothing.
    const extended = spoilt((bytes) => bytes.write("x", 156) && bytes.write("77777777777", 124));
    await expect(
      entriesOf(Buffer.concat([extended, Buffer.alloc(2 ** 21, "x")]), { size: 2 ** 16 }),
    ).rejects.toThrow(/extended header has/);
    expect(
      await entriesOf(spoilt((bytes) => bytes.write("x", 156) && bytes.write("999 a=b", 512))),
    ).toEqual([]);
    const kinds = await Promise.all(
      ["1", "2", "3", "4", "6"].map((type) =>
        entriesOf(
          spoilt((bytes) => bytes.write(type, 156)),
          { read: false },
        ),
      ),
    );
    expect(kinds.map(([entry]) => entry!.type)).toEqual([
      "link",
      "link",
      "other",
      "other",
      "other",
    ]);
    expect((await entriesOf(spoilt((bytes) => bytes.writeUInt8(0xff, 0))))[0]!.name).toBeNull();
  });
});
