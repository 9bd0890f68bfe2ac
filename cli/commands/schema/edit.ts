import { InvalidArgumentError } from "commander";
import { mintArk, parseArk } from "../../../src/identifiers/ark.js";
import {
  type Dialect,
  dialectProblem,
  separatedBy,
  type Trim,
} from "../../../src/tabular/reader/dialect.js";
import { exactInteger } from "../../../src/tabular/schema/exact-json.js";
import {
  type Datatype,
  newSchemaDocument,
  type PropertyObject,
  readProperty,
  type SchemaDocument,
  statedDialect,
  withProperty,
} from "../../../src/tabular/schema/table-schema.js";
import { Failure } from "../../terminal.js";
import { exists, inFile, readSchemaFile, whileLocked, writeDocument } from "./inputs.js";

export interface CreateOptions {
  name: string;
  description: string;
  guid?: string;
  separator: string;
  header?: boolean;
  force?: true;
}

/** How the tables of a schema are written, as options; a command that reads text takes them. */
export interface DialectOptions {
  commentPrefix?: string;
  skipRows?: number;
  quoteChar?: string;
  escapeChar?: string;
  trim?: Trim;
}

/**
 * The dialect that options state.
 * @param otherwise what holds where they state nothing
 * @throws Failure
 */
export function dialectOf(
  options: DialectOptions & { separator?: string },
  otherwise: Dialect = separatedBy(""),
): Dialect {
  const dialect = { ...otherwise, ...statedDialect(options) };
  const problem = dialectProblem(dialect);
  if (problem !== undefined) throw new Failure(`The table cannot be read: ${problem}`);
  return dialect;
}

/** `schema create-tabular`: writes a schema without properties. @throws Failure */
export async function createTabular(
  path: string,
  { name, description, guid, header = false, force, ...written }: CreateOptions & DialectOptions,
): Promise<void> {
  if (written.separator === "")
    throw new Failure("--separator is empty: give one or more characters, \\t for a tab");
  const dialect = dialectOf(written);
  if (name.trim() === "") throw new Failure("--name is empty: give the schema a name");
  if (guid !== undefined && !parseArk(guid))
    throw new Failure(
      `--guid ${guid} is not an ARK: write ark:<NAAN>/<name>, e.g. ark:59853/schema-example`,
    );
  if (force !== true && (await exists(path)))
    throw new Failure(
      `${path} exists already: choose another name, or add --force to overwrite it`,
    );
  await writeDocument(
    path,
    newSchemaDocument({
      id: guid ?? newSchemaArk(name),
      name,
      description,
      dialect,
      header,
    }),
  );
  process.stdout.write(`Wrote Schema: ${path}\n`);
}

/** A new identifier; its authority is the setting ARK_NAAN, as in the registry. @throws Failure */
export function newSchemaArk(name: string): string {
  const naan = process.env["ARK_NAAN"] ?? "99999";
  if (!/^[0-9]{5,16}$/.test(naan))
    throw new Failure(`ARK_NAAN is ${naan}: it must be five digits or more`);
  return mintArk(naan, "schema", name).stored;
}

export interface PropertyOptions {
  name: string;
  index: string;
  description: string;
  valueUrl?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number | bigint;
  maximum?: number | bigint;
  itemsDatatype?: Exclude<Datatype, "array">;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  nullable?: true;
  missing?: string[];
}

/**
 * `schema add-property <datatype>`: adds a property to a schema file; an invalid property changes
 * nothing.
 * @throws Failure
 */
export async function addProperty(
  datatype: Datatype,
  path: string,
  options: PropertyOptions,
): Promise<void> {
  const { name } = options;
  if (name.trim() === "") throw new Failure("--name is empty: give the property a name");
  await whileLocked(path, async () => {
    const schema = await readSchemaFile(path);
    if (schema.properties.some((property) => property.name === name))
      throw new Failure(`${path}: the schema already has a property ${name}: choose another name`);
    await inFile(path, async () => {
      const property = propertyObject(datatype, options);
      readProperty(name, property);
      await writeDocument(
        path,
        withProperty(schema.document as unknown as SchemaDocument, name, property),
      );
    });
  });
  process.stdout.write(`Added Property\tname: ${name}\ttype: ${datatype}\n`);
}

/** Keys in the contract's order; options that were not given are left out, except `valueURL`. */
function propertyObject(type: Datatype, options: PropertyOptions): PropertyObject {
  const {
    description,
    valueUrl,
    pattern,
    minLength,
    maxLength,
    minimum,
    maximum,
    minItems,
    maxItems,
    uniqueItems,
    itemsDatatype,
    nullable = false,
    missing = [],
  } = options;
  const index =
    type !== "array" && /^\d+$/.test(options.index) ? Number(options.index) : options.index;
  const mayMiss = nullable || missing.length > 0;
  const written = <T>(datatype: T): T | [T, "null"] => (mayMiss ? [datatype, "null"] : datatype);
  const object = {
    description,
    index,
    valueURL: valueUrl ?? null,
    type: type === "array" ? type : written(type),
    missingValues: missing.length > 0 ? [...(nullable ? [""] : []), ...missing] : undefined,
    pattern,
    minLength,
    maxLength,
    minimum,
    maximum,
    minItems,
    maxItems,
    uniqueItems,
    items: itemsDatatype === undefined ? undefined : { type: written(itemsDatatype) },
  };
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as unknown as PropertyObject;
}

// Arguments that the option parser refuses end the command with status 2.

/** `true/false`, `t/f`, `yes/no`, `y/n`, `on/off`, `1/0`, in any case. */
export function booleanOf(text: string): boolean | undefined {
  const word = text.toLowerCase();
  if (["true", "t", "yes", "y", "on", "1"].includes(word)) return true;
  if (["false", "f", "no", "n", "off", "0"].includes(word)) return false;
  return undefined;
}

export function booleanValue(text: string): boolean {
  const value = booleanOf(text);
  if (value === undefined) throw new InvalidArgumentError("Give true or false.");
  return value;
}

export function numberValue(text: string): number | bigint {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) || !Number.isFinite(Number(text)))
    throw new InvalidArgumentError("Give a number.");
  return /^[+-]?\d+$/.test(text) ? exactInteger(text.replace("+", "")) : Number(text);
}

export function countValue(text: string): number {
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw new InvalidArgumentError("Give a whole number from 0.");
  return Number(text);
}

export function positiveValue(text: string): number {
  const value = countValue(text);
  if (value === 0) throw new InvalidArgumentError("Give a whole number from 1.");
  return value;
}

/** Bytes, with K, M or G for powers of 1024: `64M`. */
export function sizeValue(text: string): number {
  const [, amount, unit] = /^(\d+)\s*([KMG]?)(?:i?B)?$/i.exec(text) ?? [];
  const size =
    unit === undefined
      ? 0
      : Number(amount) * 1024 ** ["", "K", "M", "G"].indexOf(unit.toUpperCase());
  if (size < 1 || size > 1 << 30)
    throw new InvalidArgumentError("Give a size from 1 to 1G, e.g. 64M.");
  return size;
}

/** A label of the Encoding standard: `latin1`, `windows-1252`, `utf-16le`. */
export function encodingValue(text: string): string {
  try {
    // Python's name for it; the Encoding standard has the form without the hyphen.
    return new TextDecoder(text.replace(/^latin-(?=\d)/i, "latin")).encoding;
  } catch {
    throw new InvalidArgumentError(
      "Give the name of an encoding, e.g. latin1, windows-1252 or utf-16le.",
    );
  }
}

/** An option that may be given several times. */
export const several = (value: string, before: string[] = []): string[] => [...before, value];
