/** What a client's document must be before anything is compared with it or stored. */
import { isDeepStrictEqual } from "node:util";
import { invalid, ValidationError, type ValidationItem } from "../../errors.js";
import { type Ark, claimableArk, parseArk, referencedArk } from "../../identifiers/ark.js";
import { isObject, type JsonObject, type JsonValue, listOf } from "../../model/field.js";
import { normalizeInput } from "../../model/json-schema.js";
import type { Kind, KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { validateRecord } from "../../model/validate.js";
import { propertyProblems } from "./schema-properties.js";

/** A document that complies with every rule of its kind, and the identifier that it names. */
interface Checked {
  document: JsonObject;
  ark: Ark | undefined;
}

/**
 * The input as a document that complies with every rule of its kind.
 * @param at where the document is in the client's request
 * @param options.path the identifier elsewhere in the request; the document's own must be the same
 * @param options.isNew the document's identifier is to be registered
 * @param options.secretsStay secrets that the document leaves out stay as they are
 * @param options.broken rules that were found broken before
 * @param options.changed the document that was changed into the input. A rule that it broke already
 * is not reported for a field that stays the same: a crate's record need not have every field that
 * clients must fill in
 * @throws ValidationError
 */
export function checked(
  kind: KindName,
  input: JsonValue | undefined,
  at: readonly (string | number)[] = ["body"],
  {
    path,
    isNew = false,
    secretsStay = false,
    broken = [],
    changed,
  }: {
    path?: Ark | undefined;
    isNew?: boolean;
    secretsStay?: boolean;
    broken?: readonly ValidationItem[];
    changed?: JsonObject | undefined;
  } = {},
): Checked {
  const value = normalized(kind, input);
  const mayLack = ({ loc, type }: ValidationItem): boolean =>
    secretsStay && type === "missing" && KINDS[kind].fields[loc.at(-1)!]?.secret === true;
  const problems = [...broken, ...brokenRules(kind, value, at).filter((item) => !mayLack(item))];
  const id = isObject(value) ? value["@id"] : undefined;
  const ark = id === undefined || id === null ? undefined : identifierIn(id, isNew);
  if (typeof ark === "string")
    problems.push({ loc: [...at, "@id"], msg: `Value error, ${ark}`, type: "value_error" });
  else if (ark && path && ark.key !== path.key)
    problems.push({
      loc: [...at, "@id"],
      msg: `Value error, the path names ${path.stored}: leave @id out, or send the same`,
      type: "value_error",
    });
  const faults = changed ? withoutOlder(problems, kind, value, changed, at) : problems;
  if (faults.length > 0) throw new ValidationError(faults);
  return { document: value as JsonObject, ark: ark as Ark | undefined };
}

const normalized = (kind: KindName, input: JsonValue | undefined): JsonValue | undefined =>
  normalizeInput(KINDS[kind], input) as JsonValue | undefined;

/** The rules of the kind that a document breaks. */
function brokenRules(
  kind: KindName,
  value: JsonValue | undefined,
  at: readonly (string | number)[],
): ValidationItem[] {
  const problems = validateRecord(KINDS[kind], value, at);
  if (kind === "schema" && isObject(value) && isObject(value["properties"]))
    // oxlint-disable-next-line arkgraph/spread-into-call -- ends after MAX_FINDINGS
    problems.push(...propertyProblems(value["properties"], [...at, "properties"]));
  return problems;
}

/**
 * The problems without those of fields that stay the same. Crates state references where the model
 * has texts: a reference may replace a reference.
 */
function withoutOlder(
  problems: readonly ValidationItem[],
  kind: KindName,
  value: JsonValue | undefined,
  changed: JsonObject,
  at: readonly (string | number)[],
): readonly ValidationItem[] {
  const before = normalized(kind, changed);
  if (problems.length === 0 || !isObject(value) || !isObject(before)) return problems;
  const wording = ({ loc, type, msg }: ValidationItem): string => JSON.stringify([loc, type, msg]);
  const older = new Set(brokenRules(kind, before, at).map(wording));
  const same = (name: string): boolean =>
    Object.hasOwn(before, name) === Object.hasOwn(value, name) &&
    isDeepStrictEqual(before[name], value[name]);
  const refersStill = (name: string): boolean =>
    areReferences(before[name]) && areReferences(value[name]);
  return problems.filter((item) => {
    const name = String(item.loc[at.length] ?? "");
    if (item.type.endsWith("_type") && refersStill(name)) return false;
    return !(older.has(wording(item)) && same(name));
  });
}

/** `{ "@id": … }`, or a list of such objects. */
function areReferences(value: JsonValue | undefined): boolean {
  const items = listOf(value);
  return (
    items.length > 0 &&
    items.every(
      (item) => isObject(item) && typeof item["@id"] === "string" && Object.keys(item).length === 1,
    )
  );
}

/** The identifier; else a sentence that says why the value is none. */
function identifierIn(id: JsonValue, isNew: boolean): Ark | string {
  if (typeof id !== "string") return "not an ARK; for example ark:99999/dataset-example";
  return (isNew ? undefined : parseArk(id)) ?? claimableArk(id);
}

/**
 * The owner that a document names; null for users, who own themselves.
 * @throws ValidationError when the text holds no readable ARK
 */
export function ownerOf(kind: Kind, { owner }: JsonObject): Ark | null {
  if (kind.name === "user" || typeof owner !== "string") return null;
  const ark = referencedArk(owner);
  if (ark === undefined)
    throw invalid(
      ["body", "owner"],
      "Value error, not a readable ARK; for example ark:99999/user-ada",
    );
  return ark;
}
