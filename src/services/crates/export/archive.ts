import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import yazl from "yazl";
import { ServiceError } from "../../../errors.js";
import { arkKey, isMinted, parseArk } from "../../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { typeNames } from "../../../model/kind.js";
import type { ObjectReference, StoredRecord } from "../../../storage/records/port.js";
import { type Caller, mayReadContent } from "../../access/rules.js";
import type { Deps } from "../../deps.js";
import { referencesIn } from "../findings.js";
import { foldersOf, localPath } from "../files/match-files.js";
import { bareId, DESCRIPTOR, describedCrate, descriptorArk } from "../layout.js";
import { contentUrlOf, NO_SOURCE } from "../records/document.js";
import { PREVIEW_PAGE } from "../upload.js";
import { foldName, invisibleIn, RATIO_FROM, withoutInvisible } from "../zip/members.js";
import { asWritten, isPathId } from "./as-written.js";
import { decoded, pathInUrl, type StatedPath, statedPaths, stateOf, suffixOf } from "./contents.js";
import {
  CrateContext,
  type CrateSurvey,
  crateMetadata,
  type Descriptor,
  descriptorEntity,
  type EntityNames,
  entityUri,
  entityUrl,
  metadataOf,
  surveyCrate,
  UsedContexts,
} from "./metadata.js";

const METADATA = /(?:^|\/)ro-crate-metadata\.json(?:ld)?$/i;
/** Folder for files that have no path of their own. */
const ELSEWHERE = "files";

/**
 * The member names of an archive that is being written: no name leads out of the archive, and no
 * two names are equal on any file system.
 */
export class MemberPaths {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  /** @param metadata name of the metadata file, which is taken */
  constructor(metadata: string = DESCRIPTOR) {
    this.#files.add(foldName(metadata));
  }

  /** True for the folder of a file that has a place. */
  hasFolder(path: string): boolean {
    return this.#folders.has(foldName(path));
  }

  /** Claims a path unchanged; undefined when it is not a valid member name, or is taken. */
  take(path: string): string | undefined {
    return isName(path) && !this.#isMetadata(path) && this.#isFree(path)
      ? this.#add(path)
      : undefined;
  }

  /** A legacy metadata file beside a current one is read as a plain file. */
  #isMetadata(path: string): boolean {
    return METADATA.test(path) && !this.#files.has(foldName(path).replace(/\.jsonld$/, ".json"));
  }

  /** A path for metadata of a crate within the crate. */
  takeMetadata(folder: string): string {
    const bare = isName(folder) ? folder : `crates/${plain(folder)}`;
    for (let count = 0; ; count++) {
      const path = `${bare}${count === 0 ? "" : `-${count}`}/ro-crate-metadata.json`;
      if (this.#isFree(path)) return this.#add(path);
    }
  }

  /** A free path that ends, where possible, in the given name. */
  place(name: string): string {
    const last = plain(name.slice(name.lastIndexOf("/") + 1)) || "file";
    for (let count = 0; ; count++) {
      const path = `${ELSEWHERE}/${count === 0 ? "" : `${count}/`}${last}`;
      const taken = this.take(path) ?? (METADATA.test(path) ? this.take(`${path}.txt`) : undefined);
      if (taken !== undefined) return taken;
    }
  }

  #isFree(path: string): boolean {
    const folded = foldName(path);
    if (this.#files.has(folded) || this.#folders.has(folded)) return false;
    return !foldersOf(folded).some((folder) => this.#files.has(folder));
  }

  #add(path: string): string {
    const folded = foldName(path);
    this.#files.add(folded);
    for (const folder of foldersOf(folded)) this.#folders.add(folder);
    return path;
  }
}

/** Whether intake accepts the path as a member's name (so does every common file system). */
function isName(path: string): boolean {
  return (
    path.length <= 1000 &&
    path.isWellFormed() &&
    invisibleIn(path) === undefined &&
    !/\\|^[a-zA-Z]:/.test(path) &&
    path.split("/").every((part) => part !== "" && part !== "." && part !== "..")
  );
}

const plain = (text: string): string =>
  withoutInvisible(text.toWellFormed())
    .replace(/[\\/:*?"<>|]+/g, "_")
    .replace(/^\.+$/, "_")
    .slice(-100);

/** A path as a relative `@id` that cannot be parsed as an absolute one. */
const relativeId = (suffix: string): string =>
  /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(suffix) ? `./${suffix}` : suffix;

/** A stored file of a record, and the paths at which its crate had it. */
interface DescribedFile {
  ark: string;
  object: ObjectReference;
  stated: StatedPath[];
  at: number;
}

/** Assigns places to the files of a crate, and rewrites the metadata of these files accordingly. */
class FileStatements {
  /** `contentUrl` in the archive, by ARK: null where the `@id` itself is the path. */
  readonly #placed = new Map<string, { url: string | null; object: ObjectReference }>();
  /** Contents of the archive, by path. */
  readonly #contents = new Map<string, string>();

  /**
   * Finds a place for each file: the path that its identifier was derived from, else the path at
   * which its crate had it. Entities that name one file share it.
   */
  place(
    files: readonly DescribedFile[],
    paths: MemberPaths,
    into: Member[],
    names: Map<string, string>,
  ): void {
    const byUrl: DescribedFile[] = [];
    for (const file of files) {
      const own = file.stated.find(({ url }) => url === null);
      if (own === undefined || !this.#take(file, own, paths, into)) byUrl.push(file);
      else if (!names.has(file.ark)) names.set(file.ark, relativeId(own.suffix!));
    }
    for (const file of byUrl) {
      const found = file.stated.some(
        (stated) => stated.url !== null && this.#take(file, stated, paths, into),
      );
      if (found) continue;
      const path = paths.place(file.object.name);
      this.#take(file, { path, url: pathInUrl(path) }, undefined, into);
    }
  }

  /** @param paths where the path is still to be taken */
  #take(
    { ark, object, at }: DescribedFile,
    { path, url }: StatedPath,
    paths: MemberPaths | undefined,
    into: Member[],
  ): boolean {
    if (this.#contents.get(path) !== object.sha256) {
      if (paths && paths.take(path) === undefined) return false;
      this.#contents.set(path, object.sha256);
      into.push({ path, at, object });
    }
    this.#placed.set(ark, { url, object });
    return true;
  }

  /**
   * The description of a record in the archive; a file of the archive is described as its author
   * would describe it.
   */
  of(record: StoredRecord, document: JsonObject): JsonObject {
    const file = this.#placed.get(record.ark);
    if (!file) return document;
    const { contentUrl, sourceContentUrl, ...rest } = document;
    const stated = isOwnContentUrl(contentUrl, record) ? sourceContentUrl : contentUrl;
    const url: JsonValue | undefined = file.url ?? stated;
    // The author did not state the file's place in the archive: the address that the author stated
    // is written beside it.
    const source: JsonObject =
      file.url === null || file.url === sourceContentUrl
        ? {}
        : { sourceContentUrl: sourceContentUrl ?? NO_SOURCE };
    return {
      ...withFacts(rest, file.object),
      ...(url === undefined || url === null ? {} : { contentUrl: url }),
      ...source,
    };
  }
}

/**
 * With a digest that was edited since, a registry would refuse the archive on upload; a wrong size
 * would not matter.
 */
function withFacts(document: JsonObject, { sha256 }: ObjectReference): JsonObject {
  const { sha256: digest } = document;
  return typeof digest === "string" &&
    /^[0-9a-f]{64}$/i.test(digest) &&
    digest.toLowerCase() !== sha256
    ? { ...document, sha256 }
    : document;
}

/** True for a `contentUrl` that the registry wrote, with its current or an earlier address. */
function isOwnContentUrl(url: JsonValue | undefined, { kind, ark }: StoredRecord): boolean {
  const own = contentUrlOf("", kind, ark);
  // Earlier versions escaped the escapes of an identifier.
  return typeof url === "string" && (url.endsWith(own) || url.endsWith(own.replaceAll("%", "%25")));
}

/** A file of the archive; it is read when it is written to the archive. */
interface Member {
  path: string;
  at: number;
  object: ObjectReference;
}
/** The planned contents of a crate's archive. */
export interface CrateArchive {
  root: StoredRecord;
  /**
   * State of the crate when it was surveyed; it differs whenever the written archive would differ.
   */
  state: string;
  /**
   * Files that the caller may not read: the metadata describes them, and the archive omits their
   * bytes.
   */
  left: { ark: string; name: string }[];
  /** Paths of the files in the archive. */
  files: string[];
  /** Whether the crate came with a preview page: stored here or not, in the archive or left out. */
  hasPage: boolean;
  /**
   * The archive's bytes. Ends with an error when the crate changes before its metadata is written.
   * @param form `bag`: the crate is the payload of a bag (RFC 8493)
   * @param page preview page for a crate without one
   */
  open(form?: "zip" | "bag", page?: string): Readable;
}

/** Types whose bytes deflate does not compress. */
const PACKED = new RegExp(
  String.raw`^(?:image\/(?!svg|tiff|bmp)|audio\/|video\/|application\/(?:zip|gzip|x-7z-compressed|x-x` +
    String.raw`z|zstd|vnd\.openxmlformats))`,
);
/** A path that is its own percent-encoding. */
const PLAIN = /^[A-Za-z0-9._/-]+$/;
const NOTE = "NOT-INCLUDED.txt";

/**
 * A crate as an RO-Crate archive, built from its current records and their stored contents. Memory
 * use depends on the names of its files, not on their size.
 */
export async function crateArchive(
  deps: Pick<Deps, "records" | "objects" | "log">,
  root: StoredRecord,
  caller: Caller | null,
): Promise<CrateArchive> {
  const state = await stateOf(deps, root);
  const written = await asWritten(deps, root);
  const descriptor = written?.descriptor ?? DESCRIPTOR;
  const metadata = bareId(descriptor);
  const paths = new MemberPaths(metadata);
  const names = new Map(written?.ids);
  const members: Member[] = [];
  const described: DescribedFile[] = [];
  const undescribed: Omit<Member, "path">[] = [];
  const left: CrateArchive["left"] = [];
  const crates = new Map<string, InnerCrate>();
  const descriptors = new Map<string, Descriptor>();
  const folders: string[] = [];
  const statements = new FileStatements();
  let hasPage = false;
  const isPage = (path: string): boolean => foldName(path) === foldName(PREVIEW_PAGE);
  const survey = await surveyCrate(deps, root, async (record, document) => {
    if (record.ark === `${root.ark}/${PREVIEW_PAGE}`) hasPage = true;
    if (record.kind === "dataset" && suffixOf(record.ark, root.ark) !== undefined)
      folders.push(record.ark);
    const crate = describedCrate(record.ark);
    if (crate !== undefined && record.kind === "entity")
      descriptors.set(crate, { record, document });
    if (record.kind === "rocrate" && record.ark !== root.ark)
      crates.set(record.ark, {
        record,
        id: entityUrl(record, document) ?? record.ark,
        types: document["@type"],
        isEvident: typeNames(document, document["@context"]).includes("ROCrate"),
      });
    const uri = entityUri(record, document);
    if (uri !== undefined && !names.has(record.ark)) names.set(record.ark, uri);
    const objects = await deps.records.objectsOf(record.ark);
    const [content] = objects.filter(({ role }) => role === "content");
    const others = record.ark === root.ark ? objects.filter(({ role }) => role === "member") : [];
    if (!content && isAbsentFile(record, document)) names.delete(record.ark);
    if (!content && others.length === 0) return;
    if (!(await mayReadContent(deps.records, caller, record))) {
      if (content && isPathId(names.get(record.ark) ?? "")) names.delete(record.ark);
      for (const { name } of content ? [content] : others) left.push({ ark: record.ark, name });
      // A page of the registry would be taken for the crate's own, which is left out.
      hasPage ||= (
        content
          ? statedPaths(record.ark, document, root.ark).map(({ path }) => path)
          : others.map(({ name }) => name)
      ).some(isPage);
      return;
    }
    for (const object of others) undescribed.push({ at: record.modifiedAt, object });
    if (content)
      described.push({
        ark: record.ark,
        object: content,
        stated: statedPaths(record.ark, document, root.ark),
        at: record.modifiedAt,
      });
  });
  statements.place(described, paths, members, names);
  for (const { at, object } of undescribed)
    members.push({ path: paths.take(object.name) ?? paths.place(object.name), at, object });
  for (const ark of folders) {
    const suffix = suffixOf(ark, root.ark)!;
    if (!names.has(ark) && paths.hasFolder(decoded(suffix)))
      names.set(ark, `${relativeId(suffix)}/`);
  }
  names.set(descriptorArk(root.ark), descriptor);
  // RO-Crate 1.0 and 1.1 require a root whose identifier ends with a slash, as the original
  // identifier did; an ARK means the same with a slash.
  if (
    !names.has(root.ark) &&
    isMinted(root.ark, "rocrate") &&
    /(?:^|\/1\.[01])$/.test(claimed(survey))
  )
    names.set(root.ark, `${root.ark}/`);
  const inner: InnerMetadata[] = [];
  for (const [ark, crate] of crates) {
    const descriptor = descriptors.get(ark);
    // An entity that names itself a crate, without its own metadata file.
    if (crate.isEvident && !descriptor) continue;
    const suffix = suffixOf(ark, root.ark);
    const path = paths.takeMetadata(
      suffix === undefined ? `crates/${ark.replace(/[^A-Za-z0-9._-]+/g, "-")}` : decoded(suffix),
    );
    // A path with other characters can be written in several ways; the ARK cannot.
    if (descriptor && PLAIN.test(path)) names.set(descriptorArk(ark), path);
    inner.push({ ...crate, descriptor, path });
  }
  // The last name that is taken: a file of the crate comes before a page of the registry.
  if (paths.take(PREVIEW_PAGE) === undefined) hasPage = true;
  return {
    root,
    state,
    left,
    files: members.map(({ path }) => path),
    hasPage,
    open: (form = "zip", page?: string) =>
      write(deps, form, {
        page: hasPage ? undefined : page,
        root,
        state,
        left,
        members,
        inner,
        paths,
        survey,
        names: {
          context: survey.context,
          known: survey.known,
          paths: names,
          ...(written ? { numbers: written.numbers } : {}),
        },
        metadata,
        statements,
      }),
  };
}

/**
 * A file without content here whose bytes are not elsewhere either: a path would promise a file
 * that the archive has not, and that intake would miss.
 */
function isAbsentFile(record: StoredRecord, document: JsonObject): boolean {
  const types = typeNames(document, document["@context"]);
  return (
    (types.includes("File") || types.includes("MediaObject")) &&
    ![document["contentUrl"], document["url"]].some((stated) =>
      referencesIn(stated).some(
        (url) => localPath(url) === undefined && url !== "" && !isOwnContentUrl(url, record),
      ),
    )
  );
}

/** Version of RO-Crate that the crate is exported as. */
function claimed({ descriptor, conformsTo }: CrateSurvey): string {
  return descriptor
    ? (referencesIn(descriptor.document["conformsTo"]).find((iri) =>
        iri.startsWith("https://w3id.org/ro/crate/"),
      ) ?? "")
    : conformsTo;
}

/** A crate within the crate. */
interface InnerCrate {
  record: StoredRecord;
  id: string;
  types: JsonValue | undefined;
  isEvident: boolean;
}
/** A crate within the crate with its own metadata file in the archive. */
interface InnerMetadata extends InnerCrate {
  descriptor: Descriptor | undefined;
  path: string;
}

/**
 * Metadata of a crate within the crate: its descriptor and its root entity, with what only its own
 * metadata file states. The metadata of the
 * outer crate holds its other entities.
 */
function innerMetadata(
  { record, id, types, descriptor }: InnerMetadata,
  survey: CrateSurvey,
): string {
  const used = new UsedContexts();
  const own = survey.summaries.get(record.ark)?.own;
  if (descriptor) used.add(descriptor.document);
  const context = descriptor
    ? new CrateContext(descriptor.document["@context"], used)
    : survey.context;
  const names: EntityNames = {
    context,
    known: survey.known,
    paths: new Map([[descriptorArk(record.ark), DESCRIPTOR]]),
  };
  const described = descriptorEntity(
    record.ark,
    { descriptor, conformsTo: survey.conformsTo },
    names,
    id,
  );
  return metadataOf(context.whole, [
    described,
    { "@id": id, ...(types === undefined ? {} : { "@type": types }), ...own },
  ]);
}

interface Plan {
  page: string | undefined;
  root: StoredRecord;
  state: string;
  left: CrateArchive["left"];
  members: Member[];
  inner: InnerMetadata[];
  paths: MemberPaths;
  survey: CrateSurvey;
  names: EntityNames;
  /** Name of the metadata file. */
  metadata: string;
  statements: FileStatements;
}

function write(
  deps: Pick<Deps, "records" | "objects">,
  form: "zip" | "bag",
  { page, root, state, left, members, inner, paths, survey, names, metadata, statements }: Plan,
): Readable {
  const crates = new Set(inner.map(({ record }) => record.ark));
  const zip = new yazl.ZipFile();
  const output = zip.outputStream as Readable;
  let reading: Readable | undefined;
  const broken = (error: Error) => void output.destroy(error);
  zip.on("error", broken);
  // A client that leaves early must not leave a file open.
  output.on("close", () => reading?.destroy());
  const add = (
    path: string,
    at: number,
    more: { size?: number; compress: boolean },
    source: () => Promise<Readable>,
  ) =>
    zip.addReadStreamLazy(path, { mtime: new Date(at), mode: 0o100644, ...more }, (begin) => {
      if (output.destroyed) return;
      source().then((stream) => {
        reading = stream.on("error", broken);
        if (output.destroyed) stream.destroy();
        else begin(null, stream);
      }, broken);
    });
  const bag = form === "bag" ? new Bag() : undefined;
  const place = (path: string): string => (bag ? `data/${path}` : path);
  const addText = (path: string, text: string, at: number): void => {
    const bytes = Buffer.from(text);
    bag?.note(place(path), bytes);
    zip.addBuffer(bytes, place(path), {
      mtime: new Date(at),
      compress: bytes.length <= RATIO_FROM,
    });
  };
  add(place(metadata), root.modifiedAt, { compress: true }, async () => {
    const text = asItWas(
      deps,
      state,
      root,
      crateMetadata(deps, root, survey, names, {
        documentOf: (record, document) => statements.of(record, document),
        inner: crates,
        isNamed:
          arkKey(parseArk(names.paths.get(root.ark) ?? root.ark)?.stored ?? "") ===
          arkKey(root.ark),
      }),
    );
    return Readable.from(bag ? bag.noted(place(metadata), text) : text);
  });
  if (page !== undefined) addText(PREVIEW_PAGE, page, root.modifiedAt);
  for (const crate of inner)
    addText(crate.path, innerMetadata(crate, survey), crate.record.modifiedAt);
  for (const { path, at, object } of members) {
    bag?.add(place(path), object.sha256);
    // A registry would take a file that inflates to much more than its compressed size for a zip
    // bomb on upload.
    add(
      place(path),
      at,
      { size: object.size, compress: object.size <= RATIO_FROM && !PACKED.test(object.mediaType) },
      () => deps.objects.open(object.sha256, undefined, { size: object.size }),
    );
  }
  if (left.length > 0)
    addText(paths.take(NOTE) ?? paths.place(NOTE), noteOf(left), root.modifiedAt);
  if (bag) {
    zip.addBuffer(Buffer.from(BAG_DECLARATION), "bagit.txt", { mtime: new Date(root.modifiedAt) });
    // Last: the hash of the metadata is known when it was written.
    add("manifest-sha256.txt", root.modifiedAt, { compress: true }, async () =>
      Readable.from([Buffer.from(bag.manifest())]),
    );
  }
  zip.end();
  return output;
}

const BAG_DECLARATION = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

/** The manifest of a bag, while its payload is written. */
class Bag {
  readonly #lines: string[] = [];

  add(path: string, sha256: string): void {
    // Line breaks and percent signs would end or change the path (RFC 8493, section 2.1.3).
    const escaped = path.replace(/[%\r\n]/g, (character) => encodeURIComponent(character));
    this.#lines.push(`${sha256}  ${escaped}\n`);
  }

  note(path: string, bytes: Uint8Array): void {
    this.add(path, createHash("sha256").update(bytes).digest("hex"));
  }

  /** The chunks, hashed as they pass. */
  async *noted(path: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const hash = createHash("sha256");
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
    this.add(path, hash.digest("hex"));
  }

  manifest(): string {
    return this.#lines.join("");
  }
}

/** Files were chosen before their description is written: both must belong to the same state. */
async function* asItWas(
  deps: Pick<Deps, "records">,
  state: string,
  root: StoredRecord,
  text: AsyncIterable<string>,
): AsyncGenerator<Buffer> {
  for await (const chunk of text) yield Buffer.from(chunk);
  if ((await stateOf(deps, root)) !== state)
    throw new ServiceError(
      "STORE_UNAVAILABLE",
      `${root.ark} changed while its archive was created; send the request again.`,
    );
}

const noteOf = (left: CrateArchive["left"]): string =>
  "Described in ro-crate-metadata.json and not included, because the requester may not " +
  `read them:\n\n${left.map(({ ark, name }) => `${ark}\t${name}`).join("\n")}\n`;
