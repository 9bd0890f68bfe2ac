import { isUtf8 } from "node:buffer";
import { constants, createReadStream } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { PassThrough, pipeline, type Readable, Transform } from "node:stream";
import { ZipFile } from "yazl";
import { convertible } from "../../../src/services/crates/upload.js";
import type { JsonObject } from "../../../src/model/field.js";
import { Failure } from "../../terminal.js";

/** A file of a crate's folder. */
export interface Member {
  /** Below the folder, with slashes. */
  path: string;
  size: number;
}
interface Tree {
  files: Member[];
  /** Folders without anything in them. */ empty: string[];
}

/** File kinds that an archive cannot hold, by the type bits of their mode. */
const KINDS: ReadonlyMap<number, string> = new Map([
  [constants.S_IFLNK, "a symbolic link: replace it with the file that it points to"],
  [constants.S_IFSOCK, "a socket"],
  [constants.S_IFIFO, "a pipe"],
  [constants.S_IFCHR, "a device"],
  [constants.S_IFBLK, "a device"],
]);

/**
 * Every file below a folder, sorted by the bytes of its path, so that the same folder is read in
 * the same order everywhere.
 * @throws Failure that names the first entry that is neither file nor folder, or whose name is not
 * UTF-8
 */
async function walkFolder(folder: string): Promise<Tree> {
  const tree: Tree = { files: [], empty: [] };
  const pending = [""];
  for (let inside = pending.pop(); inside !== undefined; inside = pending.pop()) {
    const names = await readdir(join(folder, inside), { encoding: "buffer" });
    if (names.length === 0 && inside !== "") tree.empty.push(inside);
    for (const bytes of names) {
      const path = inside === "" ? bytes.toString("utf8") : `${inside}/${bytes.toString("utf8")}`;
      if (!isUtf8(bytes))
        throw new Failure(`${join(folder, path)}: its name is not UTF-8: rename it`);
      const about = await lstat(join(folder, path));
      if (about.isDirectory()) pending.push(path);
      else if (about.isFile()) tree.files.push({ path, size: about.size });
      else
        throw new Failure(
          `${join(folder, path)} is ` +
            `${KINDS.get(about.mode & constants.S_IFMT) ?? "not a regular file"}; a crate ` +
            "contains only files and folders",
        );
    }
  }
  tree.files.sort((a, b) => byBytes(a.path, b.path));
  tree.empty.sort(byBytes);
  return tree;
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/**
 * Every member's time and mode: the same files give the same archive at any time and place. The
 * time is given as local parts, because archives store no time zone.
 */
const MTIME = new Date(1980, 0, 1, 12, 0, 0);
const METADATA = /^ro-crate-metadata\.json(?:ld)?$/;

/** An archive that is not yet created: no file is read before its stream is read. */
export interface FolderArchive {
  /** The total size of all files in the folder. */
  total: number;
  /** @param onRead is called with the number of bytes of `total` read so far */
  stream(onRead: (bytes: number) => void): Readable;
}

/**
 * A crate's folder as a zip archive, the crate's own metadata first; always the same bytes for the
 * same files.
 * @param describe makes the metadata of files that have none; `undefined` where nobody describes
 * them
 * @throws Failure for a folder without metadata, or with an entry that an archive cannot hold
 */
export async function archiveFolder(
  folder: string,
  describe?: (files: readonly Member[]) => Promise<JsonObject | undefined>,
): Promise<FolderArchive> {
  const { files, empty } = await walkFolder(folder);
  const [other] = convertible(files.map(({ path }) => path));
  const metadata =
    files
      .filter(({ path }) => METADATA.test(basename(path)))
      .toSorted((a, b) => depth(a) - depth(b))[0] ?? files.find(({ path }) => path === other);
  if (!metadata) {
    const described = await describe?.(files);
    if (described) return describedArchive(folder, files, described);
    throw new Failure(
      `${folder}: the folder has no ro-crate-metadata.json, so it is not an RO-Crate; ` +
        "describe it by --title, --description and --license",
    );
  }
  const ordered = [metadata, ...files.filter((member) => member !== metadata)];
  return {
    total: files.reduce((sum, { size }) => sum + size, 0),
    stream: (onRead) => zipOf(folder, ordered, empty, onRead),
  };
}

/** The archive of a folder without metadata: what describes it is added. */
function describedArchive(
  folder: string,
  files: readonly Member[],
  metadata: JsonObject,
): FolderArchive {
  const bytes = Buffer.from(JSON.stringify(metadata, null, 2));
  return {
    total: files.reduce((sum, { size }) => sum + size, 0),
    stream: (onRead) => zipOf(folder, files, [], onRead, bytes),
  };
}

const depth = ({ path }: Member): number => path.split("/").length;

function zipOf(
  folder: string,
  files: readonly Member[],
  empty: readonly string[],
  onRead: (bytes: number) => void,
  metadata?: Buffer,
): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as PassThrough;
  zip.on("error", (error: Error) => output.destroy(error));
  let read = 0;
  // One member is read at a time; closing the archive's stream closes the member as well.
  let member: Readable | undefined;
  output.on("close", () => member?.destroy());
  const attributes = { mtime: MTIME, mode: 0o100644, forceDosTimestamp: true };
  if (metadata) zip.addBuffer(metadata, "ro-crate-metadata.json", attributes);
  for (const { path, size } of files) {
    zip.addReadStreamLazy(path, { ...attributes, size }, (given) => {
      openMember(join(folder, path), size, (bytes) => onRead((read += bytes))).then(
        (stream) => {
          member = stream.on("error", (error) => output.destroy(error));
          if (output.destroyed) stream.destroy();
          given(null, stream);
        },
        (error: Error) => given(error, undefined as never),
      );
    });
  }
  for (const path of empty)
    zip.addEmptyDirectory(path, {
      mtime: MTIME,
      mode: 0o40755,
      forceDosTimestamp: true,
    });
  zip.end();
  return output;
}

/**
 * Opens a file that must be unchanged since the folder was listed. @throws Failure when it has
 * changed
 */
async function openMember(
  path: string,
  size: number,
  onBytes: (bytes: number) => void,
): Promise<Readable> {
  const changed = (): Failure =>
    new Failure(`${path}: it changed while it was read: try again when nothing writes to it`);
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(
    (error: NodeJS.ErrnoException) => {
      throw error.code === "ELOOP" || error.code === "ENOENT" ? changed() : error;
    },
  );
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
  // If one stream ends early, the other ends too, and the file is closed. The last stream emits the
  // error.
  return pipeline(createReadStream(path, { fd: file }), counted, () => {});
}
