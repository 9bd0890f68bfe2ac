import { constants, createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { basename, join } from "node:path";
import { PassThrough, Transform, pipeline, type Readable } from "node:stream";
import { ZipFile } from "yazl";
import { Failure } from "../failure.js";
import { walkFolder, type Member } from "./walk.js";

/** Every member's time and mode: the same files make the same archive, whenever and wherever. Given as local parts, because archives keep no zone. */
const MTIME = new Date(1980, 0, 1, 12, 0, 0);
const METADATA = /^ro-crate-metadata\.json(?:ld)?$/;

/** An archive that is about to be made: nothing is read before its stream is. */
export interface FolderArchive {
  /** Bytes of all files, as they lie in the folder. */
  total: number;
  /** @param onRead told how many of `total` were read so far */
  stream(onRead: (bytes: number) => void): Readable;
}

/**
 * A crate's folder as a zip archive, the crate's own metadata first; always the same bytes for the same files.
 * @throws Failure for a folder without metadata, or with something an archive cannot hold
 */
export async function archiveFolder(folder: string): Promise<FolderArchive> {
  const { files, empty } = await walkFolder(folder);
  const metadata = files.filter(({ path }) => METADATA.test(basename(path))).toSorted((a, b) => depth(a) - depth(b))[0];
  if (!metadata) throw new Failure(`${folder}: there is no ro-crate-metadata.json in it, so it is no RO-Crate`);
  const ordered = [metadata, ...files.filter((member) => member !== metadata)];
  return { total: files.reduce((sum, { size }) => sum + size, 0), stream: (onRead) => zipOf(folder, ordered, empty, onRead) };
}

const depth = ({ path }: Member): number => path.split("/").length;

function zipOf(folder: string, files: readonly Member[], empty: readonly string[], onRead: (bytes: number) => void): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as PassThrough;
  zip.on("error", (error: Error) => output.destroy(error));
  let read = 0;
  // One member is read at a time; who gives the archive up lets go of it as well.
  let member: Readable | undefined;
  output.on("close", () => member?.destroy());
  for (const { path, size } of files) {
    zip.addReadStreamLazy(path, { mtime: MTIME, mode: 0o100644, forceDosTimestamp: true, size }, (given) => {
      openMember(join(folder, path), size, (bytes) => onRead((read += bytes))).then((stream) => {
        member = stream.on("error", (error) => output.destroy(error));
        if (output.destroyed) stream.destroy();
        given(null, stream);
      }, (error: Error) => given(error, undefined as never));
    });
  }
  for (const path of empty) zip.addEmptyDirectory(path, { mtime: MTIME, mode: 0o40755, forceDosTimestamp: true } as Parameters<ZipFile["addEmptyDirectory"]>[1]);
  zip.end();
  return output;
}

/** A file as it was when the folder was looked through. @throws Failure when it is not any more */
async function openMember(path: string, size: number, onBytes: (bytes: number) => void): Promise<Readable> {
  const changed = (): Failure => new Failure(`${path}: it changed while it was read: try again when nothing writes to it`);
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ELOOP" || error.code === "ENOENT" ? changed() : error;
  });
  let seen = 0;
  const counted = new Transform({
    transform(part: Buffer, _encoding, done) {
      seen += part.length;
      onBytes(part.length);
      done(seen > size ? changed() : null, part);
    },
    flush(done) {
      done(seen === size ? null : changed());
    },
  });
  // Whichever ends early ends the other, and the file is closed. An error comes out of the last one.
  return pipeline(createReadStream(path, { fd: file }), counted, () => {});
}
