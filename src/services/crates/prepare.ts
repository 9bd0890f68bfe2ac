/**
 * The metadata of a crate is read, converted where it is no RO-Crate, and prepared for its
 * records.
 */
import type { JsonObject, JsonValue } from "../../model/field.js";
import { isObject, listOf } from "../../model/field.js";
import { step } from "../../model/json/pointer.js";
import { parseStrictJson } from "../../model/json/read.js";
import { GraphScanner } from "../../model/json/scan.js";
import { type KindName, kindOfTypes, typeNames } from "../../model/kind.js";
import { ContextLimit, checkContextList, eachUnknownContext } from "../../rdf/contexts.js";
import { adviseOnCrate, adviseOnPaths } from "./advise.js";
import { fromCroissant, isCroissant } from "./convert/croissant.js";
import { fromDataPackage, isDataPackage } from "./convert/data-package.js";
import type { Converted } from "./convert/graph.js";
import {
  type CrateFile,
  FileTree,
  isEmbargoed,
  type MatchedFile,
  matchFile,
} from "./files/match-files.js";
import { crateError, Findings, quoted } from "./findings.js";
import { type IdentifiedEntity, type IdentifySettings, identify } from "./identifiers/identify.js";
import { type LinkedEntity, separateSummaries, withOwnStatement } from "./identifiers/rewrite.js";
import { type CrateDescription, type MetadataFile, readLayout } from "./layout.js";
import type { CrateLimits } from "./upload.js";
import type { Member } from "./zip/members.js";

/** Smaller texts are cheap to parse with any content. */
const MAX_UNCHECKED_BYTES = 2 ** 20;

/**
 * Scans the entities of large metadata before it is parsed.
 * @returns offset of the first bracket that nests too deep
 * @throws CrateError `TOO_MANY_ENTITIES`, `ENTITY_TOO_LARGE`
 */
function scanMetadata(bytes: Uint8Array, file: string, limits: CrateLimits): number | undefined {
  if (bytes.byteLength <= MAX_UNCHECKED_BYTES) return undefined;
  let entities = 0;
  let began = 0;
  let graphBegan = 0;
  let around = bytes.byteLength;
  const scanner = new GraphScanner();
  const tooDeep = scanner.scan(
    bytes,
    (mark, at) => {
      if (mark === "graph") graphBegan = at;
      else if (mark === "graphEnd") around -= at - graphBegan;
      else if (mark === "entity") {
        began = at;
        if (++entities > limits.MAX_CRATE_ENTITIES + 1)
          throw crateError(
            "TOO_MANY_ENTITIES",
            `The crate describes more than MAX_CRATE_ENTITIES=${limits.MAX_CRATE_ENTITIES} ` +
              "entities.",
            { file },
          );
      } else if (at - began >= limits.MAX_ENTITY_BYTES)
        throw tooLarge(at + 1 - began, file, `/@graph/${entities - 1}`, limits);
    },
    limits.MAX_JSON_DEPTH,
  );
  // The older layout: the crate itself is the object around the graph.
  if (scanner.depth === 0 && around > limits.MAX_ENTITY_BYTES)
    throw tooLarge(around, file, "", limits);
  return tooDeep;
}

const tooLarge = (size: number, file: string, pointer: string, { MAX_ENTITY_BYTES }: CrateLimits) =>
  crateError(
    "ENTITY_TOO_LARGE",
    `The entity has ${size} bytes; MAX_ENTITY_BYTES=${MAX_ENTITY_BYTES}. Put what it holds ` +
      "into a file of the crate.",
    { file, pointer },
  );

/**
 * Reads a metadata file strictly. Reports all its errors at once; the readable part is returned, so
 * that the rest of the crate is checked too.
 * @throws CrateError for a file that is too large to be read at all
 */
function readMetadata(
  bytes: Uint8Array,
  file: string,
  limits: CrateLimits,
  findings: Findings,
): JsonObject | undefined {
  const tooDeep = scanMetadata(bytes, file, limits);
  // Cut after the bracket that exceeds the limit: the rest is not needed to report the error.
  const { value, problems } = parseStrictJson(
    tooDeep === undefined ? bytes : bytes.subarray(0, tooDeep + 1),
    { maxDepth: limits.MAX_JSON_DEPTH },
  );
  for (const { code, message, pointer, line, column } of problems)
    findings.error(
      code,
      line === undefined ? message : `${message} (line ${line}, column ${column})`,
      {
        file,
        pointer,
        ...(line === undefined ? {} : { line }),
        ...(column === undefined ? {} : { column }),
      },
    );
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    findings.error(
      "METADATA_SHAPE",
      "The metadata is not a JSON object; an RO-Crate has one with @context and @graph.",
      { file, pointer: "" },
    );
    return undefined;
  }
  return value;
}

/** Reads a metadata file into memory. @throws CrateError above MAX_METADATA_BYTES */
export async function gatherMetadata(
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

const METADATA = /(?:^|\/)ro-crate-metadata\.json(?:ld)?$/;
/**
 * Metadata of a detached crate, whose files are elsewhere (RO-Crate 1.2, "Detached RO-Crate
 * Package").
 */
const DETACHED = /(?:^|\/)[^/]+-ro-crate-metadata\.json$/;

/** Whether a file has the name of RO-Crate metadata. */
export const hasMetadata = (files: readonly string[]): boolean =>
  files.some((file) => METADATA.test(file) || DETACHED.test(file));

export interface LocatedMetadata {
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

/**
 * Refuses metadata that is more expensive than its size suggests, before it is processed: long
 * lists of contexts, properties with very many values, entities inside entities (each record
 * repeats the entities inside it). Reports the first of each kind.
 * @returns false when it reported a finding
 */
function checkBounds(
  metadata: JsonObject,
  file: string,
  limits: CrateLimits,
  findings: Findings,
): boolean {
  const found = new Set<string>();
  const report = (
    code: "TOO_MANY_REFERENCES" | "NESTED_ENTITIES",
    message: string,
    pointer: string,
  ) => {
    if (!found.has(code)) findings.error(code, message, { file, pointer });
    found.add(code);
  };
  const check = (value: JsonValue, pointer: string, inside: number): void => {
    if (Array.isArray(value)) {
      if (value.length > limits.MAX_CRATE_REFERENCES)
        report(
          "TOO_MANY_REFERENCES",
          `The property has ${value.length} values; ` +
            `MAX_CRATE_REFERENCES=${limits.MAX_CRATE_REFERENCES}. Name fewer, by way of ` +
            "folders that have parts of their own.",
          pointer,
        );
      // Long lists usually hold plain values: no pointer is built for each.
      for (let index = 0; index < value.length; index++)
        if (typeof value[index] === "object") check(value[index]!, pointer + step(index), inside);
    } else if (isObject(value)) {
      const within = isObject(value) && typeof value["@id"] === "string" ? inside + 1 : inside;
      if (within > limits.MAX_CRATE_NESTING)
        return report(
          "NESTED_ENTITIES",
          `Entities are nested more than MAX_CRATE_NESTING=${limits.MAX_CRATE_NESTING} ` +
            "levels deep; list them in @graph, and refer to them by @id.",
          pointer,
        );
      for (const key in value)
        if (key === "@context") checkContext(value[key], pointer);
        else if (typeof value[key] === "object" && value[key] !== null)
          check(value[key], pointer + step(key), within);
    }
  };
  const checkContext = (context: JsonValue | undefined, pointer: string) => {
    try {
      checkContextList(context, limits);
    } catch (error) {
      if (!(error instanceof ContextLimit)) throw error;
      if (!found.has(error.code))
        findings.error(error.code, error.message, { file, pointer: `${pointer}/@context` });
      found.add(error.code);
    }
  };
  const { "@graph": graph, ...own } = metadata;
  // The older layout: the crate is the object around the graph.
  check(own, "", -1);
  for (const [index, entity] of listOf(graph).entries())
    if (typeof entity === "object" && entity !== null)
      check(entity, Array.isArray(graph) ? `/@graph${step(index)}` : "/@graph", -1);
  return found.size === 0;
}

/**
 * Warns once of each remote context that is not bundled: terms that only such a context defines
 * have no meaning here.
 */
function checkContexts({ context, entities, file }: CrateDescription, findings: Findings): void {
  const warned = new Set<string>();
  const check = (value: JsonValue, start: string) =>
    eachUnknownContext(
      value,
      (url, pointer) => {
        if (warned.has(url)) return;
        warned.add(url);
        findings.warn(
          "UNKNOWN_CONTEXT",
          `The context <${quoted(url)}> is not known here and is not fetched: terms that ` +
            "only it explains are stored without a meaning. Write those terms into @context.",
          { file, pointer },
        );
      },
      start,
    );
  if (context !== undefined) check({ "@context": context }, "");
  for (const { value, pointer, embedded } of entities) if (!embedded) check(value, pointer);
}

/**
 * RO-Crate metadata from a Croissant document or a Frictionless Data Package; undefined for
 * anything else. Nothing is fetched: addresses in the document stay references.
 */
function converted(document: JsonObject, file: string, findings: Findings): Converted | undefined {
  if (isCroissant(document)) return fromCroissant(document, file, findings);
  if (isDataPackage(document)) return fromDataPackage(document, file, findings);
  return undefined;
}

export interface MetadataBytes extends MetadataFile {
  bytes: Uint8Array;
}

/** An entity with its kind and its file, before anything is stored. */
export interface PreparedEntity extends LinkedEntity {
  kind: KindName;
  file?: MatchedFile;
  embargoed: boolean;
  /** Metadata file that this entity is the root of. */
  metadata?: string;
}
export interface PreparedCrate {
  /** The crate itself comes first. */
  entities: PreparedEntity[];
  root: PreparedEntity;
  /** Files that no entity describes. */
  undescribed: CrateFile[];
  findings: Findings;
}
export interface PrepareSettings extends IdentifySettings {
  limits: CrateLimits;
  withoutFiles?: boolean;
  /** Errors are collected, so that all are reported at once. */ toTheEnd?: boolean;
}

/**
 * Collects the descriptions of a crate from its metadata files.
 * @param metadata the crate's own metadata file first, then those of nested crates
 * @throws CrateError with all errors, when they prevent any further analysis of the crate
 */
export function describeCrate(
  metadata: readonly MetadataBytes[],
  settings: Pick<PrepareSettings, "limits" | "toTheEnd">,
  findings: Findings,
): CrateDescription[] {
  const descriptions = metadata.flatMap((file): CrateDescription[] => {
    const value = readMetadata(file.bytes, file.file, settings.limits, findings);
    const description =
      value && checkBounds(value, file.file, settings.limits, findings)
        ? describe(value, file, findings)
        : undefined;
    if (description) checkContexts(description, findings);
    if (description) adviseOnCrate(description, findings);
    return description ? [description] : [];
  });
  const contexts = new Set(descriptions.map(({ context }) => JSON.stringify(context)));
  if (contexts.size > settings.limits.MAX_CRATE_CONTEXTS)
    findings.error(
      "TOO_MANY_CONTEXTS",
      `The metadata files have ${contexts.size} different contexts; ` +
        `MAX_CRATE_CONTEXTS=${settings.limits.MAX_CRATE_CONTEXTS}. Write one @context into ` +
        "all of them.",
    );
  // Without the crate's own description the others have no meaning.
  if (descriptions[0]?.file !== metadata[0]!.file) findings.throwIfErrors();
  const count = descriptions.reduce(
    (sum, { entities }) => sum + entities.filter(({ descriptor }) => !descriptor).length,
    0,
  );
  if (count > settings.limits.MAX_CRATE_ENTITIES)
    findings.error(
      "TOO_MANY_ENTITIES",
      `The crate describes ${count} entities; ` +
        `MAX_CRATE_ENTITIES=${settings.limits.MAX_CRATE_ENTITIES}.`,
    );
  if (!settings.toTheEnd || count > settings.limits.MAX_CRATE_ENTITIES) findings.throwIfErrors();
  return descriptions;
}

/**
 * The description in a metadata file, or in a document of another format. Findings about converted
 * entities name the places that they come from.
 */
export function describe(
  value: JsonObject,
  file: MetadataFile,
  findings: Findings,
): CrateDescription | undefined {
  const other = converted(value, file.file, findings);
  if (!other) return readLayout(value, file, findings);
  const description = readLayout(other.metadata, file, findings);
  if (!description) return undefined;
  description.converted = true;
  for (const entity of description.entities)
    entity.pointer = entity.pointer.replace(
      /^\/@graph\/(\d+)/,
      (_, index: string) => other.pointers[Number(index)] ?? "",
    );
  return description;
}

/**
 * Analyses a crate without storing a byte: layout, identifiers, kinds, files.
 * @param metadata as {@link describeCrate}
 * @throws CrateError with all errors
 */
export function prepareCrate(
  metadata: readonly MetadataBytes[],
  members: readonly Pick<Member, "name" | "folder" | "size">[],
  settings: PrepareSettings,
  findings = new Findings(),
): PreparedCrate {
  return prepareDescribed(
    describeCrate(metadata, settings, findings),
    metadata,
    members,
    settings,
    findings,
  );
}

/** The same for a crate whose metadata files were read. */
export function prepareDescribed(
  descriptions: readonly CrateDescription[],
  metadata: readonly Pick<MetadataBytes, "file">[],
  members: readonly Pick<Member, "name" | "folder" | "size">[],
  settings: PrepareSettings,
  findings: Findings,
): PreparedCrate {
  const identified = identify(descriptions, settings, findings);
  separateSummaries(identified, descriptions, settings.registered ?? NONE_REGISTERED);
  const tree = new FileTree(members, descriptions[0]!.folder);
  adviseOnSignatures(tree.files, findings);
  // Of metadata that came alone the files are elsewhere.
  if (!settings.withoutFiles) adviseOnPaths(descriptions, tree, findings);
  const roots = new Map(descriptions.map((description) => [description.root, description.file]));
  const entities = identified.map((entity) =>
    prepareEntity(entity, tree, roots, settings, findings),
  );
  const root = entities.find(({ role }) => role === "root");
  if (!settings.toTheEnd || !root) findings.throwIfErrors();
  if (!root) throw new Error("a crate without root went on");
  const kept = new Set(descriptions.flatMap(({ file, converted }) => (converted ? [file] : [])));
  const described = new Set([
    ...metadata.flatMap(({ file }) => (kept.has(file) ? [] : [file])),
    ...entities.flatMap(({ file }) => (file ? [file.file.member] : [])),
  ]);
  return {
    root,
    entities: [root, ...entities.filter((entity) => entity !== root)],
    undescribed: tree.files.filter(({ member }) => !described.has(member)),
    findings,
  };
}

/** Signatures and checksums of metadata, and the lists of a bag or of common tools. */
const SIGNED = new RegExp(
  String.raw`(?:^|/)(?:ro-crate-metadata\.json(?:ld)?\.[^/]+|(?:tag)?manifest-[a-z0-9]+\.txt|` +
    String.raw`(?:md5|sha\d*|check)sums?(?:\.txt)?)$`,
  "i",
);

/** Names one file that an export makes untrue: it holds for the metadata as it was uploaded. */
function adviseOnSignatures(files: readonly CrateFile[], findings: Findings): void {
  const signed = files.find(({ path }) => SIGNED.test(path));
  if (signed)
    findings.warn(
      "SIGNED_METADATA",
      `${quoted(signed.path)} signs the metadata or lists its checksum, and does not hold for the ` +
        "metadata that an export writes; verify it with the archive as it was uploaded.",
      { file: signed.member },
    );
}

const NONE_REGISTERED: NonNullable<IdentifySettings["registered"]> = new Map();

function prepareEntity(
  identified: IdentifiedEntity,
  tree: FileTree,
  roots: ReadonlyMap<unknown, string>,
  settings: PrepareSettings,
  findings: Findings,
): PreparedEntity {
  const entity = withOwnStatement(identified, settings.registered ?? NONE_REGISTERED, findings);
  const types = entity.parts.flatMap((part) =>
    typeNames(part.entity.value, part.scope.description.context, part.entity.value["@context"]),
  );
  // Every export of the crate writes a new metadata file: its descriptor has no stored content.
  if (entity.role === "descriptor") return { ...entity, kind: "entity", embargoed: false };
  const kind = entity.role === "member" && !entity.linked ? kindOfTypes(types) : "rocrate";
  if (
    entity.role !== "member" &&
    !types.includes("Dataset") &&
    (types.includes("File") || types.includes("MediaObject"))
  )
    findings.error(
      "ROOT_NOT_DATASET",
      "The descriptor's `about` names a file; the crate itself is a Dataset.",
      { file: entity.parts[0]!.scope.description.file, pointer: entity.parts[0]!.entity.pointer },
    );
  const file = matchFile(entity, tree, findings, settings);
  const metadata = entity.parts
    .map((part) => roots.get(part.entity))
    .find((found) => found !== undefined);
  return {
    ...entity,
    kind,
    embargoed: isEmbargoed(entity),
    ...(file ? { file } : {}),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
