import { arkKey, looksLikeArk, parseArk } from "../../../identifiers/ark.js";
import { mintArk } from "../../../identifiers/mint.js";
import { quoted, type Findings } from "../findings.js";
import type { CrateDescription, CrateEntity } from "../layout/description.js";
import { DESCRIPTOR, describedCrate, descriptorArk } from "../layout/descriptor.js";
import { referencesIn } from "../json-path.js";
import { invisibleIn, visible } from "../visible.js";
import type { RegisteredCrate } from "../run/protocol.js";
import { EntityIds, type EntityId } from "./entity-ids.js";
import { IdScope } from "./scope.js";

export interface IdentifySettings {
  /** Setting ARK_NAAN: authority of a minted crate. */
  naan: string;
  /** Setting ACCEPTED_NAANS; `*` accepts all. */
  acceptedNaans: string;
  /** ARK of the crate that the upload names, which it updates. */
  crate?: string;
  /** Crates within the crate that are registered apart from it. */
  registered?: ReadonlyMap<string, RegisteredCrate>;
}

/** One statement about an entity. */
export interface Part { scope: IdScope; entity: CrateEntity }
/** An entity of the crate under the identifier it gets, with all that is said of it. */
export interface IdentifiedEntity {
  ark: string;
  /** The URL that the crate knows it by, when its `@id` is one. */
  url?: string;
  /** Its `@id` is an ARK: no identifier was made for it. */
  kept: boolean;
  role: "root" | "nestedRoot" | "descriptor" | "member";
  /** Deepest nested crate first. */
  parts: Part[];
}

/**
 * Gives every entity of a crate and its nested crates its identifier, and brings together what is said under
 * one identifier.
 * @param descriptions the crate's own first
 */
export function identify(descriptions: readonly CrateDescription[], settings: IdentifySettings, findings: Findings): IdentifiedEntity[] {
  const [crate] = descriptions as [CrateDescription, ...CrateDescription[]];
  const rootId = crateId(crate, settings);
  const stated = parseArk(crate.root.id)?.stored;
  if (settings.crate !== undefined && stated !== undefined && arkKey(stated) !== arkKey(settings.crate))
    findings.error("CRATE_MISMATCH", `The crate's \`@id\` is ${quoted(stated)}, and the upload names ${settings.crate}; name the crate that it is, or leave the name out.`, { file: crate.file, pointer: crate.root.pointer });
  const ids = new EntityIds(rootId.ark);
  const bases = basesOf(descriptions, { folder: crate.folder, ids }, settings);
  const entities = new Map<string, IdentifiedEntity>();
  const scopes = descriptions.map((description) => {
    const base = bases.findLast((candidate) => description.folder.startsWith(candidate.folder))!;
    const folder = description.folder.slice(base.folder.length);
    return new IdScope(base.ids, description, folder, description === crate ? rootId : nestedRootId(base.ids, description, folder), base.home);
  });
  // Before any entity is looked up: a crate may refer to the descriptor of a crate inside it.
  for (const scope of scopes) renameDescriptor(scope, ids, crate.folder);
  for (const scope of scopes) {
    const { description } = scope;
    const own = new Map<string, CrateEntity>();
    for (const entity of description.entities) {
      const place = { file: description.file, pointer: entity.pointer };
      const id = scope.of(entity.id);
      if (id.rule === "refused") {
        findings.error("INVALID_ID", `The \`@id\` ${id.reason}; name entities inside the crate.`, place);
        continue;
      }
      const invisible = id.rule === "path" || id.rule === "ark" ? invisibleIn(entity.id) : undefined;
      if (invisible !== undefined)
        findings.error("INVALID_ID", `The \`@id\` ${JSON.stringify(visible(quoted(entity.id)))} holds the control or bidirectional character ${invisible}, which hides what it is; write the name without it.`, place);
      if (id.rule === "ark" && !isAccepted(id.naan, settings.acceptedNaans))
        findings.error("NAAN_NOT_ACCEPTED", `Identifiers of authority ${id.naan} are not accepted (ACCEPTED_NAANS=${settings.acceptedNaans}).`, place);
      if (id.rule !== "ark" && /^ark:/i.test(entity.id) && !entity.embedded)
        findings.warn("ARK_MALFORMED", `The \`@id\` is no valid ARK (ark:NAAN/name); the record's identifier is ${quoted(id.ark)}.`, place);
      if (own.has(id.ark) && !entity.embedded)
        findings.warn("DUPLICATE_ENTITY", `Another entity (${own.get(id.ark)!.pointer}) has the identifier ${quoted(id.ark)}; both are merged.`, place);
      if (!own.has(id.ark)) own.set(id.ark, entity);
      const known = entities.get(id.ark);
      if (known) known.parts.push({ scope, entity });
      else entities.set(id.ark, { ark: id.ark, ...(id.rule === "url" ? { url: id.url } : {}), kept: id.rule === "ark", role: "member", parts: [{ scope, entity }] });
      if (entity.descriptor) entities.get(id.ark)!.role = "descriptor";
    }
    const root = scope.of(description.root.id);
    const found = root.rule === "refused" ? undefined : entities.get(root.ark);
    if (found && found.role !== "root") found.role = description === crate ? "root" : "nestedRoot";
  }
  findDescribedCrates(entities);
  for (const { parts } of entities.values()) if (parts.length > 1) parts.sort((a, b) => depthOf(b) - depthOf(a));
  return [...entities.values()];
}

/** Where the identifiers of relative paths begin: at the crate, or at a nested crate that has its own from an upload of its own. */
interface Base { folder: string; ids: EntityIds; home?: string }

/** Outermost first, as descriptions are. */
function basesOf([, ...nested]: readonly CrateDescription[], crate: Base, { registered }: IdentifySettings): Base[] {
  return [crate, ...nested.flatMap(({ root, folder }): Base[] => {
    const home = parseArk(root.id)?.stored;
    return home !== undefined && registered?.get(home)?.alone === true ? [{ folder, ids: new EntityIds(home), home }] : [];
  })];
}

/** The crate's own identifier: what the upload names, or its root's `@id` when that is an ARK, else a new one. */
function crateId({ root }: CrateDescription, { naan, crate }: IdentifySettings): Extract<EntityId, { ark: string }> {
  const given = looksLikeArk(root.id) ? parseArk(root.id) : undefined;
  if (given && crate === undefined) return { rule: "ark", ark: given.stored, naan: given.naan };
  const { name } = root.value;
  const ark = crate ?? mintArk(naan, "rocrate", typeof name === "string" ? name : null);
  if (given) return { rule: "ark", ark, naan: given.naan };
  return /^https?:\/\//i.test(root.id) ? { rule: "url", ark, url: root.id } : { rule: "path", ark, path: "" };
}

/**
 * The descriptor's identifier is made from that of its crate, whatever the descriptor is called and wherever its
 * file lies.
 */
function renameDescriptor(scope: IdScope, ids: EntityIds, outermost: string): void {
  const { description: { descriptor, root, folder } } = scope;
  const crate = scope.of(root.id);
  if (!descriptor || crate.rule === "refused") return;
  for (const id of new Set([DESCRIPTOR, descriptor.id])) {
    scope.ids.rename(id, scope.folder, descriptorArk(crate.ark));
    // The crate around a registered one knows it by other paths.
    if (scope.ids !== ids) ids.rename(id, folder.slice(outermost.length), descriptorArk(crate.ark));
  }
}

/**
 * A crate inside this one whose descriptor stands in the same metadata, as in the metadata of a crate that is
 * exported without files.
 */
function findDescribedCrates(entities: ReadonlyMap<string, IdentifiedEntity>): void {
  for (const { ark, role, parts } of entities.values()) {
    const crate = role === "member" ? entities.get(describedCrate(ark) ?? "") : undefined;
    if (crate?.role === "member" && parts.some(({ scope, entity: { value } }) => referencesIn(value["about"]).some((id) => arkOf(scope.of(id)) === crate.ark))) crate.role = "nestedRoot";
  }
}

const arkOf = (id: EntityId): string | undefined => (id.rule === "refused" ? undefined : id.ark);

/** A nested root with a relative `@id` is its folder, however it is spelt. */
function nestedRootId(ids: EntityIds, { root }: CrateDescription, folder: string): EntityId | undefined {
  const id = ids.of(root.id, folder);
  return id.rule === "path" ? ids.of("./", folder) : undefined;
}

const isAccepted = (naan: string, accepted: string): boolean => accepted === "*" || accepted.split(",").includes(naan);
const depthOf = ({ scope }: Part): number => scope.description.folder.split("/").length;
