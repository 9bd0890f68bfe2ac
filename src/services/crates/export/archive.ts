import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { isDeepStrictEqual } from "node:util";
import yazl from "yazl";
import { ServiceError } from "../../../errors.js";
import { arkKey, isMinted, parseArk } from "../../../identifiers/ark.js";
import {
  bareId,
  isAbsoluteId,
  isPathId,
  resolvedPath,
  withoutLast,
} from "../../../identifiers/entity-ids.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { referencesIn } from "../../../model/field.js";
import { typeNames } from "../../../model/kind.js";
import type { ObjectReference, StoredRecord } from "../../../storage/records/port.js";
import { type Caller, mayReadContent } from "../../access/rules.js";
import type { Deps } from "../../deps.js";
import { getOrInsert } from "../../../get-or-insert.js";
import { reportDamage, wasDamaged } from "../../../log.js";
import { pairs } from "../../../pairs.js";
import { contentUrlOf } from "../../records/stored-content.js";
import { parseDocument } from "../../records/view.js";
import { foldersOf, localPath } from "../files/match-files.js";
import { DESCRIPTOR, describedCrate, descriptorArk } from "../layout.js";
import { NO_SOURCE } from "../records/document.js";
import { PREVIEW_PAGE } from "../upload.js";
import { invisibleIn, withoutInvisible } from "../../../model/strings.js";
import { foldName, RATIO_FROM } from "../zip/members.js";
import { type AsWritten, asWritten } from "./as-written.js";
import {
  decoded,
  filesBelow,
  noFolder,
  pathInUrl,
  type StatedPath,
  statedPaths,
  suffixOf,
} from "./contents.js";
import { crateRecords, stateOf } from "../../records/of-crate.js";
import {
  type CrateSurvey,
  crateMetadata,
  type EntityNames,
  entityUri,
  entityUrl,
  FileSurvey,
  surveyCrate,
} from "./metadata.js";
import { type CratePlace, Origins, placesOf, readOrigins } from "./origins.js";

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

  /** A folder for a crate within the crate: no file of another crate may get into it. */
  takeFolder(around: string, name: string): string {
    for (let count = 0; ; count++) {
      const folder = `${around}crates/${plain(name)}${count === 0 ? "" : `-${count}`}`;
      const folded = foldName(folder);
      if (this.#files.has(folded) || this.#folders.has(folded)) continue;
      this.#folders.add(folded);
      return folder;
    }
  }

  /** A path for metadata of a crate within the crate. */
  takeMetadata(folder: string, name: string = DESCRIPTOR): string {
    const bare = isName(folder) ? folder : `crates/${plain(folder)}`;
    for (let count = 0; ; count++) {
      const path = `${bare}${count === 0 ? "" : `-${count}`}/${name}`;
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

/** An identifier as a path below the crate with the identifier `base`. */
interface RelativeId {
  base: string;
  id: string;
}

/** A stored file of a record, and the paths at which its crate had it. */
interface DescribedFile {
  ark: string;
  object: ObjectReference;
  /** Below the folder that the archive has for its crate. */
  stated: StatedPath[];
  at: number;
  /** The crate, and its folder in the archive: empty, or with `/` at the end. */
  base: string;
  folder: string;
}
/** The same before the crates within the crate have their folders. */
interface SurveyedFile extends Omit<DescribedFile, "base" | "folder"> {
  /** The crate that it came with, and its paths there. */
  home: string;
  inHome: StatedPath[];
}

/** Assigns places to the files of a crate, and rewrites the metadata of these files accordingly. */
class FileStatements {
  /** Paths in the archive, and what states them, by ARK. */
  readonly #placed = new Map<string, StatedPath & { object: ObjectReference }>();
  /** Contents of the archive, by path. */
  readonly #contents = new Map<string, string>();

  /** The record's file, where it is in the archive. */
  fileOf(ark: string): ObjectReference | undefined {
    return this.#placed.get(ark)?.object;
  }

  /**
   * Finds a place for each file: the path that its identifier was derived from, else the path at
   * which its crate had it. Entities that name one file share it.
   */
  place(
    files: readonly DescribedFile[],
    paths: MemberPaths,
    into: Member[],
    relative: Map<string, RelativeId>,
  ): void {
    const byUrl: DescribedFile[] = [];
    for (const file of files) {
      const own = file.stated.find(({ url }) => url === null);
      if (own?.suffix === undefined || !this.#take(file, own, paths, into)) byUrl.push(file);
      else relative.set(file.ark, { base: file.base, id: relativeId(own.suffix) });
    }
    for (const file of byUrl) {
      const found = file.stated.some(
        (stated) => stated.url !== null && this.#take(file, stated, paths, into),
      );
      if (found) continue;
      const path = paths.place(file.object.name);
      this.#take({ ...file, folder: "" }, { path, url: pathInUrl(path) }, undefined, into);
    }
  }

  /** @param paths where the path is still to be taken */
  #take(
    { ark, object, at, folder }: DescribedFile,
    { path: stated, url }: StatedPath,
    paths: MemberPaths | undefined,
    into: Member[],
  ): boolean {
    const path = folder + stated;
    if (this.#contents.get(path) !== object.sha256) {
      if (paths && paths.take(path) === undefined) return false;
      this.#contents.set(path, object.sha256);
      into.push({ path, at, object });
    }
    this.#placed.set(ark, {
      path,
      url: url === null || url === undefined || folder === "" ? url : pathInUrl(path),
      object,
    });
    return true;
  }

  /**
   * The description of a record in the archive; a file of the archive is described as its author
   * would describe it.
   * @param isNamed whether the `@id` in this metadata file is the path, where it is in another
   */
  of(record: StoredRecord, document: JsonObject, isNamed: boolean): JsonObject {
    const file = this.#placed.get(record.ark);
    if (!file) return document;
    const { contentUrl, sourceContentUrl, ...rest } = document;
    const stated = isOwnContentUrl(contentUrl, record) ? sourceContentUrl : contentUrl;
    const placed = file.url === null && !isNamed ? pathInUrl(file.path) : file.url;
    const url = placed ?? stated;
    // The author did not state the file's place in the archive: the address that the author stated
    // is written beside it.
    const source: JsonObject =
      placed === null || placed === undefined || isDeepStrictEqual(placed, sourceContentUrl)
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
  object: Pick<ObjectReference, "sha256" | "size" | "mediaType">;
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
  const contents = new CrateContents(deps, root, caller);
  const whole = await surveyCrate(deps, root, (record, document) => contents.add(record, document));
  const innerCrates = contents.innerCrates();
  const innerRecords = new Map([...innerCrates].map(([ark, { record }]) => [ark, record]));
  const places = await placesOf(deps, root.ark, innerRecords);
  const layout = new ArchiveLayout(root, written, contents, places);
  // Before the files: one with a similar name must not take the place.
  await layout.placeMetadata(deps, innerCrates);
  layout.placeFiles();
  const names = layout.rootNames(whole);
  const inner = layout.innerMetadata(names);
  const { paths, members, statements, metadata } = layout;
  // The last name that is taken: a file of the crate comes before a page of the registry.
  const hasPage = paths.take(PREVIEW_PAGE) === undefined || contents.hasPage;
  const origins =
    inner.length === 0
      ? new Origins(root.ark, innerRecords, NO_ORIGINS)
      : await readOrigins(deps, root, innerRecords, places);
  const { left } = contents;
  return {
    root,
    state,
    left,
    files: members.map(({ path }) => path),
    hasPage,
    open: (form = "zip", page?: string) => {
      const files = { root, left, members, paths };
      return write(deps, form, files, {
        ...files,
        page: hasPage ? undefined : page,
        state,
        inner,
        whole,
        origins,
        names,
        written,
        metadata,
        statements,
      });
    },
  };
}

/** The files of a folder of a crate, without metadata. */
export interface FolderArchive extends Pick<CrateArchive, "state" | "left"> {
  /** Of the folder, without those around it. */
  name: string;
  open(): Readable;
}

/** Records that are read together. */
const FOLDER_READ = 500;

/**
 * A folder of a crate as an archive: its files that the caller may read, below the folder's name.
 * @throws ServiceError `NOT_FOUND` for a folder without a file
 */
export async function folderArchive(
  deps: Deps,
  root: StoredRecord,
  folder: string,
  caller: Caller | null,
): Promise<FolderArchive> {
  const state = await stateOf(deps, root);
  const { path: inside, files } = await filesBelow(deps, root, folder);
  if (inside === "") throw noFolder(inside);
  const name = inside.slice(inside.lastIndexOf("/") + 1);
  const paths = new MemberPaths();
  const members: Member[] = [];
  const left: CrateArchive["left"] = [];
  const hash = createHash("sha256").update(inside);
  // The files that no entity describes are all of one record.
  const known = new Map<string, ReturnType<typeof deps.records.objectsOf>>();
  const objectsOf = (ark: string) => getOrInsert(known, ark, () => deps.records.objectsOf(ark));
  for (let start = 0; start < files.length; start += FOLDER_READ) {
    const batch = files.slice(start, start + FOLDER_READ);
    const records = await deps.records.findMany(batch.map(({ file }) => file.ark));
    for (const [{ rest, file }, record] of pairs(batch, records)) {
      // Deleted between the two reads.
      if (!record) continue;
      if (!(await mayReadContent(deps.records, caller, record))) {
        left.push({ ark: file.ark, name: rest });
        continue;
      }
      // An anonymous review does not have all objects of a record that it has.
      const objects = await objectsOf(record.ark);
      const object = objects.find((each) => each.role === file.role && each.name === file.name);
      if (!object) continue;
      const path = paths.take(`${name}/${rest}`) ?? paths.place(rest);
      members.push({ path, at: record.modifiedAt, object });
      hash.update(`${path}\n${file.sha256}\n`);
    }
  }
  return {
    name,
    state: `${state}-${hash.digest("hex").slice(0, 16)}`,
    left,
    open: () => write(deps, "zip", { root, left, members, paths }),
  };
}

const isPage = (path: string): boolean => foldName(path) === foldName(PREVIEW_PAGE);

/** What the records of a crate bring into its archive, found in one pass over them. */
class CrateContents {
  readonly described: SurveyedFile[] = [];
  readonly undescribed: { at: number; object: ObjectReference }[] = [];
  readonly left: CrateArchive["left"] = [];
  readonly unnamed = new Map<string, "any" | "path">();
  /** URIs of entities, with the crates that they came with. */
  readonly uris: { ark: string; base: string; uri: string }[] = [];
  /** Crates whose metadata file has an entity. */
  readonly withDescriptor = new Set<string>();
  /** Records of folders. */
  readonly folders: { ark: string; suffix: string }[] = [];
  hasPage = false;

  readonly #crates = new Map<string, InnerCrate>();
  readonly #deps: Pick<Deps, "records">;
  readonly #root: StoredRecord;
  readonly #caller: Caller | null;

  constructor(deps: Pick<Deps, "records">, root: StoredRecord, caller: Caller | null) {
    this.#deps = deps;
    this.#root = root;
    this.#caller = caller;
  }

  async add(record: StoredRecord, document: JsonObject): Promise<void> {
    this.#noteEntity(record, document);
    const { records } = this.#deps;
    const objects = await records.objectsOf(record.ark);
    const content = objects.find(({ role }) => role === "content");
    const isRoot = record.ark === this.#root.ark;
    const others = isRoot ? objects.filter(({ role }) => role === "member") : [];
    if (!content && isAbsentFile(record, document)) this.unnamed.set(record.ark, "any");
    if (!content && others.length === 0) return;
    if (!(await mayReadContent(records, this.#caller, record)))
      return this.#leaveOut(record, document, content, others);
    for (const object of others) this.undescribed.push({ at: record.modifiedAt, object });
    if (!content) return;
    const home = record.crate ?? record.ark;
    const stated = statedPaths(record.ark, document, this.#root.ark);
    this.described.push({
      ark: record.ark,
      object: content,
      stated,
      home,
      inHome: home === this.#root.ark ? stated : statedPaths(record.ark, document, home),
      at: record.modifiedAt,
    });
  }

  #noteEntity(record: StoredRecord, document: JsonObject): void {
    const { ark, kind } = record;
    const root = this.#root.ark;
    if (ark === `${root}/${PREVIEW_PAGE}`) this.hasPage = true;
    const suffix = suffixOf(ark, root);
    if (kind === "dataset" && suffix !== undefined) this.folders.push({ ark, suffix });
    const crate = describedCrate(ark);
    if (crate !== undefined && kind === "entity") this.withDescriptor.add(crate);
    if (kind === "rocrate" && ark !== root)
      this.#crates.set(ark, {
        record,
        id: entityUrl(record, document) ?? ark,
        isEvident: typeNames(document, document["@context"]).includes("ROCrate"),
      });
    const uri = entityUri(record, document);
    if (uri !== undefined && record.crate !== null)
      this.uris.push({ ark, base: record.crate, uri });
  }

  /** What the caller may not read: its metadata is in the archive, its bytes are not. */
  #leaveOut(
    { ark }: StoredRecord,
    document: JsonObject,
    content: ObjectReference | undefined,
    others: readonly ObjectReference[],
  ): void {
    if (content) this.unnamed.set(ark, "path");
    for (const { name } of content ? [content] : others) this.left.push({ ark, name });
    // A page of the registry would be taken for the crate's own, which is left out.
    const paths = content
      ? statedPaths(ark, document, this.#root.ark).map(({ path }) => path)
      : others.map(({ name }) => name);
    this.hasPage ||= paths.some(isPage);
  }

  /** Crates within the crate that have a metadata file of their own in the archive. */
  innerCrates(): Map<string, InnerCrate> {
    return new Map(
      [...this.#crates].filter(
        ([ark, { record, isEvident }]) =>
          this.withDescriptor.has(ark) ||
          // An entity that names itself a crate, or is only named, without its own metadata file.
          (!isEvident && record.crate !== null),
      ),
    );
  }
}

/** The metadata file of a crate within the crate. */
interface PlacedMetadata {
  crate: InnerCrate;
  path: string;
  own: AsWritten | undefined;
  /** Present where the file has the path that the crate had. */
  place?: CratePlace;
}

/** The places of metadata files, files and folders in an archive, and their names in metadata. */
class ArchiveLayout {
  readonly paths: MemberPaths;
  readonly members: Member[] = [];
  readonly statements = new FileStatements();
  /** Name of the metadata file of the root. */
  readonly metadata: string;

  readonly #root: StoredRecord;
  readonly #written: AsWritten | undefined;
  readonly #contents: CrateContents;
  readonly #places: ReadonlyMap<string, CratePlace>;
  /** Folders of the crates that are registered by themselves. */
  #linked: ReadonlyMap<string, string> = new Map();
  readonly #metadataFiles = new Map<string, PlacedMetadata>();
  /** Identifiers of files and folders as relative paths below their crates. */
  readonly #relative = new Map<string, RelativeId>();

  constructor(
    root: StoredRecord,
    written: AsWritten | undefined,
    contents: CrateContents,
    places: ReadonlyMap<string, CratePlace>,
  ) {
    this.#root = root;
    this.#written = written;
    this.#contents = contents;
    this.#places = places;
    this.metadata = bareId(this.#descriptor);
    this.paths = new MemberPaths(this.metadata);
  }

  get #descriptor(): string {
    return this.#written?.descriptor ?? DESCRIPTOR;
  }

  /** Takes the paths of the metadata files of the crates within the crate. */
  async placeMetadata(
    deps: Pick<Deps, "records" | "objects" | "log">,
    inner: ReadonlyMap<string, InnerCrate>,
  ): Promise<void> {
    this.#linked = await linkedFolders(deps, this.#places, this.paths);
    for (const [ark, crate] of inner) {
      const place = this.#places.get(ark);
      const own =
        place && (await asWritten(deps, crate.record, { base: place.base, folder: place.path }));
      const folder = place && (this.#linked.get(place.base) ?? "") + place.path;
      const name = bareId(own?.descriptor ?? DESCRIPTOR);
      const path = this.paths.takeMetadata(
        folder === undefined || folder === "" ? `crates/${nameOf(ark)}` : folder.slice(0, -1),
        name,
      );
      const isInPlace = place !== undefined && path === `${folder ?? ""}${name}`;
      this.#metadataFiles.set(ark, { crate, path, own, ...(isInPlace && { place }) });
      if (isInPlace && ark === `${place.base}/${withoutLast(place.within, "/")}`)
        this.#relative.set(ark, { base: place.base, id: relativeId(place.within) });
    }
  }

  /** Takes the paths of the files, then those of the folders that hold some. */
  placeFiles(): void {
    const { described, undescribed, folders } = this.#contents;
    const files = [...this.#metadataFiles.values()]
      .flatMap(({ own, place }) =>
        place ? [{ base: place.base, path: place.path, ids: own?.ids }] : [],
      )
      .toSorted((a, b) => b.path.length - a.path.length);
    const root = this.#root.ark;
    this.statements.place(
      described.map(({ home, inHome, ...file }) => {
        const isLinked = this.#linked.has(home);
        const base = isLinked ? home : root;
        const { ids, path } = files.find((one) => one.base === base && one.ids?.has(file.ark)) ?? {
          ids: isLinked ? undefined : this.#written?.ids,
          path: "",
        };
        return {
          ...file,
          base,
          folder: this.#linked.get(home) ?? "",
          stated: pathsFrom(path, isLinked ? inHome : file.stated, file.object, ids?.get(file.ark)),
        };
      }),
      this.paths,
      this.members,
      this.#relative,
    );
    for (const { at, object } of undescribed) {
      const path = this.paths.take(object.name) ?? this.paths.place(object.name);
      this.members.push({ path, at, object });
    }
    for (const { ark, suffix } of folders)
      if (!this.#relative.has(ark) && this.paths.hasFolder(decoded(suffix)))
        this.#relative.set(ark, { base: root, id: `${relativeId(suffix)}/` });
  }

  /** The `@id`s of entities in the metadata file of the root. */
  rootNames(whole: CrateSurvey): Map<string, string> {
    const root = this.#root.ark;
    const names = writtenNames(this.#written, this.#contents.unnamed);
    for (const [ark, { base, id }] of this.#relative) if (base === root) addTo(names, ark, id);
    this.#addUris(names, root);
    names.set(descriptorArk(root), this.#descriptor);
    // RO-Crate 1.0 and 1.1 require a root whose identifier ends with a slash, as the original
    // identifier did; an ARK means the same with a slash.
    if (isMinted(root, "rocrate") && /(?:^|\/1\.[01])$/.test(claimed(whole)))
      addTo(names, root, `${root}/`);
    return names;
  }

  /**
   * The metadata files of the crates within the crate.
   * @param rootNames gets the names of their descriptors in the metadata file of the root
   */
  innerMetadata(rootNames: Map<string, string>): InnerMetadata[] {
    return [...this.#metadataFiles].map(([ark, file]) => this.#innerMetadata(ark, file, rootNames));
  }

  #innerMetadata(
    ark: string,
    { path, own, place, crate }: PlacedMetadata,
    rootNames: Map<string, string>,
  ): InnerMetadata {
    if (!place) rootNames.delete(descriptorArk(ark));
    // A path with other characters can be written in several ways; the ARK cannot.
    if (this.#contents.withDescriptor.has(ark) && PLAIN.test(path))
      addTo(rootNames, descriptorArk(ark), path);
    const names = writtenNames(place && own, this.#contents.unnamed);
    if (place) {
      nameWithin(names, ark, place, this.#relative);
      this.#addUris(names, place.base);
      this.#addDeeperDescriptors(names, place.base, path.slice(0, path.lastIndexOf("/") + 1));
    }
    names.set(descriptorArk(ark), own?.descriptor ?? DESCRIPTOR);
    const id = names.get(ark);
    const isBelow = place !== undefined && place.base !== ark && ark.startsWith(`${place.base}/`);
    const isNamed = id === undefined || isArk(id, ark) || isBelow;
    return { ...crate, path, names, written: own, isNamed };
  }

  #addUris(names: Map<string, string>, crate: string): void {
    for (const { ark, base, uri } of this.#contents.uris)
      if (base === crate) addTo(names, ark, uri);
  }

  /** Names the metadata files below a folder of a crate. */
  #addDeeperDescriptors(names: Map<string, string>, base: string, folder: string): void {
    for (const [ark, { path, place }] of this.#metadataFiles)
      if (place?.base === base && path.startsWith(folder) && PLAIN.test(path))
        addTo(names, descriptorArk(ark), path.slice(folder.length));
  }
}

/** Names an entity that has no name yet. */
function addTo(names: Map<string, string>, ark: string, name: string): void {
  if (!names.has(ark)) names.set(ark, name);
}

const NO_ORIGINS = { files: new Map<never, never>(), contexts: new Map<never, never>() };

/**
 * Folders of the crates that are registered by themselves, each inside that of a crate that contains
 * it: where two describe one entity, the deeper one is read first.
 */
async function linkedFolders(
  { records }: Pick<Deps, "records">,
  places: ReadonlyMap<string, CratePlace>,
  paths: MemberPaths,
): Promise<Map<string, string>> {
  const linked = [...places].flatMap(([ark, { base }]) => (base === ark ? [ark] : []));
  const uses = new Map<string, ReadonlySet<string>>();
  for (const ark of linked) uses.set(ark, new Set(await records.usesOf(ark)));
  const folders = new Map<string, string>();
  const folderOf = (ark: string, inside: readonly string[]): string => {
    const known = folders.get(ark);
    if (known !== undefined) return known;
    const [around] =
      [...uses].find(([other, used]) => !inside.includes(other) && used.has(ark)) ?? [];
    const outer = around === undefined ? "" : folderOf(around, [...inside, around]);
    const folder = `${paths.takeFolder(outer, nameOf(ark))}/`;
    folders.set(ark, folder);
    return folder;
  };
  for (const ark of linked) folderOf(ark, [ark]);
  return folders;
}

/**
 * Paths as the crate has them, from those that one of its metadata files states.
 * @param folder of the metadata file
 * @param id `@id` that the author wrote: a `#` in it may be one of the file's name
 */
function pathsFrom(
  folder: string,
  stated: readonly StatedPath[],
  { name }: ObjectReference,
  id = "",
): StatedPath[] {
  const isRaw = id.includes("#") && !/^(?:#|_:)/.test(id) && !isAbsoluteId(id);
  const own = (isRaw ? [decoded(id), id] : []).flatMap((text): StatedPath[] => {
    const path = resolvedPath(text);
    return path !== undefined && `/${path}`.endsWith(`/${name}`) ? [{ path, url: undefined }] : [];
  });
  return [...own, ...stated].map((one) =>
    one.url === null || one.path.startsWith(folder) ? one : { ...one, path: folder + one.path },
  );
}

const nameOf = (ark: string): string => ark.replace(/[^A-Za-z0-9._-]+/g, "-");

/** `@id`s of the author that an archive cannot have. */
type Unnamed = ReadonlyMap<string, "any" | "path">;

/** The author's own `@id`s, without those that would promise a file that is not in the archive. */
function writtenNames(written: AsWritten | undefined, unnamed: Unnamed): Map<string, string> {
  const names = new Map(written?.ids);
  for (const [ark, which] of unnamed)
    if (which === "any" || isPathId(names.get(ark) ?? "")) names.delete(ark);
  return names;
}

/** Adds names to the metadata file of a crate within the crate: relative to its folder. */
function nameWithin(
  names: Map<string, string>,
  ark: string,
  place: CratePlace,
  relative: ReadonlyMap<string, RelativeId>,
): void {
  for (const [each, { base, id }] of relative)
    if (base === place.base && id.startsWith(place.within) && id.length > place.within.length)
      addTo(names, each, relativeId(id.slice(place.within.length)));
  if (relative.has(ark)) addTo(names, ark, "./");
}

/** Whether an `@id` is an ARK in any spelling. */
const isArk = (id: string, ark: string): boolean =>
  arkKey(parseArk(id)?.stored ?? "") === arkKey(ark);

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
  isEvident: boolean;
}
/** A crate within the crate with its own metadata file in the archive. */
interface InnerMetadata extends InnerCrate {
  path: string;
  /** Names of entities in its metadata file. */
  names: Map<string, string>;
  written: AsWritten | undefined;
  /** Whether its root's `@id` says which crate it is, in this place. */
  isNamed: boolean;
}

/** One metadata file of the archive, before it is written. */
interface MetadataFile {
  survey: CrateSurvey;
  names: EntityNames;
}

/** Finds what each metadata file describes, and its terms. */
async function surveyFiles(
  deps: Pick<Deps, "records">,
  { root, whole, inner, origins, names, written }: Plan,
): Promise<Map<string, MetadataFile>> {
  const files = new Map<string, MetadataFile>();
  const known = whole.known;
  if (inner.length === 0) {
    files.set(root.ark, {
      survey: whole,
      names: { context: whole.context, known, paths: names, written },
    });
    return files;
  }
  const all = [{ record: root, names, written }, ...inner].map((crate) => ({
    crate,
    survey: new FileSurvey(crate.record),
  }));
  const byCrate = new Map(all.map((file) => [file.crate.record.ark, file]));
  for await (const page of crateRecords(deps, root)) {
    for (const record of page) {
      const document = parseDocument(record.document);
      for (const ark of origins.of(record)) {
        const statement = origins.statement(record, document, ark);
        byCrate.get(ark)?.survey.add(record, statement, document);
      }
    }
  }
  for (const [ark, { crate, survey }] of byCrate) {
    const result = await survey.result(deps, origins.contextOf(ark));
    files.set(ark, {
      survey: result,
      names: { context: result.context, known, paths: crate.names, written: crate.written },
    });
  }
  return files;
}

/** The files of an archive. */
interface FilesPlan {
  root: StoredRecord;
  left: CrateArchive["left"];
  members: Member[];
  paths: MemberPaths;
}

/** The same with their metadata. */
interface Plan extends FilesPlan {
  page: string | undefined;
  state: string;
  inner: InnerMetadata[];
  /** Survey of all records of the crate. */
  whole: CrateSurvey;
  origins: Origins;
  names: Map<string, string>;
  written: AsWritten | undefined;
  /** Name of the metadata file. */
  metadata: string;
  statements: FileStatements;
}

/** Adds members whose bytes are opened when their turn has come. */
function streamsInto(zip: yazl.ZipFile, output: Readable, broken: (error: Error) => void) {
  let reading: Readable | undefined;
  zip.on("error", broken);
  // A client that leaves early must not leave a file open.
  output.on("close", () => reading?.destroy());
  return (
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
}

function write(
  deps: Pick<Deps, "records" | "objects" | "log">,
  form: "zip" | "bag",
  files: FilesPlan,
  plan?: Plan,
): Readable {
  const { root, left, members, paths } = files;
  let surveyed: Promise<Map<string, MetadataFile>> | undefined;
  const zip = new yazl.ZipFile();
  const output = zip.outputStream as Readable;
  const broken = (error: Error) => void output.destroy(error);
  const add = streamsInto(zip, output, broken);
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
  const addMetadata = (
    described: Plan,
    path: string,
    crate: StoredRecord,
    inner?: InnerMetadata,
  ): void =>
    add(place(path), crate.modifiedAt, { compress: true }, async () => {
      const file = (await (surveyed ??= surveyFiles(deps, described))).get(crate.ark)!;
      const text = metadataText(deps, described, crate, file, inner);
      return Readable.from(bag ? bag.noted(place(path), text) : text);
    });
  if (plan) {
    addMetadata(plan, plan.metadata, root);
    if (plan.page !== undefined) addText(PREVIEW_PAGE, plan.page, root.modifiedAt);
    for (const crate of plan.inner) addMetadata(plan, crate.path, crate.record, crate);
  }
  const addFiles = async (): Promise<void> => {
    const damaged: string[] = [];
    // One after the other: the header of a member that turns out to be damaged would be written.
    for (const { path, at, object } of members) {
      const stream = await intact(deps, object);
      if (output.destroyed) return void stream?.destroy();
      if (!stream) {
        damaged.push(path);
        continue;
      }
      bag?.add(place(path), object.sha256);
      // A registry would take a file that inflates to much more than its compressed size for a zip
      // bomb on upload.
      const compress = object.size <= RATIO_FROM && !PACKED.test(object.mediaType);
      add(place(path), at, { size: object.size, compress }, async () => stream);
      await finished(stream);
    }
    if (left.length + damaged.length > 0)
      addText(paths.take(NOTE) ?? paths.place(NOTE), noteOf(left, damaged), root.modifiedAt);
    if (bag) {
      const mtime = new Date(root.modifiedAt);
      zip.addBuffer(Buffer.from(BAG_DECLARATION), "bagit.txt", { mtime });
      // Last: the hash of the metadata is known when it was written.
      add("manifest-sha256.txt", root.modifiedAt, { compress: true }, async () =>
        Readable.from([Buffer.from(bag.manifest())]),
      );
    }
    zip.end();
  };
  addFiles().catch(broken);
  return output;
}

/** The text of a metadata file. @param inner absent: it is that of the root */
function metadataText(
  deps: Pick<Deps, "records">,
  { root, state, origins, statements }: Plan,
  crate: StoredRecord,
  { survey, names }: MetadataFile,
  inner: InnerMetadata | undefined,
): ReturnType<typeof asItWas> {
  const text = crateMetadata(deps, crate, survey, names, {
    documentOf: (record, document) =>
      statements.of(record, document, isPathId(names.paths.get(record.ark) ?? "")),
    statedHere: (record, document) => origins.statement(record, document, crate.ark),
    fileOf: ({ ark }) => statements.fileOf(ark),
    hasInnerFiles: true,
    ...(inner ? { id: names.paths.get(crate.ark) ?? inner.id } : {}),
    isNamed: inner?.isNamed ?? isArk(names.paths.get(root.ark) ?? root.ark, root.ark),
  });
  return asItWas(deps, state, root, text);
}

/**
 * The bytes of a stored file; undefined, and a line in the log, when they are missing or damaged.
 * Damage inside a file shows at its end only, and ends the archive; from then on the file is read
 * twice.
 */
async function intact(
  { objects, log }: Pick<Deps, "objects" | "log">,
  { sha256, size }: Member["object"],
): Promise<Readable | undefined> {
  const open = (): Promise<Readable> => objects.open(sha256, undefined, { size });
  try {
    if (wasDamaged(log, sha256)) await finished((await open()).resume());
    return await open();
  } catch (error) {
    if (!(error instanceof ServiceError) || !UNREADABLE.has(error.code)) throw error;
    reportDamage(log, error);
    return undefined;
  }
}
const UNREADABLE: ReadonlySet<string> = new Set(["CONTENT_DAMAGED", "NOT_FOUND"]);

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

function noteOf(left: CrateArchive["left"], damaged: readonly string[]): string {
  const parts: string[] = [];
  if (left.length > 0)
    parts.push(
      "Described in ro-crate-metadata.json and not included, because the requester may not read " +
        `them:\n\n${left.map(({ ark, name }) => `${ark}\t${name}`).join("\n")}\n`,
    );
  if (damaged.length > 0)
    parts.push(
      "Described in ro-crate-metadata.json and not included, because their stored bytes are " +
        `missing or damaged; ask the operator of the registry:\n\n${damaged.join("\n")}\n`,
    );
  return parts.join("\n");
}
