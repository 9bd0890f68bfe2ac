import { ValidationError, type ValidationItem } from "../../errors.js";
import { KINDS } from "../../model/kinds/index.js";
import type { KindName } from "../../model/kind.js";
import type { AssertedBy, Direction, EvidenceRequest } from "./types.js";

export type EvidenceParameters = Omit<EvidenceRequest, "ark" | "limit"> & { limit?: number };

/** So many like siblings become one when `collapse=true` does not say. */
export const COLLAPSE = 5;
const DIRECTIONS = ["upstream", "downstream", "both"];

/** What a query string asks of an evidence graph. @throws ValidationError with all that is wrong */
export function evidenceParameters(query: Readonly<Record<string, string | undefined>>): EvidenceParameters {
  const problems: ValidationItem[] = [];
  const oneOf = (name: string, value: string, allowed: readonly string[]): void => checkOneOf(problems, name, value, allowed);
  const { direction = "upstream", cursor, collapse, statements = "false" } = query;
  const assertedBy = assertedByOf(query, problems);
  oneOf("direction", direction, DIRECTIONS);
  if (!/^(?:true|false|1|0)$/.test(statements)) problems.push({ loc: ["query", "statements"], msg: "Input should be a valid boolean, unable to interpret input", type: "bool_parsing" });
  const kinds = listOf(query["kind"]);
  for (const kind of kinds ?? []) oneOf("kind", kind, Object.keys(KINDS));
  const numbers: { depth?: number; limit?: number; collapse?: number } = collapse === "true" ? { collapse: COLLAPSE } : {};
  for (const name of ["depth", "limit", "collapse"] as const) {
    const raw = query[name];
    if (raw === undefined || (name === "collapse" && (raw === "true" || raw === "false"))) continue;
    if (/^[+-]?\d{1,15}$/.test(raw)) numbers[name] = Number(raw);
    else problems.push({ loc: ["query", name], msg: "Input should be a valid integer, unable to parse string as an integer", type: "int_parsing" });
  }
  if (problems.length > 0) throw new ValidationError(problems);
  const expand = listOf(query["expand"]);
  return {
    direction: direction as Direction, ...numbers, ...(cursor === undefined ? {} : { cursor }), ...(kinds ? { kinds: kinds as KindName[] } : {}),
    ...(assertedBy === "owner" ? { assertedBy } : {}), ...(expand ? { expand } : {}), ...(/^(?:true|1)$/.test(statements) ? { statements: true } : {}),
  };
}

/** Several values of one parameter stand between commas. */
const listOf = (raw: string | undefined): string[] | undefined => raw?.split(",").map((each) => each.trim()).filter((each) => each !== "");

function checkOneOf(problems: ValidationItem[], name: string, value: string, allowed: readonly string[]): void {
  if (allowed.includes(value)) return;
  const expected = allowed.map((each) => `'${each}'`).join(", ").replace(/, ([^,]*)$/, " or $1");
  problems.push({ loc: ["query", name], msg: `Input should be ${expected}`, type: "literal_error", ctx: { expected } });
}

function assertedByOf(query: Readonly<Record<string, string | undefined>>, problems: ValidationItem[]): AssertedBy {
  const { assertedBy = "anyone" } = query;
  checkOneOf(problems, "assertedBy", assertedBy, ["owner", "anyone"]);
  return assertedBy as AssertedBy;
}

/** `assertedBy` alone, where nothing else of an evidence graph can be asked for. @throws ValidationError */
export function assertedByParameter(query: Readonly<Record<string, string | undefined>>): AssertedBy {
  const problems: ValidationItem[] = [];
  const value = assertedByOf(query, problems);
  if (problems.length > 0) throw new ValidationError(problems);
  return value;
}
