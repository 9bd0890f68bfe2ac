import { createHash } from "node:crypto";
import type { JsonObject } from "../../../model/field.js";
import type { StoredRecord } from "../../../stores/records/port.js";
import type { AssertedBy, Direction } from "../types.js";

/** What a stored evidence graph answers. */
export interface Question {
  /** Stored form of the record's ARK. */
  ark: string;
  direction: Direction;
  /** null: without limit. */
  depth: number | null;
  /** Absent: anyone. */
  assertedBy?: AssertedBy;
}

/** One identifier for a record, direction, depth, whose word counts, and owner: building again renews the graph that is there. */
export function identifierOf(naan: string, { ark, direction, depth, assertedBy }: Question, owner: string): string {
  const hash = createHash("sha256").update(JSON.stringify([ark, direction, depth, owner, ...(assertedBy === "owner" ? [assertedBy] : [])])).digest("hex").slice(0, 20);
  return `ark:${naan}/evidence-graph-${hash}`;
}

/** What a record answers when it was built here; `undefined` for evidence graphs that clients wrote themselves. */
export function questionOf(record: StoredRecord, document: JsonObject): Question | undefined {
  const { about, direction, depth = null, assertedBy } = document;
  if (record.kind !== "evidencegraph" || record.owner === null || typeof about !== "string" || (depth !== null && typeof depth !== "number")) return undefined;
  if (direction !== "upstream" && direction !== "downstream" && direction !== "both") return undefined;
  const question: Question = { ark: about, direction, depth, ...(assertedBy === "owner" && { assertedBy }) };
  const naan = /^ark:([^/]+)\//.exec(record.ark)![1]!;
  return identifierOf(naan, question, record.owner) === record.ark ? question : undefined;
}
