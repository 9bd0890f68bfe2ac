/**
 * How the author's own metadata file wrote what a document in the registry cannot show: the local
 * `@id` of each entity, and the digits of numbers. The file is stored byte for byte; archives are
 * written with its spellings.
 */
import { eventLoop } from "../../../event-loop-budget.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject } from "../../../model/field.js";
import { step } from "../../../model/json/pointer.js";
import { GraphScanner } from "../../../model/json/scan.js";
import type { StoredRecord } from "../../../storage/records/port.js";
import type { Deps } from "../../deps.js";
import { Findings, pick } from "../findings.js";
import { type IdScope, scopeOf } from "../identifiers/identify.js";
import {
  type CrateDescription,
  DESCRIPTOR,
  embeddedEntities,
  isDescriptorName,
} from "../layout.js";
import { describe } from "../metadata.js";

/** Numbers whose digits a double does not keep, such as `3.0`, by JSON pointer. */
type WrittenNumbers = ReadonlyMap<string, string>;

export interface AsWritten {
  /** `@id`s by the identifiers that they have in the registry. */
  ids: ReadonlyMap<string, string>;
  /** Of entities with such numbers, by identifier. */
  numbers: ReadonlyMap<string, WrittenNumbers>;
  /** Identifiers of the entities that are in no place but inside others. */
  nested: ReadonlySet<string>;
  /** The root's `@id`. */
  root: string;
  /** The descriptor's, where it names the metadata file. */
  descriptor: string;
}

/** Entities after which other requests may run. */
const SLICE = 500;

/**
 * What the metadata file that a crate came with wrote; undefined for a crate that came without one.
 * @param folder of the metadata file below the crate whose identifier is `base`
 */
export async function asWritten(
  { records, objects }: Pick<Deps, "records" | "objects">,
  { ark }: Pick<StoredRecord, "ark">,
  { base = ark, folder = "" }: { base?: string; folder?: string } = {},
): Promise<AsWritten | undefined> {
  const [file] = await records.objectsOf(ark, { role: "metadata" });
  if (!file) return undefined;
  const entities: JsonObject[] = [];
  const named = new Set<string>();
  const numbersById = new Map<string, Map<string, string>>();
  let around: JsonObject = {};
  try {
    const bytes = await objects.open(file.sha256, undefined, { size: file.size });
    for await (const part of partsOf(bytes)) {
      const value = JSON.parse(part.text) as JsonValue;
      if (!isObject(value)) continue;
      idsIn(value, named);
      noteNumbers(value, part.text, numbersById);
      if (part.entity) entities.push(outlineOf(value));
      else around = value;
    }
  } catch {
    // A file that is damaged, or no JSON: the identifiers of the registry are right too.
    return undefined;
  }
  const description = describe(
    Array.isArray(around["@graph"]) ? { ...around, "@graph": entities } : around,
    { file: DESCRIPTOR, folder },
    new Findings(),
  );
  if (!description) return undefined;
  const scope = scopeOf(description, { root: ark, base });
  return {
    ...(await byIdentifier(description, scope, named, numbersById)),
    root: description.root.id,
    descriptor:
      description.descriptor && isDescriptorName(description.descriptor.id)
        ? description.descriptor.id
        : DESCRIPTOR,
  };
}

async function byIdentifier(
  { entities }: CrateDescription,
  scope: IdScope,
  named: Iterable<string>,
  numbersById: ReadonlyMap<string, WrittenNumbers>,
): Promise<Pick<AsWritten, "ids" | "numbers" | "nested">> {
  const ids = new Map<string, string>();
  const numbers = new Map<string, WrittenNumbers>();
  const nested = new Set<string>();
  let count = 0;
  const add = (id: string): string | undefined => {
    const found = scope.of(id);
    if (found.rule === "refused") return undefined;
    if (!ids.has(found.ark)) ids.set(found.ark, id);
    return found.ark;
  };
  // Those that are embedded come last.
  for (const { id, value, embedded } of entities) {
    // An entity without an `@id` has none to give back.
    if (typeof value["@id"] === "string") {
      const known = ids.size;
      const ark = add(id);
      if (ark !== undefined && embedded && ids.size > known) nested.add(ark);
      const written = numbersById.get(id);
      if (ark !== undefined && written && !numbers.has(ark)) numbers.set(ark, written);
    }
    if (++count % SLICE === 0) await eventLoop.nextTurn();
  }
  // References to what the crate does not describe. An absolute one stands in the document as is.
  for (const id of named) {
    if (scope.reference(id) !== id) add(id);
    if (++count % SLICE === 0) await eventLoop.nextTurn();
  }
  return { ids, numbers, nested };
}

/** The parts of an entity that decide what it is called. */
function outlineOf(value: JsonObject): JsonObject {
  const outline = pick(value, ["@id", "@type", "about", "schema:about", "conformsTo"]);
  const inside = embeddedEntities({ id: "", pointer: "", value });
  if (inside.length > 0)
    outline["@included"] = inside.map(({ id }): JsonObject => ({ "@id": id, "@type": "Thing" }));
  return outline;
}

function idsIn(value: JsonValue, into: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") idsIn(item, into);
  } else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      if (key === "@id" && typeof inner === "string") into.add(inner);
      else if (key !== "@context" && key !== "@value" && typeof inner === "object")
        idsIn(inner, into);
    }
  }
}

/** Notes numbers of an entity, and of those inside it, each by the pointer in its own entity. */
function noteNumbers(
  value: JsonObject,
  text: string,
  into: Map<string, Map<string, string>>,
): void {
  const numbers = numbersIn(text);
  if (numbers.size === 0) return;
  const own = typeof value["@id"] === "string" ? [{ id: value["@id"], pointer: "" }] : [];
  for (const { id, pointer } of [...own, ...embeddedEntities({ id: "", pointer: "", value })]) {
    if (into.has(id)) continue;
    const below = [...numbers].filter(([at]) => at.startsWith(`${pointer}/`));
    if (below.length > 0)
      into.set(id, new Map(below.map(([at, lexeme]) => [at.slice(pointer.length), lexeme])));
  }
}

const NUMBER = /[:[,]\s*(-?\d[\d.eE+-]*)/g;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],]|[a-z]+/g;

/** Numbers that are written otherwise than their values, by pointer. The text is valid JSON. */
function numbersIn(text: string): Map<string, string> {
  const found = new Map<string, string>();
  if (![...text.matchAll(NUMBER)].some(([, lexeme]) => isOddly(lexeme!))) return found;
  /** Of each open object the key that is being read, of each open array the index. */
  const path: { place: string | number; isKey: boolean }[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const inner = path.at(-1);
    if (token === "{") path.push({ place: "", isKey: true });
    else if (token === "[") path.push({ place: 0, isKey: false });
    else if (token === "}" || token === "]") path.pop();
    else if (token === ",") {
      if (typeof inner?.place === "number") inner.place++;
      else if (inner) inner.isKey = true;
    } else if (inner?.isKey) {
      inner.place = JSON.parse(token) as string;
      inner.isKey = false;
    } else if (/^[-\d]/.test(token) && isOddly(token))
      found.set(path.map(({ place }) => step(place)).join(""), token);
  }
  return found;
}

const isOddly = (lexeme: string): boolean => String(Number(lexeme)) !== lexeme;

/** An entity as JSON text, its numbers as they were written where they are the same numbers. */
export function textOf(value: JsonValue, numbers: WrittenNumbers | undefined, at = ""): string {
  if (numbers === undefined) return JSON.stringify(value);
  if (typeof value === "number") {
    const lexeme = numbers.get(at);
    return lexeme !== undefined && Number(lexeme) === value ? lexeme : JSON.stringify(value);
  }
  if (Array.isArray(value))
    return `[${value.map((item, index) => textOf(item, numbers, at + step(index))).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${textOf(inner, numbers, at + step(key))}`)
    .join(",")}}`;
}

/**
 * The entities of a metadata file one by one, then the object around them with an empty `@graph`:
 * a metadata file may be larger than the memory for it.
 */
async function* partsOf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ text: string; entity: boolean }> {
  const around: Uint8Array[] = [];
  let entity: Uint8Array[] = [];
  const scanner = new GraphScanner();
  for await (const chunk of chunks) {
    let from = 0;
    const ended: string[] = [];
    scanner.scan(chunk, (mark, at) => {
      if (mark === "graph") around.push(chunk.slice(from, at + 1));
      else if (mark === "entityEnd") {
        ended.push(Buffer.concat([...entity, chunk.subarray(from, at + 1)]).toString());
        entity = [];
      } else from = at;
    });
    for (const text of ended) yield { text, entity: true };
    if (!scanner.inGraph) around.push(chunk.slice(from));
    else if (scanner.depth > 2) entity.push(chunk.slice(from));
  }
  yield {
    text: Buffer.concat(around)
      .toString()
      .replace(/^\ufeff/, ""),
    entity: false,
  };
}
