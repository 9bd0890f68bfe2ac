/** The audit log. */
import type {
  AuditAction,
  AuditDetail,
  AuditEntry,
  AuditFilter,
  AuditStore,
  NewAuditEntry,
  Page,
} from "../port.js";
import { readNumber } from "../rows.js";
import { type Statements, statement } from "../statements.js";
import { indexable } from "../text.js";

/** Columns of a new entry, in the order of {@link rowOf}. */
const COLUMNS = "at, action, actor, name, address, subject, detail";

type NewRow = [
  at: number,
  action: string,
  actor: string | null,
  name: string | null,
  address: string | null,
  subject: string | null,
  detail: string,
];
type AuditRow = [number: number, ...NewRow];

const rowOf = (entry: NewAuditEntry): NewRow => [
  entry.at,
  entry.action,
  entry.actor,
  // Whoever signs in may send any text.
  entry.name === null ? null : indexable(entry.name),
  entry.address,
  entry.subject,
  JSON.stringify(entry.detail),
];

const entryOf = ([
  number,
  at,
  action,
  actor,
  name,
  address,
  subject,
  detail,
]: AuditRow): AuditEntry => ({
  number,
  at,
  action: action as AuditAction,
  actor,
  name,
  address,
  subject,
  detail: JSON.parse(detail) as AuditDetail,
});

/**
 * The condition of a filter, and of a position.
 * @throws ServiceError `BAD_REQUEST` for a position that is no number
 */
function conditionOf(
  { action, actor, subject, from, to }: AuditFilter,
  after: string | undefined,
): { where: string; values: (string | number)[] } {
  const parts: string[] = [];
  const values: (string | number)[] = [];
  const add = (column: string, value: string | number | undefined): void => {
    if (value === undefined) return;
    values.push(typeof value === "string" ? indexable(value) : value);
    parts.push(`${column} $${values.length}`);
  };
  add("action =", action);
  add("actor =", actor);
  add("subject =", subject);
  add("at >=", from);
  add("at <", to);
  add("number <", after === undefined ? undefined : readNumber(after));
  return { where: parts.length === 0 ? "" : `WHERE ${parts.join(" AND ")}`, values };
}

const ADD = statement(`INSERT INTO audit (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`);
const REMOVE = statement(
  `DELETE FROM audit WHERE number IN (SELECT number FROM audit WHERE at < $1
    ORDER BY at LIMIT $2)`,
);

export class Audit implements AuditStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async auditEntries({
    filter,
    after,
    limit,
  }: Parameters<AuditStore["auditEntries"]>[0]): Promise<Page<AuditEntry>> {
    const { where, values } = conditionOf(filter, after);
    const listing = statement<AuditRow>(
      `SELECT number, ${COLUMNS} FROM audit ${where} ORDER BY number DESC
        LIMIT $${values.length + 1}`,
    );
    const rows = await this.#statements.query(listing, [...values, limit + 1]);
    const items = rows.slice(0, limit).map(entryOf);
    const last = items.at(-1);
    return last && rows.length > limit ? { items, next: String(last.number) } : { items };
  }

  async countAudit(filter: AuditFilter): Promise<number> {
    const { where, values } = conditionOf(filter, undefined);
    const counting = statement<[number]>(`SELECT count(*) FROM audit ${where}`);
    return (await this.#statements.one(counting, values))[0];
  }

  async appendAudit(entry: NewAuditEntry): Promise<void> {
    await this.#statements.run(ADD, rowOf(entry));
  }

  async removeAudit(before: number, limit: number): Promise<number> {
    return this.#statements.run(REMOVE, [before, limit]);
  }
}
