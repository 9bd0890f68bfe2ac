/** Reads an upload: the descriptions in its metadata files, and the list of its files. */
import { ServiceError } from "../../errors.js";
import { collectAll } from "../../memory.js";
import type { ObjectReader, ObjectStore } from "../../storage/objects/port.js";
import { crateError, type Findings } from "./findings.js";
import type { MetadataFile } from "./layout.js";
import { describeCrate, type MetadataBytes } from "./metadata.js";
import { type CrateLimits, convertible, mayConvert } from "./upload.js";
import { Archive } from "./zip/archive.js";
import type { Member } from "./zip/members.js";
import type { IntakeHost, IntakeInput, ReadCrate } from "./steps.js";

/** Members or entities whose reading leaves more garbage than a collection costs. */
export const MANY = 2000;
/** Name of a metadata file that was uploaded alone. */
const ALONE = "ro-crate-metadata.json";

/**
 * The uploaded bytes.
 * @throws CrateError when they are no longer stored
 */
export async function openUpload(
  { sha256, staged }: IntakeInput,
  objects: Pick<ObjectStore, "reader" | "readStaged">,
): Promise<ObjectReader> {
  return (staged === undefined ? objects.reader(sha256) : objects.readStaged(staged)).catch(
    (error: unknown) => {
      throw error instanceof ServiceError && error.code === "NOT_FOUND"
        ? crateError("ARCHIVE_GONE", "The uploaded file is no longer stored; send it again.")
        : error;
    },
  );
}

/** @throws CrateError with all errors, when they prevent any further analysis of the crate */
export function readCrate(
  input: IntakeInput,
  reader: ObjectReader,
  host: Pick<IntakeHost, "progress">,
  findings: Findings,
): Promise<ReadCrate> {
  return (input.format === "metadata" ? readDocument : readArchive)(input, reader, host, findings);
}

async function readArchive(
  { limits }: IntakeInput,
  reader: ObjectReader,
  host: Pick<IntakeHost, "progress">,
  findings: Findings,
): Promise<ReadCrate> {
  const archive = await Archive.open(reader, limits);
  const files = new Map(
    archive.members.flatMap((member) => (member.folder ? [] : [[member.name, member] as const])),
  );
  // Garbage of a long directory is collected before more is read, so that the heap does not hold
  // both.
  if (files.size > MANY) collectAll();
  const names = [...files.keys()];
  const { root, nested } =
    (hasMetadata(names) ? undefined : await otherMetadata(archive, files, limits)) ??
    locateMetadata(names, findings);
  host.progress({ stage: "reading metadata", done: 0, total: 1 + nested.length, unit: "files" });
  const metadata: MetadataBytes[] = [];
  for (const { file, folder } of [root, ...nested]) {
    const member = files.get(file);
    if (member) metadata.push({ file, folder, bytes: await readFile(archive, member, limits) });
  }
  return {
    descriptions: describeCrate(metadata, limits, findings),
    metadata: metadata.map(({ file }) => file),
    members: archive.members,
    archive,
    size: reader.size,
  };
}

async function readDocument(
  { name = "", limits }: IntakeInput,
  reader: ObjectReader,
  host: Pick<IntakeHost, "progress">,
  findings: Findings,
): Promise<ReadCrate> {
  host.progress({ stage: "reading metadata", done: 0, total: 1, unit: "files" });
  const file = /\.json(?:ld)?$/i.test(name) ? name : ALONE;
  const bytes = await gatherMetadata(wholeOf(reader), file, limits);
  return {
    descriptions: describeCrate([{ file, folder: "", bytes }], limits, findings),
    metadata: [file],
    members: [],
    size: reader.size,
  };
}

async function* wholeOf(reader: ObjectReader): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < reader.size;) {
    const chunk = new Uint8Array(Math.min(2 ** 20, reader.size - at));
    const read = await reader.read(chunk, at);
    if (read === 0) return;
    yield chunk.subarray(0, read);
    at += read;
  }
}

/** A metadata file or page of an archive in memory. @throws CrateError above MAX_METADATA_BYTES */
export const readFile = (
  archive: Archive,
  member: Member,
  limits: CrateLimits,
): Promise<Uint8Array> => gatherMetadata(archive.read(member), member.name, limits);

/** Reads a metadata file into memory. @throws CrateError above MAX_METADATA_BYTES */
async function gatherMetadata(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  limits: CrateLimits,
): Promise<Uint8Array> {
  const gathered: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > limits.MAX_METADATA_BYTES)
      throw crateError(
        "METADATA_TOO_LARGE",
        `The metadata file has more than MAX_METADATA_BYTES=${limits.MAX_METADATA_BYTES} bytes.`,
        { file },
      );
    gathered.push(chunk);
  }
  return Buffer.concat(gathered, size);
}

/** A document of another format, in an archive without RO-Crate metadata. */
async function otherMetadata(
  archive: Archive,
  files: ReadonlyMap<string, Member>,
  limits: CrateLimits,
): Promise<LocatedMetadata | undefined> {
  for (const file of convertible([...files.keys()])) {
    const member = files.get(file);
    if (!member || member.size > limits.MAX_METADATA_BYTES) continue;
    if (mayConvert(file, await readFile(archive, member, limits)))
      return { root: { file, folder: folderOf(file) }, nested: [] };
  }
  return undefined;
}

const METADATA = /(?:^|\/)ro-crate-metadata\.json(?:ld)?$/;
/**
 * Metadata of a detached crate, whose files are elsewhere (RO-Crate 1.2, "Detached RO-Crate
 * Package").
 */
const DETACHED = /(?:^|\/)[^/]+-ro-crate-metadata\.json$/;

/** Whether a file has the name of RO-Crate metadata. */
const hasMetadata = (files: readonly string[]): boolean =>
  files.some((file) => METADATA.test(file) || DETACHED.test(file));

interface LocatedMetadata {
  root: MetadataFile;
  nested: MetadataFile[];
}

const folderOf = (file: string): string => file.slice(0, file.lastIndexOf("/") + 1);
const depthOf = (file: string): number => file.split("/").length;

/**
 * Finds the crate's metadata file: the shallowest in the archive, at any depth (RO-Crate 1.2,
 * "Retrieving an RO-Crate": top folders and BagIt bags). Deeper ones in its folder are nested
 * crates, outermost first.
 * @param files paths of the archive's files
 * @throws CrateError when there is none, or two at one depth
 */
export function locateMetadata(files: readonly string[], findings: Findings): LocatedMetadata {
  const attached = withoutLegacy(
    files.filter((file) => METADATA.test(file)),
    findings,
  );
  const found = (
    attached.length > 0 ? attached : files.filter((file) => DETACHED.test(file))
  ).toSorted((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
  const [root] = found;
  if (root === undefined)
    throw crateError(
      "NO_METADATA",
      "The archive has no ro-crate-metadata.json (or .jsonld) in any folder, and neither a " +
        "Croissant document nor a datapackage.json; add one that describes the crate.",
    );
  const rivals = found.filter((file) => depthOf(file) === depthOf(root));
  if (rivals.length > 1)
    throw crateError(
      "AMBIGUOUS_METADATA",
      `${rivals.slice(0, 5).join(" and ")} lie equally deep; upload one crate at a time.`,
      { file: root },
    );
  const nested: MetadataFile[] = [];
  for (const file of found.slice(1)) {
    const folder = folderOf(file);
    if (!folder.startsWith(folderOf(root)))
      findings.warn(
        "NESTED_ELSEWHERE",
        "The metadata file lies outside the crate's folder and is stored as a plain file.",
        { file },
      );
    else if (nested.some((other) => other.folder === folder))
      throw crateError(
        "AMBIGUOUS_METADATA",
        `The folder ${folder} has two metadata files; keep one.`,
        { file },
      );
    else nested.push({ file, folder });
  }
  return { root: { file: root, folder: folderOf(root) }, nested };
}

/** Without each legacy `.jsonld` beside a `.json`: tools that write both mean one crate. */
function withoutLegacy(found: readonly string[], findings: Findings): string[] {
  const names = new Set(found);
  return found.filter((file) => {
    const newer = file.replace(/\.jsonld$/, ".json");
    if (newer === file || !names.has(newer)) return true;
    findings.warn(
      "METADATA_TWICE",
      `${newer} lies beside it and is read; this one is stored as a plain file.`,
      { file },
    );
    return false;
  });
}
