/** Stored bytes as clients see them, and records that are made with their bytes. */
import type { Readable } from "node:stream";
import { ServiceError } from "../../errors.js";
import { type Ark, sameArk } from "../../identifiers/ark.js";
import type { JsonValue } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { type ContentHeaders, contentDamaged } from "../../storage/objects/port.js";
import type { ObjectReference, StoredRecord } from "../../storage/records/port.js";
import {
  assertMayReadArchive,
  assertMayReadContent,
  type Caller,
  mayReadContent,
  withoutHidden,
} from "../access/rules.js";
import type { Visibility } from "../access/visibility.js";
import type { Deps } from "../deps.js";
import { createRecord } from "../records/write.js";
import { findLive } from "../records/find.js";
import { amendRecord, findChangeable } from "../records/write.js";
import type { RecordView } from "../records/view.js";
import {
  assertClaims,
  contentReference,
  type IncomingFile,
  type StagedFile,
  stageFile,
  withFacts,
  withStaged,
  contentUrlOf,
} from "../records/stored-content.js";
import { pairs } from "../../pairs.js";

/** Stored bytes of a record, not yet opened. */
export interface Content {
  record: StoredRecord;
  object: ObjectReference;
  /** `start` to `end`, inclusive. */
  open(range?: { start: number; end: number }): Promise<Readable>;
  /** Where the client may read the bytes itself; `undefined` where the client reads them here. */
  address(headers: ContentHeaders): Promise<string | undefined>;
}

/**
 * The content of a record: its file, or a crate's archive. The identifier of a file that no entity
 * of its crate describes is the crate's identifier followed by the path.
 * @throws ServiceError `NOT_FOUND`, `GONE`, `CONTENT_DELETED`, `CONTENT_DAMAGED`,
 * `NOT_AUTHENTICATED`, `FORBIDDEN`
 */
export async function contentOf(
  deps: Deps,
  ark: Ark,
  caller: Caller | null,
  options: { kind?: KindName; role?: ObjectReference["role"] } = {},
): Promise<Content> {
  const found = await recordOrFile(deps, ark, options.kind);
  const record = "object" in found ? found.crate : found;
  await assertMayReadContent(deps.records, caller, record);
  if ("object" in found) return { record, ...(await stored(deps, found.object)) };
  const role = options.role ?? roleOf(record);
  const [object] = await deps.records.objectsOf(record.ark, { role });
  if (object && role === "archive") await assertMayReadArchive(deps.records, caller, record);
  if (!object) {
    if (role === "archive" && (await deps.records.contentWasDeleted(record.ark, role))) {
      throw new ServiceError(
        "CONTENT_DELETED",
        `The archive of ${record.ark} as it was uploaded is no longer stored, because ` +
          `something in it was deleted. GET ${withoutHidden(record.ark)} returns the ` +
          "current version of the crate.",
      );
    }
    if (await deps.records.contentWasDeleted(record.ark))
      throw new ServiceError(
        "CONTENT_DELETED",
        `The stored content of ${record.ark} was deleted; its metadata is preserved.`,
      );
    throw new ServiceError(
      "NOT_FOUND",
      `No content is stored for ${record.ark}; see contentUrl in its metadata.`,
    );
  }
  return { record, ...(await stored(deps, object)) };
}

/** Whether bytes of a record are stored, and which. */
export interface ContentState {
  state: "stored" | "damaged" | "deleted" | "none";
  /** What is stored; null in the last two states. */
  object: ObjectReference | null;
  address: string | null;
}

/** Records whose stored objects are looked up at the same time: few, for a pool of connections. */
const CONCURRENT_LOOKUPS = 10;

/** The states of the contents of records: of a crate, that of its archive. Opens nothing. */
export async function contentStates(
  deps: Deps,
  records: readonly StoredRecord[],
): Promise<ContentState[]> {
  const states: ContentState[] = [];
  for (let start = 0; start < records.length; start += CONCURRENT_LOOKUPS) {
    const batch = records.slice(start, start + CONCURRENT_LOOKUPS);
    for (const state of await Promise.all(batch.map((record) => contentState(deps, record))))
      states.push(state);
  }
  return states;
}

const roleOf = ({ kind }: StoredRecord): ObjectReference["role"] =>
  kind === "rocrate" ? "archive" : "content";

async function contentState(
  { records, damage, baseUrl }: Deps,
  record: StoredRecord,
): Promise<ContentState> {
  const role = roleOf(record);
  const [object] = await records.objectsOf(record.ark, { role });
  if (!object) {
    const deleted = await records.contentWasDeleted(record.ark, role);
    return { state: deleted ? "deleted" : "none", object: null, address: null };
  }
  return {
    state: (await damage.isDamaged(object.sha256)) ? "damaged" : "stored",
    object,
    address: contentUrlOf(baseUrl(), record.kind, record.ark),
  };
}

/** Whether the caller may read the stored content of a record: {@link contentOf} would answer. */
export async function isReadable(
  { records }: Deps,
  record: StoredRecord,
  caller: Caller | null,
): Promise<boolean> {
  if (roleOf(record) === "content") return mayReadContent(records, caller, record);
  try {
    await assertMayReadArchive(records, caller, record);
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/**
 * The target of an address: a record, or an undescribed file of a crate, which takes precedence
 * over records at its address.
 */
async function recordOrFile(
  deps: Deps,
  ark: Ark,
  kind: KindName | undefined,
): Promise<StoredRecord | UndescribedFile> {
  try {
    const record = await findLive(deps, ark, kind);
    return (kind === "rocrate" ? undefined : await undescribedInstead(deps, record)) ?? record;
  } catch (error) {
    const file =
      error instanceof ServiceError &&
      (error.code === "NOT_FOUND" || error.code === "GONE") &&
      kind === undefined
        ? await findUndescribed(deps, ark.stored)
        : undefined;
    if (!file) throw error;
    return file;
  }
}

/**
 * The content that is returned in place of a record when a client requests only its identifier.
 * @throws ServiceError `NOT_AUTHENTICATED`, `FORBIDDEN`
 */
export async function contentInstead(
  deps: Deps,
  record: StoredRecord,
  caller: Caller | null,
): Promise<Content | undefined> {
  const file = await undescribedInstead(deps, record);
  if (!file) return undefined;
  await assertMayReadContent(deps.records, caller, file.crate);
  return { record: file.crate, ...(await stored(deps, file.object)) };
}

/** @throws ServiceError `CONTENT_DAMAGED` */
async function stored(
  { objects, damage, config }: Deps,
  object: ObjectReference,
): Promise<Omit<Content, "record">> {
  const { sha256, size } = object;
  await damage.assertIntact(sha256);
  return {
    object,
    open: async (range) => {
      const opened = objects
        .open(sha256, range, { size, hash: config.VERIFY_DOWNLOADS === "yes" })
        .catch((error: unknown) => {
          // A record refers to the object, so it should exist.
          throw error instanceof ServiceError && error.code === "NOT_FOUND"
            ? contentDamaged(sha256, "it is missing in the object store")
            : error;
        });
      const found = (error: unknown): void => void damage.found(sha256, error).catch(() => {});
      opened.then((stream) => stream.once("error", found), found);
      return opened;
    },
    address: async (headers) => objects.address?.(sha256, headers),
  };
}

/** Most folders of a path that are tried as a crate; deeper ones are ignored. */
const DEEPEST = 100;

/** Whether the identifier is that of a file that no entity of its crate describes. */
export const isUndescribed = async (deps: Pick<Deps, "records">, ark: Ark): Promise<boolean> =>
  (await findUndescribed(deps, ark.stored)) !== undefined;

/** A file of a crate that has no record. */
interface UndescribedFile {
  crate: StoredRecord;
  object: ObjectReference;
}

/** Revisions of a crate in one read. */
const PAGE = 1000;

/**
 * A file that no entity of its crate describes: it has no record, and its identifier is the crate's
 * identifier followed by its path.
 * @param ark decoded, like the path of a request
 */
async function findUndescribed(
  deps: Pick<Deps, "records">,
  ark: string,
): Promise<UndescribedFile | undefined> {
  const slashes = [...ark.matchAll(/\//g)]
    .map(({ index }) => index)
    .slice(1, DEEPEST + 1)
    .toReversed();
  const candidates = await deps.records.findMany(slashes.map((slash) => ark.slice(0, slash)));
  for (const [slash, crate] of pairs(slashes, candidates)) {
    if (crate?.kind !== "rocrate" || crate.tombstone) continue;
    for (const name of spellings(ark.slice(slash + 1))) {
      const [object] = await deps.records.objectsOf(crate.ark, { role: "member", name });
      if (object) return { crate, object };
    }
  }
  return undefined;
}

/**
 * An undescribed file of a crate at the address of a record: the file is the crate's own, and takes
 * precedence over a record that was registered at its address. A record that the crate's owner had
 * registered before the file was uploaded keeps the address.
 */
async function undescribedInstead(
  deps: Pick<Deps, "records">,
  record: StoredRecord,
): Promise<UndescribedFile | undefined> {
  const file = await findUndescribed(deps, record.ark);
  if (!file || file.crate.ark === record.crate) return undefined;
  const {
    crate,
    object: { name },
  } = file;
  if (crate.owner === null || record.owner === null || !sameArk(crate.owner, record.owner))
    return file;
  const then = await revisionAt(deps, crate, record.createdAt);
  return then !== undefined &&
    (await deps.records.objectsOf(crate.ark, { role: "member", name, revision: then })).length > 0
    ? file
    : undefined;
}

/** The revision of a record at some time; undefined before its creation. */
async function revisionAt(
  { records }: Pick<Deps, "records">,
  { ark }: StoredRecord,
  at: number,
): Promise<number | undefined> {
  let before: number | undefined;
  for (;;) {
    const page = await records.history(ark, {
      limit: PAGE,
      ...(before === undefined ? {} : { before }),
    });
    const found = page.find((revision) => revision.at <= at);
    if (found || page.length < PAGE) return found?.revision;
    before = page.at(-1)?.revision;
  }
}

/**
 * The requested path, percent-decoded once more (a link that was copied encoded), and in the
 * Unicode normal forms of macOS and of other systems.
 */
function spellings(path: string): Set<string> {
  const found = new Set<string>();
  for (const text of [path, decoded(path)])
    for (const form of [text, text.normalize("NFC"), text.normalize("NFD")]) found.add(form);
  return found;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * Creates a file record together with its content. The staged bytes are consumed, or discarded when
 * this fails.
 * @param at where the record's document is in the client's request
 * @throws ValidationError, also when `sha256` or `contentSize` do not match the bytes; ServiceError
 * as `createRecord`
 */
export function registerDownload(
  deps: Deps,
  input: JsonValue | undefined,
  file: StagedFile,
  caller: Caller,
  {
    at = ["body"],
    visibility,
  }: { at?: readonly (string | number)[] | undefined; visibility?: Visibility | undefined } = {},
): Promise<RecordView> {
  const uploadDate = new Date().toISOString();
  return withStaged(deps, file, (keep) =>
    createRecord(deps, "datadownload", input, caller, {
      at,
      visibility,
      prepare: async (document) => {
        assertClaims(document, factsOf(file), at);
        await keep();
      },
      complete: (document, ark) => ({
        document: withFacts(document, ark, deps.baseUrl(), file.object, uploadDate),
        objects: [contentReference(document, file)],
      }),
    }),
  );
}

/**
 * Gives a file record new content as its next revision; earlier revisions keep theirs. As long as
 * no bytes were ever stored for the record, its statements about them are claims that the bytes
 * must match; uploading the same bytes again changes nothing.
 * @throws ValidationError; ServiceError `NOT_FOUND`, `GONE`, `FORBIDDEN`,
 * `REVISION_MISMATCH`, `TOO_LARGE`
 */
export async function uploadContent(
  deps: Deps,
  ark: Ark,
  incoming: IncomingFile,
  who: Caller,
  expectedRevision?: number,
): Promise<RecordView> {
  // Checked before a byte is stored, and again when all have arrived.
  const options = { kind: "datadownload", expectedRevision } as const;
  await findChangeable(deps, ark, who, options);
  const file = await stageFile(deps, incoming);
  return withStaged(deps, file, (keep) =>
    amendRecord(deps, ark, who, options, async (record, document) => {
      const objects = await deps.records.objectsOf(record.ark);
      const stored = objects.find(({ role }) => role === "content");
      if (stored?.sha256 === file.object.sha256) {
        // Written again nevertheless: that repairs damaged or lost bytes.
        await keep();
        return undefined;
      }
      if (!stored && !(await deps.records.contentWasDeleted(record.ark)))
        assertClaims(document, factsOf(file), ["body", "file"]);
      await keep();
      return {
        document: withFacts(
          document,
          record.ark,
          deps.baseUrl(),
          file.object,
          new Date().toISOString(),
        ),
        objects: [
          ...objects.filter(({ role }) => role !== "content"),
          contentReference(document, file),
        ],
      };
    }),
  );
}

/** What is measured of a file that has arrived. */
const factsOf = ({
  object: { sha256, size },
  name,
}: StagedFile): {
  sha256: string;
  size: number;
  name: string;
} => ({ sha256, size, name });
