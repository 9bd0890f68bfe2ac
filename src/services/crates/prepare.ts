import type { JsonObject } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { adviseOnCrate } from "./advise.js";
import { converted } from "./convert/convert.js";
import {
  type CrateFile,
  FileTree,
  isEmbargoed,
  type MatchedFile,
  matchFile,
} from "./files/match-files.js";
import { Findings } from "./findings.js";
import { type IdentifiedEntity, identify, type IdentifySettings } from "./identifiers/identify.js";
import { type LinkedEntity, separateSummaries, withOwnStatement } from "./identifiers/rewrite.js";
import { kindOfTypes, typeNames } from "../../model/entity-kind.js";
import { type CrateDescription, type MetadataFile, readLayout } from "./layout.js";
import type { CrateLimits } from "./limits.js";
import { checkBounds, checkContexts, readMetadata } from "./metadata/read.js";
import type { Member } from "./zip/member.js";

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
function describe(
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
