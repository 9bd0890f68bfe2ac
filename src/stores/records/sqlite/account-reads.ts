import type { Account } from "../accounts-port.js";
import { type Connection } from "./statement.js";
import { isStorableText } from "../storable.js";

type AccountRow = [user: string, email: string, passwordHash: string, admin: number, tokensValidFrom: number, deleted: number];
const COLUMNS = "user, email, password_hash, admin, tokens_valid_from, deleted";

export class AccountReads {
  readonly #byEmail;
  readonly #byUser;
  readonly #count;
  readonly #setting;

  constructor(connection: Connection) {
    this.#byEmail = connection.prepare<AccountRow>(`SELECT ${COLUMNS} FROM account WHERE email = ? AND deleted = 0`);
    this.#byUser = connection.prepare<AccountRow>(`SELECT ${COLUMNS} FROM account WHERE user = ?`);
    this.#count = connection.prepare<[number]>("SELECT count(*) FROM account WHERE deleted = 0");
    this.#setting = connection.prepare<[string]>("SELECT value FROM setting WHERE name = ?");
  }

  /** Accounts that were deleted have no address any more. */
  byEmail(email: string): Account | undefined {
    return isStorableText(email) ? accountOf(this.#byEmail.get([email])) : undefined;
  }

  byUser(user: string): Account | undefined {
    return isStorableText(user) ? accountOf(this.#byUser.get([user])) : undefined;
  }

  count(): number {
    return this.#count.get()![0];
  }

  setting(name: string): string | undefined {
    return isStorableText(name) ? this.#setting.get([name])?.[0] : undefined;
  }
}

function accountOf(row: AccountRow | undefined): Account | undefined {
  if (!row) return undefined;
  const [user, email, passwordHash, admin, tokensValidFrom, deleted] = row;
  return { user, email, passwordHash, admin: admin === 1, tokensValidFrom, deleted: deleted === 1 };
}
