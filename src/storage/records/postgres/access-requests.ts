/** Requests for access in PostgreSQL. */
import {
  ACCESS_COLUMNS,
  accessPage,
  type AccessRow,
  countSql,
  firstRequest,
  type Former,
  listSql,
  mayAskAgain,
} from "../access-requests.js";
import type { AccessRequest, AccessRequestStore, Page } from "../port.js";
import { isStorableText } from "../text.js";
import { type Database, type Sending, statement } from "./statement.js";

type Arguments<Call extends keyof AccessRequestStore> = Parameters<AccessRequestStore[Call]>;

const place = (number: number): string => `$${number}`;
const ONE = `SELECT ${ACCESS_COLUMNS} FROM access_request WHERE`;
const BY_ID = statement<AccessRow>(`${ONE} id = $1`);
const BY_BOTH = statement<AccessRow>(`${ONE} record = $1 AND requester = $2`);
const GRANTS = statement<[record: string, until: number | null]>(
  `SELECT record, expires_at FROM access_request
    WHERE record = ANY($1::text[]) AND requester = $2 AND state = 'granted'`,
);
/** Two requests of one account wait for each other, so that its limit holds. */
const LOCK = statement("SELECT 1 FROM account WHERE person = $1 FOR UPDATE");
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
const DECIDE = statement<[string]>(
  `UPDATE access_request SET state = $2, expires_at = $3, message = $4, decided_at = $5,
    decided_by = $6 WHERE id = $1 RETURNING id`,
);
const FORGET_RECORDS = statement("DELETE FROM access_request WHERE record = ANY($1::text[])");
const FORGET_USER = statement("DELETE FROM access_request WHERE requester = $1");

/** Deleted records have no content to read. */
export function forgetRequestsFor(sending: Sending, deleted: readonly string[]): void {
  if (deleted.length > 0) void sending.send(FORGET_RECORDS, [deleted]);
}
export const forgetRequestsOf = (sending: Sending, user: string): void =>
  void sending.send(FORGET_USER, [user]);

/** They wait for no commit: they are rows of their own. */
export class AccessRequests implements AccessRequestStore {
  readonly #reading: Database;
  readonly #writing: Database;

  constructor(reading: Database, writing: Database) {
    this.#reading = reading;
    this.#writing = writing;
  }

  askForAccess(...[request, { most, decidedBefore }]: Arguments<"askForAccess">): Promise<boolean> {
    const { id, record, requester, reason, askedAt } = request;
    return this.#writing.transaction("", async (session) => {
      await session.query(LOCK, [requester]);
      const [former] = await session.query(FORMER, [record, requester]);
      if (former && !mayAskAgain(former, askedAt, decidedBefore)) return false;
      if ((await session.one(COUNT, [requester]))[0] >= most) return false;
      await session.query(FORGET, [record, requester]);
      await session.query(ADD, [id, record, requester, reason, askedAt]);
      return true;
    });
  }

  async accessRequest(...[which]: Arguments<"accessRequest">): Promise<AccessRequest | undefined> {
    if (!Object.values(which).every(isStorableText)) return undefined;
    const [row] = await ("id" in which
      ? this.#reading.query(BY_ID, [which.id])
      : this.#reading.query(BY_BOTH, [which.record, which.requester]));
    return firstRequest(row);
  }

  async accessGrants(
    ...[requester, records]: Arguments<"accessGrants">
  ): ReturnType<AccessRequestStore["accessGrants"]> {
    const rows = await this.#reading.query(GRANTS, [records.filter(isStorableText), requester]);
    return rows.map(([record, until]) => ({ record, until }));
  }

  async accessRequests(
    ...[query]: Arguments<"accessRequests">
  ): Promise<Page<AccessRequest> & { positions: string[] }> {
    const { sql, values } = listSql(query, place);
    return accessPage(await this.#reading.query(statement<AccessRow>(sql), values), query.limit);
  }

  async countAccessRequests(...[query]: Arguments<"countAccessRequests">): Promise<number> {
    const { sql, values } = countSql(query, place);
    return (await this.#reading.one(statement<[number]>(sql), values))[0];
  }

  async decideAccess(...[decision]: Arguments<"decideAccess">): Promise<boolean> {
    const { id, state, until, message, decidedAt, decidedBy } = decision;
    const values = [id, state, until, message, decidedAt, decidedBy];
    return (await this.#writing.query(DECIDE, values)).length > 0;
  }
}
