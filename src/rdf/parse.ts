import { Parser, type Quad } from "n3";

/** Canonical N-Quads text as quads. */
export function parseNQuads(text: string): Quad[] {
  return new Parser({ format: "N-Quads" }).parse(text);
}
