import { invalid } from "../../errors.js";
import { isAfter, readCursor, writeCursor } from "./cursor.js";

export interface NodePage { nodes: string[]; later: number; cursor?: string }

/**
 * The nodes of one answer. The asked-for record is on every page and counts; a page of one still moves on.
 * @param near steps of all nodes but the asked-for record
 */
export function pageOf(root: string, near: ReadonlyMap<string, number>, limit: number, cursor: string | undefined): NodePage {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const order = inOrder(near);
  const rest = after ? order.filter((node) => isAfter(after, near.get(node)!, node)) : order;
  const nodes = rest.slice(0, after ? Math.max(1, limit - 1) : limit - 1);
  const later = rest.length - nodes.length;
  if (later === 0) return { nodes: [root, ...nodes], later };
  const last = nodes.at(-1);
  return { nodes: [root, ...nodes], later, cursor: writeCursor(last === undefined ? { distance: -1, iri: "" } : { distance: near.get(last)!, iri: last }) };
}

/** Nearest first, then by identifier: an order that a later page finds again. */
function inOrder(near: ReadonlyMap<string, number>): string[] {
  const atStep: string[][] = [];
  for (const [node, steps] of near) (atStep[steps] ??= []).push(node);
  return atStep.flatMap((nodes) => nodes.sort());
}

const MOST = 100_000;

/** @throws {import("../../errors.js").ValidationError} for what is not a whole number from `least` to 100000 */
export function checkRange(name: "limit" | "depth" | "collapse", value: number, least = 1): void {
  const loc = ["query", name];
  if (!Number.isInteger(value)) throw invalid(loc, "Input should be a valid integer", "int_type");
  if (value < least) throw invalid(loc, `Input should be greater than or equal to ${least}`, "greater_than_equal", { ge: least });
  if (value > MOST) throw invalid(loc, `Input should be less than or equal to ${MOST}`, "less_than_equal", { le: MOST });
}
