/** The `@id`s of crates: relative paths, and the identifier that each `@id` gets in the registry. */
import { createHash } from "node:crypto";
import { arkKey, isOperation, looksLikeArk, parseArk, slug } from "./ark.js";

/** `./a/` and `a` name the same path; `./`, `.` and the empty string name the folder itself. */
export const bareId = (id: string): string =>
  withoutLast(id.replace(/^(?:\.\/+)+/, ""), "/").replace(/^\.$/, "");

const [HERE, ABOVE] = [/^(?:\.|%2e)$/i, /^(?:\.|%2e){2}$/i];

/**
 * A path from the root of an archive without dot segments (RFC 3986, section 5.2.4) and empty
 * segments; undefined for one that leads out of the root.
 */
export function resolvedPath(path: string): string | undefined {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || HERE.test(part)) continue;
    if (!ABOVE.test(part)) parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join("/");
}

/**
 * Removes all trailing occurrences of one character. A pattern would take time quadratic in the
 * length of a hostile text.
 */
export function withoutLast(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/** The meaning of an `@id` of a crate. */
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
/** Whether an `@id` is an absolute URI or IRI, and no ARK. */
export const isAbsoluteId = (id: string): boolean =>
  SCHEME.test(id) && (!looksLikeArk(id) || parseArk(id) === undefined);

/** Whether an `@id` is a path in the crate, and not the crate itself. */
export const isPathId = (id: string): boolean =>
  !looksLikeArk(id) && !isAbsoluteId(id) && !/^_:|#/.test(id) && bareId(id) !== "";

/** Characters that a stored form cannot hold; see {@link parseArk}. */
// eslint-disable-next-line no-control-regex
const UNSTORABLE = new RegExp(
  '[\\u0000-\\u0020\\u007f-\\u00a0<>"{}|\\\\^`[\\]?#\\u2028\\u2029\\ue000-\\uf8ff\\ufdd0-\\ufdef\\ufff0-' +
    String.raw`\uffff]|[\u{1fffe}\u{1ffff}\u{2fffe}\u{2ffff}\u{3fffe}\u{3ffff}\u{4fffe}\u{4ffff}` +
    String.raw`\u{5fffe}\u{5ffff}\u{6fffe}\u{6ffff}\u{7fffe}\u{7ffff}\u{8fffe}\u{8ffff}\u{9fffe}` +
    String.raw`\u{9ffff}\u{afffe}\u{affff}\u{bfffe}\u{bffff}\u{cfffe}\u{cffff}\u{dfffe}\u{dffff}` +
    String.raw`\u{e0000}-\u{10ffff}]|%(?![0-9A-Fa-f]{2})`,
  "gu",
);

/** Between the identifier of a crate and that of an entity without a path or an ARK. */
export const ENTITY = "/entity/";

/**
 * Assigns an identifier in this registry to every `@id` of one crate, its nested crates included.
 */
export class EntityIds {
  readonly #made = new Map<string, string>();
  readonly #madeFor = new Map<string, string>();
  readonly #others = new Map<string, string>();

  /** @param crate ARK of the crate itself */
  constructor(readonly crate: string) {}

  /**
   * @param id `@id` as written
   * @param folder folder of the metadata file below the crate's folder: empty, or with `/` at the
   * end
   */
  of(id: string, folder: string): EntityId {
    const found = this.#byRule(id, folder);
    const other =
      found.rule === "refused" || found.rule === "ark" ? undefined : this.#others.get(found.ark);
    return other === undefined
      ? found
      : { ...(found as Extract<EntityId, { ark: string }>), ark: other };
  }

  /** Maps `id` to `ark` wherever the crate refers to it. */
  rename(id: string, folder: string, ark: string): void {
    const found = this.#byRule(id, folder);
    if (
      found.rule !== "refused" &&
      found.rule !== "ark" &&
      found.ark !== ark &&
      found.ark !== this.crate
    )
      this.#others.set(found.ark, ark);
  }

  /**
   * Identifier of a folder that is described in addition to the crate whose root is that folder.
   */
  ofFolder(folder: string): EntityId {
    return { rule: "other", ark: this.#make(`${folder}./`, "folder"), absolute: false };
  }

  #byRule(id: string, folder: string): EntityId {
    if (looksLikeArk(id)) {
      const ark = parseArk(id);
      if (ark) return { rule: "ark", ark: ark.stored, naan: ark.naan };
    }
    if (/^https?:\/\//i.test(id))
      return {
        rule: "url",
        ark: this.#make(id, id.replace(/^https?:\/\/(?:www\.)?/i, "")),
        url: id,
      };
    if (SCHEME.test(id)) return { rule: "other", ark: this.#make(id, id), absolute: true };
    if (id.startsWith("_:") || id.includes("#"))
      return { rule: "other", ark: this.#make(folder + id, id), absolute: false };
    return this.#path(id, folder);
  }

  #path(id: string, folder: string): EntityId {
    const resolved = resolvedPath(folder + bareId(id.replace(/^\/+/, "")));
    if (resolved === undefined) return { rule: "refused", reason: "leads out of the crate (..)" };
    const isFolder = `${resolved}/` === folder;
    const path = resolved.startsWith(folder)
      ? resolved.slice(folder.length)
      : isFolder
        ? ""
        : resolved;
    const kept = resolved
      .replace(/%2D/gi, "-")
      .replace(UNSTORABLE, (character) =>
        character === "%" ? "%25" : encodeURIComponent(character),
      );
    const undotted = withoutLast(kept, ".");
    const encoded = undotted + "%2E".repeat(kept.length - undotted.length);
    if (encoded === "") return { rule: "path", ark: this.crate, path };
    const ark = parseArk(`${this.crate}/${unlikeOperation(encoded)}`)?.stored;
    return ark === undefined
      ? { rule: "other", ark: this.#make(folder + id, id), absolute: false }
      : { rule: "path", ark, path };
  }

  /**
   * `<crate>/entity/<slug>-<8 characters of the hash>`; more of the hash where two would be equal.
   */
  #make(identity: string, words: string): string {
    const known = this.#made.get(identity);
    if (known !== undefined) return known;
    const hash = createHash("sha256").update(identity).digest("hex");
    const start = slug(words);
    let ark = "";
    for (let length = 8; ark === "" || (this.#madeFor.has(ark) && length <= 64); length += 8)
      ark = `${this.crate}${ENTITY}${start === "" ? "" : `${start}-`}${hash.slice(0, length)}`;
    this.#made.set(identity, ark);
    this.#madeFor.set(ark, identity);
    return ark;
  }
}

/**
 * A file called `download` would hide the operation of that name on its parent: the first letter of
 * its name is percent-encoded.
 */
function unlikeOperation(path: string): string {
  const last = path.lastIndexOf("/") + 1;
  return isOperation(arkKey(path)) && /[a-zA-Z]/.test(path.charAt(last))
    ? `${path.slice(0, last)}%${path.charCodeAt(last).toString(16).toUpperCase()}${path.slice(last + 1)}`
    : path;
}
