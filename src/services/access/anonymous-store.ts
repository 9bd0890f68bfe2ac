/** The record store as readers of an anonymous review link see it. */
import { ServiceError } from "../../errors.js";
import { arkKey } from "../../identifiers/ark.js";
import type { JsonObject } from "../../model/field.js";
import { COLLECTIVES } from "../../model/kinds.js";
import type {
  FoundLink,
  Page,
  RecordFilter,
  RecordStore,
  StoredRecord,
  Viewer,
} from "../../storage/records/port.js";
import { NOBODY } from "../../storage/records/visibility.js";
import {
  arksIn,
  isCrateFile,
  isHiddenProperty,
  namesPeople,
  quadsWithoutPeople,
  withoutContacts,
  withoutPeople,
} from "./anonymous.js";

/** What is asked of all records at once, and would name people. */
export const refusedToAnonymous = (): ServiceError =>
  new ServiceError(
    "FORBIDDEN",
    "A review link that hides names does not search or answer SPARQL, and shows no statistics of " +
      "owners and no changes: open records without it.",
  );
const refuse = (): Promise<never> => Promise.reject(refusedToAnonymous());

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const parsed = (bytes: Uint8Array): JsonObject => JSON.parse(decoder.decode(bytes)) as JsonObject;

/** Filters that nobody can guess a name with. */
const SAFE_FILTERS: ReadonlySet<string> = new Set(["describedBy", "crates", "kinds", "keys"]);
const isSafe = (filter: RecordFilter): boolean =>
  Object.entries(filter).every(([name, value]) =>
    name === "and"
      ? (value as readonly RecordFilter[]).every(isSafe)
      : value === undefined || SAFE_FILTERS.has(name),
  );
/** Records in one read. */
const BATCH = 500;

/** Reads of a store without what names people. What it cannot hide it refuses. */
export class AnonymousReads {
  readonly #store: RecordStore;
  /** Whether the record of an ARK is hidden. */
  readonly #hidden = new Map<string, boolean>();

  /** @param store as the link shows it, with all names */
  constructor(store: RecordStore) {
    this.#store = store;
  }

  reads(): Partial<RecordStore> {
    const store = this.#store;
    return {
      find: async (ark) => {
        const found = await store.find(ark);
        if (!found || "ambiguous" in found) return found;
        const [record] = await this.#shown([found.record]);
        return record && { record };
      },
      findMany: async (arks) => this.#each(await store.findMany(arks)),
      holders: async (keys) => {
        const found = await store.holders(keys);
        await this.#learn(found.map(({ ark }) => ark));
        return found
          .filter(({ ark }) => !this.#isHidden(ark))
          .map((one) => ({ ...one, owner: null }));
      },
      select: async (query, signal) => {
        for (let asked = this.#guarded(query); ;) {
          const page = await store.select(asked, signal);
          const shown = await this.#page(page);
          if (shown.items.length > 0 || page.items.length === 0 || !page.more) return shown;
          // Behind a page of hidden records there is no position to go on from.
          asked = query.backward
            ? { ...asked, before: page.positions[0]! }
            : { ...asked, after: page.positions.at(-1)! };
        }
      },
      countSelected: (selection, signal) => store.countSelected(this.#guarded(selection), signal),
      statistics: (query, signal) =>
        query.by.includes("owner")
          ? refuse()
          : store.statistics(
              query.by.every((key) => key === "kind")
                ? this.#guarded(query)
                : { ...query, viewer: NOBODY },
              signal,
            ),
      search: refuse,
      changes: refuse,
      atRevision: async (ark, revision) => {
        const found = await store.atRevision(ark, revision);
        return found && { ...found, document: await this.#document(found.document) };
      },
      history: async (ark, options) =>
        (await store.history(ark, options)).map((revision) => ({
          ...revision,
          by: null,
          changed: revision.changed.filter((pointer) => !pointer.split("/").some(isHiddenProperty)),
        })),
      linksFrom: async (arks, options) => this.#links(await store.linksFrom(arks, options)),
      linksTo: async (keys, options) => this.#links(await store.linksTo(keys, options)),
      danglingLinks: async (crate, options) => {
        const page = await store.danglingLinks(crate, options);
        return { ...page, items: await this.#left(page.items) };
      },
      quads: async (ark) => {
        const quads = await store.quads(ark);
        if (quads === undefined) return undefined;
        await this.#learn([...quads.matchAll(/<(ark:[^>]*)>/g)].map(([, found]) => found!));
        return this.#isHidden(ark) ? "" : quadsWithoutPeople(quads, (one) => this.#isHidden(one));
      },
      objectsOf: async (ark, options) =>
        (await store.objectsOf(ark, options)).filter(
          ({ role, name }) => role !== "metadata" && !isCrateFile(name ?? ""),
        ),
      // Computed for this reader, and stored for nobody.
      storedScore: async () => undefined,
      storeScore: async () => {},
      commit: refuse,
    };
  }

  #guarded<Q extends { filter: RecordFilter; viewer?: Viewer | undefined }>(query: Q): Q {
    return isSafe(query.filter) ? query : { ...query, viewer: NOBODY };
  }

  /** A hidden record is one that is not there. */
  async #each(
    records: readonly (StoredRecord | undefined)[],
  ): Promise<(StoredRecord | undefined)[]> {
    const references = new Set<string>();
    const documents = records.map((record) => record && parsed(record.document));
    for (const [at, record] of records.entries()) {
      if (!record) continue;
      const document = documents[at]!;
      this.#hidden.set(record.ark, isHiddenRecord(record, document));
      if (!this.#isHidden(record.ark)) arksIn(document, references);
    }
    await this.#learn([...references]);
    return records.map((record, at) =>
      record && !this.#isHidden(record.ark) ? this.#redacted(record, documents[at]!) : undefined,
    );
  }

  async #shown(records: readonly StoredRecord[]): Promise<StoredRecord[]> {
    return (await this.#each(records)).flatMap((record) => record ?? []);
  }

  #redacted(record: StoredRecord, document: JsonObject): StoredRecord {
    const { name, tombstone } = record;
    return {
      ...record,
      name: name === null ? null : withoutContacts(name),
      owner: null,
      tombstone: tombstone && { ...tombstone, by: null },
      document: encoder.encode(
        JSON.stringify(withoutPeople(document, (ark) => this.#isHidden(ark))),
      ),
    };
  }

  async #document(bytes: Uint8Array): Promise<Uint8Array> {
    const document = parsed(bytes);
    await this.#learn([...arksIn(document)]);
    return encoder.encode(JSON.stringify(withoutPeople(document, (ark) => this.#isHidden(ark))));
  }

  async #page<P extends { items: StoredRecord[]; positions: string[] }>(page: P): Promise<P> {
    const records = await this.#each(page.items);
    const shown = records.flatMap((record, at) => (record ? [{ record, at }] : []));
    return {
      ...page,
      items: shown.map(({ record }) => record),
      positions: shown.map(({ at }) => page.positions[at]!),
    };
  }

  #links(pages: Page<FoundLink>[]): Promise<Page<FoundLink>[]> {
    return Promise.all(
      pages.map(async (page) => ({ ...page, items: await this.#left(page.items) })),
    );
  }

  async #left<L extends FoundLink>(links: readonly L[]): Promise<L[]> {
    await this.#learn(links.flatMap(({ source, target }) => [source, target]));
    return links.filter(
      ({ predicate, source, target }) =>
        !isHiddenProperty(predicate) &&
        !this.#isHidden(source) &&
        !this.#isHidden(target) &&
        withoutContacts(target) === target,
    );
  }

  #isHidden(ark: string): boolean {
    return this.#hidden.get(ark) ?? this.#hidden.get(arkKey(ark)) ?? false;
  }

  /** Finds out which of these are hidden. */
  async #learn(arks: readonly string[]): Promise<void> {
    const unknown = [...new Set(arks)].filter(
      (ark) => ark.startsWith("ark:") && !this.#hidden.has(ark),
    );
    for (let start = 0; start < unknown.length; start += BATCH) {
      const some = unknown.slice(start, start + BATCH);
      const found = await this.#store.findMany(some);
      for (const [at, ark] of some.entries()) {
        const record = found[at];
        this.#hidden.set(ark, record ? isHiddenRecord(record, parsed(record.document)) : false);
      }
    }
  }
}

/**
 * People, what owns records, entities of a crate that are people; and stored evidence graphs, whose
 * owner decides what they say: the evidence itself is asked for.
 */
const isHiddenRecord = ({ kind }: StoredRecord, document: JsonObject): boolean =>
  kind === "user" ||
  kind === "evidencegraph" ||
  COLLECTIVES.has(kind) ||
  (kind === "entity" && namesPeople(document));
