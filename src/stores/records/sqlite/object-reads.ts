import { arkKey } from "../../../identifiers/ark.js";
import type { ObjectBookkeeping, ObjectReference } from "../objects-port.js";
import { type Connection } from "./statement.js";
import { isStorableText } from "../storable.js";

type ReferenceRow = [sha256: string, size: number, mediaType: string, name: string, role: string];

export class ObjectReads {
  readonly #now;
  readonly #then;
  readonly #deleted;
  readonly #referenced;

  constructor(connection: Connection) {
    const select = "SELECT o.sha256, o.size, o.media_type, o.name, o.role FROM record AS r JOIN object_ref AS o ON o.record = r.id WHERE r.key = ?1 AND r.ark = ?2 AND (?3 IS NULL OR o.role = ?3) AND (?4 IS NULL OR o.name = ?4) AND o.dropped = 0";
    this.#now = connection.prepare<ReferenceRow>(`${select} AND o.until IS NULL ORDER BY o.id`);
    this.#then = connection.prepare<ReferenceRow>(`${select} AND o.since <= ?5 AND (o.until IS NULL OR o.until > ?5) ORDER BY o.id`);
    this.#deleted = connection.prepare<[number]>(`SELECT max(o.until IS NOT NULL) AND NOT max(o.until IS NULL) FROM record AS r JOIN object_ref AS o ON o.record = r.id WHERE r.key = ? AND r.ark = ? AND o.role = ?`);
    this.#referenced = connection.prepare<[string]>(`SELECT sha256 FROM (
        SELECT DISTINCT sha256 FROM object_ref WHERE dropped = 0 AND sha256 > ?1
        UNION SELECT sha256 FROM submission WHERE status IN ('queued', 'running') AND sha256 > ?1)
      ORDER BY sha256 LIMIT ?2`);
  }

  of(ark: string, { role, name, revision }: Parameters<ObjectBookkeeping["objectsOf"]>[1] = {}): ObjectReference[] {
    if (!isStorableText(ark) || (name !== undefined && !isStorableText(name))) return [];
    const rows = revision === undefined ? this.#now.all([arkKey(ark), ark, role ?? null, name ?? null]) : this.#then.all([arkKey(ark), ark, role ?? null, name ?? null, revision]);
    return rows.map(([sha256, size, mediaType, name, is]) => ({ sha256, size, mediaType, name, role: is as ObjectReference["role"] }));
  }

  contentWasDeleted(ark: string, role: ObjectReference["role"] = "content"): boolean {
    return isStorableText(ark) && this.#deleted.get([arkKey(ark), ark, role])?.[0] === 1;
  }

  referenced({ after = "", limit }: Parameters<ObjectBookkeeping["referenced"]>[0]): { items: string[]; next?: string } {
    const hashes = this.#referenced.all([isStorableText(after) ? after : "", limit + 1]).map(([sha256]) => sha256);
    const items = hashes.slice(0, limit);
    return hashes.length > limit ? { items, next: items.at(-1)! } : { items };
  }
}
