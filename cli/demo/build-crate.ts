import { writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import { makeFiles } from "./crate/files.js";
import { describeCrate } from "./crate/metadata.js";

/**
 * The time of every member. Archives store local time without a zone, so it is given as parts: the
 * bytes do not depend on the machine's zone.
 */
const MTIME = new Date(2025, 0, 15, 12, 0, 0);

/**
 * An example RO-Crate 1.1 as a zip archive, generated and byte for byte the same each time:
 * microscope images, two computations on them, their software and results, and their provenance.
 */
export async function buildDemoCrate(): Promise<Buffer> {
  const { fields, files } = makeFiles();
  const zip = new ZipFile();
  const members = [
    { path: "ro-crate-metadata.json", bytes: Buffer.from(describeCrate(fields, files)) },
    ...files,
  ];
  for (const { path, bytes } of members)
    zip.addBuffer(bytes, path, { mtime: MTIME, mode: 0o100644, forceDosTimestamp: true });
  zip.end();
  return buffer(zip.outputStream as Readable);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [path] = process.argv.slice(2);
  try {
    if (path === undefined)
      throw new Error("name the output file: node dist/cli/demo/build-crate.js crate.zip");
    await writeFile(path, await buildDemoCrate());
    process.stdout.write(`Wrote ${path}\n`);
  } catch (error) {
    process.stderr.write(`arkgraph: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
