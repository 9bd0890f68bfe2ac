/** Requests for access. */
import type {
  AccessRequest,
  AccessRequestQuery,
  AccessRequestStore,
  AccessState,
} from "../port.js";
import { badPosition } from "../rows.js";
import { type Statements, statement } from "../statements.js";
import { isStorableText } from "../text.js";
import { actsForSql, viewerKey } from "../visibility.js";
import { LOCK_ACCOUNT } from "./credentials.js";

const COLUMNS =
  "id, record, requester, reason, state, asked_at, expires_at, message, decided_at, decided_by";
type AccessRow = [
  id: string,
  record: string,
  requester: string,
  reason: string,
  state: string,
  askedAt: number,
  until: number | null,
  message: string | null,
  decidedAt: number | null,
  decidedBy: string | null,
];

const accessRequestOf = ([
  id,
  record,
  requester,
  reason,
  state,
  askedAt,
  until,
  message,
  decidedAt,
  decidedBy,
]: AccessRow): AccessRequest => ({
  id,
  record,
  requester,
  reason,
  state: state as AccessState,
  askedAt,
  until,
  message,
  decidedAt,
  decidedBy,
});
/** What is in the way of the same question, if it is: see the port's `askForAccess`. */
type Former = [state: string, until: number | null, decidedAt: number | null];
function mayAskAgain(
  [state, until, decidedAt]: Former,
  at: number,
  decidedBefore: number,
): boolean {
  if (state === "granted") return until !== null && until <= at;
  return state !== "asked" && (decidedAt ?? 0) <= decidedBefore;
}

type Parameter = string | number;

/** The conditions of a list, with their parameters. */
function conditionsOf({ record, requester, actingFor, state, now }: AccessRequestQuery): {
  sql: string;
  values: Parameter[];
} {
  const values: Parameter[] = [];
  const add = (value: Parameter): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  // No record and no user has such an identifier.
  const isAskable = [record, requester].every((ark) => ark === undefined || isStorableText(ark));
  if (!isAskable) return { sql: "1 = 0", values };
  if (record !== undefined) conditions.push(`a.record = ${add(record)}`);
  if (requester !== undefined) conditions.push(`a.requester = ${add(requester)}`);
  if (actingFor !== undefined) {
    const viewer = `CAST(${add(viewerKey(actingFor) ?? "")} AS text)`;
    conditions.push(`EXISTS (SELECT 1 FROM record AS r WHERE r.ark = a.record
      AND r.deleted_at IS NULL AND r.owner_key IN (${actsForSql(viewer)}))`);
  }
  if (state !== undefined)
    conditions.push(`a.state = ${add(state === "expired" ? "granted" : state)}`);
  if (state === "granted") conditions.push(`(a.expires_at IS NULL OR a.expires_at > ${add(now)})`);
  if (state === "expired") conditions.push(`a.expires_at <= ${add(now)}`);
  return { sql: conditions.join(" AND ") || "1 = 1", values };
}

const POSITION = /^(\d{1,15})\.([\w-]{1,64})$/;

const ONE = `SELECT ${COLUMNS} FROM access_request WHERE`;
const BY_ID = statement<AccessRow>(`${ONE} id = $1`);
const BY_BOTH = statement<AccessRow>(`${ONE} record = $1 AND requester = $2`);
const FORMER = statement<Former>(
  "SELECT state, expires_at, decided_at FROM access_request WHERE record = $1 AND requester = $2",
);
const COUNT = statement<[number]>(
  "SELECT count(*) FROM access_request WHERE requester = $1 AND state = 'asked'",
);
const FORGET = statement("DELETE FROM access_request WHERE record = $1 AND requester = $2");
const ADD = statement(
  `INSERT INTO access_request (id, record, requester, reason, state, asked_at)
    VALUES ($1, $2, $3, $4, 'asked', $5)`,
);
const DECIDE = statement(
  `UPDATE access_request SET state = $2, expires_at = $3, message = $4, decided_at = $5,
    decided_by = $6 WHERE id = $1`,
);

type Arguments<Call extends keyof AccessRequestStore> = Parameters<AccessRequestStore[Call]>;

export class AccessRequests implements AccessRequestStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async accessRequest(...[which]: Arguments<"accessRequest">): Promise<AccessRequest | undefined> {
    if (!Object.values(which).every(isStorableText)) return undefined;
    const row = await ("id" in which
      ? this.#statements.first(BY_ID, [which.id])
      : this.#statements.first(BY_BOTH, [which.record, which.requester]));
    return row && accessRequestOf(row);
  }

  async accessGrants(
    ...[requester, records]: Arguments<"accessGrants">
  ): ReturnType<AccessRequestStore["accessGrants"]> {
    const granted = statement<[record: string, until: number | null]>(
      `SELECT record, expires_at FROM access_request
        WHERE ${this.#statements.isOneOf("record", "$1")} AND requester = $2
        AND state = 'granted'`,
    );
    const rows = await this.#statements.query(granted, [records.filter(isStorableText), requester]);
    return rows.map(([record, until]) => ({ record, until }));
  }

  async accessRequests({
    after,
    limit,
    ...query
  }: Arguments<"accessRequests">[0]): ReturnType<AccessRequestStore["accessRequests"]> {
    const { sql: conditions, values } = conditionsOf(query);
    const add = (value: Parameter): string => `$${values.push(value)}`;
    let sql = `SELECT ${COLUMNS} FROM access_request AS a WHERE ${conditions}`;
    if (after !== undefined) {
      const [, at, id] = POSITION.exec(after) ?? badPosition();
      sql += ` AND (a.asked_at, a.id) < (${add(Number(at))}, ${add(id!)})`;
    }
    sql += ` ORDER BY a.asked_at DESC, a.id DESC LIMIT ${add(limit + 1)}`;
    const rows = await this.#statements.query(statement<AccessRow>(sql), values);
    const items = rows.slice(0, limit).map(accessRequestOf);
    const positions = items.map(({ askedAt, id }) => `${askedAt}.${id}`);
    const next = rows.length > limit ? positions.at(-1) : undefined;
    return { items, positions, ...(next === undefined ? {} : { next }) };
  }

  async countAccessRequests(...[query]: Arguments<"countAccessRequests">): Promise<number> {
    const { sql, values } = conditionsOf(query);
    const counting = statement<[number]>(`SELECT count(*) FROM access_request AS a WHERE ${sql}`);
    return (await this.#statements.one(counting, values))[0];
  }

  async askForAccess(
    ...[request, { most, decidedBefore }]: Arguments<"askForAccess">
  ): Promise<boolean> {
    const { id, record, requester, reason, askedAt } = request;
    await this.#statements.lock(LOCK_ACCOUNT, [requester]);
    const former = await this.#statements.first(FORMER, [record, requester]);
    if (former && !mayAskAgain(former, askedAt, decidedBefore)) return false;
    if ((await this.#statements.one(COUNT, [requester]))[0] >= most) return false;
    await this.#statements.run(FORGET, [record, requester]);
    await this.#statements.run(ADD, [id, record, requester, reason, askedAt]);
    return true;
  }

  async decideAccess(...[decision]: Arguments<"decideAccess">): Promise<boolean> {
    const { id, state, until, message, decidedAt, decidedBy } = decision;
    const values = [id, state, until, message, decidedAt, decidedBy];
    return (await this.#statements.run(DECIDE, values)) > 0;
  }

  /** Deleted records have no content to read. */
  async forget(deleted: readonly string[]): Promise<void> {
    const those = this.#statements.isOneOf("record", "$1");
    await this.#statements.run(statement(`DELETE FROM access_request WHERE ${those}`), [deleted]);
  }
}
