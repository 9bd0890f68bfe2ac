import type { ObjectReference, RecordWrite } from "../../port.js";
import { columnsOf, type Sending, statement } from "../statement.js";
import type { RecordRow } from "./records.js";

/** Also earlier revisions lose them. */
const DROP = statement(
  `UPDATE object_ref SET ended = coalesce(object_ref.ended, v.revision), dropped = true
    FROM unnest($1::bigint[], $2::bigint[]) AS v (record, revision)
    WHERE object_ref.record = v.record AND object_ref.dropped = false`,
);
const WANTED = `unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[],
    $6::text[], $7::bigint[], $8::bigint[])
    AS w (record, sha256, size, media_type, name, role, id, since)`;
const IS_WANTED = `o.record = w.record AND o.sha256 = w.sha256 AND o.size = w.size AND
    o.media_type = w.media_type AND o.name = w.name AND o.role = w.role AND o.ended IS NULL`;
/** References that stay are not changed. */
const END = statement(
  `UPDATE object_ref AS o SET ended = v.revision
    FROM unnest($9::bigint[], $10::bigint[]) AS v (record, revision)
    WHERE o.record = v.record AND o.ended IS NULL
    AND NOT EXISTS (SELECT 1 FROM ${WANTED} WHERE ${IS_WANTED})`,
);
const ADD = statement(
  `INSERT INTO object_ref (id, record, sha256, size, media_type, name, role, since, dropped)
    SELECT id, record, sha256, size, media_type, name, role, since, false FROM ${WANTED}
    WHERE NOT EXISTS (SELECT 1 FROM object_ref AS o WHERE ${IS_WANTED})`,
);
const DROP_ARCHIVES = statement(`WITH asked AS (SELECT r.id, r.crate FROM record AS r
      WHERE r.ark = ANY($1::text[])), holding AS (SELECT crate FROM asked WHERE crate IS NOT NULL
      UNION SELECT u.crate FROM asked JOIN crate_use AS u ON u.record = asked.id)
      UPDATE object_ref SET ended = coalesce(object_ref.ended, object_ref.since), dropped = true
      FROM holding JOIN record AS c ON c.ark = holding.crate WHERE object_ref.record = c.id
      AND object_ref.role = 'archive' AND object_ref.dropped = false AND object_ref.id <= $2`);

type Held = Pick<RecordRow, "id" | "revision">;

/** Which objects records refer to, and in which of their revisions. */
export class ObjectWrites {
  /** Record → revision from which on it has other objects, or none. */
  readonly #ended: [record: number, revision: number][] = [];
  readonly #dropped: [record: number, revision: number][] = [];
  readonly #wanted: unknown[][] = [];

  /** @param nextId gives numbers to references */
  apply({ id, revision }: Held, write: RecordWrite, nextId: () => number): void {
    if (write.op === "publish") return;
    if ("dropObjects" in write && write.dropObjects) this.#dropped.push([id, revision]);
    const objects = write.op === "delete" ? [] : write.objects;
    if (!objects) return;
    if (write.op !== "create") this.#ended.push([id, revision]);
    for (const { sha256, size, mediaType, name, role } of distinct(objects))
      this.#wanted.push([id, sha256, size, mediaType, name, role, nextId(), revision]);
  }

  async write(sending: Sending): Promise<void> {
    await sending.rows(DROP, this.#dropped);
    if (this.#ended.length > 0)
      void sending.send(END, [...columnsOf(this.#wanted, 8), ...columnsOf(this.#ended, 2)]);
    await sending.rows(ADD, this.#wanted);
  }
}

/**
 * Drops the archives that hold the same bytes as the dropped objects of records. An archive that
 * comes with the commit stays: it is newer than the newest reference before.
 */
export function dropArchives(sending: Sending, arks: readonly string[], newest: number): void {
  if (arks.length > 0) void sending.send(DROP_ARCHIVES, [arks, newest]);
}

const distinct = (objects: readonly ObjectReference[]): Iterable<ObjectReference> =>
  new Map(
    objects.map((object) => {
      const { sha256, size, mediaType, name, role } = object;
      return [JSON.stringify([sha256, size, mediaType, name, role]), object];
    }),
  ).values();
