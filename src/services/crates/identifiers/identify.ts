import { plainLine, textOf } from "../../../model/texts.js";
import { type EntityId, EntityIds, isAbsoluteId } from "../../../identifiers/entity-ids.js";
import { arkKey, looksLikeArk, mintArk, parseArk } from "../../../identifiers/ark.js";
import { bareId } from "../../../identifiers/entity-ids.js";
import { referencesIn } from "../../../model/field.js";
import { type Findings, quoted } from "../findings.js";
import {
  type CrateDescription,
  type CrateDescriptions,
  type CrateEntity,
  DESCRIPTOR,
  describedCrate,
  descriptorArk,
  statedArk,
} from "../layout.js";
import { invisibleIn, visible } from "../../../model/strings.js";

/** The meanings of the `@id`s of one metadata file. */
export class IdScope {
  readonly #described = new Set<string>();
  /**
   * The descriptor names an entity other than its folder as the crate, and the folder is described
   * too.
   */
  readonly #isFolderApart: boolean;

  readonly #root: EntityId | undefined;

  /**
   * @param folder the metadata file's folder below the crate's folder
   * @param root identifier of this description's root, when it differs from the one by the rules
   * @param home registered crate that the entities belong to, where it is not the crate that is
   * ingested
   */
  constructor(
    readonly ids: EntityIds,
    readonly description: CrateDescription,
    readonly folder: string,
    root: EntityId | undefined,
    readonly home?: string,
  ) {
    this.#root = root;

    for (const { id } of description.entities) this.#described.add(id).add(bareId(id));
    this.#isFolderApart = bareId(description.root.id) !== "" && this.#described.has("");
  }

  /** Identifier of an entity of this description. */
  of(id: string): EntityId {
    if (
      this.#root &&
      (id === this.description.root.id || bareId(id) === bareId(this.description.root.id))
    )
      return this.#root;
    if (this.#isFolderApart && bareId(id) === "") return this.ids.ofFolder(this.folder);
    return this.ids.of(id, this.folder);
  }

  /**
   * The identifier that replaces an `@id`: links lead to the same record from everywhere; URLs
   * stay, except that of the crate itself.
   */
  reference(id: string): string {
    const found = this.of(id);
    if (found.rule === "url" && found.ark === this.ids.crate) return found.ark;
    if (found.rule === "refused" || found.rule === "url") return id;
    if (found.rule === "other" && found.absolute && !this.#described.has(id)) return id;
    return found.ark;
  }

  /**
   * The same for a text in a field of references: only an ARK or the name of a described entity is
   * replaced.
   */
  textReference(text: string): string {
    // The root's `./` without its dot and slash is empty, and empty text is not a reference.
    if (text === "") return text;
    if (looksLikeArk(text))
      return parseArk(text)?.stored ?? (this.#described.has(text) ? this.reference(text) : text);
    return this.#described.has(text) || this.#described.has(bareId(text))
      ? this.reference(text)
      : text;
  }
}

/** A crate of the uploader's that the crate being ingested may contain. */
export interface RegisteredCrate {
  ark: string;
  /** It was uploaded by itself, not inside another crate. */
  alone: boolean;
}

export interface IdentifySettings {
  /** Setting ARK_NAAN: authority of a minted crate. */
  naan: string;
  /** Setting ACCEPTED_NAANS; `*` accepts all. */
  acceptedNaans: string;
  /** ARK of the crate that the upload names and updates. */
  crate?: string;
  /** Crates within the crate that are registered apart from it. */
  registered?: ReadonlyMap<string, RegisteredCrate>;
}

/** One statement about an entity. */
export interface Part {
  scope: IdScope;
  entity: CrateEntity;
}
export const partPlace = ({ scope, entity }: Part): { file: string; pointer: string } => ({
  file: scope.description.file,
  pointer: entity.pointer,
});
/** Where the first statement about an entity is. */
export const placeOf = ({ parts }: IdentifiedEntity): { file: string; pointer: string } =>
  partPlace(parts[0]);

/** An entity of the crate under its new identifier, with all statements about it. */
export interface IdentifiedEntity {
  ark: string;
  /** The URL that the crate uses for it, when its `@id` is a URL. */
  url?: string;
  /** The absolute identifier that the crate uses for it, when that is neither an ARK nor a URL. */
  uri?: string;
  /** Its `@id` is an ARK, or the archive states one beside it: none was minted for it. */
  kept: boolean;
  role: "root" | "nestedRoot" | "descriptor" | "member";
  /** Deepest nested crate first. */
  parts: [Part, ...Part[]];
}

/**
 * Assigns every entity of a crate and its nested crates its identifier, and merges the statements
 * about one identifier.
 * @param descriptions the crate's own first
 */
export function identify(
  descriptions: CrateDescriptions,
  settings: IdentifySettings,
  findings: Findings,
): IdentifiedEntity[] {
  const [crate] = descriptions;
  refuseOtherCrate(crate, settings, findings);
  const scopes = scopesOf(descriptions, settings);
  const entities = new Map<string, IdentifiedEntity>();
  for (const scope of scopes) {
    const { description } = scope;
    const here = new Map<string, CrateEntity>();
    for (const entity of description.entities) {
      const id = scope.of(entity.id);
      if (!isUsable(id, entity, description, settings, findings)) continue;
      const first = here.get(id.ark);
      if (first === undefined) here.set(id.ark, entity);
      else if (!entity.embedded)
        findings.warn(
          "DUPLICATE_ENTITY",
          `Another entity (${first.pointer}) has the identifier ${quoted(id.ark)}; both are merged.`,
          { file: description.file, pointer: entity.pointer },
        );
      addPart(entities, id, { scope, entity });
    }
    const root = scope.of(description.root.id);
    const found = root.rule === "refused" ? undefined : entities.get(root.ark);
    if (found && found.role !== "root") found.role = description === crate ? "root" : "nestedRoot";
  }
  findDescribedCrates(entities);
  for (const { parts } of entities.values())
    if (parts.length > 1) parts.sort((a, b) => depthOf(b) - depthOf(a));
  return [...entities.values()];
}

function refuseOtherCrate(
  crate: CrateDescription,
  settings: IdentifySettings,
  findings: Findings,
): void {
  const stated = statedArk(crate);
  if (
    settings.crate !== undefined &&
    stated !== undefined &&
    arkKey(stated) !== arkKey(settings.crate)
  )
    findings.error(
      "CRATE_MISMATCH",
      `The crate is ${quoted(stated)}, and the upload names ${settings.crate}; ` +
        "name the same crate, or leave the name out.",
      { file: crate.file, pointer: crate.root.pointer },
    );
}

/** What `@id`s mean in each metadata file, the crate's own first. */
function scopesOf(descriptions: CrateDescriptions, settings: IdentifySettings): IdScope[] {
  const [crate] = descriptions;
  const own = crateId(crate, settings);
  const ids = new EntityIds(own.ark);
  const outermost: Base = { folder: crate.folder, ids };
  const bases = basesOf(descriptions, outermost, settings);
  const scopes = descriptions.map((description) => {
    const base =
      bases.findLast((candidate) => description.folder.startsWith(candidate.folder)) ?? outermost;
    const folder = description.folder.slice(base.folder.length);
    const root = description === crate ? own : nestedRootId(base.ids, description, folder);
    return new IdScope(base.ids, description, folder, root, base.home);
  });
  // Before any entity is looked up: a crate may refer to the descriptor of a crate inside it.
  for (const scope of scopes) renameDescriptor(scope, ids, crate.folder);
  return scopes;
}

type UsableId = Exclude<EntityId, { rule: "refused" }>;

/** Reports what is wrong with an identifier. @returns false where it names nothing */
function isUsable(
  id: EntityId,
  entity: CrateEntity,
  description: CrateDescription,
  { acceptedNaans }: IdentifySettings,
  findings: Findings,
): id is UsableId {
  const place = { file: description.file, pointer: entity.pointer };
  if (id.rule === "refused") {
    findings.error(
      "INVALID_ID",
      `The \`@id\` ${id.reason}; name entities inside the crate.`,
      place,
    );
    return false;
  }
  const invisible = id.rule === "path" || id.rule === "ark" ? invisibleIn(entity.id) : undefined;
  if (invisible !== undefined)
    findings.error(
      "INVALID_ID",
      `The \`@id\` ${JSON.stringify(visible(quoted(entity.id)))} holds the control or ` +
        `bidirectional character ${invisible}, which hides what it is; write the name without it.`,
      place,
    );
  const naan = isStated(id, description) ? parseArk(id.ark)?.naan : undefined;
  if (naan !== undefined && !isAccepted(naan, acceptedNaans))
    findings.error(
      "NAAN_NOT_ACCEPTED",
      `Identifiers of authority ${naan} are not accepted (ACCEPTED_NAANS=${acceptedNaans}).`,
      place,
    );
  if (id.rule !== "ark" && /^ark:/i.test(entity.id) && !entity.embedded)
    findings.warn(
      "ARK_MALFORMED",
      "The `@id` is not a valid ARK (ark:NAAN/name); the record's identifier is " +
        `${quoted(id.ark)}.`,
      place,
    );
  return true;
}

/** The archive states the ARK: none was minted. */
const isStated = (id: UsableId, { ark }: CrateDescription): boolean =>
  id.rule === "ark" || id.ark === ark;

/** Adds a statement to those about the same entity. */
function addPart(entities: Map<string, IdentifiedEntity>, id: UsableId, part: Part): void {
  const { scope, entity } = part;
  const known = entities.get(id.ark);
  if (known) {
    known.parts.push(part);
    if (entity.descriptor) known.role = "descriptor";
  } else
    entities.set(id.ark, {
      ark: id.ark,
      ...(id.rule === "url" ? { url: id.url } : isAbsoluteId(entity.id) ? { uri: entity.id } : {}),
      kept: isStated(id, scope.description),
      role: entity.descriptor ? "descriptor" : "member",
      parts: [part],
    });
}

/**
 * The base of identifiers of relative paths: the crate, or a nested crate that has its own
 * identifier from a separate upload.
 */
interface Base {
  folder: string;
  ids: EntityIds;
  home?: string;
}

/** Outermost first, as descriptions are. */
function basesOf(
  [, ...nested]: CrateDescriptions,
  crate: Base,
  { registered }: IdentifySettings,
): Base[] {
  return [
    crate,
    ...nested.flatMap((description): Base[] => {
      const { folder } = description;
      const home = statedArk(description);
      return home !== undefined && registered?.get(home)?.alone === true
        ? [{ folder, ids: new EntityIds(home), home }]
        : [];
    }),
  ];
}

/**
 * The crate's own identifier: the identifier that the upload names, or its root's `@id` when that
 * is an ARK, else a new one.
 */
function crateId(
  description: CrateDescription,
  { naan, crate }: IdentifySettings,
): Extract<EntityId, { ark: string }> {
  const { name } = description.root.value;
  return rootId(
    description.root.id,
    crate ??
      statedArk(description) ??
      mintArk(naan, "rocrate", plainLine(textOf(name) ?? "")).stored,
  );
}

/** What the `@id` of a root means whose record has the identifier `ark`. */
function rootId(id: string, ark: string): Extract<EntityId, { ark: string }> {
  const given = looksLikeArk(id) ? parseArk(id) : undefined;
  if (given) return { rule: "ark", ark, naan: given.naan };
  return /^https?:\/\//i.test(id) ? { rule: "url", ark, url: id } : { rule: "path", ark, path: "" };
}

/**
 * The descriptor's identifier is derived from that of its crate, whatever name and folder the
 * descriptor has.
 */
function renameDescriptor(scope: IdScope, ids: EntityIds, outermost: string): void {
  const {
    description: { descriptor, root, folder },
  } = scope;
  const crate = scope.of(root.id);
  if (!descriptor || crate.rule === "refused") return;
  for (const id of new Set([DESCRIPTOR, descriptor.id])) {
    scope.ids.rename(id, scope.folder, descriptorArk(crate.ark));
    // The crate around a registered one refers to the descriptor by other paths.
    if (scope.ids !== ids) ids.rename(id, folder.slice(outermost.length), descriptorArk(crate.ark));
  }
}

/**
 * The meanings of the `@id`s in the metadata file of a crate that is registered.
 * @param root identifier of the crate
 * @param base identifier that relative paths continue
 */
export function scopeOf(
  description: CrateDescription,
  { root, base }: { root: string; base: string },
): IdScope {
  const ids = new EntityIds(base);
  const scope = new IdScope(ids, description, description.folder, {
    rule: "path",
    ark: root,
    path: "",
  });
  renameDescriptor(scope, ids, "");
  return scope;
}

/**
 * A crate inside this one whose descriptor is in the same metadata, as in the metadata of a crate
 * that is exported without files.
 */
function findDescribedCrates(entities: ReadonlyMap<string, IdentifiedEntity>): void {
  for (const { ark, role, parts } of entities.values()) {
    const crate = role === "member" ? entities.get(describedCrate(ark) ?? "") : undefined;
    if (
      crate?.role === "member" &&
      parts.some(({ scope, entity: { value } }) =>
        referencesIn(value["about"]).some((id) => arkOf(scope.of(id)) === crate.ark),
      )
    )
      crate.role = "nestedRoot";
  }
}

const arkOf = (id: EntityId): string | undefined => (id.rule === "refused" ? undefined : id.ark);

/** A nested root with a relative `@id` means its folder, in any spelling. */
function nestedRootId(
  ids: EntityIds,
  { root, ark }: CrateDescription,
  folder: string,
): EntityId | undefined {
  if (ark !== undefined && !looksLikeArk(root.id)) return rootId(root.id, ark);
  const id = ids.of(root.id, folder);
  return id.rule === "path" ? ids.of("./", folder) : undefined;
}

const isAccepted = (naan: string, accepted: string): boolean =>
  accepted === "*" || accepted.split(",").includes(naan);
const depthOf = ({ scope }: Part): number => scope.description.folder.split("/").length;
