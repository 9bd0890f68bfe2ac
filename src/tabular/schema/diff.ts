/** What differs between two versions of a schema, and what of it breaks: data that conformed may not. */
import { exactJsonText } from "./exact-json.js";
import {
  missingTexts,
  type PropertyObject,
  type TableProperty,
  type TableSchema,
} from "./table-schema.js";

/** One difference. */
export interface SchemaChange {
  /** Stable, for programs. */
  code:
    | "CELLS_CHANGED"
    | "COLUMN_MOVED"
    | "DIALECT_CHANGED"
    | "KEY_ADDED"
    | "KEY_REMOVED"
    | "KEYWORD_ADDED"
    | "KEYWORD_CHANGED"
    | "KEYWORD_REMOVED"
    | "MISSING_VALUES_CHANGED"
    | "PROPERTY_ADDED"
    | "PROPERTY_REMOVED"
    | "TYPE_CHANGED";
  /** Data that conform to the old schema may not conform to the new one. */
  breaks: boolean;
  property: string | null;
  message: string;
}

/** Bounds that a larger value loosens, and those that a smaller one does. */
const LOOSER_ABOVE = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems"]);
const LOOSER_BELOW = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems"]);
/** How cells are written: any change may break. */
const FORMS = new Set(["decimalChar", "groupChar", "specialValues", "trueValues", "falseValues"]);
const KEYWORDS = [
  ...LOOSER_ABOVE,
  ...LOOSER_BELOW,
  ...FORMS,
  "pattern",
  "format",
  "formatPattern",
  "formatMinimum",
  "formatMaximum",
  "formatExclusiveMinimum",
  "formatExclusiveMaximum",
  "multipleOf",
  "uniqueItems",
  "unique",
  "enum",
  "const",
];

/** The differences, those that break first. */
export function diffSchemas(before: TableSchema, after: TableSchema): SchemaChange[] {
  const changes: SchemaChange[] = [];
  const change: Add = (code, breaks, property, message) =>
    void changes.push({ code, breaks, property, message });
  dialectChanges(before, after, change);
  const known = new Map(after.properties.map((property) => [property.name, property]));
  for (const property of before.properties) {
    const now = known.get(property.name);
    if (now) propertyChanges([before, property], [after, now], change);
    else
      change("PROPERTY_REMOVED", false, property.name, `${property.name} is no longer described`);
  }
  const old = new Set(before.properties.map(({ name }) => name));
  for (const { name } of after.properties)
    if (!old.has(name))
      change("PROPERTY_ADDED", true, name, `${name} is new: its column must be there`);
  keyChanges(before, after, change);
  return changes.toSorted((a, b) => Number(b.breaks) - Number(a.breaks));
}

type Add = (
  code: SchemaChange["code"],
  breaks: boolean,
  property: string | null,
  message: string,
) => void;

const text = (value: unknown): string => exactJsonText(value);

function dialectChanges(before: TableSchema, after: TableSchema, change: Add): void {
  const written = ({ dialect, header }: TableSchema): Record<string, unknown> => ({
    ...dialect,
    header,
  });
  const [old, now] = [written(before), written(after)];
  for (const [name, value] of Object.entries(now))
    if (value !== old[name])
      change("DIALECT_CHANGED", true, null, `${name} was ${text(old[name])} and is ${text(value)}`);
}

type Versioned = readonly [TableSchema, TableProperty];

function propertyChanges([before, old]: Versioned, [after, now]: Versioned, change: Add): void {
  const { name } = old;
  const [typed, retyped] = [text(old.keywords.type), text(now.keywords.type)];
  const isWider = (old.type === "integer" && now.type === "number") || now.type === "null";
  if (old.type !== now.type)
    change("TYPE_CHANGED", !isWider, name, `${name}: its type was ${typed} and is ${retyped}`);
  if (text(old.keywords.index) !== text(now.keywords.index))
    change(
      "COLUMN_MOVED",
      true,
      name,
      `${name}: its column was ${old.keywords.index} and is ${now.keywords.index}`,
    );
  const [missing, nowMissing] = [optionalTexts(old, before), optionalTexts(now, after)];
  if (text(missing) !== text(nowMissing))
    change(
      "MISSING_VALUES_CHANGED",
      missing.some((value) => !nowMissing.includes(value)),
      name,
      `${name}: cells without a value were ${text(missing)} and are ${text(nowMissing)}`,
    );
  if (old.type === now.type) {
    keywordChanges(name, old.keywords, now.keywords, change);
    if (old.items && now.items) {
      if (old.items.type !== now.items.type)
        change(
          "TYPE_CHANGED",
          !(old.items.type === "integer" && now.items.type === "number"),
          name,
          `${name}: the type of its items was ${old.items.type} and is ${now.items.type}`,
        );
      keywordChanges(`${name}: items`, old.items, now.items, change, name);
    }
  }
}

/** Texts of cells that conform though they have no value. */
const optionalTexts = (property: TableProperty, schema: TableSchema): readonly string[] =>
  property.nullable || !schema.required.includes(property.name)
    ? missingTexts(property, schema)
    : [];

function keywordChanges(
  place: string,
  before: Partial<PropertyObject>,
  after: Partial<PropertyObject>,
  change: Add,
  property = place,
): void {
  for (const keyword of KEYWORDS) {
    const [old, now] = [before, after].map(
      (object) => (object as Record<string, unknown>)[keyword] ?? undefined,
    );
    if (text(old ?? null) === text(now ?? null)) continue;
    if (FORMS.has(keyword))
      change(
        "CELLS_CHANGED",
        true,
        property,
        `${place}: ${keyword} was ${text(old ?? null)} and is ${text(now ?? null)}`,
      );
    else if (old === undefined)
      change("KEYWORD_ADDED", now !== false, property, `${place}: ${keyword} ${text(now)} is new`);
    else if (now === undefined)
      change("KEYWORD_REMOVED", false, property, `${place}: ${keyword} ${text(old)} is gone`);
    else
      change(
        "KEYWORD_CHANGED",
        !isLooser(keyword, old, now),
        property,
        `${place}: ${keyword} was ${text(old)} and is ${text(now)}`,
      );
  }
}

function isLooser(keyword: string, old: unknown, now: unknown): boolean {
  const [was, is] = [old as number, now as number];
  if (LOOSER_ABOVE.has(keyword)) return is >= was;
  if (LOOSER_BELOW.has(keyword)) return is <= was;
  if (keyword === "enum") {
    const choices = new Set((now as unknown[]).map(text));
    return (old as unknown[]).every((choice) => choices.has(text(choice)));
  }
  return now === false;
}

function keyChanges(before: TableSchema, after: TableSchema, change: Add): void {
  const keys = ({ primaryKey, uniqueKeys, foreignKeys }: TableSchema): Map<string, string> =>
    new Map(
      [
        ...(primaryKey.length > 0 ? [["primaryKey", primaryKey] as const] : []),
        // One of a single column is a keyword of its property.
        ...uniqueKeys.filter(({ length }) => length > 1).map((key) => ["uniqueKeys", key] as const),
        ...foreignKeys.map((key) => ["foreignKeys", key] as const),
      ].map(([kind, key]) => [`${kind} ${text(key)}`, kind]),
    );
  const [old, now] = [keys(before), keys(after)];
  for (const key of now.keys()) if (!old.has(key)) change("KEY_ADDED", true, null, `${key} is new`);
  for (const key of old.keys())
    if (!now.has(key)) change("KEY_REMOVED", false, null, `${key} is gone`);
}
