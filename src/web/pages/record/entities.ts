/** Entities of a crate, read along paths through their documents. */
import { EntityIds } from "../../../identifiers/entity-ids.js";
import { isObject, type JsonObject, type JsonValue, listOf } from "../../../model/field.js";
import { labelOf } from "../../../model/labels.js";
import {
  type CrateEntityFragment,
  CrateActivitiesDocument,
  EntitiesDocument,
} from "../../documents.js";
import type { PageRequest } from "../../page.js";
import type { Names } from "./details.js";

/** What a page knows of an entity. */
export type Entity = Omit<CrateEntityFragment, "document"> & { document: JsonObject };

const entityOf = (found: CrateEntityFragment): Entity => {
  const document = found.document as JsonValue;
  return { ...found, document: isObject(document) ? document : {} };
};

/** Entities in one question, values at one place of a path, and entities of one page. */
const [IN_ONE, MAX_VALUES, MAX_ENTITIES] = [100, 200, 600];

/** `hasMember` of `pcdm:hasMember` and `http://pcdm.org/models#hasMember`. */
const localName = (term: string): string => /[^:/#]+$/.exec(term)?.[0] ?? term;

/** The types of a document, without their vocabularies. */
export const typesOf = (document: JsonObject): string[] =>
  [...listOf(document["@type"]), ...listOf(document["metadataType"])].flatMap((type) =>
    typeof type === "string" ? [localName(type)] : [],
  );

const isReference = (value: JsonObject): boolean => Object.keys(value).length === 1;

interface Step {
  name: string;
  types: RegExp | null;
}

/** The alternatives of a path, each as its steps. */
const waysOf = (path: string): Step[][] =>
  path.split(" | ").map((way) =>
    way
      .trim()
      .split(/\.(?![^[]*\])/)
      .map((step) => {
        const [, name = step, types] = /^([^[]*)\[(.*)\]$/.exec(step) ?? [];
        return { name, types: types === undefined ? null : new RegExp(types) };
      }),
  );

export class Entities {
  readonly #ask: PageRequest["ask"];
  readonly #crate: string;
  readonly #ids: EntityIds;
  readonly #known = new Map<string, Entity | null>();
  readonly #root: JsonObject;

  /** @param document of the crate itself */
  constructor(ask: PageRequest["ask"], crate: string, document: JsonObject) {
    this.#ask = ask;
    this.#crate = crate;
    this.#ids = new EntityIds(crate);
    const descriptor = { "@id": `${crate}/ro-crate-metadata.json` };
    this.#root = { ...document, "@descriptor": descriptor };
  }

  /** The crate, with what it does not state itself. */
  get root(): JsonObject {
    return this.#root;
  }

  /** The entity that a value refers to, of those that were read. */
  of(value: JsonValue): Entity | undefined {
    const ark = this.#arkOf(value);
    return (ark === undefined ? null : this.#known.get(ark)) ?? undefined;
  }

  /** What is stated of a value: by itself, or by the entity that it refers to. */
  documentOf(value: JsonValue): JsonObject {
    const own = isObject(value) ? value : {};
    const entity = this.of(value);
    return entity ? { ...own, ...entity.document } : own;
  }

  /** What a value is called. */
  labelOf(value: JsonValue): string | null {
    return this.of(value)?.label ?? labelOf(this.documentOf(value));
  }

  /** Names for values that are shown as they are stated. */
  get names(): Names {
    const names = new Map<string, { id: string; name: string | null; kind: string | null }>();
    for (const entity of this.#known.values()) {
      if (!entity) continue;
      const { id, label: name, kind, document } = entity;
      names.set(id, { id, name, kind });
      const [url] = listOf(document["sameAs"]).map(idOf);
      if (url !== undefined) names.set(url, { id, name, kind });
    }
    return names;
  }

  /** The values at the end of a path; entities that were not read end it. */
  at(from: JsonValue, path: string): JsonValue[] {
    for (const way of waysOf(path)) {
      const found = this.#along(from, way);
      if (found.length > 0) return found;
    }
    return [];
  }

  /** Reads the entities along paths, those at their ends included. */
  async readAlong(from: readonly JsonValue[], paths: readonly string[]): Promise<void> {
    const ways = paths.flatMap(waysOf);
    for (let depth = 1; ways.some(({ length }) => length >= depth); depth++) {
      const begun = ways
        .filter((way) => way.length >= depth)
        // The types of what is not read yet are not known.
        .map((way) => [...way.slice(0, depth - 1), { ...way[depth - 1]!, types: null }]);
      await this.#read(from.flatMap((value) => begun.flatMap((way) => this.#along(value, way))));
    }
  }

  /** Reads the activities of the crate. */
  async readRuns(): Promise<void> {
    const { records } = await this.#ask(CrateActivitiesDocument, { id: this.#crate });
    for (const entity of records.nodes) this.#known.set(entity.id, entityOf(entity));
    this.#root["@runs"] = records.nodes.map(({ id }) => ({ "@id": id }));
  }

  async #read(values: readonly JsonValue[]): Promise<void> {
    const wanted = [...new Set(values.flatMap((value) => this.#arkOf(value) ?? []))]
      .filter((ark) => !this.#known.has(ark))
      .slice(0, Math.max(0, MAX_ENTITIES - this.#known.size));
    for (let start = 0; start < wanted.length; start += IN_ONE) {
      const ids = wanted.slice(start, start + IN_ONE);
      for (const id of ids) this.#known.set(id, null);
      const { records } = await this.#ask(EntitiesDocument, { ids });
      for (const entity of records.nodes) this.#known.set(entity.id, entityOf(entity));
    }
  }

  #along(from: JsonValue, way: readonly Step[]): JsonValue[] {
    let values = [from];
    for (const { name, types } of way) {
      const found =
        name === "@self" ? values : values.flatMap((value) => this.#member(value, name));
      const typed = types
        ? found.filter((value) => typesOf(this.documentOf(value)).some((type) => types.test(type)))
        : found;
      values = distinct(typed).slice(0, MAX_VALUES);
    }
    return values;
  }

  #member(value: JsonValue, name: string): JsonValue[] {
    const document = this.documentOf(value);
    const key = Object.hasOwn(document, name)
      ? name
      : Object.keys(document).find((each) => localName(each) === name);
    const stated = key === undefined ? [] : listOf(document[key]);
    return stated
      .flatMap((item) => (isObject(item) ? listOf(item["@list"] ?? item["@value"] ?? item) : item))
      .filter((item) => item !== null && item !== "")
      .slice(0, MAX_VALUES);
  }

  #arkOf(value: JsonValue): string | undefined {
    const id = idOf(value);
    if (id === undefined || !/^(?:ark:|https?:)/i.test(id)) return undefined;
    const found = this.#ids.of(id, "");
    return found.rule === "ark" || found.rule === "url" ? found.ark : undefined;
  }
}

const idOf = (value: JsonValue): string | undefined => {
  const id = isObject(value) ? value["@id"] : value;
  return typeof id === "string" ? id : undefined;
};

/** Each once: two ways may lead to one entity. */
const distinct = (values: readonly JsonValue[]): JsonValue[] => [
  ...new Map(
    values.map((value) => {
      const id = isObject(value) && isReference(value) ? idOf(value) : undefined;
      return [id ?? JSON.stringify(value), value];
    }),
  ).values(),
];
