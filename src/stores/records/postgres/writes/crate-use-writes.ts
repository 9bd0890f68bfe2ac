import type { CrateUses } from "../../crates-port.js";
import { statement } from "../statement.js";
import type { Sending } from "./sending.js";

/** Gives records to the first crate that uses them, and ends that use. */
const HAND_OVER = `UPDATE record SET crate = (SELECT min(u.crate) FROM crate_use AS u WHERE u.record = record.id)
  WHERE deleted_at IS NULL AND EXISTS (SELECT 1 FROM crate_use AS u WHERE u.record = record.id)`;
const HAND_OVER_SOME = statement<[id: number]>(`${HAND_OVER} AND ark = ANY($1::text[]) RETURNING id`);
const HAND_OVER_ALL = statement<[id: number]>(`${HAND_OVER} AND crate = ANY($1::text[]) RETURNING id`);
const SETTLE = statement("DELETE FROM crate_use WHERE record = ANY($1::bigint[]) AND EXISTS (SELECT 1 FROM record WHERE id = crate_use.record AND record.crate = crate_use.crate)");
const DROP = statement("DELETE FROM crate_use WHERE crate = ANY($1::text[])");
const ADD = statement("INSERT INTO crate_use (crate, record) SELECT DISTINCT $1, r.id FROM record AS r WHERE r.ark = ANY($2::text[])");

/** Crates that are deleted use nothing any more, and what was minted for them and stays belongs to those that use it. */
export async function endUses(sending: Sending, deleted: readonly string[]): Promise<void> {
  if (deleted.length === 0) return;
  void sending.send(DROP, [deleted]);
  await settle(sending, await sending.send(HAND_OVER_ALL, [deleted]));
}

export async function replaceUses(sending: Sending, { crate, arks, released = [] }: CrateUses): Promise<void> {
  void sending.send(DROP, [[crate]]);
  if (arks.length > 0) void sending.send(ADD, [crate, arks]);
  if (released.length > 0) await settle(sending, await sending.send(HAND_OVER_SOME, [released]));
}

async function settle(sending: Sending, moved: readonly [id: number][]): Promise<void> {
  if (moved.length > 0) await sending.send(SETTLE, [moved.map(([id]) => id)]);
}
