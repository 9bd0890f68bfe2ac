import { isDeepStrictEqual } from "node:util";
import { parseArk } from "../../identifiers/ark.js";
import { bareId } from "../../identifiers/entity-ids.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { isObject, listOf, referencesIn } from "../../model/field.js";
import { step } from "../../model/json/pointer.js";
import { DESCRIPTOR } from "../../model/kind.js";
import { type Findings, objectFrom, pick, quoted } from "./findings.js";

/**
 * A metadata file and the folder that its relative paths start from: empty, or with `/` at the end.
 */
export interface MetadataFile {
  file: string;
  folder: string;
}

export { DESCRIPTOR };
const NAMES = [DESCRIPTOR, "ro-crate-metadata.jsonld"];
const SPECIFICATION = /^https?:\/\/w3id\.org\/ro\/crate(?:\/|$)/;

/**
 * How the identifiers of descriptors' records end. Lists of a crate's contents omit these records.
 */
export const DESCRIPTOR_END = `/${DESCRIPTOR}`;

/**
 * Property of a stored descriptor: statements of its metadata file about crates within the crate
 * that the metadata files of these crates contradict.
 */
export const SUMMARIZES = "urn:arkgraph:summarizes";

/**
 * Property of a descriptor in a metadata document that is not in an archive: the statements of the
 * inner metadata files which {@link SUMMARIZES} contradicts, as one JSON literal. Keys are the
 * identifiers of the inner crates.
 */
export const OWN_STATEMENTS = "urn:arkgraph:ownStatements";

/** Identifier of the record of a crate's metadata descriptor. */
export const descriptorArk = (crate: string): string => `${crate}/${DESCRIPTOR}`;

/** The crate whose descriptor has this identifier; undefined for every other identifier. */
export const describedCrate = (ark: string): string | undefined =>
  ark.endsWith(`/${DESCRIPTOR}`) ? ark.slice(0, -DESCRIPTOR.length - 1) : undefined;

/** Whether an `@id` is that of the metadata file. */
export const isDescriptorName = (id: string): boolean => NAMES.includes(bareId(id));

/**
 * The entity that describes the metadata file itself: by its name (RO-Crate 1.2 and later, the
 * `.jsonld` of 1.0 as fallback), by a URL that ends in the name, or by the specification it
 * conforms to (RO-Crate 1.1, "Finding the root").
 */
function findDescriptor(entities: readonly CrateEntity[]): CrateEntity | undefined {
  const pointing = entities.filter(
    ({ value }) =>
      referencesIn(value["about"]).length > 0 || referencesIn(value["schema:about"]).length > 0,
  );
  for (const name of NAMES) {
    const named = pointing.find(({ id }) => bareId(id) === name);
    if (named) return named;
  }
  return (
    pointing.find(
      ({ id }) => NAMES.some((name) => id.endsWith(`/${name}`)) && listOf(id).length > 0,
    ) ??
    pointing.find(
      ({ value }) =>
        referencesIn(value["conformsTo"]).some((iri) => SPECIFICATION.test(iri)) &&
        isMetadata(value["@type"]),
    )
  );
}

/** The root entity: the entity that the descriptor is about. Its position never matters. */
function findRoot(
  descriptor: CrateEntity,
  entities: readonly CrateEntity[],
): CrateEntity | undefined {
  const ids = [
    ...referencesIn(descriptor.value["about"]),
    ...referencesIn(descriptor.value["schema:about"]),
  ];
  const [exact, bare] = [new Map<string, CrateEntity>(), new Map<string, CrateEntity>()];
  for (const entity of entities) {
    if (entity === descriptor) continue;
    if (!exact.has(entity.id)) exact.set(entity.id, entity);
    if (!bare.has(bareId(entity.id))) bare.set(bareId(entity.id), entity);
  }
  const named = ids.find((id) => exact.has(id)) ?? ids.find((id) => bare.has(bareId(id)));
  if (named !== undefined) return exact.get(named) ?? bare.get(bareId(named));
  // The descriptor may hold the root instead of naming it.
  const held = listOf(descriptor.value["about"]).find(
    (value) => isObject(value) && Object.keys(value).length > 1,
  );
  return isObject(held) && typeof held["@id"] === "string"
    ? { id: held["@id"], pointer: `${descriptor.pointer}/about`, value: held }
    : undefined;
}

function isMetadata(type: unknown): boolean {
  return listOf(type as string | string[] | undefined).some(
    (name) => typeof name === "string" && /(?:^|[/:#])CreativeWork$/.test(name),
  );
}

/**
 * Objects inside an entity that have an `@id` and other members: each is a separate entity, as in
 * JSON-LD flattening (JSON-LD 1.1 API, section 4.2). Objects without `@id` belong to the entity
 * that holds them.
 */
export function embeddedEntities({ value, pointer }: CrateEntity): CrateEntity[] {
  const found: CrateEntity[] = [];
  const contexts = contextsOf(value, []);
  for (const [key, inner] of Object.entries(value))
    if (isProperty(key)) collect(inner, pointer + step(key), contexts, found);
  return found;
}

/** @param contexts of the entities around it, which define its terms too */
function collect(
  value: JsonValue,
  pointer: string,
  contexts: readonly JsonValue[],
  found: CrateEntity[],
): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      collect(item, pointer + step(index), contexts, found);
  } else if (isObject(value)) {
    const id = value["@id"];
    const own = contextsOf(value, contexts);
    if (typeof id === "string" && hasMembers(value))
      found.push({
        id,
        pointer,
        value: contexts.length === 0 ? value : { ...value, "@context": [...own] },
        embedded: true,
      });
    for (const [key, inner] of Object.entries(value))
      if (isProperty(key)) collect(inner, pointer + step(key), own, found);
  }
}

const contextsOf = (value: JsonObject, around: readonly JsonValue[]): readonly JsonValue[] =>
  value["@context"] === undefined
    ? around
    : [...around, ...(Array.isArray(value["@context"]) ? value["@context"] : [value["@context"]])];

/** Keywords whose values hold no entities: `@context`, `@type`, `@value` and the like. */
const isProperty = (key: string): boolean =>
  (!key.startsWith("@") && key !== SUMMARIZES) ||
  key === "@list" ||
  key === "@set" ||
  key === "@graph" ||
  key === "@included" ||
  key === "@reverse";

const hasMembers = (value: JsonObject): boolean =>
  Object.keys(value).some((key) => key !== "@id" && key !== "@context");

/**
 * Reads any layout of crate metadata:
 * - RO-Crate 1.0 to 1.3: a flat `@graph` in which a descriptor names the root (`about`);
 * - the older layout: the crate is one object with its own `@graph` and no descriptor.
 *
 * Metadata that breaks the layout is an error among the findings, and the result is undefined then.
 */
export function readLayout(
  metadata: JsonObject,
  { file, folder }: MetadataFile,
  findings: Findings,
): CrateDescription | undefined {
  const { "@context": context, "@graph": graph, ...own } = metadata;
  const entities = entitiesOf(graph, file, findings);
  const descriptor = findDescriptor(entities);
  if (descriptor) {
    separateOwnStatements(descriptor, entities);
    const ark = separateCrate(descriptor);
    const root = findRoot(descriptor, entities);
    if (!root) {
      findings.error(
        "NO_ROOT",
        "The descriptor's `about` names no entity of the graph; describe the crate itself, " +
          "usually as `./`.",
        { file, pointer: descriptor.pointer },
      );
      return undefined;
    }
    for (const entity of entities)
      if (bareId(entity.id) === bareId(descriptor.id)) entity.descriptor = true;
    const described = withEmbedded(entities.includes(root) ? entities : [root, ...entities]);
    // A root inside the descriptor is found there as well.
    return {
      file,
      folder,
      context,
      hasGraph: true,
      descriptor,
      ...(ark === undefined ? {} : { ark }),
      root,
      entities: described.filter((entity) => entity === root || entity.value !== root.value),
    };
  }
  const silent = entities.find(({ id }) => isDescriptorName(id));
  if (silent) {
    findings.error(
      "NO_ROOT",
      'The descriptor has no `about`, which says which entity is the crate. Add `"about": ' +
        '{"@id": "./"}`, see RO-Crate 1.2, section Root Data Entity.',
      { file, pointer: silent.pointer },
    );
    return undefined;
  }
  if (!Object.keys(own).some((key) => key === "@id" || key === "@type" || !key.startsWith("@"))) {
    const missing =
      graph === undefined || graph === null
        ? "The crate has no `@graph`. Add one with the descriptor and the entities, see " +
          "RO-Crate 1.2, section RO-Crate Metadata Document."
        : "No entity with the `@id` ro-crate-metadata.json says which entity is the crate. " +
          "Add the descriptor.";
    findings.error("NO_ROOT", missing, { file, pointer: "" });
    return undefined;
  }
  const id = own["@id"];
  if (id !== undefined && typeof id !== "string") {
    findings.error("INVALID_ID", "The crate's `@id` is not text.", { file, pointer: "/@id" });
    return undefined;
  }
  const root: CrateEntity = { id: id ?? "./", pointer: "", value: { ...own, "@id": id ?? "./" } };
  return {
    file,
    folder,
    context,
    hasGraph: graph !== undefined && graph !== null,
    root,
    entities: withEmbedded([root, ...entities]),
  };
}

/**
 * Undoes what the export of a document does: each inner crate gets the statements of its own
 * metadata file, and the descriptor those of the file around it.
 */
function separateOwnStatements(descriptor: CrateEntity, entities: readonly CrateEntity[]): void {
  const literal = descriptor.value[OWN_STATEMENTS];
  if (!isObject(literal) || !isObject(literal["@value"])) return;
  const { [OWN_STATEMENTS]: _literal, ...said } = descriptor.value;
  const summaries: JsonObject[] = [];
  for (const [id, own] of Object.entries(literal["@value"])) {
    const crate = entities.find((entity) => entity.id === id && entity !== descriptor);
    if (!crate || !isObject(own)) continue;
    summaries.push(summaryOf(crate, Object.keys(own)));
    crate.value = objectFrom(new Map([...Object.entries(crate.value), ...Object.entries(own)]));
  }
  descriptor.value = summaries.length === 0 ? said : { ...said, [SUMMARIZES]: summaries };
}

/**
 * The descriptor of a crate in an archive, whose root has the author's own `@id`: the `identifier`
 * of the descriptor says which crate of a registry it is.
 */
export const withCrate = (descriptor: JsonObject, crate: string): JsonObject => ({
  ...descriptor,
  identifier: withAdded(descriptor["identifier"], descriptorArk(crate)),
});

/** Undoes {@link withCrate}: the crate's identifier; undefined where none is named. */
function separateCrate(descriptor: CrateEntity): string | undefined {
  for (const text of listOf(descriptor.value["identifier"])) {
    const ark = typeof text === "string" ? parseArk(text)?.stored : undefined;
    const crate = ark === text ? describedCrate(ark) : undefined;
    if (crate === undefined) continue;
    descriptor.value = withoutAdded(descriptor.value, "identifier", text);
    return crate;
  }
  return undefined;
}

/**
 * A value beside those that the author stated. Its place says whether the author wrote one value or
 * a list of one; beside a list of this value alone it comes twice.
 */
export const withAdded = (stated: JsonValue | undefined, value: JsonValue): JsonValue =>
  stated === undefined || stated === null
    ? value
    : !Array.isArray(stated)
      ? [stated, value]
      : isOnly(stated, value)
        ? [...stated, value, value]
        : stated.length === 1
          ? [value, ...stated]
          : [...stated, value];

const isOnly = (stated: readonly JsonValue[], value: JsonValue): boolean =>
  stated.length > 0 && stated.every((other) => isDeepStrictEqual(other, value));

/** Undoes {@link withAdded} in an entity. */
export function withoutAdded(entity: JsonObject, key: string, value: JsonValue): JsonObject {
  const { [key]: stated, ...rest } = entity;
  if (stated === undefined) return entity;
  const same = (other: JsonValue): boolean => isDeepStrictEqual(other, value);
  if (!Array.isArray(stated)) return same(stated) ? rest : entity;
  if (stated.length > 2 && isOnly(stated, value)) return { ...entity, [key]: stated.slice(2) };
  const [first, second] = stated;
  if (stated.length === 2 && first !== undefined && second !== undefined && same(second))
    return { ...entity, [key]: first };
  const at = stated.length === 2 ? stated.findIndex(same) : stated.findLastIndex(same);
  return at < 0 ? entity : { ...entity, [key]: stated.toSpliced(at, 1) };
}

/** What a metadata file says about an entity by some properties. */
export const summaryOf = ({ id, value }: CrateEntity, names: readonly string[]): JsonObject =>
  objectFrom([["@id", id], ...Object.entries(pick(value, names))]);

function entitiesOf(graph: JsonValue | undefined, file: string, findings: Findings): CrateEntity[] {
  if (graph === undefined || graph === null) return [];
  const entities: CrateEntity[] = [];
  for (const [index, value] of (Array.isArray(graph) ? graph : [graph]).entries()) {
    const pointer = Array.isArray(graph) ? `/@graph${step(index)}` : "/@graph";
    if (!isObject(value)) {
      findings.error("METADATA_SHAPE", "An item of @graph is not an object.", { file, pointer });
      continue;
    }
    const id = value["@id"];
    if (typeof id === "string") entities.push({ id, pointer, value });
    else if (id === undefined || id === null) {
      const other = memberMeant(value, "@id");
      findings.warn(
        "ID_MISSING",
        other === undefined
          ? "The entity has no `@id`; one is minted for it."
          : `The entity has no \`@id\` but a member ${JSON.stringify(quoted(other))}, ` +
              `${JSON.stringify(quoted(value[other] as string))}: \`@id\` was probably meant. An ` +
              "identifier is minted, and references to that one lead nowhere.",
        { file, pointer },
      );
      entities.push({ id: `_:${pointer.slice(1)}`, pointer, value });
    } else
      findings.error("INVALID_ID", "The `@id` is not text.", { file, pointer: `${pointer}/@id` });
  }
  return entities;
}

/** The member that was probably written for a keyword: `id`, `Id` or `@Id` for `@id`. */
export const memberMeant = (value: JsonObject, keyword: `@${string}`): string | undefined =>
  Object.keys(value).find(
    (key) =>
      key !== keyword &&
      key.replace(/^[@_]?/, "@").toLowerCase() === keyword &&
      typeof value[key] === "string",
  );

const withEmbedded = (entities: CrateEntity[]): CrateEntity[] => [
  ...entities,
  ...entities.flatMap(embeddedEntities),
];

/** The crate's identifier where its metadata states one: the root's `@id`, else beside it. */
export const statedArk = ({ root, ark }: CrateDescription): string | undefined =>
  parseArk(root.id)?.stored ?? ark;

/** One metadata file of any layout. */
export interface CrateDescription {
  /** Made from a document of another format, which stays a file of the crate. */
  converted?: true;
  /** Metadata file inside the archive. */
  file: string;
  /** Folder of the archive that relative paths start from: empty, or with `/` at the end. */
  folder: string;
  context: JsonValue | undefined;
  /** Names the root entity; the older layout has no descriptor. */
  descriptor?: CrateEntity;
  /** Identifier of the crate in a registry whose archive this is. */
  ark?: string;
  root: CrateEntity;
  /** False where the metadata is one object without `@graph`. */
  hasGraph: boolean;
  /** The root and the descriptor are among them. */
  entities: CrateEntity[];
}

/** The descriptions in the metadata files of a crate, its own first. */
export type CrateDescriptions = readonly [CrateDescription, ...CrateDescription[]];

export interface CrateEntity {
  /** `@id` as written; for an object without one a blank node name derived from its place. */
  id: string;
  /** Place of the entity in the metadata file. */
  pointer: string;
  value: JsonObject;
  /** The entity is inside another entity; repeating statements is usual there. */
  embedded?: true;
  /** Describes the metadata file itself. */
  descriptor?: true;
}
