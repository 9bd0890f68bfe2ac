/** Rules that CSVW has for a metadata document (https://www.w3.org/TR/tabular-metadata/). */
import { TabularError } from "../limits.js";
import { isJsonObject, type Json, numberOf, textOf } from "./exchange.js";

const XSD = "http://www.w3.org/2001/XMLSchema#";

/** Datatypes that have no order, so that they have no bounds. */
const UNORDERED: ReadonlySet<string> = new Set(
  (
    "anyAtomicType anyURI base64Binary boolean hexBinary QName string normalizedString token language " +
    "Name NMTOKEN binary any xml html json"
  ).split(" "),
);

const LANGUAGE = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/;

/** Members of descriptions that are descriptions, and the type of each. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  tables: "Table",
  tableSchema: "Schema",
  columns: "Column",
  dialect: "Dialect",
  transformations: "Template",
  datatype: "Datatype",
};

const broken = (place: string, rule: string): never => {
  throw new TabularError("SCHEMA", `it is not valid CSVW metadata: ${place}: ${rule}`);
};

/** @throws TabularError `SCHEMA` for the first rule that the document breaks */
export function assertCsvw(document: Json): void {
  checkContext(document["@context"]);
  checkDescription(
    document,
    Array.isArray(document["tables"]) ? "TableGroup" : "Table",
    "the document",
  );
}

function checkContext(context: unknown): void {
  const local: unknown = Array.isArray(context) ? context[1] : undefined;
  if (!isJsonObject(local)) return;
  for (const key of Object.keys(local))
    if (key !== "@base" && key !== "@language")
      broken("@context", `it may hold @base and @language, and not ${key}`);
}

function checkDescription(description: Json, type: string, place: string): void {
  const { "@id": id, "@type": stated } = description;
  if (typeof id === "string" && id.startsWith("_:"))
    broken(place, `its @id ${id} must not be a blank node`);
  if (stated !== undefined && stated !== type) broken(place, `its @type must be ${type}`);
  if (type === "Datatype") checkDatatype(description, place);
  if (type === "Schema") checkColumns(description["columns"], place);
  for (const [key, value] of Object.entries(description)) {
    const inner = Object.hasOwn(DESCRIPTIONS, key) ? DESCRIPTIONS[key] : undefined;
    if (inner !== undefined)
      for (const part of [value].flat())
        if (isJsonObject(part)) checkDescription(part, inner, `${place}, ${key}`);
    if (key.includes(":")) checkCommon(value, `${place}, ${key}`);
  }
}

function checkColumns(columns: unknown, place: string): void {
  if (!Array.isArray(columns)) return;
  const described = columns.filter(isJsonObject);
  const names = described.flatMap(({ name }) => (typeof name === "string" ? [name] : []));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) broken(place, `two columns have the name ${twice}`);
  const virtual = described.findIndex((column) => column["virtual"] === true);
  if (virtual >= 0 && described.slice(virtual).some((column) => column["virtual"] !== true))
    broken(place, "a virtual column comes before one that is not");
}

function checkDatatype(datatype: Json, place: string): void {
  const { "@id": id, minInclusive, maxInclusive, minExclusive, maxExclusive } = datatype;
  if (typeof id === "string" && id.startsWith(XSD))
    broken(place, `its @id ${id} must not be that of a built-in datatype`);
  const least = datatype["minimum"] ?? minInclusive;
  const most = datatype["maximum"] ?? maxInclusive;
  const base = textOf(datatype["base"]) ?? "string";
  const bounds = [least, most, minExclusive, maxExclusive];
  if (UNORDERED.has(base) && bounds.some((bound) => bound !== undefined))
    broken(place, `${base} has no order, so that it can have no minimum and no maximum`);
  if (least !== undefined && minExclusive !== undefined)
    broken(place, "it has an inclusive minimum and an exclusive one");
  if (most !== undefined && maxExclusive !== undefined)
    broken(place, "it has an inclusive maximum and an exclusive one");
  const isEmpty =
    isAbove(least, most) ||
    isAbove(minExclusive, maxExclusive) ||
    isAbove(least, maxExclusive, true) ||
    isAbove(minExclusive, most, true);
  if (isEmpty) broken(place, "its minimum is above its maximum");
}

/** @param orEqual also where both are the same */
function isAbove(low: unknown, high: unknown, orEqual = false): boolean {
  const [least, most] = [numberOf(low) ?? textOf(low), numberOf(high) ?? textOf(high)];
  if (least === undefined || most === undefined) return false;
  return orEqual ? least >= most : least > most;
}

/** The value of a common property, which may be JSON-LD of a simple kind. */
function checkCommon(value: unknown, place: string): void {
  if (Array.isArray(value)) {
    for (const part of value) checkCommon(part, place);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const key of Object.keys(value))
    if (key.startsWith("@") && !["@value", "@type", "@language", "@id"].includes(key))
      broken(place, `${key} is not allowed in it`);
  checkNames(value, place);
  checkLanguage(value, place);
  for (const [key, part] of Object.entries(value))
    if (!key.startsWith("@")) checkCommon(part, place);
}

function checkNames({ "@id": id, "@type": type }: Json, place: string): void {
  for (const name of [id, ...[type].flat()])
    if (typeof name === "string" && name.startsWith("_:"))
      broken(place, `${name} must not be a blank node`);
  for (const name of [type].flat())
    if (name !== undefined && !(typeof name === "string" && /^\S+$/.test(name)))
      broken(place, `its @type ${JSON.stringify(name)} is no name of a type`);
}

function checkLanguage(value: Json, place: string): void {
  const { "@type": type, "@language": language } = value;
  if ("@value" in value) {
    if (type !== undefined && language !== undefined)
      broken(place, "a value has @type or @language, not both");
    if (Object.keys(value).some((key) => !key.startsWith("@") || key === "@id"))
      broken(place, "a value has no other properties");
  } else if (language !== undefined) broken(place, "@language needs a @value beside it");
  if (
    language !== undefined &&
    language !== null &&
    !(typeof language === "string" && LANGUAGE.test(language))
  )
    broken(place, `its @language ${JSON.stringify(language)} is no language`);
}
