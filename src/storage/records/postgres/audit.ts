/** The audit log in PostgreSQL; see {@link import("../port.js").AuditStore}. */
import { AUDIT_COLUMNS, auditCondition, auditEntryOf, auditRow, type AuditRow } from "../audit.js";
import type { AuditEntry, AuditFilter, AuditStore, NewAuditEntry, Page } from "../port.js";
import { type Database, type Sending, statement } from "./statement.js";

const mark = (number: number): string => `$${number}`;

const ADD_MANY = statement(
  `INSERT INTO audit (${AUDIT_COLUMNS}) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[],
    $4::text[], $5::text[], $6::text[], $7::text[])`,
);
const ADD = statement(`INSERT INTO audit (${AUDIT_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`);
const REMOVE = statement<[number]>(
  `WITH removed AS (DELETE FROM audit WHERE number IN (SELECT number FROM audit WHERE at < $1
    ORDER BY at LIMIT $2) RETURNING 1) SELECT count(*) FROM removed`,
);

/** The entries of commits, in their transaction. */
export const addAudit = (sending: Sending, entries: readonly NewAuditEntry[]): Promise<void> =>
  sending.rows(ADD_MANY, entries.map(auditRow));

export class Audit implements AuditStore {
  readonly #reading: Database;
  readonly #writing: Database;

  constructor(reading: Database, writing: Database) {
    this.#reading = reading;
    this.#writing = writing;
  }

  /** A transaction, because a statement by itself may be sent twice. */
  async appendAudit(entry: NewAuditEntry): Promise<void> {
    await this.#writing.transaction("", (session) => session.query(ADD, auditRow(entry)));
  }

  async auditEntries({
    filter,
    after,
    limit,
  }: Parameters<AuditStore["auditEntries"]>[0]): Promise<Page<AuditEntry>> {
    const { where, values } = auditCondition(filter, after, mark);
    const rows = await this.#reading.query(
      statement<AuditRow>(
        `SELECT number, ${AUDIT_COLUMNS} FROM audit ${where} ORDER BY number DESC
          LIMIT ${mark(values.length + 1)}`,
      ),
      [...values, limit + 1],
    );
    const items = rows.slice(0, limit).map(auditEntryOf);
    const last = items.at(-1);
    return last && rows.length > limit ? { items, next: String(last.number) } : { items };
  }

  async countAudit(filter: AuditFilter): Promise<number> {
    const { where, values } = auditCondition(filter, undefined, mark);
    const counting = statement<[number]>(`SELECT count(*) FROM audit ${where}`);
    return (await this.#reading.one(counting, values))[0];
  }

  async removeAudit(before: number, limit: number): Promise<number> {
    return (await this.#writing.one(REMOVE, [before, limit]))[0];
  }
}
