import { TabularError } from "../limits.js";
import { type ColumnIndex, KEYWORDS } from "./keywords.js";
import { readProperty, readSchema, type TableProperty, unescapeSeparator } from "./table-schema.js";

/**
 * A finding about a schema. An error prevents its use, or gives it a meaning that cannot be
 * intended.
 */
export interface SchemaRemark {
  level: "error" | "warning";
  message: string;
}

const KNOWN_KEYS = new Set([
  "description",
  "index",
  "valueURL",
  "type",
  "items",
  ...Object.keys(KEYWORDS),
]);

/**
 * Checks a schema as a whole: is each property sound, do two describe the same column, is there a
 * keyword that validates nothing?
 * @param columns of the table it is for, where known
 * @param formats names of formats that are checked
 */
export function inspectSchema(
  document: unknown,
  columns: number | undefined,
  formats: ReadonlySet<string>,
): SchemaRemark[] {
  const remarks: SchemaRemark[] = [];
  const error = (message: string): unknown => remarks.push({ level: "error", message });
  const warn = (message: string): unknown => remarks.push({ level: "warning", message });
  const shell = document as Record<string, unknown>;
  const sound: TableProperty[] = [];
  const given = shell?.["properties"];
  // Each property by itself, so that one that is not sound does not hide the others.
  const properties =
    typeof given === "object" && given !== null && !Array.isArray(given)
      ? Object.entries(given)
      : undefined;
  const schema = attempt(
    () => readSchema(properties ? { ...shell, properties: {} } : document),
    error,
  );
  for (const [name, property] of properties ?? []) {
    const read = attempt(() => readProperty(name, property), error);
    if (!read) continue;
    sound.push(read);
    keywordRemarks(name, property as Record<string, unknown>, read, formats, warn);
  }
  if (schema) {
    if (unescapeSeparator(schema.separator) === "")
      error("the schema gives no separator, so no table can be checked against it");
    const names = new Set((properties ?? []).map(([name]) => name));
    for (const name of schema.required)
      if (!names.has(name))
        error(`required names ${name}, which is not a property: no row can conform`);
    if (properties?.length === 0) warn("the schema describes no column");
  }
  overlaps(sound, error);
  if (columns !== undefined)
    for (const { name, index } of sound) beyond(name, index, columns, error);
  return remarks;
}

function attempt<T>(work: () => T, error: (message: string) => unknown): T | undefined {
  try {
    return work();
  } catch (problem) {
    if (!(problem instanceof TabularError)) throw problem;
    error(problem.message);
    return undefined;
  }
}

function keywordRemarks(
  name: string,
  object: Record<string, unknown>,
  { type, items }: TableProperty,
  formats: ReadonlySet<string>,
  warn: (message: string) => unknown,
): void {
  for (const [place, keys, evaluated] of [
    [name, object, type],
    [`${name}: items`, items as Record<string, unknown> | undefined, items?.type],
  ] as const) {
    for (const key of Object.keys(keys ?? {})) {
      const keyword = KEYWORDS[key];
      if (!KNOWN_KEYS.has(key))
        warn(`property ${place}: ${key} is not a keyword: it has no effect`);
      else if (keyword && keys![key] !== null && !keyword.types.includes(evaluated!))
        warn(`property ${place}: ${key} has no effect in a column of type ${evaluated}`);
    }
    const format = keys?.["format"];
    if (typeof format === "string" && evaluated === "string" && !formats.has(format))
      warn(`property ${place}: the format ${format} is not known: it has no effect`);
    if (typeof keys?.["description"] === "string" && keys["description"].trim() === "")
      warn(`property ${place}: its description is empty`);
  }
}

const end = (index: ColumnIndex): number =>
  index.kind === "column" ? index.at + 1 : (index.to ?? Infinity);
const start = (index: ColumnIndex): number => (index.kind === "column" ? index.at : index.from);

function overlaps(properties: readonly TableProperty[], error: (message: string) => unknown): void {
  const sorted = properties.toSorted((a, b) => start(a.index) - start(b.index));
  let widest = sorted[0];
  for (const property of sorted.slice(1)) {
    if (start(property.index) < end(widest!.index))
      error(
        `properties ${widest!.name} and ${property.name} both describe column ` +
          `${start(property.index)}`,
      );
    if (end(property.index) > end(widest!.index)) widest = property;
  }
}

function beyond(
  name: string,
  index: ColumnIndex,
  columns: number,
  error: (message: string) => unknown,
): void {
  const last = index.kind === "slice" && index.to === undefined ? index.from : end(index) - 1;
  if (last >= columns)
    error(
      `property ${name}: column ${last} is out of range: the first row of the data has ` +
        `${columns} columns, 0 to ${columns - 1}`,
    );
}
