import { invalid } from "../../errors.js";

/** Where a page ended: distance and identifier of its last node. Opaque to clients. */
export interface Position { distance: number; iri: string }

export function writeCursor({ distance, iri }: Position): string {
  return Buffer.from(JSON.stringify([distance, iri])).toString("base64url");
}

/** @throws {import("../../errors.js").ValidationError} at `query.cursor` for what {@link writeCursor} did not write */
export function readCursor(cursor: string): Position {
  try {
    const [distance, iri, ...rest] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[];
    if (Number.isSafeInteger(distance) && typeof iri === "string" && rest.length === 0) return { distance: distance as number, iri };
  } catch {
    // Told below.
  }
  throw invalid(["query", "cursor"], "Value error, this is no cursor of an evidence graph; take it from the answer before");
}

/** True when a node comes after the position in the order of pages. */
export function isAfter(position: Position, distance: number, iri: string): boolean {
  return distance > position.distance || (distance === position.distance && iri > position.iri);
}
