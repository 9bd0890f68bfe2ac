import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, listOf, referencesIn } from "../../../model/field.js";
import { step } from "../../../model/json/pointer.js";
import type { PublicationStatus } from "../../../model/kind.js";

/**
 * A value with its place: the JSON pointer (RFC 6901) after the record's identifier,
 * `ark:…#/license`.
 */
interface Field {
  value: JsonValue;
  place: string;
}

/** Placeholder texts of people who have nothing to state. */
const PLACEHOLDER = new RegExp(
  String.raw`^(?:tbd|tba|todo|n\/?a|\?+|-+|\.+|to be (?:determined|added|defined)|not (?:specified|pr` +
    String.raw`ovided|available|yet .*)|unspecified|lorem ipsum.*)[.!]?$`,
  "i",
);
/** Most entries of `additionalProperty` that are read. */
const MAX_PROPERTIES = 1000;
/** Objects may hold objects; values nested deeper are ignored. */
const DEEPEST = 4;

/** True for a meaningful value: not blank, not a placeholder, not an empty list or object. */
export function isInformative(value: JsonValue | undefined, depth = 0): boolean {
  if (value === null || value === undefined || depth > DEEPEST) return false;
  if (typeof value === "string") return value.trim() !== "" && !PLACEHOLDER.test(value.trim());
  if (Array.isArray(value)) return value.some((item) => isInformative(item, depth + 1));
  if (typeof value === "object")
    return Object.entries(value).some(
      ([key, inner]) => key !== "@type" && isInformative(inner, depth + 1),
    );
  return true;
}

const MAX_NAME_CHARS = 200;
/**
 * A name without its prefix or namespace, case and punctuation: `rai:dataBiases` and `Data biases`
 * are one.
 */
const bare = (name: string): string =>
  name
    .slice(0, MAX_NAME_CHARS)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "");
const local = (key: string): string =>
  bare(key.slice(Math.max(key.lastIndexOf(":"), key.lastIndexOf("/"), key.lastIndexOf("#")) + 1));
/** Cache of normalised names: few different names are looked up. */
const plain = new Map<string, string>();
function asked(name: string): string {
  let known = plain.get(name);
  if (known === undefined) plain.set(name, (known = local(name)));
  return known;
}

/** The fields of a record, by their names; those of `additionalProperty` among them. */
export class Fields {
  readonly #known = new Map<string, Field>();
  readonly #named = new Set<string>();

  /**
   * @param properties the entities that `additionalProperty` refers to, by identifier, where they
   * are elsewhere
   */
  constructor(
    readonly ark: string,
    readonly document: JsonObject,
    properties: ReadonlyMap<string, JsonObject> = new Map(),
  ) {
    for (const [key, value] of Object.entries(document)) {
      if (key.startsWith("@")) continue;
      this.#add(local(key), value, `${ark}#${step(key)}`);
      if (local(key) !== "additionalproperty") continue;
      for (const [index, item] of listOf(value).slice(0, MAX_PROPERTIES).entries()) {
        const [id] = referencesIn(item);
        const elsewhere = id === undefined ? undefined : properties.get(id);
        const property = elsewhere ?? item;
        if (isObject(property) && typeof property["name"] === "string")
          this.#add(
            /\s/.test(property["name"]) ? bare(property["name"]) : local(property["name"]),
            property["value"],
            elsewhere
              ? `${id}#/value`
              : `${ark}#${step(key)}${Array.isArray(value) ? step(index) : ""}/value`,
          );
      }
    }
  }

  #add(name: string, value: JsonValue | undefined, place: string): void {
    if (
      value !== undefined &&
      value !== null &&
      value !== "" &&
      value !== false &&
      !(Array.isArray(value) && value.length === 0)
    )
      this.#named.add(name);
    if (name !== "" && value !== undefined && isInformative(value) && !this.#known.has(name))
      this.#known.set(name, { value, place });
  }

  /** The first of these fields with a meaningful value. */
  first(...names: readonly string[]): Field | undefined {
    for (const name of names) {
      const field = this.#known.get(asked(name));
      if (field) return field;
    }
    return undefined;
  }

  has(...names: readonly string[]): boolean {
    return this.first(...names) !== undefined;
  }

  /** True where one of these fields has any value, even a placeholder. */
  states(...names: readonly string[]): boolean {
    return names.some((name) => this.#named.has(asked(name)));
  }

  /** The place of the first of these fields, else the record itself. */
  place(...names: readonly string[]): string {
    return this.first(...names)?.place ?? `${this.ark}#`;
  }

  /** Texts and identifiers of these fields. */
  references(...names: readonly string[]): string[] {
    return names.flatMap((name) => referencesIn(this.#known.get(asked(name))?.value));
  }
}

/** Most places that one answer names for one criterion. */
export const MAX_EVIDENCE = 10;

/** How many of some things fulfil a condition, and where to look. */
export class Share {
  total = 0;
  good = 0;
  /**
   * Some of the things that fulfil it, and of those that do not: JSON pointers after the record's
   * identifier.
   */
  readonly having: string[] = [];
  readonly lacking: string[] = [];

  add(isGood: boolean, place: string): void {
    this.total++;
    if (isGood) this.good++;
    const places = isGood ? this.having : this.lacking;
    if (places.length < MAX_EVIDENCE) places.push(place);
  }

  /** The places that decided: where something is missing, or where nothing is, all of them. */
  get evidence(): string[] {
    return this.lacking.length > 0 ? this.lacking : this.having;
  }
}

/** Facts about the root besides its fields. */
export interface RootFacts {
  name: string | null;
  revision: number;
  status: PublicationStatus;
  /** Whether its identifier is under this registry's own authority. */
  isOwn: boolean;
  /** The root's fields; the entries of `additionalProperty` count as fields. */
  fields: Fields;
  /**
   * Persons and organizations named as author, publisher or principal investigator, and those with
   * an ORCID or ROR among them.
   */
  actors: Share;
  /** Addresses and texts of the licence, also from an entity that describes it. */
  licences: string[];
  /** Properties that RO-Crate requires of a root and this one lacks. */
  gaps: string[];
  hasContext: boolean;
}

/**
 * The input of all criteria: the root, and shares of the crate's contents, its sub-crates included.
 * Computed once for a crate; its size does not depend on that of the crate.
 */
export class CrateFacts {
  /** Records that were read, including the root. */
  entities = 0;

  /** Files, and data without parts: those with content here or an address. */
  readonly parts = new Share();
  /** The same: those that are not archived. */
  readonly unarchived = new Share();
  /** Embargoed records: those that state how to get access. */
  readonly embargoed = new Share();
  /** Records: those with a context that explains all their terms. */
  readonly explained = new Share();
  /** Terms that no context explains; the first few. */
  readonly lostTerms = new Set<string>();

  /** Data: those that state their source. */
  readonly sourced = new Share();
  /** Computations and experiments: those that name existing inputs and outputs. */
  readonly traced = new Share();
  /** Computations: those that name existing software. */
  readonly programmed = new Share();
  /** Software: that with a location. */
  readonly located = new Share();
  /** Software: that with a stated container or environment. */
  readonly portable = new Share();

  /** Columns that schemas describe: those with a term of a vocabulary. */
  readonly columns = new Share();
  /** Records that state their subject. */
  readonly subjects = new Share();
  /** Files: those with a size that is stated or known here. */
  readonly sized = new Share();
  /** Tables: those with summary statistics. */
  readonly summarised = new Share();
  /** Tables: those with an existing schema. */
  readonly structured = new Share();
  /**
   * Tables that were validated against their schemas: those that conform. Absent where none was
   * validated.
   */
  checked: Share | undefined;

  /** Files: those with content whose SHA-256 was computed here and matches the stated one. */
  readonly verified = new Share();
  /** Files: those whose content is stored here and public. */
  readonly retrievable = new Share();
  /** Files: those with a format; with a registered one; with an open one. */
  readonly formatted = new Share();
  readonly registered = new Share();
  readonly open = new Share();

  /** Data and sub-crates: those that `hasPart` connects to the root. */
  readonly reached = new Share();
  /** References to records: those that lead to a record. */
  readonly references = new Share();

  /** Fields that the old rules test for any entity. */
  readonly any = {
    dataset: false,
    computation: false,
    software: false,
    schema: false,
    checksum: false,
    format: false,
    statistics: false,
  };

  constructor(readonly root: RootFacts) {}
}
