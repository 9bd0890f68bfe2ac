import type { Account } from "../../port.js";
import { isStorableText } from "../../text.js";
import { type Database, statement } from "../statement.js";

export const ACCOUNT_COLUMNS = "person, email, password_hash, admin, tokens_valid_from, deleted";
export type AccountRow = [
  user: string,
  email: string,
  passwordHash: string,
  admin: boolean,
  tokensValidFrom: number,
  deleted: boolean,
];

/** A row of {@link ACCOUNT_COLUMNS} as the port returns it. */
export const accountOf = ([
  user,
  email,
  passwordHash,
  admin,
  tokensValidFrom,
  deleted,
]: AccountRow): Account => ({ user, email, passwordHash, admin, tokensValidFrom, deleted });

// Accounts that were deleted have no address any more.
const BY_EMAIL = statement<AccountRow>(
  `SELECT ${ACCOUNT_COLUMNS} FROM account WHERE email = $1 AND deleted = false`,
);
const BY_USER = statement<AccountRow>(`SELECT ${ACCOUNT_COLUMNS} FROM account WHERE person = $1`);
const COUNT = statement<[number]>("SELECT count(*) FROM account WHERE deleted = false");
const SETTING = statement<[string]>("SELECT value FROM setting WHERE name = $1");

export class AccountReads {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async byEmail(email: string): Promise<Account | undefined> {
    const [row] = isStorableText(email) ? await this.#database.query(BY_EMAIL, [email]) : [];
    return row && accountOf(row);
  }

  async byUser(user: string): Promise<Account | undefined> {
    const [row] = isStorableText(user) ? await this.#database.query(BY_USER, [user]) : [];
    return row && accountOf(row);
  }

  async count(): Promise<number> {
    return (await this.#database.query(COUNT))[0]![0];
  }

  async setting(name: string): Promise<string | undefined> {
    return isStorableText(name) ? (await this.#database.query(SETTING, [name]))[0]?.[0] : undefined;
  }
}
