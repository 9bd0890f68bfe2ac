import type { CrateUses, ObjectReference, RecordWrite } from "../../port.js";
import { type Sending, statement } from "../statement.js";
import type { Held } from "./records.js";

type StoredRow = [
  record: number,
  id: number,
  sha256: string,
  size: number,
  mediaType: string,
  name: string,
  role: string,
];
const STORED = statement<StoredRow>(
  `SELECT o.record, o.id, o.sha256, o.size, o.media_type, o.name, o.role
    FROM record AS r JOIN object_ref AS o ON o.record = r.id
    WHERE r.ark = ANY($1::text[]) AND o.ended IS NULL ORDER BY o.id`,
);
const DROP = statement(
  `UPDATE object_ref SET ended = coalesce(object_ref.ended, v.revision), dropped = true
    FROM unnest($1::bigint[], $2::bigint[]) AS v (record, revision)
    WHERE object_ref.record = v.record AND object_ref.dropped = false`,
);
const END = statement(
  `UPDATE object_ref SET ended = v.ended FROM unnest($1::bigint[], $2::bigint[]) AS v (id, ended)
    WHERE object_ref.id = v.id AND object_ref.ended IS NULL`,
);
const ADD =
  statement(`INSERT INTO object_ref (id, record, sha256, size, media_type, name, role, since, ended,
      dropped) SELECT id, record, sha256, size, media_type, name, role, since, ended, dropped = 1
      FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[],
      $7::text[], $8::bigint[], $9::bigint[], $10::int[]) AS v (id, record, sha256, size,
      media_type, name, role, since, ended, dropped)`);
const DROP_ARCHIVES = statement(`WITH asked AS (SELECT r.id, r.crate FROM record AS r
      WHERE r.ark = ANY($1::text[])), holding AS (SELECT crate FROM asked WHERE crate IS NOT NULL
      UNION SELECT u.crate FROM asked JOIN crate_use AS u ON u.record = asked.id)
      UPDATE object_ref SET ended = coalesce(object_ref.ended, object_ref.since), dropped = true
      FROM holding JOIN record AS c ON c.ark = holding.crate WHERE object_ref.record = c.id
      AND object_ref.role = 'archive' AND object_ref.dropped = false AND object_ref.id <= $2`);

/** A row of `object_ref`; one that was stored before has no `since`. */
interface HeldObject extends ObjectReference {
  id: number;
  record: number;
  since?: number;
  ended: number | null;
  dropped: boolean;
}

/** The references that the records of these writes have now. */
export const loadObjects = (
  sending: Sending,
  writes: readonly RecordWrite[],
): Promise<StoredRow[]> =>
  sending.ask(
    STORED,
    writes.flatMap(({ op, ark }) => (op === "replace" || op === "delete" ? [ark] : [])),
  );

/** Which objects records refer to, and in which of their revisions. */
export class ObjectWrites {
  readonly #held = new Map<number, HeldObject[]>();
  /** Record → revision from which on it lost its objects, those of earlier revisions too. */
  readonly #drops = new Map<number, number>();

  constructor(rows: readonly StoredRow[]) {
    for (const [record, id, sha256, size, mediaType, name, storedRole] of rows) {
      const role = storedRole as ObjectReference["role"];
      const reference = { sha256, size, mediaType, name, role };
      this.#of(record).push({ ...reference, id, record, ended: null, dropped: false });
    }
  }

  /** @param nextId gives numbers to references */
  apply({ id: record, revision }: Held, write: RecordWrite, nextId: () => number): void {
    if (write.op === "publish") return;
    const held = this.#of(record);
    const end = (object: HeldObject): void => void (object.ended ??= revision);
    const { dropObjects: drops = false } = "dropObjects" in write ? write : {};
    if (drops) {
      this.#drops.set(record, revision);
      for (const object of held) object.dropped = true;
    }
    if (write.op === "delete" || drops) held.forEach(end);
    if (write.op === "delete" || !write.objects) return;
    // References that stay are not changed.
    const wanted = new Map(write.objects.map((object) => [identity(object), object]));
    for (const object of held)
      if (object.ended === null && !wanted.delete(identity(object))) end(object);
    for (const object of wanted.values())
      held.push({ ...object, id: nextId(), record, since: revision, ended: null, dropped: false });
  }

  async write(sending: Sending): Promise<void> {
    await sending.rows(DROP, [...this.#drops]);
    const all = [...this.#held.values()].flat();
    await sending.rows(
      END,
      all.flatMap(({ id, since, ended }) =>
        since === undefined && ended !== null ? [[id, ended]] : [],
      ),
    );
    await sending.rows(
      ADD,
      all.flatMap(({ id, record, sha256, size, mediaType, name, role, since, ended, dropped }) =>
        since === undefined
          ? []
          : [[id, record, sha256, size, mediaType, name, role, since, ended, dropped ? 1 : 0]],
      ),
    );
  }

  #of(record: number): HeldObject[] {
    let held = this.#held.get(record);
    if (!held) this.#held.set(record, (held = []));
    return held;
  }
}

/**
 * Drops the archives that hold the same bytes as the dropped objects of records. An archive that
 * comes with the commit stays: it is newer than the newest reference before.
 */
export function dropArchives(sending: Sending, arks: readonly string[], newest: number): void {
  if (arks.length > 0) void sending.send(DROP_ARCHIVES, [arks, newest]);
}

const identity = ({ sha256, size, mediaType, name, role }: ObjectReference): string =>
  JSON.stringify([sha256, size, mediaType, name, role]);

/** Gives records to the first crate that uses them, and ends that use. */
const HAND_OVER = `UPDATE record SET crate = (SELECT min(u.crate) FROM crate_use AS u
    WHERE u.record = record.id) WHERE deleted_at IS NULL AND EXISTS (SELECT 1
    FROM crate_use AS u WHERE u.record = record.id)`;
const HAND_OVER_SOME = statement<[id: number]>(
  `${HAND_OVER} AND ark = ANY($1::text[]) RETURNING id`,
);
const HAND_OVER_ALL = statement<[id: number]>(
  `${HAND_OVER} AND crate = ANY($1::text[]) RETURNING id`,
);
const SETTLE = statement(
  `DELETE FROM crate_use WHERE record = ANY($1::bigint[]) AND EXISTS (SELECT 1 FROM record
    WHERE id = crate_use.record AND record.crate = crate_use.crate)`,
);
const DROP_USES = statement("DELETE FROM crate_use WHERE crate = ANY($1::text[])");
const ADD_USES = statement(
  `INSERT INTO crate_use (crate, record) SELECT DISTINCT $1, r.id FROM record AS r
    WHERE r.ark = ANY($2::text[])`,
);

/**
 * Deleted crates use nothing any more. Records minted for them that stay belong to the crates that
 * use them.
 */
export async function endUses(sending: Sending, deleted: readonly string[]): Promise<void> {
  if (deleted.length === 0) return;
  void sending.send(DROP_USES, [deleted]);
  await settle(sending, await sending.send(HAND_OVER_ALL, [deleted]));
}

export async function replaceUses(
  sending: Sending,
  { crate, arks, released = [] }: CrateUses,
): Promise<void> {
  void sending.send(DROP_USES, [[crate]]);
  if (arks.length > 0) void sending.send(ADD_USES, [crate, arks]);
  if (released.length > 0) await settle(sending, await sending.send(HAND_OVER_SOME, [released]));
}

async function settle(sending: Sending, moved: readonly [id: number][]): Promise<void> {
  await sending.ask(
    SETTLE,
    moved.map(([id]) => id),
  );
}
