import type { TransferRow, TransferTable } from "../../transfer-port.js";
import { type Row, type Session, statement } from "../statement.js";
import { selectOf } from "./tables.js";

/** Rows that are asked for at a time; of those with long texts fewer. */
const AT_ONCE = 1000;
const FEW = 100;
const LONG: ReadonlySet<TransferTable> = new Set(["text", "submission"]);
/** Bytes of states that are asked for at a time. */
const BYTES = 2 ** 20;

/** Which states there are, and how large. Those that a refused commit left behind belong to no revision. */
const STATES = "SELECT s.id, (octet_length(s.document) + octet_length(s.quads) + coalesce(octet_length(s.projected), 0))::bigint FROM state AS s WHERE s.id IN (SELECT state FROM revision) ORDER BY s.id";
const CONTENTS = statement<[id: number, document: Uint8Array, quads: Uint8Array, projected: Uint8Array | null]>("SELECT id, document, quads, projected FROM state WHERE id = ANY($1::bigint[]) ORDER BY id");

/** Rows of a table as of the session's transaction, by their key. */
export function rowsOf(session: Session, table: TransferTable): AsyncIterable<TransferRow> {
  return table === "state" ? states(session) : walk(session, table, selectOf(table), LONG.has(table) ? FEW : AT_ONCE);
}

/** The answer stays in the database, and comes as it is read. */
async function* walk(session: Session, name: string, select: string, atOnce: number): AsyncGenerator<Row, void, undefined> {
  await session.exec(`DECLARE transfer_${name} NO SCROLL CURSOR FOR ${select}`);
  const next = statement(`FETCH FORWARD ${atOnce} FROM transfer_${name}`);
  for (;;) {
    const rows = await session.query(next);
    yield* rows;
    if (rows.length < atOnce) break;
  }
  await session.exec(`CLOSE transfer_${name}`);
}

async function* states(session: Session): AsyncGenerator<TransferRow, void, undefined> {
  let lot: number[] = [];
  let bytes = 0;
  for await (const [id, size] of walk(session, "state", STATES, AT_ONCE)) {
    lot.push(id as number);
    bytes += size as number;
    if (bytes < BYTES) continue;
    yield* await session.query(CONTENTS, [lot]);
    [lot, bytes] = [[], 0];
  }
  if (lot.length > 0) yield* await session.query(CONTENTS, [lot]);
}
