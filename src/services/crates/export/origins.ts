import { buffer } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import { eventLoop } from "../../../event-loop-budget.js";
import { ServiceError } from "../../../errors.js";
import { getOrInsert } from "../../../get-or-insert.js";
import { EntityIds } from "../../../identifiers/entity-ids.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, listOf } from "../../../model/field.js";
import { ownValue } from "../../../own.js";
import type { StoredRecord } from "../../../storage/records/port.js";
import type { Deps } from "../../deps.js";
import { Findings, objectFrom } from "../findings.js";
import { type IdScope, identify, type Part } from "../identifiers/identify.js";
import { mergeEntities, type Rewriter, rewriterOf } from "../identifiers/rewrite.js";
import type { CrateDescription } from "../layout.js";
import { describe } from "../metadata.js";
import { decoded, suffixOf } from "./contents.js";

/** What one metadata file states about an entity that several files state something about. */
interface Stated {
  value: JsonObject;
  /** Contexts that the entity has itself in this file. */
  own: JsonValue[];
}
/** The files that state something about an entity, by the ARKs of their crates; deepest first. */
type Files = ReadonlyMap<string, Stated | undefined>;

/**
 * The metadata files that an archive of a crate has, and what each of them states. The records hold
 * the statements of all files together; the files as they came say which of them is in which.
 */
export class Origins {
  readonly #root: string;
  readonly #files: ReadonlyMap<string, Files>;
  readonly #contexts: ReadonlyMap<string, JsonValue | undefined>;
  readonly #linked: ReadonlySet<string>;
  /** Crates with a metadata file in the archive, the longest identifier first. */
  readonly #inner: readonly string[];

  constructor(
    root: string,
    inner: ReadonlyMap<string, Pick<StoredRecord, "crate">>,
    {
      files,
      contexts,
    }: { files: Map<string, Files>; contexts: Map<string, JsonValue | undefined> },
  ) {
    this.#root = root;
    this.#files = files;
    this.#contexts = contexts;
    this.#linked = new Set([...inner].flatMap(([ark, { crate }]) => (crate === null ? [ark] : [])));
    this.#inner = [...inner.keys()].toSorted((a, b) => b.length - a.length);
  }

  /** The `@context` of a crate's metadata file, where that is known. */
  contextOf(crate: string): JsonValue | undefined {
    return this.#contexts.get(crate);
  }

  /** The crates whose metadata files describe a record. */
  of(record: StoredRecord): string[] {
    const files = [...(this.#files.get(record.ark)?.keys() ?? [])].filter((crate) =>
      this.#isWritten(crate),
    );
    // The file of a crate that was uploaded by itself after the crate around it is not read here;
    // without its root nothing could read the one that is written.
    if (files.length > 0)
      return files.includes(record.ark) || !this.#inner.includes(record.ark)
        ? files
        : [record.ark, ...files];
    // Registered since, or in a crate whose metadata file is not stored.
    const home = this.#inner.find(
      (crate) =>
        record.ark === crate ||
        record.ark.startsWith(`${crate}/`) ||
        (record.crate === crate && this.#linked.has(crate)),
    );
    return home === undefined ? [this.#root] : home === record.ark ? [home, this.#root] : [home];
  }

  #isWritten(crate: string): boolean {
    return crate === this.#root || this.#inner.includes(crate);
  }

  /** The document of a record, without what only other metadata files state. */
  statement(record: StoredRecord, document: JsonObject, crate: string): JsonObject {
    const files = this.#files.get(record.ark);
    const here = files?.get(crate);
    if (!files || !here) return document;
    const home = this.#linked.has(record.ark) ? record.ark : record.crate;
    const isLinked = home !== null && this.#linked.has(home);
    if (isLinked && crate === this.#root) {
      // The statements of the crate around a registered one are in no record: they are as they came.
      const context = oneOrList([...listOf(this.contextOf(crate)), ...here.own]);
      return { ...(context === undefined ? {} : { "@context": context }), ...here.value };
    }
    const written = [...files].flatMap(([file, stated]): [string, Stated][] =>
      stated && this.#isWritten(file) && !(isLinked && file === this.#root) ? [[file, stated]] : [],
    );
    const [deepest] = written[0] ?? [];
    if (deepest === undefined || written.length < 2) return document;
    const entries = Object.entries(document).flatMap(([name, value]): [string, JsonValue][] => {
      if (name === "@id") return [[name, value]];
      if (name === "@context") return [];
      const part = partOf(name, value, written, crate, deepest);
      return part === undefined ? [] : [[name, part]];
    });
    const context = this.#context(document["@context"], written, crate);
    return objectFrom(context === undefined ? entries : [["@context", context], ...entries]);
  }

  /** The context under which the file states the entity, unless somebody has changed it since. */
  #context(
    stored: JsonValue | undefined,
    files: readonly [string, Stated][],
    crate: string,
  ): JsonValue | undefined {
    const shared = distinct(files.map(([file]) => this.contextOf(file)));
    const own = distinct(files.flatMap(([, stated]) => stated.own)).filter(
      (context) => !shared.some((other) => isDeepStrictEqual(other, context)),
    );
    const came = [...shared, ...own].flatMap(listOf);
    const now = listOf(stored);
    if (!came.every((part, index) => isDeepStrictEqual(part, now[index]))) return stored;
    const here = files.flatMap(([file, stated]) => (file === crate ? stated.own : []));
    return oneOrList([
      ...listOf(this.contextOf(crate)),
      ...here.flatMap(listOf),
      // What the registry has added.
      ...now.slice(came.length),
    ]);
  }
}

/** The values of a property that one of the files states. */
function partOf(
  name: string,
  value: JsonValue,
  files: readonly [string, Stated][],
  crate: string,
  deepest: string,
): JsonValue | undefined {
  const parts = new Map<string, JsonValue>();
  for (const [file, stated] of files) {
    const part = ownValue(stated.value, name);
    if (part !== undefined) parts.set(file, part);
  }
  const [first = deepest] = parts.keys();
  if (parts.size < 2) return crate === first ? value : undefined;
  const now = textsOf([value]);
  const came = textsOf(parts.values());
  const among = (file: string, part: JsonValue): JsonValue | undefined => {
    const still = listOf(part).filter((item) => now.has(JSON.stringify(item)));
    // Stated since: in one file.
    const since =
      file === first ? listOf(value).filter((item) => !came.has(JSON.stringify(item))) : [];
    if (since.length === 0 && still.length === listOf(part).length) return part;
    const values = [...still, ...since];
    return values.length === 0 ? undefined : !Array.isArray(part) ? oneOrList(values) : values;
  };
  const own = new Map<string, JsonValue>();
  for (const [file, part] of parts) {
    const left = among(file, part);
    if (left !== undefined) own.set(file, left);
  }
  // An upload unites the values again, and they would have another order.
  const united = mergeEntities([...own.values()].map((v) => ({ v })))["v"];
  if (!isDeepStrictEqual(united, value)) return crate === first ? value : undefined;
  return own.get(crate);
}

const textsOf = (values: Iterable<JsonValue>): ReadonlySet<string> =>
  new Set([...values].flatMap(listOf).map((item) => JSON.stringify(item)));

const oneOrList = (values: JsonValue[]): JsonValue | undefined =>
  values.length < 2 ? values[0] : values;

function distinct(values: readonly (JsonValue | undefined)[]): JsonValue[] {
  const found = new Map<string, JsonValue>();
  for (const value of values)
    if (value !== undefined && value !== null) found.set(JSON.stringify(value), value);
  return [...found.values()];
}

/** Where a crate within the crate is: its folder, and the part of the folder below its base. */
export interface CratePlace {
  /** The crate that identifiers of relative paths begin with. */
  base: string;
  /** Folder below that crate, as identifiers have it: empty, or with `/` at the end. */
  within: string;
  /** The same as a path. */
  path: string;
}

/** The places of crates within the crate; of some that were stored earlier they are unknown. */
export async function placesOf(
  { records }: Pick<Deps, "records">,
  root: string,
  crates: ReadonlyMap<string, StoredRecord>,
): Promise<Map<string, CratePlace>> {
  const places = new Map<string, CratePlace>();
  for (const [ark, { crate }] of crates) {
    if (crate === null) {
      places.set(ark, { base: ark, within: "", path: "" });
      continue;
    }
    if (crate !== root && crates.get(crate)?.crate !== null) continue;
    const [metadata] = await records.objectsOf(ark, { role: "metadata" });
    const name = metadata?.name ?? "";
    const suffix = suffixOf(ark, crate);
    const path = name.includes("/")
      ? name.slice(0, name.lastIndexOf("/") + 1)
      : suffix === undefined || suffix.startsWith("entity/")
        ? undefined
        : `${decoded(suffix)}/`;
    if (path === undefined) continue;
    const folder = new EntityIds(crate).of("./", path);
    const within = folder.rule === "refused" ? undefined : suffixOf(folder.ark, crate);
    if (within !== undefined) places.set(ark, { base: crate, within: `${within}/`, path });
  }
  return places;
}

/**
 * Reads the metadata files of a crate and of the crates within it as they came.
 * @param inner the crates within it that have a metadata file in its archive
 */
export async function readOrigins(
  deps: Pick<Deps, "records" | "objects">,
  root: StoredRecord,
  inner: ReadonlyMap<string, StoredRecord>,
  places: ReadonlyMap<string, CratePlace>,
): Promise<Origins> {
  const contexts = new Map<string, JsonValue | undefined>();
  const files = new Map<string, Files>();
  const folders = crateFolders(root.ark, places);
  const descriptions: { crate: string; description: CrateDescription }[] = [];
  // A crate that came within another has identifiers of that one.
  for (const [crate, folder] of root.crate === null ? [[root.ark, ""] as const, ...folders] : []) {
    const description = await descriptionOf(deps, crate, folder);
    // The file of a crate that was uploaded by itself may state its identifier nowhere.
    if (description && places.get(crate)?.base === crate) description.ark ??= crate;
    if (description) descriptions.push({ crate, description });
    else if (crate === root.ark) break;
  }
  const depth = (folder: string): number => folder.split("/").length;
  descriptions.sort((a, b) => depth(a.description.folder) - depth(b.description.folder));
  for (const { crate, description } of descriptions) contexts.set(crate, description.context);
  const crateOf = new Map(descriptions.map(({ crate, description }) => [description, crate]));
  const [outermost, ...deeper] = descriptions.map(({ description }) => description);
  if (outermost) {
    const registered = new Map(
      [...inner].map(([ark, { crate }]) => [ark, { ark, alone: crate === null }]),
    );
    const identified = identify(
      [outermost, ...deeper],
      { naan: "99999", acceptedNaans: "*", crate: root.ark, registered },
      new Findings(),
    );
    const rewriters = new Map<IdScope, Rewriter>();
    for (const [index, { ark, parts }] of identified.entries()) {
      if (index % 1000 === 999) await eventLoop.nextTurn();
      const byFile = new Map<string, Part[]>();
      for (const part of parts) {
        const crate = crateOf.get(part.scope.description);
        if (crate !== undefined) getOrInsert(byFile, crate, (): Part[] => []).push(part);
      }
      files.set(
        ark,
        new Map(
          [...byFile].map(([crate, own]): [string, Stated | undefined] => [
            crate,
            byFile.size < 2 && (crate !== root.ark || !inner.has(ark))
              ? undefined
              : {
                  value: mergeEntities(
                    own.map(({ scope, entity }) => {
                      const { "@context": _context, ...value } = entity.value;
                      return rewriterOf(rewriters, scope).entity(value, ark).document;
                    }),
                  ),
                  own: distinct(own.map(({ entity }) => entity.value["@context"])),
                },
          ]),
        ),
      );
    }
  }
  return new Origins(root.ark, inner, { files, contexts });
}

/** Folders of the crates within a crate; those of crates that are registered by themselves differ. */
function crateFolders(
  root: string,
  places: ReadonlyMap<string, CratePlace>,
): ReadonlyMap<string, string> {
  const folders = new Map<string, string>();
  for (const [ark, { base, path }] of places)
    if (base === ark) folders.set(ark, `linked/${folders.size}/`);
    else if (base === root) folders.set(ark, path);
  for (const [ark, { base, path }] of places) {
    const folder = folders.get(base);
    if (!folders.has(ark) && folder !== undefined) folders.set(ark, folder + path);
  }
  return folders;
}

/** Undefined where the file is not stored, or is none that can be read. */
async function descriptionOf(
  { records, objects }: Pick<Deps, "records" | "objects">,
  crate: string,
  folder: string,
): Promise<CrateDescription | undefined> {
  const [metadata] = await records.objectsOf(crate, { role: "metadata" });
  if (!metadata) return undefined;
  try {
    const bytes = await buffer(
      await objects.open(metadata.sha256, undefined, { size: metadata.size }),
    );
    const value = JSON.parse(bytes.toString("utf8").replace(/^\ufeff/, "")) as JsonValue;
    const file = `${folder}${metadata.name.slice(metadata.name.lastIndexOf("/") + 1)}`;
    return isObject(value) ? describe(value, { file, folder }, new Findings()) : undefined;
  } catch (error) {
    if (
      error instanceof SyntaxError ||
      (error instanceof ServiceError && error.code === "NOT_FOUND")
    )
      return undefined;
    throw error;
  }
}
