import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import yazl from "yazl";
import type { JsonObject } from "../../src/model/field.js";
import { CONTEXT } from "./crate.js";

/**
 * The parts of a large crate. Its bytes are made while they are written: it is never in memory as a
 * whole.
 */
export interface LargeArchive {
  name: string;
  /** Deflated files of `manyBytes` each. */
  many: number;
  manyBytes: number;
  /** Bytes of one more file; 0 for none. */
  giant: number;
  /** Store the giant as it is instead of deflating it. */
  giantStored: boolean;
  /** Write zip64 records, whether the sizes need them or not (APPNOTE 4.5.3). */
  zip64: boolean;
}

/** Files that have an entity of their own; the rest lies beside them undescribed. */
const DESCRIBED = 500;
const BLOCK = 1 << 16;

/** Rows of numbers, which deflate to about half, as measured tables do. */
const POOL = Buffer.from(
  Array.from(randomBytes(1 << 20), (byte, index) =>
    index % 8 === 7 ? "\n" : String(byte).padStart(3, "0") + ",",
  ).join(""),
);

/** Bytes that differ from file to file. */
function* content(seed: number, size: number): Generator<Buffer> {
  yield Buffer.from(`file ${seed}\n`.padEnd(Math.min(32, size)).slice(0, size));
  for (
    let left = size - 32, at = (seed * 7919 * 4096) % (POOL.length - BLOCK);
    left > 0;
    left -= BLOCK
  ) {
    yield POOL.subarray(at, at + Math.min(BLOCK, left));
    at = (at + BLOCK + 4096) % (POOL.length - BLOCK);
  }
}

function metadata(name: string, files: readonly string[]): JsonObject {
  const parts = files.map((id): JsonObject => ({ "@id": id, "@type": "File", name: id }));
  return {
    "@context": CONTEXT,
    "@graph": [
      {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        about: { "@id": "./" },
        conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
      },
      {
        "@id": "./",
        "@type": "Dataset",
        name,
        description: "A crate of large files.",
        license: { "@id": "https://spdx.org/licenses/CC-BY-4.0" },
        hasPart: parts.map(({ "@id": id }) => ({ "@id": id! })),
      },
      ...parts,
    ],
  };
}

/** Writes the archive to a file; answers the bytes of its members together. */
export async function writeLargeArchive(
  file: string,
  { name, many, manyBytes, giant, giantStored, zip64 }: LargeArchive,
): Promise<number> {
  const archive = new yazl.ZipFile();
  const options = { forceZip64Format: zip64, mtime: new Date(1e12) };
  const names = Array.from(
    { length: many },
    (_, index) => `files/${String(index % 100).padStart(2, "0")}/table-${index}.csv`,
  );
  const described = [...names.slice(0, DESCRIBED), ...(giant > 0 ? ["giant.csv"] : [])];
  archive.addBuffer(
    Buffer.from(JSON.stringify(metadata(name, described))),
    "ro-crate-metadata.json",
    options,
  );
  const add = (path: string, seed: number, size: number, stored: boolean) =>
    archive.addReadStreamLazy(
      path,
      { ...options, size, ...(stored ? { compress: false } : { compressionLevel: 1 }) },
      (done) => done(null, Readable.from(content(seed, size), { objectMode: false })),
    );
  for (const [index, path] of names.entries()) add(path, index + 1, manyBytes, false);
  if (giant > 0) add("giant.csv", many + 1, giant, giantStored);
  archive.end({ forceZip64Format: zip64, comment: "" });
  await pipeline(archive.outputStream, createWriteStream(file, { highWaterMark: 1 << 20 }));
  return many * manyBytes + giant;
}
