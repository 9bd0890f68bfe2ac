/** Zip archives: workbooks, and archives with a table in them. */
import { crc32 } from "node:zlib";
import yauzl, { type Entry } from "yauzl";
import { TabularError } from "../limits.js";

/** A file in an archive. */
export interface ZipMember {
  readonly name: string;
  /** @throws TabularError `DATA`, when read, for a member that is damaged, encrypted or another size than stated */
  bytes(): AsyncGenerator<Uint8Array>;
}

export interface ZipArchive {
  readonly members: readonly ZipMember[];
  close(): void;
}

/** Files of an archive: their names are in memory. */
const MAX_MEMBERS = 100_000;

const damaged = (cause: unknown, where = ""): TabularError =>
  new TabularError("DATA", `its zip archive cannot be read: ${where}${(cause as Error).message}`, {
    cause,
  });

/** @throws TabularError `DATA` for an archive that is damaged */
export async function openZip(path: string): Promise<ZipArchive> {
  const zip = await yauzl
    .openPromise(path, { autoClose: false, lazyEntries: true })
    .catch((error: unknown) => {
      throw (error as NodeJS.ErrnoException).syscall === undefined ? damaged(error) : error;
    });
  try {
    if (zip.entryCount > MAX_MEMBERS)
      throw new RangeError(`it has more than ${MAX_MEMBERS} members`);
    const members: ZipMember[] = [];
    for await (const entry of zip.eachEntry())
      if (!entry.fileName.endsWith("/"))
        members.push({ name: entry.fileName, bytes: () => bytesOf(zip, entry) });
    return { members, close: () => zip.close() };
  } catch (error) {
    zip.close();
    throw damaged(error);
  }
}

async function* bytesOf(zip: yauzl.ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  let sum = 0;
  try {
    if (entry.isEncrypted()) throw new Error("it is encrypted");
    for await (const part of await zip.openReadStreamPromise(entry)) {
      sum = crc32(part as Buffer, sum);
      yield part as Buffer;
    }
    if (sum !== entry.crc32) throw new Error("its checksum differs");
  } catch (error) {
    throw damaged(error, `${entry.fileName}: `);
  }
}
