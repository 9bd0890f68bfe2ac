/** Requests for access as both databases store and list them. */
import type { AccessRequest, AccessRequestQuery, AccessState, Page } from "./port.js";
import { badPosition } from "./rows.js";
import { isStorableText } from "./text.js";
import { actsForSql, viewerKey } from "./visibility.js";

export const ACCESS_COLUMNS =
  "id, record, requester, reason, state, asked_at, expires_at, message, decided_at, decided_by";
export type AccessRow = [
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
export const firstRequest = (row: AccessRow | undefined): AccessRequest | undefined =>
  row && accessRequestOf(row);

/** What is in the way of the same question, if it is: see the port's `askForAccess`. */
export type Former = [state: string, until: number | null, decidedAt: number | null];
export function mayAskAgain(
  [state, until, decidedAt]: Former,
  at: number,
  decidedBefore: number,
): boolean {
  if (state === "granted") return until !== null && until <= at;
  return state !== "asked" && (decidedAt ?? 0) <= decidedBefore;
}

type Parameter = string | number;

/** The conditions of a list, with their parameters. @param place of a parameter, by its number */
function conditionsOf(
  { record, requester, actingFor, state, now }: AccessRequestQuery,
  place: (number: number) => string,
): { sql: string; values: Parameter[] } {
  const values: Parameter[] = [];
  const add = (value: Parameter): string => place(values.push(value));
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

/** A page of a list, and one row more. @throws ServiceError `BAD_REQUEST` for another position */
export function listSql(
  { after, limit, ...query }: AccessRequestQuery & { after?: string | undefined; limit: number },
  place: (number: number) => string,
): { sql: string; values: Parameter[] } {
  const { sql: conditions, values } = conditionsOf(query, place);
  const add = (value: Parameter): string => place(values.push(value));
  let sql = `SELECT ${ACCESS_COLUMNS} FROM access_request AS a WHERE ${conditions}`;
  if (after !== undefined) {
    const [, at, id] = POSITION.exec(after) ?? badPosition();
    sql += ` AND (a.asked_at, a.id) < (${add(Number(at))}, ${add(id!)})`;
  }
  return { sql: `${sql} ORDER BY a.asked_at DESC, a.id DESC LIMIT ${add(limit + 1)}`, values };
}

export function countSql(
  query: AccessRequestQuery,
  place: (number: number) => string,
): { sql: string; values: Parameter[] } {
  const { sql, values } = conditionsOf(query, place);
  return { sql: `SELECT count(*) FROM access_request AS a WHERE ${sql}`, values };
}

export function accessPage(
  rows: readonly AccessRow[],
  limit: number,
): Page<AccessRequest> & { positions: string[] } {
  const items = rows.slice(0, limit).map(accessRequestOf);
  const positions = items.map(({ askedAt, id }) => `${askedAt}.${id}`);
  const next = rows.length > limit ? positions.at(-1) : undefined;
  return { items, positions, ...(next === undefined ? {} : { next }) };
}
