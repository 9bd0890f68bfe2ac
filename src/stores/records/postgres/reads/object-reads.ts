import type { ObjectBookkeeping, ObjectReference } from "../../objects-port.js";
import { isStorableText } from "../../storable.js";
import { type Database, statement } from "../statement.js";

type ReferenceRow = [sha256: string, size: number, mediaType: string, name: string, role: string];

const SELECT = "SELECT o.sha256, o.size, o.media_type, o.name, o.role FROM record AS r JOIN object_ref AS o ON o.record = r.id WHERE r.ark = $1 AND ($2::text IS NULL OR o.role = $2) AND ($3::text IS NULL OR o.name = $3) AND o.dropped = false";
const NOW = statement<ReferenceRow>(`${SELECT} AND o.ended IS NULL ORDER BY o.id`);
const THEN = statement<ReferenceRow>(`${SELECT} AND o.since <= $4 AND (o.ended IS NULL OR o.ended > $4) ORDER BY o.id`);
const DELETED = statement<[number]>("SELECT count(o.ended) FROM record AS r JOIN object_ref AS o ON o.record = r.id WHERE r.ark = $1 AND o.role = $2 HAVING count(*) = count(o.ended)");
const REFERENCED = statement<[string]>(`SELECT sha256 FROM (
    SELECT sha256 FROM object_ref WHERE dropped = false AND sha256 > $1
    UNION SELECT sha256 FROM submission WHERE status IN ('queued', 'running') AND sha256 > $1) AS needed
  ORDER BY sha256 LIMIT $2`);

export class ObjectReads {
  constructor(private readonly database: Database) {}

  async of(ark: string, { role, name, revision }: Parameters<ObjectBookkeeping["objectsOf"]>[1] = {}): Promise<ObjectReference[]> {
    if (!isStorableText(ark) || (name !== undefined && !isStorableText(name))) return [];
    const asked = [ark, role ?? null, name ?? null];
    const rows = await (revision === undefined ? this.database.query(NOW, asked) : this.database.query(THEN, [...asked, revision]));
    return rows.map(([sha256, size, mediaType, called, is]) => ({ sha256, size, mediaType, name: called, role: is as ObjectReference["role"] }));
  }

  async contentWasDeleted(ark: string, role: ObjectReference["role"] = "content"): Promise<boolean> {
    return isStorableText(ark) && ((await this.database.query(DELETED, [ark, role]))[0]?.[0] ?? 0) > 0;
  }

  async referenced({ after = "", limit }: Parameters<ObjectBookkeeping["referenced"]>[0]): Promise<{ items: string[]; next?: string }> {
    const hashes = (await this.database.query(REFERENCED, [isStorableText(after) ? after : "", limit + 1])).map(([sha256]) => sha256);
    const items = hashes.slice(0, limit);
    return hashes.length > limit ? { items, next: items.at(-1)! } : { items };
  }
}
