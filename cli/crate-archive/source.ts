import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { Transform, type Readable } from "node:stream";
import { Failure } from "../failure.js";

/** A crate to upload. */
export interface CrateSource {
  /** The name of the archive. */
  name: string;
  /** The number of bytes to read: the size of the archive, or of the files that go into it. */
  total: number;
  /** The size of the archive; `undefined` if it is created during the upload. */
  size: number | undefined;
  stream(onRead: (bytes: number) => void): Readable;
}

/** A crate's folder or archive. @throws Failure */
export async function openCrate(path: string): Promise<CrateSource> {
  const about = await stat(path);
  if (about.isDirectory()) {
    const { archiveFolder } = await import("./archive-folder.js");
    return {
      ...(await archiveFolder(path)),
      name: `${basename(resolve(path)) || "crate"}.zip`,
      size: undefined,
    };
  }
  if (!about.isFile()) throw new Failure(`${path} is neither a folder nor a zip archive`);
  await assertZip(path);
  return {
    name: basename(path),
    total: about.size,
    size: about.size,
    stream: (onRead) => counted(createReadStream(path), onRead),
  };
}

/** The beginning of a zip archive (APPNOTE 4.3): a member, or the end of an empty one. */
async function assertZip(path: string): Promise<void> {
  const file = await open(path);
  try {
    const head = Buffer.alloc(4);
    const { bytesRead } = await file.read(head, 0, 4, 0);
    const magic = head.toString("latin1", 0, bytesRead);
    if (magic !== "PK\u0003\u0004" && magic !== "PK\u0005\u0006")
      throw new Failure(`${path} is not a zip archive: give the folder of a crate, or a zip of it`);
  } finally {
    await file.close();
  }
}

function counted(source: Readable, onRead: (bytes: number) => void): Readable {
  let read = 0;
  const counter = new Transform({
    transform(part: Buffer, _encoding, done) {
      onRead((read += part.length));
      done(null, part);
    },
  });
  source.on("error", (error) => counter.destroy(error));
  return source.pipe(counter);
}
