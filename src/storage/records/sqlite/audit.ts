/** The audit log in SQLite; see {@link import("../port.js").AuditStore}. */
import { AUDIT_COLUMNS, auditCondition, auditEntryOf, auditRow, type AuditRow } from "../audit.js";
import type { AuditEntry, AuditFilter, AuditStore, NewAuditEntry, Page } from "../port.js";
import type { Connection } from "./statement.js";

const mark = (number: number): string => `?${number}`;

export class AuditReads {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  list({ filter, after, limit }: Parameters<AuditStore["auditEntries"]>[0]): Page<AuditEntry> {
    const { where, values } = auditCondition(filter, after, mark);
    const rows = this.#connection
      .prepare<AuditRow>(
        `SELECT number, ${AUDIT_COLUMNS} FROM audit ${where} ORDER BY number DESC
          LIMIT ${mark(values.length + 1)}`,
      )
      .all([...values, limit + 1]);
    const items = rows.slice(0, limit).map(auditEntryOf);
    const last = items.at(-1);
    return last && rows.length > limit ? { items, next: String(last.number) } : { items };
  }

  count(filter: AuditFilter): number {
    const { where, values } = auditCondition(filter, undefined, mark);
    return this.#connection.prepare<[number]>(`SELECT count(*) FROM audit ${where}`).one(values)[0];
  }
}

export class AuditWrites {
  readonly #add;
  readonly #remove;

  constructor(connection: Connection) {
    this.#add = connection.prepare(
      `INSERT INTO audit (${AUDIT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#remove = connection.prepare(
      `DELETE FROM audit WHERE number IN (SELECT number FROM audit WHERE at < ?1
        ORDER BY at LIMIT ?2)`,
    );
  }

  add(entries: readonly NewAuditEntry[]): void {
    for (const entry of entries) this.#add.put(auditRow(entry));
  }

  remove(before: number, limit: number): number {
    return this.#remove.run([before, limit]);
  }
}
