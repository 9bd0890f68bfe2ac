import type { JsonObject, JsonValue } from "../../../model/field.js";
import type { PublicationStatus } from "../../../storage/records/port.js";
import { isObject, listOf, referencesIn, step } from "../../crates/findings.js";

/**
 * A value with its place: the JSON pointer (RFC 6901) behind the record's identifier,
 * `ark:…#/license`.
 */
interface Field {
  value: JsonValue;
  place: string;
}

/** Texts that people write where they have nothing to say. */
const PLACEHOLDER = new RegExp(
  String.raw`^(?:tbd|tba|todo|n\/?a|\?+|-+|\.+|to be (?:determined|added|defined)|not (?:specified|pr` +
    String.raw`ovided|available|yet .*)|unspecified|lorem ipsum.*)[.!]?$`,
  "i",
);
/** Entries of `additionalProperty` that are looked at. */
const MOST_PROPERTIES = 1000;
/** Objects may hold objects; a value that nests deeper says nothing that counts. */
const DEEPEST = 4;

/** True for what says something: no blank, no placeholder, no empty list or object. */
export function isTelling(value: JsonValue | undefined, depth = 0): boolean {
  if (value === null || value === undefined || depth > DEEPEST) return false;
  if (typeof value === "string") return value.trim() !== "" && !PLACEHOLDER.test(value.trim());
  if (Array.isArray(value)) return value.some((item) => isTelling(item, depth + 1));
  if (typeof value === "object")
    return Object.entries(value).some(
      ([key, inner]) => key !== "@type" && isTelling(inner, depth + 1),
    );
  return true;
}

const LONGEST_NAME = 200;
/**
 * A name without its prefix or namespace, case and punctuation: `rai:dataBiases` and `Data biases`
 * are one.
 */
const bare = (name: string): string =>
  name
    .slice(0, LONGEST_NAME)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "");
const local = (key: string): string =>
  bare(key.slice(Math.max(key.lastIndexOf(":"), key.lastIndexOf("/"), key.lastIndexOf("#")) + 1));
/** Names that are asked for are few: each is made plain once. */
const plain = new Map<string, string>();
function asked(name: string): string {
  let known = plain.get(name);
  if (known === undefined) plain.set(name, (known = local(name)));
  return known;
}

/** The fields of a record, by their names; those of `additionalProperty` among them. */
export class Fields {
  private readonly known = new Map<string, Field>();
  private readonly named = new Set<string>();

  /**
   * @param properties what `additionalProperty` refers to, by identifier, where it stands elsewhere
   */
  constructor(
    readonly ark: string,
    readonly document: JsonObject,
    properties: ReadonlyMap<string, JsonObject> = new Map(),
  ) {
    for (const [key, value] of Object.entries(document)) {
      if (key.startsWith("@")) continue;
      this.add(local(key), value, `${ark}#${step(key)}`);
      if (local(key) !== "additionalproperty") continue;
      for (const [index, item] of listOf(value).slice(0, MOST_PROPERTIES).entries()) {
        const [id] = referencesIn(item);
        const elsewhere = id === undefined ? undefined : properties.get(id);
        const property = elsewhere ?? item;
        if (isObject(property) && typeof property["name"] === "string")
          this.add(
            /\s/.test(property["name"]) ? bare(property["name"]) : local(property["name"]),
            property["value"],
            elsewhere
              ? `${id}#/value`
              : `${ark}#${step(key)}${Array.isArray(value) ? step(index) : ""}/value`,
          );
      }
    }
  }

  private add(name: string, value: JsonValue | undefined, place: string): void {
    if (
      value !== undefined &&
      value !== null &&
      value !== "" &&
      value !== false &&
      !(Array.isArray(value) && value.length === 0)
    )
      this.named.add(name);
    if (name !== "" && isTelling(value) && !this.known.has(name))
      this.known.set(name, { value: value!, place });
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

/** Places that one answer names for one criterion, at the most. */
export const MOST_EVIDENCE = 10;

/** How many of some things have what is asked for, and where to look. */
export class Share {
  total = 0;
  good = 0;
  /**
   * Some of those that have it, and of those that lack it: JSON pointers behind the record's
   * identifier.
   */
  readonly having: string[] = [];
  readonly lacking: string[] = [];

  add(isGood: boolean, place: string): void {
    this.total++;
    if (isGood) this.good++;
    const places = isGood ? this.having : this.lacking;
    if (places.length < MOST_EVIDENCE) places.push(place);
  }

  /** What decided: where something lacks, that first. */
  get evidence(): string[] {
    return [...this.lacking, ...this.having].slice(0, MOST_EVIDENCE);
  }
}

/** What is known of the root beside its fields. */
export interface RootFacts {
  name: string | null;
  revision: number;
  status: PublicationStatus;
  /** Whether its identifier is of this registry's own authority. */
  isOwn: boolean;
  /** The root's fields; what `additionalProperty` holds counts as a field. */
  fields: Fields;
  /**
   * Whoever is named as author, publisher or principal investigator, and those with an ORCID or ROR
   * among them.
   */
  actors: Share;
  /** Addresses and texts of the licence, also through an entity that describes it. */
  licences: string[];
  /** What RO-Crate asks of a root and this one lacks. */
  gaps: string[];
  hasContext: boolean;
}

/**
 * All that criteria are judged on: the root, and shares of what the crate holds, its sub-crates
 * included. Made once for a crate; its size does not depend on that of the crate.
 */
export class CrateFacts {
  /** Records looked at, the root among them. */
  entities = 0;

  /** Files, and data without parts: those with content here or an address. */
  readonly parts = new Share();
  /** The same: those that are not archived. */
  readonly unarchived = new Share();
  /** Embargoed records: those that state how access is had. */
  readonly embargoed = new Share();
  /** Records whose terms a context explains all. */
  readonly explained = new Share();
  /** Terms that no context explains; the first few. */
  readonly lostTerms = new Set<string>();

  /** Data: those that say where they come from. */
  readonly sourced = new Share();
  /** Computations and experiments: those that name inputs and outputs which exist. */
  readonly traced = new Share();
  /** Computations: those that name software which exists. */
  readonly programmed = new Share();
  /** Software: that with a location. */
  readonly located = new Share();
  /** Software: that whose container or environment is named. */
  readonly portable = new Share();

  /** Columns that schemas describe: those with a term of a vocabulary. */
  readonly columns = new Share();
  /** Records that say what they are about. */
  readonly subjects = new Share();
  /** Files: those whose size is stated or known here. */
  readonly sized = new Share();
  /** Tables: those with summary statistics. */
  readonly summarised = new Share();
  /** Tables: those with a schema that exists. */
  readonly structured = new Share();
  /**
   * Tables that were checked against their schemas: those that conform. Absent where none was
   * looked at.
   */
  checked: Share | undefined;

  /** Files: those with content whose SHA-256 was computed here and agrees with what is stated. */
  readonly verified = new Share();
  /** Files: those whose content is stored here and open to anyone. */
  readonly retrievable = new Share();
  /** Files: those with a format; with a registered one; with an open one. */
  readonly formatted = new Share();
  readonly registered = new Share();
  readonly open = new Share();

  /** Data and sub-crates: those that are reached from the root by `hasPart`. */
  readonly reached = new Share();
  /** References to records: those that lead to one. */
  readonly references = new Share();

  /** What the old rules ask of any entity. */
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
