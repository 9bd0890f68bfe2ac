import { ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import { isObject, type JsonObject, type JsonValue } from "../field.js";
import { step, stepName } from "./pointer.js";
import { ownValue } from "../../own.js";
import { pairs } from "../../pairs.js";

/** Most operations of one JSON Patch. */
export const MAX_PATCH_OPERATIONS = 1000;
/**
 * Most characters of the pointers of one JSON Patch together: reading one takes much longer than
 * reading another text of its size, and a thousand pointers of honest clients are shorter.
 */
const MAX_POINTER_CHARACTERS = 2 ** 17;
/** Places that a list shifts for the cost of reading one value: moving memory is cheap. */
const SHIFTED = 64;
const VERBS = ["add", "remove", "replace", "move", "copy", "test"] as const;

/** Bounds of what a JSON Patch may build, and of the values it may read to do so. */
interface PatchLimits {
  maxDepth: number;
  maxValues: number;
  /** Characters of texts and names: a text counts as one value, however long it is. */
  maxCharacters: number;
}

/** One operation of a JSON Patch (RFC 6902), with its pointers as their parts. */
interface Operation {
  op: (typeof VERBS)[number];
  path: readonly string[];
  from: readonly string[];
  value: JsonValue;
}

/**
 * A document changed by a JSON Merge Patch (RFC 7396): null removes, objects are merged, all other
 * values replace.
 */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  const members = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  }
  // fromEntries: `__proto__` is a key like any other.
  return Object.fromEntries(members);
}

/**
 * The operations of a body.
 * @throws ValidationError with everything that is no JSON Patch
 */
export function readJsonPatch(body: JsonValue | undefined, maxDepth: number): Operation[] {
  if (!Array.isArray(body))
    throw new ValidationError([
      { loc: ["body"], msg: "Input should be a valid list of operations", type: "list_type" },
    ]);
  if (body.length > MAX_PATCH_OPERATIONS)
    throw new ValidationError([
      {
        loc: ["body"],
        msg:
          `A JSON Patch should have at most ${MAX_PATCH_OPERATIONS} operations, not ` +
          `${body.length}: send several, or replace the record`,
        type: "too_long",
        ctx: { max_length: MAX_PATCH_OPERATIONS, actual_length: body.length },
      },
    ]);
  let characters = 0;
  for (const [index, item] of body.entries())
    for (const name of ["path", "from"] as const) {
      const text = isObject(item) ? memberOf(item, name) : undefined;
      if (typeof text !== "string" || (characters += text.length) <= MAX_POINTER_CHARACTERS)
        continue;
      throw new ValidationError([
        {
          loc: ["body", index, name],
          msg:
            `Value error, the pointers of a JSON Patch may have at most ${MAX_POINTER_CHARACTERS} ` +
            "characters together: send several patches, a JSON Merge Patch, or the whole record",
          type: "value_error",
        },
      ]);
    }
  const problems: ValidationItem[] = [];
  const operations = body.map((item, index) => readOperation(item, index, maxDepth, problems));
  if (problems.length > 0) throw new ValidationError(problems);
  return operations as Operation[];
}

function readOperation(
  item: JsonValue,
  index: number,
  maxDepth: number,
  problems: ValidationItem[],
): Operation | undefined {
  const problem = (name: string, msg: string, type = "value_error") => {
    problems.push({ loc: ["body", index, name], msg, type });
    return [];
  };
  if (!isObject(item)) {
    problems.push({
      loc: ["body", index],
      msg: "Input should be an operation: an object with op and path",
      type: "dict_type",
    });
    return undefined;
  }
  const pointer = (name: "path" | "from"): string[] => {
    const text = memberOf(item, name);
    if (text === undefined) return problem(name, "Field required", "missing");
    if (typeof text !== "string" || !/^(?:\/|$)/.test(text) || /~(?![01])/.test(text))
      return problem(
        name,
        "Value error, not a JSON pointer (RFC 6901): it is empty or begins with /, and has ~ " +
          "as ~0 and / in a name as ~1",
      );
    const parts = text.split("/").slice(1);
    if (parts.length > maxDepth)
      return problem(name, `Value error, deeper than ${maxDepth} levels (MAX_JSON_DEPTH)`);
    return parts.map(stepName);
  };
  const op = VERBS.find((verb) => verb === memberOf(item, "op"));
  if (op === undefined) {
    problem("op", `Input should be one of ${VERBS.join(", ")}`, "literal_error");
    return undefined;
  }
  const path = pointer("path");
  const from = op === "move" || op === "copy" ? pointer("from") : [];
  const value = memberOf(item, "value");
  if (value === undefined && (op === "add" || op === "replace" || op === "test"))
    problem("value", "Field required", "missing");
  if (op === "move" && path.length > from.length && from.every((part, at) => part === path[at]))
    problem("path", "Value error, a value cannot be moved into itself");
  return { op, path, from, value: value ?? null };
}

/**
 * A document changed by a JSON Patch (RFC 6902). The document itself is changed: the result takes
 * its place. What the operations read, copy and shift together is bounded, so that no patch costs
 * more than a large body.
 * @throws ServiceError `PATCH_CONFLICT` when a test fails or a pointer leads nowhere, `TOO_LARGE`;
 * ValidationError when the result would be nested too deeply
 */
export function applyJsonPatch(
  document: JsonValue,
  operations: readonly Operation[],
  limits: PatchLimits,
): JsonValue {
  const patched = new Patched(document, limits);
  for (const [index, operation] of operations.entries()) patched.perform(operation, index);
  return patched.document;
}

/** A document between two operations. */
class Patched {
  /** It is the member of a holder: so the empty pointer is no special case. */
  readonly #top: { document: JsonValue };
  readonly #limits: PatchLimits;
  /** The running operation, as errors name it. */
  #place = "";
  #index = 0;
  /** Values read, copied and shifted so far. */
  #spent = 0;
  /** Characters copied so far. */
  #characters = 0;

  constructor(document: JsonValue, limits: PatchLimits) {
    this.#top = { document };
    this.#limits = limits;
  }

  get document(): JsonValue {
    return this.#top.document;
  }

  perform({ op, path, from, value }: Operation, index: number): void {
    this.#index = index;
    this.#place = `Operation ${index} (${op})`;
    switch (op) {
      case "add":
        return this.#add(path, this.#copy(value, path.length));
      case "remove":
        return void this.#remove(path);
      case "replace": {
        const [holder, name] = this.#placeOf(path);
        this.#valueIn(holder, name);
        return this.#set(holder, name, this.#copy(value, path.length));
      }
      case "move": {
        if (path.length === from.length && path.every((part, at) => part === from[at]))
          return void this.#valueAt(from);
        const moved = this.#remove(from);
        // Copied only to be measured: a deeper place makes its values deeper too.
        return this.#add(path, path.length > from.length ? this.#copy(moved, path.length) : moved);
      }
      case "copy":
        return this.#add(path, this.#copy(this.#valueAt(from), path.length));
      case "test":
        if (!this.#equal(this.#valueAt(path), value))
          throw this.#conflict(`the test of ${shown(path)} fails`);
    }
  }

  #add(path: readonly string[], value: JsonValue): void {
    const [holder, name] = this.#placeOf(path);
    if (!Array.isArray(holder)) return this.#set(holder, name, value);
    const at = name === "-" ? holder.length : indexOf(name);
    if (at === undefined || at > holder.length)
      throw this.#conflict(`the list has no place ${shown(path)}`);
    this.#spend((holder.length - at) / SHIFTED);
    holder.splice(at, 0, value);
  }

  #remove(path: readonly string[]): JsonValue {
    if (path.length === 0) throw this.#conflict("the whole document cannot be removed");
    const [holder, name] = this.#placeOf(path);
    const value = this.#valueIn(holder, name);
    if (Array.isArray(holder)) {
      this.#spend((holder.length - Number(name)) / SHIFTED);
      holder.splice(Number(name), 1);
    } else delete holder[name];
    return value;
  }

  /** Defined rather than assigned: assigning `__proto__` would set the prototype. */
  #set(holder: JsonObject | JsonValue[], name: string, value: JsonValue): void {
    const descriptor = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(holder, name, descriptor);
  }

  #valueAt(path: readonly string[]): JsonValue {
    const [holder, name] = this.#placeOf(path);
    return this.#valueIn(holder, name);
  }

  /** The object or list that holds the last part of a pointer. */
  #placeOf(path: readonly string[]): [holder: JsonObject | JsonValue[], name: string] {
    this.#spend(path.length + 1);
    let holder: JsonObject | JsonValue[] = this.#top;
    let name = "document";
    for (const part of path) {
      const inner: JsonValue = this.#valueIn(holder, name);
      if (inner === null || typeof inner !== "object")
        throw this.#conflict(`${shown(path)} leads into a value that is no object and no list`);
      holder = inner;
      name = part;
    }
    return [holder, name];
  }

  #valueIn(holder: JsonObject | JsonValue[], name: string): JsonValue {
    const value = Array.isArray(holder) ? holder[indexOf(name) ?? -1] : memberOf(holder, name);
    if (value === undefined)
      throw this.#conflict(`the document has nothing at the member or index ${shown([name])}`);
    return value;
  }

  /** A copy, so that later operations change one of the two; `depth` is where it goes. */
  #copy(value: JsonValue, depth: number): JsonValue {
    this.#spend(1);
    if (typeof value === "string") this.#spell(value);
    if (value === null || typeof value !== "object") return value;
    if (depth >= this.#limits.maxDepth)
      throw new ValidationError([
        {
          loc: ["body", this.#index],
          msg:
            `The document would be nested deeper than ${this.#limits.maxDepth} levels ` +
            "(MAX_JSON_DEPTH)",
          type: "too_deep",
        },
      ]);
    if (Array.isArray(value)) return value.map((item) => this.#copy(item, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        this.#spell(name);
        return [name, this.#copy(member, depth + 1)];
      }),
    );
  }

  #spell(text: string): void {
    this.#characters += text.length;
    if (this.#characters > this.#limits.maxCharacters)
      throw new ServiceError(
        "TOO_LARGE",
        `${this.#place} of the JSON Patch would make the record larger than a body may be ` +
          "(MAX_BODY_BYTES). Add or copy less.",
      );
  }

  #equal(one: JsonValue, other: JsonValue): boolean {
    this.#spend(1);
    if (one === other) return true;
    if (Array.isArray(one))
      return (
        Array.isArray(other) &&
        one.length === other.length &&
        pairs(one, other).every(([item, twin]) => this.#equal(item, twin))
      );
    if (!isObject(one) || !isObject(other)) return false;
    const members = Object.entries(one);
    return (
      members.length === Object.keys(other).length &&
      members.every(([name, member]) => {
        const twin = ownValue(other, name);
        return twin !== undefined && this.#equal(member, twin);
      })
    );
  }

  #spend(values: number): void {
    this.#spent += values;
    if (this.#spent > this.#limits.maxValues)
      throw new ServiceError(
        "TOO_LARGE",
        `The JSON Patch reads, copies and shifts more than ${this.#limits.maxValues} values ` +
          `(MAX_JSON_VALUES), at operation ${this.#index}. Send several patches, or replace the ` +
          "record.",
      );
  }

  #conflict(what: string): ServiceError {
    return new ServiceError(
      "PATCH_CONFLICT",
      `${this.#place} of the JSON Patch does not fit the record: ${what}. Nothing was changed; ` +
        "read the record again.",
      { operation: this.#index },
    );
  }
}

/** Own members only: `constructor` names nothing unless the document says so. */
const memberOf = (object: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

const indexOf = (part: string): number | undefined =>
  /^(?:0|[1-9]\d{0,8})$/.test(part) ? Number(part) : undefined;

/** A pointer as a sentence shows it: the client may have sent megabytes. */
function shown(path: readonly string[]): string {
  const text = path.map(step).join("");
  return text === "" ? "the document" : text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
