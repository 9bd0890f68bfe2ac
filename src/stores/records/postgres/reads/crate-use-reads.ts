import { isStorableText } from "../../storable.js";
import { type Database, statement } from "../statement.js";

const OF = statement<[string]>("SELECT r.ark FROM crate_use AS u JOIN record AS r ON r.id = u.record WHERE u.crate = $1 AND r.deleted_at IS NULL ORDER BY u.record");
const ELSEWHERE = statement<[string]>(`SELECT r.ark FROM unnest($1::text[]) WITH ORDINALITY AS asked (ark, place) JOIN record AS r ON r.ark = asked.ark
  WHERE EXISTS (SELECT 1 FROM crate_use AS u WHERE u.record = r.id AND u.crate <> $2) ORDER BY asked.place`);
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

  async state(crate: string): Promise<string> {
    return isStorableText(crate) ? (await this.database.query(STATE, [crate]))[0]!.map((number) => number.toString(36)).join(".") : "";
  }
}
