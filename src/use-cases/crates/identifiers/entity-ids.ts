import { createHash } from "node:crypto";
import { looksLikeArk, parseArk } from "../../../identifiers/ark.js";
import { isOperation } from "../../../identifiers/claimable.js";
import { slug } from "../../../identifiers/mint.js";
import { bareId, withoutLast } from "../layout/descriptor.js";

/** What an `@id` of a crate stands for. */
export type EntityId =
  /** Rule (a): an ARK, in its stored form. */
  | { rule: "ark"; ark: string; naan: string }
  /** Rule (b): a relative path; `path` is relative to the crate's folder, percent-encoded. */
  | { rule: "path"; ark: string; path: string }
  /** Rule (d): an http(s) URL, which stays the node's IRI. */
  | { rule: "url"; ark: string; url: string }
  /** Rule (c): a fragment, a blank node, another scheme. */
  | { rule: "other"; ark: string; absolute: boolean }
  | { rule: "refused"; reason: string };

const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:/;
/** What a stored form cannot hold; see {@link parseArk}. */
// eslint-disable-next-line no-control-regex
const NOT_KEPT = /[\u0000-\u0020\u007f-\u00a0<>"{}|\\^`[\]?#\u2028\u2029\ue000-\uf8ff\ufdd0-\ufdef\ufff0-\uffff]|[\u{1fffe}\u{1ffff}\u{2fffe}\u{2ffff}\u{3fffe}\u{3ffff}\u{4fffe}\u{4ffff}\u{5fffe}\u{5ffff}\u{6fffe}\u{6ffff}\u{7fffe}\u{7ffff}\u{8fffe}\u{8ffff}\u{9fffe}\u{9ffff}\u{afffe}\u{affff}\u{bfffe}\u{bffff}\u{cfffe}\u{cffff}\u{dfffe}\u{dffff}\u{e0000}-\u{10ffff}]|%(?![0-9A-Fa-f]{2})/gu;

/** Gives every `@id` of one crate, its nested crates included, the identifier it has here. */
export class EntityIds {
  private readonly made = new Map<string, string>();
  private readonly madeFor = new Map<string, string>();
  private readonly others = new Map<string, string>();

  /** @param crate ARK of the crate itself */
  constructor(readonly crate: string) {}

  /**
   * @param id `@id` as written
   * @param folder folder of the metadata file below the crate's folder: empty, or with `/` at the end
   */
  of(id: string, folder: string): EntityId {
    const found = this.byRule(id, folder);
    const other = found.rule === "refused" || found.rule === "ark" ? undefined : this.others.get(found.ark);
    return other === undefined ? found : { ...(found as Extract<EntityId, { ark: string }>), ark: other };
  }

  /** Has `id` stand for `ark` wherever the crate refers to it. */
  rename(id: string, folder: string, ark: string): void {
    const found = this.byRule(id, folder);
    if (found.rule !== "refused" && found.rule !== "ark" && found.ark !== ark && found.ark !== this.crate) this.others.set(found.ark, ark);
  }

  /** Identifier of a folder that is described beside the root of the crate in it, as another entity. */
  ofFolder(folder: string): EntityId {
    return { rule: "other", ark: this.make(`${folder}./`, "folder"), absolute: false };
  }

  private byRule(id: string, folder: string): EntityId {
    if (looksLikeArk(id)) {
      const ark = parseArk(id);
      if (ark) return { rule: "ark", ark: ark.stored, naan: ark.naan };
    }
    if (/^https?:\/\//i.test(id)) return { rule: "url", ark: this.make(id, id.replace(/^https?:\/\/(?:www\.)?/i, "")), url: id };
    if (SCHEME.test(id)) return { rule: "other", ark: this.make(id, id), absolute: true };
    if (id.startsWith("_:") || id.includes("#")) return { rule: "other", ark: this.make(folder + id, id), absolute: false };
    return this.path(id, folder);
  }

  private path(id: string, folder: string): EntityId {
    const bare = bareId(id.replace(/^\/+/, ""));
    const parts = bare.split("/").filter((part) => part !== "." && part !== "");
    if (parts.includes("..")) return { rule: "refused", reason: "leads out of the crate (..)" };
    const path = parts.join("/");
    const kept = withoutLast(folder + path, "/").replace(/%2D/gi, "-").replace(NOT_KEPT, (character) => (character === "%" ? "%25" : encodeURIComponent(character)));
    const undotted = withoutLast(kept, ".");
    const encoded = undotted + "%2E".repeat(kept.length - undotted.length);
    if (encoded === "") return { rule: "path", ark: this.crate, path };
    const ark = parseArk(`${this.crate}/${unlikeOperation(encoded)}`)?.stored;
    return ark === undefined ? { rule: "other", ark: this.make(folder + id, id), absolute: false } : { rule: "path", ark, path };
  }

  /** `<crate>/entity/<slug>-<8 characters of the hash>`; more of the hash where two would be equal. */
  private make(identity: string, words: string): string {
    const known = this.made.get(identity);
    if (known !== undefined) return known;
    const hash = createHash("sha256").update(identity).digest("hex");
    const start = slug(words);
    let ark = "";
    for (let length = 8; ark === "" || (this.madeFor.has(ark) && length <= 64); length += 8) ark = `${this.crate}/entity/${start === "" ? "" : `${start}-`}${hash.slice(0, length)}`;
    this.made.set(identity, ark);
    this.madeFor.set(ark, identity);
    return ark;
  }
}

/** A file called `download` would hide the operation of that name on what it lies in: the first letter of its name is percent-encoded. */
function unlikeOperation(path: string): string {
  const last = path.lastIndexOf("/") + 1;
  return isOperation(path) && /[a-zA-Z]/.test(path[last]!) ? `${path.slice(0, last)}%${path.charCodeAt(last).toString(16).toUpperCase()}${path.slice(last + 1)}` : path;
}
