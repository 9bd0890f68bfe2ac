import { looksLikeArk } from "../../identifiers/ark.js";
import { bareId, isPathId, resolvedPath } from "../../identifiers/entity-ids.js";
import { isOfYearZero } from "../../model/dates.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { isObject, listOf, referencesIn } from "../../model/field.js";
import { step } from "../../model/json/pointer.js";
import { kindOfTypes, typeNames } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { adviseOnAuthors, adviseOnFiles } from "./advise-files.js";
import type { FileTree } from "./files/match-files.js";
import { type Findings, type Place, quoted } from "./findings.js";
import { coercedTerms, isReferenceName } from "./identifiers/rewrite.js";
import { type CrateDescription, type CrateEntity, memberMeant } from "./layout.js";
import { ownValue } from "../../own.js";
import { getOrInsert } from "../../get-or-insert.js";

const DATA = new Set(["File", "MediaObject", "Dataset"]);

/**
 * Warns of files and folders that cannot be reached from the crate's root: hasPart links data
 * entities to the root, directly or through other parts (RO-Crate 1.1, "Core Metadata for Data
 * Entities").
 */
function adviseOnParts(
  { file, context, root, entities }: CrateDescription,
  findings: Findings,
): void {
  const parts = new Map<string, string[]>();
  for (const { id, value } of entities) {
    for (const part of named(value, "hasPart"))
      getOrInsert(parts, placeOf(id), (): string[] => []).push(placeOf(part));
    for (const whole of named(value, "isPartOf"))
      getOrInsert(parts, placeOf(whole), (): string[] => []).push(placeOf(id));
  }
  const reached = new Set([placeOf(root.id)]);
  for (const whole of reached) for (const part of parts.get(whole) ?? []) reached.add(part);
  const isData = ({ value, embedded, descriptor }: CrateEntity) =>
    !embedded &&
    !descriptor &&
    typeNames(value, context, value["@context"]).some((type) => DATA.has(type));
  for (const entity of entities) {
    if (isData(entity) && !reached.has(placeOf(entity.id)))
      findings.warn(
        "NOT_PART",
        `${entity.id.slice(0, 200)} is not reached from the crate by hasPart; name it there.`,
        { file, pointer: entity.pointer },
      );
  }
}

/** One text for every spelling of a path: identifiers derived from them are equal too. */
function placeOf(id: string): string {
  const bare = bareId(id.replace(/^\/+/, ""));
  try {
    return bare.includes("%") ? decodeURIComponent(bare) : bare;
  } catch {
    return bare;
  }
}

const named = (value: JsonObject, name: string): string[] =>
  [name, `schema:${name}`, `http://schema.org/${name}`, `https://schema.org/${name}`].flatMap(
    (key) => referencesIn(value[key]),
  );

const ABSOLUTE = /^[a-zA-Z][a-zA-Z0-9+.-]*:/;
const SPECIFICATION = /^https?:\/\/w3id\.org\/ro\/crate(?:\/(.*))?$/;
/** Versions of RO-Crate, their drafts and corrections. */
const RO_CRATE_VERSION = /^(?:0\.[23]|1\.[0-4])(?:\.\d+)?(?:-DRAFT)?\/?$/;
/** Properties whose values are entities, never text. */
const ONLY_REFERENCES: ReadonlySet<string> = new Set([
  "hasPart",
  "isPartOf",
  "about",
  "mainEntity",
  "conformsTo",
]);

/**
 * Warns of references that are text or lead to no entity, and of whole objects in place of
 * references ("RO-Crate JSON-LD").
 */
function adviseOnReferences(description: CrateDescription, findings: Findings): void {
  const rules = new ReferenceRules(description, findings);
  for (const entity of description.entities) rules.check(entity);
  rules.report();
}

/** Places of one finding: the first is shown, the others are counted. */
interface Places {
  first: string;
  pointer: string;
  count: number;
}

class ReferenceRules {
  readonly #described = new Set<string>();
  /** Terms whose texts the context makes references. */
  readonly #coerced: ReadonlySet<string>;
  readonly #texts = new Map<string, Places>();
  #nowhere: Places | undefined;
  #nested: Places | undefined;

  readonly #description: CrateDescription;
  readonly #findings: Findings;

  constructor(description: CrateDescription, findings: Findings) {
    this.#description = description;
    this.#findings = findings;

    for (const { id } of [
      ...description.entities,
      ...(description.descriptor ? [description.descriptor] : []),
    ])
      this.#described.add(id).add(bareId(id));
    this.#coerced = coercedTerms(description.context);
  }

  check(entity: CrateEntity): void {
    const { value, pointer } = entity;
    const { fields } =
      KINDS[kindOfTypes(typeNames(value, this.#description.context, value["@context"]))];
    for (const [key, stated] of Object.entries(value)) {
      if (key.startsWith("@")) continue;
      const place = pointer + step(key);
      const json = ownValue(fields, key)?.json;
      // Fields of any JSON hold no entities.
      if (json !== "object" && json !== "list") this.#checkNested(stated, place);
      const name = key.startsWith("schema:") ? key.slice("schema:".length) : key;
      this.#checkTexts(name, stated, place);
      if (name !== "about") this.#checkTarget(stated, place);
      if (name === "conformsTo" || name === "dct:conformsTo")
        this.#checkConformsTo(entity, stated, place);
      if (name === "about") this.#checkAbout(stated, place);
    }
  }

  /** One warning per kind: a tool that writes it once in a crate writes it everywhere. */
  report(): void {
    const { file } = this.#description;
    if (this.#nested)
      this.#findings.warn(
        "NESTED_WITHOUT_ID",
        `An object without an @id is nested in an entity${also(this.#nested)}; list it ` +
          "in @graph with an @id, and refer to it.",
        { file, pointer: this.#nested.pointer },
      );
    if (this.#nowhere)
      this.#findings.warn(
        "REFERENCE_NOWHERE",
        `The reference ${JSON.stringify(quoted(this.#nowhere.first))}${also(this.#nowhere)} names ` +
          "nothing that the crate describes; describe it, or correct the @id.",
        { file, pointer: this.#nowhere.pointer },
      );
    for (const [name, places] of this.#texts)
      this.#findings.warn(
        "TEXT_AS_REFERENCE",
        `The ${name} is the text ${JSON.stringify(quoted(places.first))}${also(places)}; ` +
          `write a reference, {"@id": …}.`,
        { file, pointer: places.pointer },
      );
  }

  #checkNested(value: JsonValue, pointer: string): void {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries())
        if (typeof item === "object") this.#checkNested(item, pointer + step(index));
    } else if (isObject(value)) {
      if (Object.hasOwn(value, "@value")) return;
      const isContainer = Object.hasOwn(value, "@list") || Object.hasOwn(value, "@set");
      if (!isContainer && typeof value["@id"] !== "string")
        this.#nested = more(this.#nested, "", pointer);
      // An object with an @id is a separate entity.
      if (typeof value["@id"] === "string") return;
      for (const [key, inner] of Object.entries(value))
        if (typeof inner === "object" && inner !== null && key !== "@context")
          this.#checkNested(inner, pointer + step(key));
    }
  }

  #checkTexts(name: string, stated: JsonValue, pointer: string): void {
    if (this.#coerced.has(name) || (!ONLY_REFERENCES.has(name) && !isReferenceName(name))) return;
    for (const text of listOf(stated)) {
      if (typeof text !== "string" || text === "") continue;
      const isRead =
        looksLikeArk(text) || this.#described.has(text) || this.#described.has(bareId(text));
      if (isRead || ONLY_REFERENCES.has(name))
        this.#texts.set(name, more(this.#texts.get(name), text, pointer));
    }
  }

  #checkConformsTo({ value }: CrateEntity, stated: JsonValue, pointer: string): void {
    const isRoot = value === this.#description.root.value;
    for (const item of listOf(stated)) {
      const [iri] = referencesIn(item);
      const problem =
        iri === undefined || iri === ""
          ? "is not a reference"
          : this.#conformsToProblem(iri, isRoot);
      if (problem !== undefined)
        this.#findings.warn(
          "CONFORMS_TO_INVALID",
          `The conformsTo ${JSON.stringify(quoted(iri ?? JSON.stringify(item)))} ${problem}.`,
          { file: this.#description.file, pointer },
        );
    }
  }

  #conformsToProblem(iri: string, isRoot: boolean): string | undefined {
    const specification = SPECIFICATION.exec(iri);
    const version = specification?.[1];
    if (specification && !version)
      return isRoot
        ? "does not name a version of RO-Crate, and the crate itself conforms to profiles; " +
            "the descriptor says the version"
        : undefined;
    if (version && !iri.includes("/context") && !RO_CRATE_VERSION.test(version))
      return "is not a version of RO-Crate";
    return ABSOLUTE.test(iri) || this.#isDescribed(iri)
      ? undefined
      : "is neither a URI nor an entity of the crate";
  }

  /** A fragment is a name in this document: a path or a URI may name something elsewhere. */
  #checkTarget(stated: JsonValue, pointer: string): void {
    for (const item of listOf(stated)) {
      if (!isObject(item) || typeof item["@id"] !== "string") continue;
      const id = item["@id"];
      const isHere = id.startsWith("#") || id.startsWith("_:");
      if (isHere && Object.keys(item).length === 1 && !this.#isDescribed(id))
        this.#nowhere = more(this.#nowhere, id, pointer);
    }
  }

  #checkAbout(stated: JsonValue, pointer: string): void {
    for (const item of listOf(stated)) {
      if (!isObject(item) || typeof item["@id"] !== "string") continue;
      const id = item["@id"];
      if (!ABSOLUTE.test(id) && !this.#isDescribed(id))
        this.#findings.warn(
          "ABOUT_NOWHERE",
          `The about ${JSON.stringify(quoted(id))} names nothing that the crate describes; ` +
            "describe it, or correct the @id.",
          { file: this.#description.file, pointer },
        );
    }
  }

  #isDescribed(id: string): boolean {
    return this.#described.has(id) || this.#described.has(bareId(id));
  }
}

/** Warns of references to paths that no file of the archive has and no entity describes. */
export function adviseOnPaths(
  descriptions: readonly CrateDescription[],
  tree: Pick<FileTree, "find" | "hasFolder">,
  findings: Findings,
): void {
  const pathOf = (folder: string, id: string) => resolvedPath(folder + placeOf(id));
  const described = new Set(
    descriptions.flatMap(({ folder, entities }) => entities.map(({ id }) => pathOf(folder, id))),
  );
  for (const { file, folder, entities } of descriptions) {
    let nowhere: Places | undefined;
    for (const { value, pointer } of entities)
      for (const [key, stated] of Object.entries(value)) {
        if (key.startsWith("@") || TOLD_ELSEWHERE.has(key)) continue;
        for (const item of listOf(stated)) {
          const id = isObject(item) && Object.keys(item).length === 1 ? item["@id"] : undefined;
          if (typeof id !== "string" || !isPathId(id)) continue;
          const isThere =
            described.has(pathOf(folder, id)) ||
            tree.find(id, folder) !== undefined ||
            tree.hasFolder(id, folder);
          if (!isThere) nowhere = more(nowhere, id, pointer + step(key));
        }
      }
    if (nowhere)
      findings.warn(
        "REFERENCE_NOWHERE",
        `The reference ${JSON.stringify(quoted(nowhere.first))}${also(nowhere)} names neither an ` +
          "entity nor a file of the archive; add the file and describe it, or correct the path.",
        { file, pointer: nowhere.pointer },
      );
  }
}
/** Properties whose references have advice of their own. */
const TOLD_ELSEWHERE: ReadonlySet<string> = new Set(["about", "conformsTo"]);

const more = (places: Places | undefined, first: string, pointer: string): Places =>
  places ? { ...places, count: places.count + 1 } : { first, pointer, count: 1 };
const also = ({ count }: Places): string => (count === 1 ? "" : ` (and ${count - 1} more)`);

/**
 * Characters that no URI reference holds (RFC 3986, with the characters of RFC 3987), and `%` that
 * begins no escape.
 */
// eslint-disable-next-line no-control-regex
const NOT_IN_URI = /[\u0000-\u0020\u007f<>"{}|\\^`]|%(?![0-9A-Fa-f]{2})/;
const DATE = new RegExp(
  String.raw`^\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01])(?:[T ](?:[01]\d|2[0-4]):?[0-5]\d(` +
    String.raw`?::?[0-6]\d(?:[.,]\d+)?)?(?:Z|[+-][01]\d(?::?[0-5]\d)?)?)?)?)?$`,
);
const VERSION = /ro\/?-?crate\/(?:specification\/)?(\d+\.\d+)/;

/**
 * Compares metadata with the requirements of RO-Crate 1.0 to 1.3 (MUST and SHOULD of "RO-Crate
 * Metadata Document", "Root Data Entity" and "Data Entities"). All its findings are advice: records
 * do not need these properties.
 */
export function adviseOnCrate(description: CrateDescription, findings: Findings): void {
  const { file, context, descriptor, entities, hasGraph } = description;
  if (context === undefined || context === null)
    findings.warn(
      "CONTEXT_MISSING",
      "The metadata has no @context; its terms are stored under a vocabulary of the " +
        "registry. Add the context of RO-Crate.",
      { file, pointer: "" },
    );
  if (descriptor) {
    adviseOnDescriptor(descriptor, description, findings);
    adviseOnParts(description, findings);
  } else {
    const layout = hasGraph
      ? "The crate is one object with its own @graph, as before RO-Crate 1.0"
      : "The crate has no @graph; it is read as one object that is the crate";
    findings.warn("OLDER_LAYOUT", `${layout}. Write a flat @graph with a descriptor.`, {
      file,
      pointer: "",
    });
  }
  adviseOnRoot(description, findings);
  adviseOnReferences(description, findings);
  adviseOnAuthors(description, findings);
  adviseOnFiles(description, findings);
  for (const { id, value, pointer, embedded, descriptor: isDescriptor } of entities) {
    if (isDescriptor) continue;
    if (NOT_IN_URI.test(id))
      findings.warn(
        "ID_NOT_URI",
        `The @id ${JSON.stringify(id.slice(0, 200))} is not a URI; percent-encode it (a ` +
          "blank as %20).",
        { file, pointer },
      );
    if (!embedded && isAbsent(value["@type"]) && isAbsent(value["metadataType"])) {
      const other = memberMeant(value, "@type");
      findings.warn(
        "TYPE_MISSING",
        other === undefined
          ? "The entity has no @type; state its type."
          : `The entity has no @type but a member ${JSON.stringify(quoted(other))}: @type was ` +
              "probably meant.",
        { file, pointer },
      );
    }
  }
  const held = entities.filter(({ embedded }) => embedded);
  const [first] = held;
  if (first)
    findings.warn(
      "NOT_FLATTENED",
      `${held.length === 1 ? "An entity is" : `${held.length} entities are`} nested in ` +
        "another one; list entities in @graph, and refer to them by @id.",
      { file, pointer: first.pointer },
    );
}

function adviseOnDescriptor(
  { value, pointer }: CrateEntity,
  { file, context }: CrateDescription,
  findings: Findings,
): void {
  const place: Place = { file, pointer };
  const version = versionIn(referencesIn(value["conformsTo"]));
  const missing = [
    ...(typeNames(value, context).includes("CreativeWork") ? [] : ["the @type CreativeWork"]),
    ...(version === undefined ? ["a conformsTo with the version of RO-Crate"] : []),
  ];
  if (missing.length > 0)
    findings.warn("DESCRIPTOR_INCOMPLETE", `The descriptor lacks ${missing.join(" and ")}.`, place);
  const used = versionIn(listOf(context).filter((part) => typeof part === "string"));
  if (version === undefined || context === undefined || used === version) return;
  // From 1.2 on the metadata must name the context of exactly that version.
  if (used !== undefined)
    findings.warn(
      "CONTEXT_VERSION",
      `The context is that of RO-Crate ${used}, and the descriptor conforms to ${version}; ` +
        "name one version in both.",
      { file, pointer: "/@context" },
    );
  else if (version !== "1.0" && version !== "1.1")
    findings.warn(
      "CONTEXT_VERSION",
      `The descriptor conforms to RO-Crate ${version}, whose context is not named; add ` +
        `https://w3id.org/ro/crate/${version}/context.`,
      { file, pointer: "/@context" },
    );
}

const versionIn = (iris: readonly string[]): string | undefined =>
  iris.map((iri) => VERSION.exec(iri)?.[1]).find((version) => version !== undefined);

function adviseOnRoot(
  { file, context, root: { id, value, pointer } }: CrateDescription,
  findings: Findings,
): void {
  const place: Place = { file, pointer };
  if (id !== "./" && !/^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(id))
    findings.warn(
      "ROOT_ID",
      `The crate's @id is ${JSON.stringify(id.slice(0, 200))}; call it "./".`,
      place,
    );
  const missing = rootGaps(value, context);
  if (missing.length > 0)
    findings.warn("ROOT_INCOMPLETE", `The crate lacks ${missing.join(", ")}.`, place);
  for (const date of listOf(value["datePublished"])) {
    if (typeof date !== "object" && !isDate(date))
      findings.warn(
        "DATE_INVALID",
        `The datePublished ${JSON.stringify(String(date).slice(0, 100))} is not an ISO ` +
          "8601 date; write it like 2024-05-03.",
        { file, pointer: `${pointer}/datePublished` },
      );
  }
}

/**
 * Required properties that this root lacks ("Root Data Entity", direct properties).
 * @param context that of the crate
 */
export function rootGaps(root: JsonObject, context: JsonValue | undefined): string[] {
  return [
    ...(typeNames(root, context, root["@context"]).includes("Dataset")
      ? []
      : ["the @type Dataset"]),
    ...["name", "description", "license", "datePublished"].filter((name) =>
      [name, `schema:${name}`].every((key) => isAbsent(root[key])),
    ),
  ];
}

/** A date of ISO 8601, with any precision. */
export const isDate = (value: JsonValue): boolean =>
  !isObject(value) &&
  !Array.isArray(value) &&
  DATE.test(String(value)) &&
  !isOfYearZero(String(value));

const isAbsent = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  (Array.isArray(value) && value.length === 0);
