import { parseArk } from "../../../identifiers/ark.js";
import { quoted, type Findings } from "../findings.js";
import { typeNames } from "../kinds.js";
import type { CrateDescription } from "../layout/description.js";
import type { RegisteredCrate } from "../run/protocol.js";
import type { IdentifiedEntity, Part } from "./identify.js";

/** An entity with what of its statements is stored; see {@link withOwnStatement}. */
export interface LinkedEntity extends IdentifiedEntity { linked?: "described" | "named" }

/** Most properties that a warning names. */
const MOST_NAMED = 5;

/** ARKs that may be crates by themselves: the roots of nested crates, and what is called a dataset or a crate. */
export function crateCandidates([crate, ...nested]: readonly CrateDescription[]): string[] {
  const candidates = new Set<string>();
  for (const { context, entities, root } of [crate!, ...nested]) {
    for (const entity of entities) {
      const isNestedRoot = entity === root && root !== crate!.root;
      const types = isNestedRoot ? [] : typeNames(entity.value, context, entity.value["@context"]);
      if (!isNestedRoot && !types.includes("ROCrate") && !types.includes("Dataset")) continue;
      const ark = parseArk(entity.id)?.stored;
      if (ark !== undefined) candidates.add(ark);
    }
  }
  return [...candidates];
}

/**
 * A crate that is registered already is what its own metadata file says, in an archive that contains it too: what the
 * crate around it says of it, or of what it describes, is a summary that goes out of date. The other statements stay
 * in the metadata file, and a warning names what differs. A crate that is only named is linked as it is.
 */
export function withOwnStatement(entity: IdentifiedEntity, registered: ReadonlyMap<string, RegisteredCrate>, findings: Findings): LinkedEntity {
  if (registered.size === 0) return entity;
  const isOwn = ({ scope: { description: { root } } }: Part): boolean => registered.has(parseArk(root.id)?.stored ?? "");
  const description = entity.parts.find(isOwn)?.scope.description;
  const isCrate = registered.has(entity.ark);
  if (!description) return isCrate ? named(entity, findings) : entity;
  const parts = entity.parts.filter(({ scope }) => scope.description === description);
  const differing = differingIn(parts, entity.parts.filter((part) => !parts.includes(part)));
  if (differing.length > 0) {
    const names = differing.slice(0, MOST_NAMED).map((name) => quoted(name)).join(", ");
    const more = differing.length > MOST_NAMED ? ` and ${differing.length - MOST_NAMED} more` : "";
    findings.warn("CRATE_LINKED", `${quoted(entity.ark)} is described by a crate that is registered already; what this crate says otherwise of it (${names}${more}) is not stored.`, placeOf(entity));
  }
  return { ...entity, parts, ...(isCrate ? { linked: "described" } : {}) };
}

function named(entity: IdentifiedEntity, findings: Findings): LinkedEntity {
  findings.warn("CRATE_LINKED", `The crate ${quoted(entity.ark)} is registered already and is linked; what this crate says of it is not stored.`, placeOf(entity));
  return { ...entity, linked: "named" };
}

/** Properties that the others state and these do not, or not so. */
function differingIn(own: readonly Part[], others: readonly Part[]): string[] {
  const differing = new Set<string>();
  for (const { entity: { value } } of others) {
    for (const [name, stated] of Object.entries(value)) {
      if (name === "@id" || name === "@context") continue;
      const text = JSON.stringify(stated);
      if (!own.some((part) => JSON.stringify(part.entity.value[name]) === text)) differing.add(name);
    }
  }
  return [...differing];
}

/** Where the crate around it speaks of it, the shallowest metadata file. */
function placeOf({ parts }: IdentifiedEntity): { file: string; pointer: string } {
  const { scope, entity } = parts.at(-1)!;
  return { file: scope.description.file, pointer: entity.pointer };
}
