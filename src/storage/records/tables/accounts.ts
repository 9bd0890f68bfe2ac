/** Accounts, and the named values of the installation. */
import { arkKey } from "../../../identifiers/ark.js";
import type { Account, AccountChange, ListedAccount, RecordStore } from "../port.js";
import { emailTaken, hasAccount, identityTaken, isSpent, noAccount } from "../refusals.js";
import { numberedPage, readNumber } from "../rows.js";
import { type Flag, isUniqueViolation, type Statements, statement } from "../statements.js";
import { isStorableText } from "../text.js";

export type AccountRow = [
  user: string,
  email: string,
  passwordHash: string,
  admin: Flag,
  tokensValidFrom: number,
  deleted: Flag,
  disabled: Flag,
];
/** Columns of `account AS a`, in the order of {@link AccountRow}. */
export const ACCOUNT_COLUMNS =
  "a.person, a.email, a.password_hash, a.admin, a.tokens_valid_from, a.deleted, a.disabled";
export const accountOf = ([
  user,
  email,
  passwordHash,
  admin,
  tokensValidFrom,
  deleted,
  disabled,
]: AccountRow): Account => ({
  user,
  email,
  passwordHash,
  admin: Boolean(admin),
  tokensValidFrom,
  disabled: Boolean(disabled),
  deleted: Boolean(deleted),
});

type ListedRow = [
  id: number,
  user: string,
  name: string | null,
  email: string,
  admin: Flag,
  disabled: Flag,
  createdAt: number,
  signedInAt: number | null,
];
const listedOf = ([
  ,
  user,
  name,
  email,
  admin,
  disabled,
  createdAt,
  signedInAt,
]: ListedRow): ListedAccount => ({
  user,
  name,
  email,
  admin: Boolean(admin),
  disabled: Boolean(disabled),
  createdAt,
  signedInAt,
});

const SELECT = `SELECT ${ACCOUNT_COLUMNS} FROM account AS a`;
// Accounts that were deleted have no address any more.
const BY_EMAIL = statement<AccountRow>(`${SELECT} WHERE a.email = $1 AND NOT a.deleted`);
const BY_USER = statement<AccountRow>(`${SELECT} WHERE a.person = $1`);
const COUNT = statement<[number]>("SELECT count(*) FROM account WHERE NOT deleted");
const LISTED = `SELECT r.id, a.person, r.name, a.email, a.admin, a.disabled, r.created_at,
  a.signed_in_at FROM record AS r JOIN account AS a ON a.person = r.ark
  WHERE r.kind = 'user' AND r.deleted_at IS NULL AND NOT a.deleted`;
const LIST = statement<ListedRow>(`${LISTED} AND r.id < $1 ORDER BY r.id DESC LIMIT $2`);
// SQLite finds records by their key.
const LISTED_OF = statement<ListedRow>(`${LISTED} AND a.person = $1 AND r.key = $2`);

const CREATE = statement(
  `INSERT INTO account (person, email, password_hash, admin, tokens_valid_from, deleted, disabled)
    VALUES ($1, $2, $3, $4, 0, false, false) ON CONFLICT (person) DO NOTHING`,
);
const UPDATE = statement(
  `UPDATE account SET email = coalesce($2, email), password_hash = coalesce($3, password_hash),
    admin = coalesce($4, admin), tokens_valid_from = coalesce($5, tokens_valid_from),
    disabled = coalesce($6, disabled) WHERE person = $1 AND NOT deleted`,
);
// All private data are removed; the row stays, so that tokens of the account are known as ended.
const DELETE = statement(
  `UPDATE account SET email = '', password_hash = '', admin = false, deleted = true,
    signed_in_at = NULL WHERE person = $1 AND NOT deleted`,
);
const FORGET_CREDENTIALS = statement("DELETE FROM credential WHERE person = $1");
export const LINK = statement(
  `INSERT INTO identity (issuer, subject, person, linked_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING`,
);
const FORGET_IDENTITIES = statement("DELETE FROM identity WHERE person = $1");
const FORGET_REQUESTS = statement("DELETE FROM access_request WHERE requester = $1");
const SIGN_IN = statement("UPDATE account SET signed_in_at = $2 WHERE person = $1 AND NOT deleted");

const SETTING = statement<[string]>("SELECT value FROM setting WHERE name = $1");
const KEEP = statement("INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING");
const SET = statement(
  `INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE
    SET value = excluded.value`,
);
const UNSET = statement("DELETE FROM setting WHERE name = $1");
const SPEND = statement(
  "UPDATE setting SET value = '' WHERE name = $1 AND value = $2 AND value <> ''",
);

export class Accounts {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async accountByEmail(email: string): Promise<Account | undefined> {
    const row = isStorableText(email) ? await this.#statements.first(BY_EMAIL, [email]) : undefined;
    return row && accountOf(row);
  }

  async accountOf(user: string): Promise<Account | undefined> {
    const row = isStorableText(user) ? await this.#statements.first(BY_USER, [user]) : undefined;
    return row && accountOf(row);
  }

  async countAccounts(): Promise<number> {
    return (await this.#statements.one(COUNT))[0];
  }

  async accounts({
    after,
    limit,
  }: Parameters<RecordStore["accounts"]>[0]): ReturnType<RecordStore["accounts"]> {
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : readNumber(after);
    const rows = await this.#statements.query(LIST, [before, limit + 1]);
    return numberedPage(rows, limit, listedOf);
  }

  async listedAccount(user: string): Promise<ListedAccount | undefined> {
    if (!isStorableText(user)) return undefined;
    const row = await this.#statements.first(LISTED_OF, [user, arkKey(user)]);
    return row && listedOf(row);
  }

  /** @throws the refusals of the port; a taken address is refused by the unique index */
  async change(change: AccountChange): Promise<void> {
    const { user } = change;
    if (change.op !== "delete" && change.spends) {
      const { name, value } = change.spends;
      if ((await this.#statements.run(SPEND, [name, value])) === 0) throw isSpent(name);
    }
    const changed = await this.#store(change).catch((error: unknown) => {
      throw isUniqueViolation(error) ? emailTaken() : error;
    });
    if (changed === 0) throw change.op === "create" ? hasAccount(user) : noAccount(user);
    if (change.op === "create" && change.identity) {
      const { issuer, subject, linkedAt } = change.identity;
      if ((await this.#statements.run(LINK, [issuer, subject, user, linkedAt])) === 0)
        throw identityTaken();
    }
    // Not by the time of either: nodes' clocks differ.
    if (change.op === "delete" || (change.op === "update" && change.tokensValidFrom !== undefined))
      await this.#statements.run(FORGET_CREDENTIALS, [user]);
    if (change.op !== "delete") return;
    await this.#statements.run(FORGET_IDENTITIES, [user]);
    await this.#statements.run(FORGET_REQUESTS, [user]);
  }

  /** @returns how many accounts it changed */
  #store(change: AccountChange): Promise<number> {
    const { user } = change;
    switch (change.op) {
      case "create":
        return this.#statements.run(CREATE, [
          user,
          change.email,
          change.passwordHash,
          change.admin,
        ]);
      case "update":
        return this.#statements.run(UPDATE, [
          user,
          change.email ?? null,
          change.passwordHash ?? null,
          change.admin ?? null,
          change.tokensValidFrom ?? null,
          change.disabled ?? null,
        ]);
      case "delete":
        return this.#statements.run(DELETE, [user]);
    }
  }

  async noteSignIn(user: string, at: number): Promise<void> {
    await this.#statements.run(SIGN_IN, [user, at]);
  }

  async setting(name: string): Promise<string | undefined> {
    const row = isStorableText(name) ? await this.#statements.first(SETTING, [name]) : undefined;
    return row?.[0];
  }

  async setSetting(
    ...[name, value, options = {}]: Parameters<RecordStore["setSetting"]>
  ): Promise<string | undefined> {
    if (value === null) await this.#statements.run(UNSET, [name]);
    else await this.#statements.run(options.ifAbsent ? KEEP : SET, [name, value]);
    return (await this.#statements.first(SETTING, [name]))?.[0];
  }
}
