import { looksLikeArk, parseArk } from "../../../identifiers/ark.js";
import type { CrateDescription } from "../layout/description.js";
import { bareId } from "../layout/descriptor.js";
import type { EntityId, EntityIds } from "./entity-ids.js";

/** What the `@id`s of one metadata file stand for. */
export class IdScope {
  private readonly described = new Set<string>();
  /** The descriptor calls another entity the crate than its folder, and the folder is described too. */
  private readonly isFolderApart: boolean;

  /**
   * @param folder the metadata file's folder below the crate's folder
   * @param root identifier of this description's root, when it is not what the rules say
   * @param home registered crate that the entities belong to, where it is not the crate that is ingested
   */
  constructor(readonly ids: EntityIds, readonly description: CrateDescription, readonly folder: string, private readonly root: EntityId | undefined, readonly home?: string) {
    for (const { id } of description.entities) this.described.add(id).add(bareId(id));
    this.isFolderApart = bareId(description.root.id) !== "" && this.described.has("");
  }

  /** Identifier of an entity of this description. */
  of(id: string): EntityId {
    if (this.root && (id === this.description.root.id || bareId(id) === bareId(this.description.root.id))) return this.root;
    if (this.isFolderApart && bareId(id) === "") return this.ids.ofFolder(this.folder);
    return this.ids.of(id, this.folder);
  }

  /**
   * What an `@id` is rewritten to: links lead to the same record from everywhere; URLs stay, but for that of the
   * crate itself.
   */
  reference(id: string): string {
    const found = this.of(id);
    if (found.rule === "url" && found.ark === this.ids.crate) return found.ark;
    if (found.rule === "refused" || found.rule === "url") return id;
    if (found.rule === "other" && found.absolute && !this.described.has(id)) return id;
    return found.ark;
  }

  /** The same for a text in a field of references: only what is an ARK or names a described entity. */
  textReference(text: string): string {
    // The root's `./` without its dot and slash is nothing, and nothing is no reference.
    if (text === "") return text;
    if (looksLikeArk(text)) return parseArk(text)?.stored ?? (this.described.has(text) ? this.reference(text) : text);
    return this.described.has(text) || this.described.has(bareId(text)) ? this.reference(text) : text;
  }
}
