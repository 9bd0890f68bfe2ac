import type { KindName } from "../../../../model/kind.js";
import type { ClosedMember } from "../../crates-port.js";
import type { Page, PublicationStatus } from "../../port.js";
import { isStorableText } from "../../storable.js";
import { type Database, statement } from "../statement.js";

const OF = statement<[string]>("SELECT r.ark FROM crate_use AS u JOIN record AS r ON r.id = u.record WHERE u.crate = $1 AND r.deleted_at IS NULL ORDER BY u.record");
const ELSEWHERE = statement<[string]>(`SELECT r.ark FROM unnest($1::text[]) WITH ORDINALITY AS asked (ark, place) JOIN record AS r ON r.ark = asked.ark
  WHERE EXISTS (SELECT 1 FROM crate_use AS u WHERE u.record = r.id AND u.crate <> $2) ORDER BY asked.place`);
const MEMBERS = statement<[number]>(`(SELECT id FROM record WHERE crate = $1 AND deleted_at IS NULL AND id > $2 ORDER BY id LIMIT $3)
  UNION ALL (SELECT record FROM crate_use WHERE crate = $1 AND record > $2 ORDER BY record LIMIT $3) ORDER BY 1 LIMIT $3`);
const CLOSED = statement<[string, string, string | null, string, string | null, string | null]>(`SELECT min(r.ark), r.kind, r.owner, r.status, r.embargoed_until, r.crate FROM record AS r
  WHERE r.id = ANY($1::bigint[]) AND r.deleted_at IS NULL AND r.status <> 'PUBLISHED' AND EXISTS (SELECT 1 FROM object_ref AS o WHERE o.record = r.id AND o.role = 'content' AND o.ended IS NULL)
  GROUP BY r.kind, r.owner, r.status, r.embargoed_until, r.crate`);
// Live records only: a deletion lowers the count. Two states with one count and sum differ in when the last change was.
const STATE = statement<[number, number, number]>(`SELECT count(*), coalesce(sum(revision), 0)::bigint, coalesce(max(modified_at), 0)::bigint FROM (
    SELECT revision, modified_at FROM record WHERE ark = $1
    UNION ALL SELECT revision, modified_at FROM record WHERE crate = $1 AND deleted_at IS NULL
    UNION ALL SELECT r.revision, r.modified_at FROM crate_use AS u JOIN record AS r ON r.id = u.record WHERE u.crate = $1 AND r.deleted_at IS NULL) AS mine`);

export class CrateUseReads {
  constructor(private readonly database: Database) {}

  async of(crate: string): Promise<string[]> {
    return isStorableText(crate) ? (await this.database.query(OF, [crate])).map(([ark]) => ark) : [];
  }

  async elsewhere(arks: readonly string[], crate: string): Promise<string[]> {
    return (await this.database.query(ELSEWHERE, [arks.filter(isStorableText), crate])).map(([ark]) => ark);
  }

  async closedMembers(crate: string, { after = "0", limit }: { after?: string; limit: number }): Promise<Page<ClosedMember>> {
    const ids = isStorableText(crate) ? (await this.database.query(MEMBERS, [crate, Number(after), limit])).map(([id]) => id) : [];
    const rows = ids.length === 0 ? [] : await this.database.query(CLOSED, [ids]);
    const items = rows.map(([ark, kind, owner, status, embargoedUntil, from]) =>
      ({ ark, kind: kind as KindName, owner, publicationStatus: status as PublicationStatus, embargoedUntil, crate: from }));
    return ids.length < limit ? { items } : { items, next: String(ids.at(-1)) };
  }

  async state(crate: string): Promise<string> {
    return isStorableText(crate) ? (await this.database.query(STATE, [crate]))[0]!.map((number) => number.toString(36)).join(".") : "";
  }
}
