import type { FeedGraph } from "../../../records/port.js";
import { inferredGraph } from "../../../../model/provenance.js";
import { isIri } from "../../iri.js";
import { statementOf, type SparqlStatement } from "../sparql-text.js";

/** Graphs to be emptied and statements to be added in one update. */
export interface Piece {
  ark: string;
  /** Emptied before anything is added. */
  emptied: string[];
  statements: SparqlStatement[];
}

/** Bytes that a statement takes besides its text. */
const SLACK = 2;

/** The graphs that a record may have. */
export const graphsOf = (ark: string): string[] => (isIri(ark) ? [ark, inferredGraph(ark)] : []);

/**
 * What brings records to their given state, in lots of no more than about `bytes`. A record that is larger comes in
 * several; the first of them empties its graphs.
 * @param existing graphs that hold something
 * @param onRefused told of lines that SPARQL cannot hold
 */
export function* lotsOf(graphs: readonly FeedGraph[], existing: ReadonlySet<string>, bytes: number, onRefused: (ark: string, lines: number) => void): Generator<Piece[], void, undefined> {
  let lot: Piece[] = [];
  let size = 0;
  for (const [ark, text] of new Map(graphs.map(({ ark, nquads }) => [ark, nquads]))) {
    let piece: Piece = { ark, emptied: graphsOf(ark).filter((graph) => existing.has(graph)), statements: [] };
    lot.push(piece);
    // Two statements and their guard; a lot of deletions is bounded too.
    size += 400 * piece.emptied.length;
    let refused = 0;
    for (const line of text === null ? [] : text.split("\n")) {
      if (line === "") continue;
      const statement = statementOf(line);
      if (!statement) {
        refused++;
        continue;
      }
      if (size >= bytes) {
        yield lot;
        lot = [(piece = { ark, emptied: [], statements: [] })];
        size = 0;
      }
      piece.statements.push(statement);
      // UTF-8 takes at most three bytes a unit; most of it is ASCII.
      size += statement.triple.length + SLACK;
    }
    if (refused > 0) onRefused(ark, refused);
    if (size >= bytes) {
      yield lot;
      lot = [];
      size = 0;
    }
  }
  if (lot.length > 0) yield lot;
}

/** Two lots that together are the one; `undefined` for one that cannot be parted. */
export function halves(lot: readonly Piece[]): [Piece[], Piece[]] | undefined {
  if (lot.length > 1) return [lot.slice(0, lot.length / 2), lot.slice(lot.length / 2)];
  const [piece] = lot;
  if (!piece || piece.statements.length < 2) return undefined;
  const middle = piece.statements.length / 2;
  return [[{ ...piece, statements: piece.statements.slice(0, middle) }], [{ ...piece, emptied: [], statements: piece.statements.slice(middle) }]];
}
