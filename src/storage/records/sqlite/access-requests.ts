/** Requests for access in SQLite. */
import { getOrInsert } from "../../../get-or-insert.js";
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
import { type Connection, type Statement, textArray } from "./statement.js";

type Arguments<Call extends keyof AccessRequestStore> = Parameters<AccessRequestStore[Call]>;

const place = (number: number): string => `?${number}`;

export class AccessReads {
  readonly #connection: Connection;
  readonly #byId;
  readonly #byBoth;
  readonly #grants;
  /** Of lists and counts: a few combinations of conditions. */
  readonly #prepared = new Map<string, Statement>();

  constructor(connection: Connection) {
    this.#connection = connection;
    const one = `SELECT ${ACCESS_COLUMNS} FROM access_request WHERE`;
    this.#byId = connection.prepare<AccessRow>(`${one} id = ?`);
    this.#byBoth = connection.prepare<AccessRow>(`${one} record = ? AND requester = ?`);
    this.#grants = connection.prepare<[record: string, until: number | null]>(
      `SELECT a.record, a.expires_at FROM json_each(?1) AS asked
        JOIN access_request AS a ON a.record = asked.value
        WHERE a.requester = ?2 AND a.state = 'granted'`,
    );
  }

  one(which: Arguments<"accessRequest">[0]): AccessRequest | undefined {
    if (!Object.values(which).every(isStorableText)) return undefined;
    return firstRequest(
      "id" in which
        ? this.#byId.get([which.id])
        : this.#byBoth.get([which.record, which.requester]),
    );
  }

  grants(...[requester, records]: Arguments<"accessGrants">) {
    return this.#grants
      .all([textArray(records.filter(isStorableText)), requester])
      .map(([record, until]) => ({ record, until }));
  }

  list(query: Arguments<"accessRequests">[0]): Page<AccessRequest> & { positions: string[] } {
    const { sql, values } = listSql(query, place);
    return accessPage(this.#prepare<AccessRow>(sql).all(values), query.limit);
  }

  count(query: Arguments<"countAccessRequests">[0]): number {
    const { sql, values } = countSql(query, place);
    return this.#prepare<[number]>(sql).one(values)[0];
  }

  #prepare<R extends AccessRow | [number]>(sql: string): Statement<R> {
    const prepare = () => this.#connection.prepare(sql);
    return getOrInsert(this.#prepared, sql, prepare) as unknown as Statement<R>;
  }
}

export class AccessWrites {
  readonly #former;
  readonly #count;
  readonly #forget;
  readonly #add;
  readonly #decide;
  readonly #forgetRecord;

  constructor(connection: Connection) {
    this.#former = connection.prepare<Former>(
      `SELECT state, expires_at, decided_at FROM access_request WHERE record = ? AND requester = ?`,
    );
    this.#count = connection.prepare<[number]>(
      "SELECT count(*) FROM access_request WHERE requester = ? AND state = 'asked'",
    );
    this.#forget = connection.prepare(
      "DELETE FROM access_request WHERE record = ? AND requester = ?",
    );
    this.#add = connection.prepare(
      `INSERT INTO access_request (id, record, requester, reason, state, asked_at)
        VALUES (?, ?, ?, ?, 'asked', ?)`,
    );
    this.#decide = connection.prepare(
      `UPDATE access_request SET state = ?2, expires_at = ?3, message = ?4, decided_at = ?5,
        decided_by = ?6 WHERE id = ?1`,
    );
    this.#forgetRecord = connection.prepare("DELETE FROM access_request WHERE record = ?");
  }

  ask(...[request, { most, decidedBefore }]: Arguments<"askForAccess">): boolean {
    const { id, record, requester, reason, askedAt } = request;
    const former = this.#former.get([record, requester]);
    if (former && !mayAskAgain(former, askedAt, decidedBefore)) return false;
    if (this.#count.one([requester])[0] >= most) return false;
    this.#forget.run([record, requester]);
    this.#add.run([id, record, requester, reason, askedAt]);
    return true;
  }

  decide(...[decision]: Arguments<"decideAccess">): boolean {
    const { id, state, until, message, decidedAt, decidedBy } = decision;
    return this.#decide.run([id, state, until, message, decidedAt, decidedBy]) > 0;
  }

  /** A deleted record has no content to read. */
  forgetRecord(ark: string): void {
    this.#forgetRecord.put([ark]);
  }
}
