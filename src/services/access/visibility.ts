/** Whether a new record is private until it is published. */
import type { Config } from "../../config/config.js";
import { invalid } from "../../errors.js";
import type { KindName } from "../../model/kind.js";
import { COLLECTIVES } from "../../model/kinds.js";
import type { StoredRecord } from "../../storage/records/port.js";

export const VISIBILITIES = ["open", "private"] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** Users and those that own records for them are always open: rights are derived from them. */
export const mayBePrivate = (kind: KindName): boolean => kind !== "user" && !COLLECTIVES.has(kind);

export const visibilityOf = ({ private: isPrivate }: Pick<StoredRecord, "private">): Visibility =>
  isPrivate ? "private" : "open";

/**
 * @param asked by the request; absent: as DEFAULT_VISIBILITY says, else open
 * @throws ValidationError for a kind that is always open
 */
export function isPrivate(
  { DEFAULT_VISIBILITY }: Pick<Config, "DEFAULT_VISIBILITY">,
  kind: KindName,
  asked: Visibility | undefined,
): boolean {
  if (mayBePrivate(kind)) return (asked ?? DEFAULT_VISIBILITY) === "private";
  if (asked !== "private") return false;
  throw invalid(
    ["query", "visibility"],
    `Value error, records of kind ${kind} are always open: leave visibility out`,
  );
}

/** `visibility` of a query string. @throws ValidationError */
export function visibilityParameter(raw: string | undefined): Visibility | undefined {
  if (raw === undefined || raw === "open" || raw === "private") return raw;
  throw invalid(["query", "visibility"], "Input should be 'open' or 'private'", "enum", {
    expected: "'open' or 'private'",
  });
}
