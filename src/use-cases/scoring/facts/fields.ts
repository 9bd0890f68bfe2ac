import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, listOf, referencesIn, step } from "../../crates/json-path.js";

/** A value with its place: the JSON pointer (RFC 6901) behind the record's identifier, `ark:…#/license`. */
export interface Field { value: JsonValue; place: string }

/** Texts that people write where they have nothing to say. */
const PLACEHOLDER = /^(?:tbd|tba|todo|n\/?a|\?+|-+|\.+|to be (?:determined|added|defined)|not (?:specified|provided|available|yet .*)|unspecified|lorem ipsum.*)[.!]?$/i;
/** Entries of `additionalProperty` that are looked at. */
const MOST_PROPERTIES = 1000;
/** Objects may hold objects; a value that nests deeper says nothing that counts. */
const DEEPEST = 4;

/** True for what says something: no blank, no placeholder, no empty list or object. */
export function isTelling(value: JsonValue | undefined, depth = 0): boolean {
  if (value === null || value === undefined || depth > DEEPEST) return false;
  if (typeof value === "string") return value.trim() !== "" && !PLACEHOLDER.test(value.trim());
  if (Array.isArray(value)) return value.some((item) => isTelling(item, depth + 1));
  if (typeof value === "object") return Object.entries(value).some(([key, inner]) => key !== "@type" && isTelling(inner, depth + 1));
  return true;
}

const LONGEST_NAME = 200;
/** A name without its prefix or namespace, case and punctuation: `rai:dataBiases` and `Data biases` are one. */
const bare = (name: string): string => name.slice(0, LONGEST_NAME).toLowerCase().replace(/[^a-z0-9]+/g, "");
const local = (key: string): string => bare(key.slice(Math.max(key.lastIndexOf(":"), key.lastIndexOf("/"), key.lastIndexOf("#")) + 1));
/** Names that are asked for are few: each is made plain once. */
const plain = new Map<string, string>();
function asked(name: string): string {
  let known = plain.get(name);
  if (known === undefined) plain.set(name, known = local(name));
  return known;
}

/** The fields of a record, by their names; those of `additionalProperty` among them. */
export class Fields {
  private readonly known = new Map<string, Field>();
  private readonly named = new Set<string>();

  /** @param properties what `additionalProperty` refers to, by identifier, where it stands elsewhere */
  constructor(readonly ark: string, readonly document: JsonObject, properties: ReadonlyMap<string, JsonObject> = new Map()) {
    for (const [key, value] of Object.entries(document)) {
      if (key.startsWith("@")) continue;
      this.add(local(key), value, `${ark}#${step(key)}`);
      if (local(key) !== "additionalproperty") continue;
      for (const [index, item] of listOf(value).slice(0, MOST_PROPERTIES).entries()) {
        const [id] = referencesIn(item);
        const elsewhere = id === undefined ? undefined : properties.get(id);
        const property = elsewhere ?? item;
        if (isObject(property) && typeof property["name"] === "string")
          this.add(/\s/.test(property["name"]) ? bare(property["name"]) : local(property["name"]), property["value"], elsewhere ? `${id}#/value` : `${ark}#${step(key)}${Array.isArray(value) ? step(index) : ""}/value`);
      }
    }
  }

  private add(name: string, value: JsonValue | undefined, place: string): void {
    if (value !== undefined && value !== null && value !== "" && value !== false && !(Array.isArray(value) && value.length === 0)) this.named.add(name);
    if (name !== "" && isTelling(value) && !this.known.has(name)) this.known.set(name, { value: value!, place });
  }

  /** The first of these names that says something. */
  first(...names: readonly string[]): Field | undefined {
    for (const name of names) {
      const field = this.known.get(asked(name));
      if (field) return field;
    }
    return undefined;
  }

  has(...names: readonly string[]): boolean {
    return this.first(...names) !== undefined;
  }

  /** True where one of these names has any value, if only a placeholder. */
  states(...names: readonly string[]): boolean {
    return names.some((name) => this.named.has(asked(name)));
  }

  /** The place of the first of these names, else the record itself. */
  place(...names: readonly string[]): string {
    return this.first(...names)?.place ?? `${this.ark}#`;
  }

  /** Texts and identifiers of the fields of these names. */
  references(...names: readonly string[]): string[] {
    return names.flatMap((name) => referencesIn(this.known.get(asked(name))?.value));
  }
}
