import { instantOf } from "./dates.js";
import { type JsonObject, type JsonValue, listOf } from "./field.js";
import { isPublicName, type Kind } from "./kind.js";
import { textOf } from "./texts.js";

const DAY_MS = 86_400_000;
/** Earlier years are mistakes, such as 0. */
const EARLIEST = Date.UTC(1000, 0, 1);

/** A stated date as a day, a month or a year; `undefined` where it is none. */
export function dayOf(value: JsonValue | undefined): string | undefined {
  const text = textOf(value);
  if (text === null) return undefined;
  const [, part] = /^(\d{4}(?:-(?:0[1-9]|1[0-2]))?)$/.exec(text) ?? [];
  if (part !== undefined) return part;
  const instant = instantOf(text);
  if (instant !== undefined) return new Date(instant).toISOString().slice(0, 10);
  // Written in another way: the year is all that is certain.
  return /(?:^|\D)((?:1[5-9]|20)\d{2})(?:\D|$)/.exec(text)?.[1];
}

/**
 * The day on which a record states that it was published, in ms since 1970: the first
 * `datePublished` that is a date from the year 1000 to `now`. Null where it states none, or others
 * may not see it.
 */
export function statedPublication(kind: Kind, document: JsonObject, now: number): number | null {
  if (!isPublicName(kind, "datePublished")) return null;
  for (const value of listOf(document["datePublished"])) {
    const at = Date.parse(dayOf(value) ?? "");
    if (at >= EARLIEST && at <= now) return Math.floor(at / DAY_MS) * DAY_MS;
  }
  return null;
}
