import yauzl, { type ZipFile } from "yauzl";
import type { ObjectReader } from "../../../stores/objects/port.js";
import { CrateError, crateError } from "../findings.js";
import type { CrateLimits } from "../limits.js";
import { checkDirectory } from "./check-directory.js";
import { findEndRecord } from "./end-record.js";
import { inflateMember } from "./inflate.js";
import { directoryEntry, type DirectoryEntry, type Member } from "./member.js";
import { ObjectAccess } from "./object-access.js";

/** A zip archive whose directory has been checked. Closing it closes the reader. */
export class Archive {
  private constructor(private readonly zip: ZipFile, private readonly access: ObjectAccess, private readonly reader: ObjectReader, readonly members: readonly Member[], private readonly limits: CrateLimits) {}

  /** @throws CrateError for what is no zip, is damaged, or breaks a rule or limit */
  static async open(reader: ObjectReader, limits: CrateLimits): Promise<Archive> {
    const access = new ObjectAccess(reader);
    // yauzl closes its reader with the last reference; ours stays open as long as the archive.
    (access as unknown as { ref(): void }).ref();
    const { at, directoryEnd } = await findEndRecord(access, reader.size);
    const zip = await openZip(access, access.endAt(at));
    if (zip.entryCount > limits.MAX_CRATE_ENTRIES)
      throw crateError("TOO_MANY_ENTRIES", `The archive has ${zip.entryCount} members; MAX_CRATE_ENTRIES=${limits.MAX_CRATE_ENTRIES}.`);
    const directoryStart = Number(zip.readEntryCursor);
    const entries: DirectoryEntry[] = [];
    try {
      for await (const entry of zip.eachEntry()) entries.push(directoryEntry(entry));
    } catch (error) {
      throw crateError("CORRUPT_ARCHIVE", `The archive's directory cannot be read: ${(error as Error).message}.`);
    }
    // Some tools read as many members as are counted, others all that there are.
    if (Number(zip.readEntryCursor) !== directoryEnd)
      throw crateError("CORRUPT_ARCHIVE", `The archive's directory holds more, or less, than the ${zip.entryCount} members that its end counts; pack the crate again.`);
    return new Archive(zip, access, reader, checkDirectory(entries, directoryStart, limits), limits);
  }

  /**
   * The bytes of a member, checked while they come: size, ratio, checksum. No member gives more than its
   * declared size, so all together stay within the total that was checked before.
   * @throws CrateError while being read
   */
  read(member: Member): AsyncGenerator<Buffer> {
    return inflateMember(this.zip, this.access, member, this.limits);
  }

  async close(): Promise<void> {
    await this.reader.close();
  }
}

async function openZip(access: ObjectAccess, size: number): Promise<ZipFile> {
  try {
    return await yauzl.fromRandomAccessReaderPromise(access, size, { autoClose: false, decodeStrings: false, validateEntrySizes: false });
  } catch (error) {
    if (error instanceof CrateError) throw error;
    throw crateError("CORRUPT_ARCHIVE", `The archive cannot be read: ${(error as Error).message}`);
  }
}
