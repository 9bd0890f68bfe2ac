import { resolvedPath, withoutLast } from "../../../identifiers/entity-ids.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, listOf, referencesIn } from "../../../model/field.js";
import { digestIn } from "../../../model/file-facts.js";
import { typeNames } from "../../../model/kind.js";
import { bundledTerms } from "../../../rdf/contexts.js";
import { type Findings, type Place, quoted } from "../findings.js";
import { type IdentifiedEntity, type Part, partPlace } from "../identifiers/identify.js";
import { foldName, type Member } from "../zip/members.js";

const EMBARGOED = "Embargoed";

/** The statements of an entity about its file, for comparison with the bytes. */
interface FileClaims {
  place: Place;
  /** Bytes. */
  size?: number;
  md5?: string;
  sha256?: string;
  sha512?: string;
}
export interface MatchedFile {
  file: CrateFile;
  claims: FileClaims;
}

interface MatchOptions {
  /** The crate came as metadata alone: no file can be there. */
  withoutFiles?: boolean;
}

/**
 * The archive's file that holds an entity's content: the file that its relative `@id` names, else
 * the file that its `contentUrl` names. Reports missing files.
 */
export function matchFile(
  entity: IdentifiedEntity,
  tree: FileTree,
  findings: Findings,
  { withoutFiles }: MatchOptions = {},
): MatchedFile | undefined {
  for (const part of entity.parts) {
    const file = fileOf(part, tree);
    if (file) return { file, claims: claimsOf(part) };
  }
  for (const part of entity.parts) if (missing(part, tree, findings, withoutFiles === true)) break;
  return undefined;
}

export function isEmbargoed({ parts }: IdentifiedEntity): boolean {
  return parts.some((part) => contentUrls(part).includes(EMBARGOED));
}

function fileOf(part: Part, tree: FileTree): CrateFile | undefined {
  const { scope, entity } = part;
  const { folder } = scope.description;
  const id = scope.of(entity.id);
  if (id.rule === "path" && id.path !== "") {
    const file = tree.find(entity.id, folder);
    if (file) return file;
  } else if (
    id.rule === "other" &&
    !id.absolute &&
    !entity.id.startsWith("#") &&
    !entity.id.startsWith("_:")
  ) {
    // A file whose name holds an unescaped `#`.
    const file = tree.find(entity.id, folder);
    if (file) return file;
  }
  for (const url of contentUrls(part)) {
    const path = localPath(url);
    // Relative to the crate's folder; older tools wrote the path from the folder above.
    const file = path === undefined ? undefined : (tree.find(path, folder) ?? tree.find(path, ""));
    if (file) return file;
  }
  return undefined;
}

/** True when a file is missing. */
function missing(part: Part, tree: FileTree, findings: Findings, withoutFiles: boolean): boolean {
  const { scope, entity } = part;
  const place = partPlace(part);
  const urls = contentUrls(part);
  if (urls.includes(EMBARGOED)) return false;
  const id = scope.of(entity.id);
  const isFile = typeNames(entity.value, scope.description.context, entity.value["@context"]).some(
    (type) => type === "File" || type === "MediaObject",
  );
  if (
    isFile &&
    id.rule === "path" &&
    id.path !== "" &&
    tree.hasFolder(entity.id, scope.description.folder)
  )
    findings.warn(
      "FOLDER_AS_FILE",
      `${quoted(entity.id)} is a folder of the archive and has the type File; give it ` +
        "the type Dataset.",
      place,
    );
  const elsewhere = [...urls, ...referencesIn(entity.value["url"])].some(
    (url) => localPath(url) === undefined,
  );
  if (
    isFile &&
    id.rule === "path" &&
    id.path !== "" &&
    !elsewhere &&
    !tree.hasFolder(entity.id, scope.description.folder)
  ) {
    if (withoutFiles)
      findings.warn(
        "FILE_NOT_IN_ARCHIVE",
        `The file ${quoted(entity.id)} was not uploaded; the record has no content.`,
        place,
      );
    else
      findings.error(
        "FILE_MISSING",
        `The file ${quoted(entity.id)} is not in the archive${insteadOf(entity.id, tree)}; add it, or ` +
          "give it a contentUrl.",
        place,
      );
    return true;
  }
  const local = urls.find((url) => localPath(url) !== undefined);
  if (
    local === undefined ||
    (id.rule === "path" && tree.hasFolder(entity.id, scope.description.folder))
  )
    return false;
  findings.warn(
    "FILE_NOT_IN_ARCHIVE",
    `The file ${quoted(local)} is not in the archive; the record is stored without content.`,
    place,
  );
  return true;
}

function insteadOf(path: string, tree: FileTree): string {
  const alike = tree.alike(path);
  return alike === undefined ? "" : ` (${quoted(alike)} is)`;
}

/**
 * Path of a `contentUrl` that names a file of the crate: relative, or `file:` with up to three
 * slashes.
 */
export function localPath(url: string): string | undefined {
  const file = /^file:\/{0,3}(.*)$/i.exec(url);
  if (file) return file[1];
  return url === "" ||
    url === EMBARGOED ||
    /^[a-zA-Z][a-zA-Z0-9+.-]+:/.test(url) ||
    url.startsWith("//")
    ? undefined
    : url;
}

const contentUrls = ({ scope, entity: { value } }: Part): string[] => [
  ...referencesIn(value["contentUrl"]),
  ...otherContentUrls(value, scope.description.context),
];

/**
 * What other spellings of `contentUrl` name.
 * @param around context of the entity, beside its own
 */
export function otherContentUrls(value: JsonObject, around?: JsonValue): string[] {
  const keys = ["schema:contentUrl", "evi:contentUrl", "EVI:contentUrl"];
  if (
    Object.hasOwn(value, "path") &&
    meansContentUrl("path", [...listOf(around), ...listOf(value["@context"])])
  )
    keys.push("path");
  return keys.flatMap((key) => referencesIn(value[key]));
}

/** RO-Crate has `path` as an alias of contentUrl; a crate may define it otherwise. */
function meansContentUrl(term: string, contexts: readonly JsonValue[]): boolean {
  for (const context of contexts.toReversed()) {
    const terms =
      typeof context === "string"
        ? (bundledTerms(context) as JsonObject)
        : isObject(context)
          ? context
          : {};
    if (!Object.hasOwn(terms, term)) continue;
    const meaning = terms[term];
    const iri = isObject(meaning) ? meaning["@id"] : meaning;
    return typeof iri === "string" && /^(?:https?:\/\/schema\.org\/|schema:)contentUrl$/.test(iri);
  }
  return false;
}

function claimsOf(part: Part): FileClaims {
  const claims: FileClaims = { place: partPlace(part) };
  for (const [key, stated] of Object.entries(part.entity.value)) {
    const value = single(stated);
    const name = key
      .slice(key.lastIndexOf(":") + 1)
      .toLowerCase()
      .replace("-", "");
    if (
      name === "contentsize" &&
      (typeof value === "number" || (typeof value === "string" && /^\d{1,15}$/.test(value)))
    )
      claims.size = Number(value);
    if (name === "md5" || name === "sha256" || name === "sha512") {
      const hex = digestIn(name, value);
      if (hex !== undefined) claims[name] = hex;
    }
  }
  return claims;
}

/**
 * `["x"]` and `{"@value": "x"}` mean `"x"` (JSON-LD 1.1, sections 4.2 and 4.3); of several values
 * none can be chosen.
 */
function single(value: JsonValue): JsonValue {
  const [only, ...more] = listOf(value);
  return only === undefined || more.length > 0
    ? null
    : isObject(only)
      ? (only["@value"] ?? null)
      : only;
}

/** A file of the archive that was stored: its digests in lower-case hex. */
export interface StoredFile {
  sha256: string;
  size: number;
  md5?: string;
  sha512?: string;
}

/** Compares a stored file with the statements of its entity. */
export function checkClaims(
  path: string,
  stored: StoredFile,
  claims: FileClaims,
  findings: Findings,
): void {
  if (claims.size !== undefined && claims.size !== stored.size)
    findings.warn(
      "SIZE_MISMATCH",
      `${quoted(path)} has ${stored.size} bytes, its contentSize says ${claims.size}. The measured ` +
        "size is stored.",
      claims.place,
    );
  for (const name of ["md5", "sha256", "sha512"] as const) {
    const claimed = claims[name];
    if (claimed !== undefined && stored[name] !== undefined && claimed !== stored[name])
      findings.error(
        "DIGEST_MISMATCH",
        `The ${name} of ${quoted(path)} is ${stored[name]}, its entity says ${claimed}.`,
        claims.place,
      );
  }
}

/**
 * A file of the archive. `path` is relative to the crate's folder, or to the archive for files
 * outside that folder.
 */
export interface CrateFile {
  member: string;
  path: string;
  size: number;
}

/** The files of an archive by their paths. */
export class FileTree {
  readonly #byMember = new Map<string, CrateFile>();
  /**
   * Sorted names: members of one folder are adjacent. A list of all folders would be as long as all
   * paths of a hostile archive.
   */
  readonly #sorted: readonly string[];
  #byName: Map<string, string> | undefined;

  /** @param folder the crate's folder in the archive: empty, or with `/` at the end */
  constructor(
    members: readonly Pick<Member, "name" | "folder" | "size">[],
    readonly folder: string,
  ) {
    const outside: CrateFile[] = [];
    for (const { name, folder: isFolder, size } of members) {
      if (isFolder) continue;
      const isInside = name.startsWith(folder);
      const path = isInside ? name.slice(folder.length) : name;
      const file = { member: name, path, size };
      this.#byMember.set(name, file);
      if (!isInside) outside.push(file);
    }
    if (outside.length > 0) nameApart(outside, [...this.#byMember.values()]);
    this.#sorted = sortedNames(members);
  }

  get files(): CrateFile[] {
    return [...this.#byMember.values()];
  }

  /**
   * The file at a path as metadata writes it: percent-decoded, or undecoded when the decoded path
   * names no file.
   * @param base folder of the archive that the path starts from
   */
  find(path: string, base: string): CrateFile | undefined {
    for (const member of this.#membersAt(path, base)) {
      const file = this.#byMember.get(member);
      if (file) return file;
    }
    return undefined;
  }

  hasFolder(path: string, base: string): boolean {
    return this.#membersAt(path, base).some(
      (folder) => firstBelow(this.#sorted, folder) !== undefined,
    );
  }

  /** A file with the name of this one in another folder. */
  alike(path: string): string | undefined {
    const nameOf = (text: string): string => text.slice(text.lastIndexOf("/") + 1);
    this.#byName ??= new Map(this.files.map((file) => [nameOf(file.path), file.path]));
    const [bare = path] = spellings(path);
    return this.#byName.get(nameOf(bare));
  }

  /**
   * The members that a path may mean: dot segments are resolved, and lead nowhere outside of the
   * crate.
   */
  #membersAt(path: string, base: string): string[] {
    return spellings(path).flatMap((candidate) => {
      const member = resolvedPath(base + candidate);
      return member === undefined ||
        (candidate.includes("..") && !`${member}/`.startsWith(this.folder))
        ? []
        : [member];
    });
  }
}

/**
 * Files beside the crate's folder get other names where files of the crate have theirs: an archive
 * of the crate has no folder above it.
 */
function nameApart(outside: readonly CrateFile[], all: readonly CrateFile[]): void {
  const [files, folders] = [new Set<string>(), new Set<string>()];
  const take = (path: string): void => {
    files.add(path);
    for (const folder of foldersOf(path)) folders.add(folder);
  };
  const isTaken = (path: string): boolean =>
    files.has(path) || folders.has(path) || foldersOf(path).some((folder) => files.has(folder));
  const moved = new Set(outside);
  for (const file of all) if (!moved.has(file)) take(foldName(file.path));
  for (const file of outside) {
    const own = file.path;
    for (let count = 0; isTaken(foldName(file.path)); count++)
      file.path = `files/${count === 0 ? "" : `${count}/`}${own}`;
    take(foldName(file.path));
  }
}

/** The folders that a file is in, outermost first. */
export function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let slash = path.indexOf("/"); slash > 0; slash = path.indexOf("/", slash + 1))
    folders.push(path.slice(0, slash));
  return folders;
}

/**
 * Names of members as {@link firstBelow} looks them up: a folder ends with `/`, so that an empty
 * one is found too.
 */
const sortedNames = (members: readonly Pick<Member, "name" | "folder">[]): string[] =>
  members.map(({ name, folder }) => (folder ? `${name}/` : name)).sort();

/** The first name below a folder, found by binary search. */
export function firstBelow(sorted: readonly string[], folder: string): string | undefined {
  const start = `${folder}/`;
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < start) low = middle + 1;
    else high = middle;
  }
  return sorted[low]?.startsWith(start) ? sorted[low] : undefined;
}

function spellings(path: string): string[] {
  const bare = withoutLast(path.replace(/^(?:\.?\/+)+/, ""), "/");
  const written = [bare, ...(bare.includes("\\") ? [bare.replaceAll("\\", "/")] : [])];
  return [...written.flatMap((text) => decoded(text)), ...written].flatMap((text) => [
    text,
    text.normalize("NFC"),
    text.normalize("NFD"),
  ]);
}

function decoded(text: string): string[] {
  if (!text.includes("%")) return [];
  try {
    return [decodeURIComponent(text)];
  } catch {
    return [];
  }
}
