import type { StatedLink } from "../../restate.js";
import { statement } from "../statement.js";
import type { Ledger } from "./ledger.js";
import type { Sending } from "./sending.js";

const DROP = statement("DELETE FROM link USING unnest($1::bigint[], $2::int[]) AS v (source, position) WHERE link.source = v.source AND link.position >= v.position");
const PUT = statement(`INSERT INTO link (source, position, via, target, target_key, sequence)
  SELECT * FROM unnest($1::bigint[], $2::int[], $3::int[], $4::text[], $5::text[], $6::bigint[])
  ON CONFLICT (source, position) DO UPDATE SET via = excluded.via, target = excluded.target, target_key = excluded.target_key, sequence = excluded.sequence`);
const TOUCH = statement("UPDATE record SET newest_backlink = v.sequence FROM unnest($1::text[], $2::bigint[]) AS v (key, sequence) WHERE record.key = v.key AND record.newest_backlink < v.sequence");

/** Writes the positions that differ, and tells the targets. */
export async function writeLinks(sending: Sending, ledger: Ledger): Promise<void> {
  const dropped: [number, number][] = [];
  const put: unknown[][] = [];
  for (const [source, links] of ledger.links) {
    const before = ledger.storedLinks.get(source) ?? [];
    if (before.length > links.length) dropped.push([source, links.length]);
    for (const [position, link] of links.entries()) {
      if (!isSame(before[position], link)) put.push([source, position, link.via, link.target, link.targetKey, link.sequence]);
    }
  }
  await sending.rows(DROP, dropped);
  await sending.rows(PUT, put);
  await sending.rows(TOUCH, [...ledger.touched]);
}

const isSame = (before: StatedLink | undefined, now: StatedLink): boolean =>
  before !== undefined && before.via === now.via && before.target === now.target && before.targetKey === now.targetKey && before.sequence === now.sequence;
