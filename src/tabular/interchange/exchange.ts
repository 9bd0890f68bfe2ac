import type { PropertyObject } from "../schema/document.js";
import { TabularError } from "../errors.js";

/** What another format says about a table, for a schema to be made of it. */
export interface ImportedTable {
  id: string | undefined;
  name: string | undefined;
  description: string | undefined;
  separator: string | undefined;
  header: boolean | undefined;
  properties: Record<string, PropertyObject>;
}

type Json = Record<string, unknown>;

/** Told one sentence for each thing that has no counterpart here. */
export type Note = (sentence: string) => void;

/**
 * Tells every member that is not known to be carried over.
 * @param place put before the name of the member, with what separates the two
 */
export function tellOthers(object: Json, carried: ReadonlySet<string>, place: string, note: Note): void {
  for (const name of Object.keys(object)) if (!carried.has(name)) note(`${place}${name} has no counterpart and is left out`);
}

export const isJsonObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** A member that must be an object, if it is there. */
export function objectAt(parent: Json, key: string): Json {
  const value = parent[key];
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw new TabularError("SCHEMA", `${key} must be an object`);
  return value;
}

/** Text, or the text of `{"@value":…}`, or the first of several. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return textOf(value[0]);
  if (!isJsonObject(value)) return undefined;
  return "@value" in value ? textOf(value["@value"]) : textOf(Object.values(value)[0]);
}

/** A number, or text that is one: bounds are written either way. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** The object without members that are undefined. */
export const defined = <T extends object>(object: T): T => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
