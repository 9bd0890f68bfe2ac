import { invalid, ValidationError, type ValidationItem } from "../../errors.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { checkOneOf, listOf, type QueryStrings, wholeNumber } from "../query-parameters.js";
import type { AssertedBy, Direction, EvidenceRequest } from "./types.js";

type EvidenceParameters = Omit<EvidenceRequest, "ark" | "limit"> & { limit?: number };

/** Size from which similar siblings become one node when `collapse=true` states no number. */
const COLLAPSE = 5;
const DIRECTIONS = ["upstream", "downstream", "both"];

/**
 * The parameters of an evidence graph in a query string. @throws ValidationError with all errors
 */
export function evidenceParameters(query: QueryStrings): EvidenceParameters {
  const problems: ValidationItem[] = [];
  const oneOf = (name: string, value: string, allowed: readonly string[]): void =>
    checkOneOf(problems, name, value, allowed);
  const { direction = "upstream", cursor, collapse, statements = "false" } = query;
  const assertedBy = assertedByOf(query, problems);
  oneOf("direction", direction, DIRECTIONS);
  if (!/^(?:true|false|1|0)$/.test(statements))
    problems.push({
      loc: ["query", "statements"],
      msg: "Input should be a valid boolean, unable to interpret input",
      type: "bool_parsing",
    });
  const kinds = listOf(query["kind"]);
  for (const kind of kinds ?? []) oneOf("kind", kind, Object.keys(KINDS));
  const numbers: { depth?: number; limit?: number; collapse?: number } =
    collapse === "true" ? { collapse: COLLAPSE } : {};
  for (const name of ["depth", "limit", "collapse"] as const) {
    const raw = query[name];
    if (raw === undefined || (name === "collapse" && (raw === "true" || raw === "false"))) continue;
    const value = wholeNumber(problems, name, raw);
    if (value !== undefined) numbers[name] = value;
  }
  if (problems.length > 0) throw new ValidationError(problems);
  const expand = listOf(query["expand"]);
  return {
    direction: direction as Direction,
    ...numbers,
    ...(cursor === undefined ? {} : { cursor }),
    ...(kinds ? { kinds: kinds as KindName[] } : {}),
    ...(assertedBy === "owner" ? { assertedBy } : {}),
    ...(expand ? { expand } : {}),
    ...(/^(?:true|1)$/.test(statements) ? { statements: true } : {}),
  };
}

function assertedByOf(query: QueryStrings, problems: ValidationItem[]): AssertedBy {
  const { assertedBy = "anyone" } = query;
  checkOneOf(problems, "assertedBy", assertedBy, ["owner", "anyone"]);
  return assertedBy as AssertedBy;
}

/**
 * `assertedBy` alone, where no other parameter of an evidence graph is supported.
 * @throws ValidationError
 */
export function assertedByParameter(query: QueryStrings): AssertedBy {
  const problems: ValidationItem[] = [];
  const value = assertedByOf(query, problems);
  if (problems.length > 0) throw new ValidationError(problems);
  return value;
}

/** Where a page ended: distance and identifier of its last node. Opaque to clients. */
interface Position {
  distance: number;
  iri: string;
}

function writeCursor({ distance, iri }: Position): string {
  return Buffer.from(JSON.stringify([distance, iri])).toString("base64url");
}

/**
 * @throws {import("../../errors.js").ValidationError} at `query.cursor` for a text that
 * {@link writeCursor} did not write
 */
function readCursor(cursor: string): Position {
  try {
    const [distance, iri, ...rest] = JSON.parse(
      Buffer.from(cursor, "base64url").toString(),
    ) as unknown[];
    if (Number.isSafeInteger(distance) && typeof iri === "string" && rest.length === 0)
      return { distance: distance as number, iri };
  } catch {
    // Reported below.
  }
  throw invalid(
    ["query", "cursor"],
    "Value error, this is not a cursor of an evidence graph; take it from the previous answer",
  );
}

/** True when a node comes after the position in the order of pages. */
function isAfter(position: Position, distance: number, iri: string): boolean {
  return distance > position.distance || (distance === position.distance && iri > position.iri);
}

export interface NodePage {
  nodes: string[];
  later: number;
  cursor?: string;
}

/**
 * The nodes of one answer. The requested record is on every page and counts; a page of one node
 * still advances.
 * @param near steps of all nodes but the requested record
 */
export function pageOf(
  root: string,
  near: ReadonlyMap<string, number>,
  limit: number,
  cursor: string | undefined,
): NodePage {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const order = inOrder(near);
  const rest = after ? order.filter((node) => isAfter(after, near.get(node)!, node)) : order;
  const nodes = rest.slice(0, after ? Math.max(1, limit - 1) : limit - 1);
  const later = rest.length - nodes.length;
  if (later === 0) return { nodes: [root, ...nodes], later };
  const last = nodes.at(-1);
  return {
    nodes: [root, ...nodes],
    later,
    cursor: writeCursor(
      last === undefined ? { distance: -1, iri: "" } : { distance: near.get(last)!, iri: last },
    ),
  };
}

/** Nearest first, then by identifier: an order that is stable across pages. */
function inOrder(near: ReadonlyMap<string, number>): string[] {
  const atStep: string[][] = [];
  for (const [node, steps] of near) (atStep[steps] ??= []).push(node);
  return atStep.flatMap((nodes) => nodes.sort());
}

const MOST = 100_000;

/**
 * @throws {import("../../errors.js").ValidationError} unless the value is a whole number from
 * `least` to 100000
 */
export function checkRange(name: "limit" | "depth" | "collapse", value: number, least = 1): void {
  const loc = ["query", name];
  if (!Number.isInteger(value)) throw invalid(loc, "Input should be a valid integer", "int_type");
  if (value < least)
    throw invalid(loc, `Input should be greater than or equal to ${least}`, "greater_than_equal", {
      ge: least,
    });
  if (value > MOST)
    throw invalid(loc, `Input should be less than or equal to ${MOST}`, "less_than_equal", {
      le: MOST,
    });
}
