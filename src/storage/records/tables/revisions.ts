/** What records said at some time, their graphs, and the log of their changes. */
import { eventLoop } from "../../../event-loop-budget.js";
import { arkKey } from "../../../identifiers/ark.js";
import { unpackQuads } from "../codecs.js";
import type { ChangeLogPage, LogPosition, RecordStore, Revision } from "../port.js";
import { storedJson } from "../refusals.js";
import { CHANGE_COLUMNS, changeLogPage, type ChangeRow } from "../rows.js";
import { type Statements, statement } from "../statements.js";
import { isStorableText } from "../text.js";

const AT_REVISION = statement<[document: Uint8Array, action: string, at: number]>(
  `SELECT s.document, v.action, v.at FROM record AS r JOIN revision AS v ON v.record = r.id
    JOIN state AS s ON s.id = v.state WHERE r.key = $1 AND r.ark = $2 AND v.revision = $3`,
);
const HISTORY = statement<
  [revision: number, at: number, by: string | null, action: string, changed: string | null]
>(
  `SELECT v.revision, v.at, v.by, v.action, v.changed FROM record AS r
    JOIN revision AS v ON v.record = r.id WHERE r.key = $1 AND r.ark = $2 AND v.revision < $3
    ORDER BY v.revision DESC LIMIT $4`,
);
const QUADS = statement<[quads: Uint8Array]>(
  `SELECT coalesce(s.projected, s.quads) FROM record AS r JOIN state AS s ON s.id = r.state
    WHERE r.key = $1 AND r.ark = $2 AND r.deleted_at IS NULL`,
);
/** One snapshot, in which no commit is visible before an earlier one. */
const CHANGES = statement<ChangeRow>(
  `SELECT ${CHANGE_COLUMNS} FROM (SELECT sequence, record FROM change_log
    WHERE (sequence, record) > ($1, $2) ORDER BY sequence, record LIMIT $3) AS c
    JOIN record AS r ON r.id = c.record ORDER BY c.sequence, c.record`,
);

export class Revisions {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async atRevision(ark: string, revision: number): ReturnType<RecordStore["atRevision"]> {
    if (!isStorableText(ark) || !Number.isSafeInteger(revision)) return undefined;
    const row = await this.#statements.first(AT_REVISION, [arkKey(ark), ark, revision]);
    return row && { document: row[0], action: row[1] as Revision["action"], at: row[2] };
  }

  async history(
    ark: string,
    { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number; limit: number },
  ): Promise<Revision[]> {
    if (!isStorableText(ark)) return [];
    const rows = await this.#statements.query(HISTORY, [arkKey(ark), ark, before, limit]);
    return rows.map(([revision, at, by, action, changed]) => ({
      revision,
      at,
      by,
      action: action as Revision["action"],
      changed: changed === null ? [] : storedJson<string[]>(changed, "a list of changes"),
    }));
  }

  async quads(ark: string): Promise<string | undefined> {
    if (!isStorableText(ark)) return undefined;
    const row = await this.#statements.first(QUADS, [arkKey(ark), ark]);
    const quads = row && unpackQuads(row[0]);
    await eventLoop.turnFor(quads?.length ?? 0);
    return quads;
  }

  async changes(after: LogPosition, limit: number): Promise<ChangeLogPage> {
    const asked = [after.sequence, after.record, limit + 1];
    return changeLogPage(await this.#statements.query(CHANGES, asked), after, limit);
  }
}
