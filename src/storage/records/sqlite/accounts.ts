/** Accounts and their credentials in SQLite. */
import type {
  Account,
  AccountChange,
  Credential,
  CredentialPurpose,
  CredentialStore,
  Identity,
  ListedAccount,
  RecordStore,
} from "../port.js";
import { emailTaken, hasAccount, isSpent, noAccount } from "../refusals.js";
import { readNumber, credentialOf, type CredentialRow } from "../rows.js";
import { isStorableText } from "../text.js";
import { type Connection, isUniqueViolation } from "./statement.js";

type AccountRow = [
  user: string,
  email: string,
  passwordHash: string,
  admin: number,
  tokensValidFrom: number,
  deleted: number,
  disabled: number,
];
const ACCOUNT_COLUMNS = "user, email, password_hash, admin, tokens_valid_from, deleted, disabled";

type ListedRow = [
  id: number,
  user: string,
  name: string | null,
  email: string,
  admin: number,
  disabled: number,
  createdAt: number,
  signedInAt: number | null,
];

type ListedPage = Awaited<ReturnType<RecordStore["accounts"]>>;

export class AccountReads {
  readonly #byEmail;
  readonly #byUser;
  readonly #count;
  readonly #setting;
  readonly #list;
  readonly #listed;

  constructor(connection: Connection) {
    const listed = `SELECT r.id, a.user, r.name, a.email, a.admin, a.disabled, r.created_at,
      a.signed_in_at FROM record AS r JOIN account AS a ON a.user = r.ark
      WHERE r.kind = 'user' AND r.deleted_at IS NULL AND a.deleted = 0`;
    this.#list = connection.prepare<ListedRow>(`${listed} AND r.id < ? ORDER BY r.id DESC LIMIT ?`);
    this.#listed = connection.prepare<ListedRow>(`${listed} AND a.user = ?`);
    this.#byEmail = connection.prepare<AccountRow>(
      `SELECT ${ACCOUNT_COLUMNS} FROM account WHERE email = ? AND deleted = 0`,
    );
    this.#byUser = connection.prepare<AccountRow>(
      `SELECT ${ACCOUNT_COLUMNS} FROM account WHERE user = ?`,
    );
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
    return this.#count.one()[0];
  }

  list({ after, limit }: { after?: string; limit: number }): ListedPage {
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : readNumber(after);
    const rows = this.#list.all([before, limit + 1]);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page.map(listedOf),
      positions: page.map(([id]) => String(id)),
      ...(last && rows.length > limit ? { next: String(last[0]) } : {}),
    };
  }

  listed(user: string): ListedAccount | undefined {
    const row = isStorableText(user) ? this.#listed.get([user]) : undefined;
    return row && listedOf(row);
  }

  setting(name: string): string | undefined {
    return isStorableText(name) ? this.#setting.get([name])?.[0] : undefined;
  }
}

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
  admin: admin === 1,
  disabled: disabled === 1,
  createdAt,
  signedInAt,
});

function accountOf(row: AccountRow | undefined): Account | undefined {
  if (!row) return undefined;
  const [user, email, passwordHash, admin, tokensValidFrom, deleted, disabled] = row;
  return {
    user,
    email,
    passwordHash,
    admin: admin === 1,
    tokensValidFrom,
    disabled: disabled === 1,
    deleted: deleted === 1,
  };
}

/** Accounts and the installation's own values. */
export class AccountWrites {
  readonly #create;
  readonly #update;
  readonly #delete;
  readonly #forget;
  readonly #forgetIdentities;
  readonly #forgetRequests;
  readonly #signIn;
  readonly #setting;
  readonly #keep;
  readonly #set;
  readonly #unset;
  readonly #spend;

  constructor(connection: Connection) {
    this.#create = connection.prepare(
      `INSERT INTO account (user, email, password_hash, admin, tokens_valid_from, deleted, disabled)
        VALUES (?, ?, ?, ?, 0, 0, 0)`,
    );
    this.#update =
      connection.prepare(`UPDATE account SET email = coalesce(?2, email), password_hash = coalesce(?3,
          password_hash), admin = coalesce(?4, admin), tokens_valid_from = coalesce(?5,
          tokens_valid_from), disabled = coalesce(?6, disabled) WHERE user = ?1 AND deleted = 0`);
    // All private data are removed; the row stays, so that tokens of the account are known to be
    // ended.
    this.#delete = connection.prepare(
      `UPDATE account SET email = '', password_hash = '', admin = 0, deleted = 1,
        signed_in_at = NULL WHERE user = ? AND deleted = 0`,
    );
    this.#forget = connection.prepare("DELETE FROM credential WHERE user = ?");
    this.#forgetIdentities = connection.prepare("DELETE FROM identity WHERE user = ?");
    this.#forgetRequests = connection.prepare("DELETE FROM access_request WHERE requester = ?");
    this.#signIn = connection.prepare(
      "UPDATE account SET signed_in_at = ?2 WHERE user = ?1 AND deleted = 0",
    );
    this.#setting = connection.prepare<[string]>("SELECT value FROM setting WHERE name = ?");
    this.#keep = connection.prepare(
      "INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
    );
    this.#set = connection.prepare(
      `INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE
        SET value = excluded.value`,
    );
    this.#spend = connection.prepare(
      "UPDATE setting SET value = '' WHERE name = ?1 AND value = ?2 AND value <> ''",
    );
    this.#unset = connection.prepare("DELETE FROM setting WHERE name = ?");
  }

  apply(change: AccountChange): void {
    if (
      change.op !== "delete" &&
      change.spends &&
      this.#spend.run([change.spends.name, change.spends.value]) === 0
    ) {
      throw isSpent(change.spends.name);
    }
    try {
      if (change.op === "create") {
        this.#create.run([change.user, change.email, change.passwordHash, change.admin ? 1 : 0]);
        return;
      }
      const changes =
        change.op === "delete"
          ? this.#delete.run([change.user])
          : this.#update.run([
              change.user,
              change.email ?? null,
              change.passwordHash ?? null,
              change.admin === undefined ? null : Number(change.admin),
              change.tokensValidFrom ?? null,
              change.disabled === undefined ? null : Number(change.disabled),
            ]);
      // Not by the time of either: nodes' clocks differ.
      if (change.op === "delete" || change.tokensValidFrom !== undefined)
        this.#forget.run([change.user]);
      if (change.op === "delete") {
        this.#forgetIdentities.run([change.user]);
        this.#forgetRequests.run([change.user]);
      }
      if (changes === 0) throw noAccount(change.user);
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      // The primary key is the user, whose record was new in this very commit; so the duplicate is
      // the address.
      if (/account\.user/.test((error as Error).message)) throw hasAccount(change.user);
      throw emailTaken();
    }
  }

  noteSignIn(user: string, at: number): void {
    this.#signIn.run([user, at]);
  }

  set(
    name: string,
    value: string | null,
    options: { ifAbsent?: boolean } = {},
  ): string | undefined {
    if (value === null) this.#unset.run([name]);
    else (options.ifAbsent ? this.#keep : this.#set).run([name, value]);
    return this.#setting.get([name])?.[0];
  }
}

const IDENTITY = "issuer, subject, user, linked_at";
type IdentityRow = [issuer: string, subject: string, user: string, linkedAt: number];
const identityOf = ([issuer, subject, user, linkedAt]: IdentityRow): Identity => ({
  issuer,
  subject,
  user,
  linkedAt,
});

/** Reads of {@link IdentityStore}. */
export class IdentityReads {
  readonly #one;
  readonly #of;

  constructor(connection: Connection) {
    this.#one = connection.prepare<IdentityRow>(
      `SELECT ${IDENTITY} FROM identity WHERE issuer = ? AND subject = ?`,
    );
    this.#of = connection.prepare<IdentityRow>(
      `SELECT ${IDENTITY} FROM identity WHERE user = ? ORDER BY linked_at, issuer, subject`,
    );
  }

  one(issuer: string, subject: string): Identity | undefined {
    const row = isStorableText(subject) ? this.#one.get([issuer, subject]) : undefined;
    return row && identityOf(row);
  }

  of(user: string): Identity[] {
    return isStorableText(user) ? this.#of.all([user]).map(identityOf) : [];
  }
}

/** Writes of {@link IdentityStore}. */
export class IdentityWrites {
  readonly #link;
  readonly #unlink;

  constructor(connection: Connection) {
    this.#link = connection.prepare(
      `INSERT INTO identity (${IDENTITY}) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    );
    this.#unlink = connection.prepare("DELETE FROM identity WHERE user = ? AND issuer = ?");
  }

  link({ issuer, subject, user, linkedAt }: Identity): boolean {
    return this.#link.run([issuer, subject, user, linkedAt]) > 0;
  }

  unlink(user: string, issuer: string): void {
    this.#unlink.run([user, issuer]);
  }
}

const COLUMNS = "hash, id, user, purpose, name, created_at, used_at, expires_at, scopes, bound_to";
/** Reads of {@link CredentialStore}. */
export class CredentialReads {
  readonly #byHash;
  readonly #account;
  readonly #of;

  constructor(connection: Connection) {
    this.#byHash = connection.prepare<CredentialRow>(
      `SELECT ${COLUMNS} FROM credential WHERE hash = ?`,
    );
    this.#account = connection.prepare<AccountRow>(
      `SELECT ${ACCOUNT_COLUMNS} FROM account WHERE user = ?`,
    );
    this.#of = connection.prepare<CredentialRow>(
      `SELECT ${COLUMNS} FROM credential WHERE user = ? AND purpose = ?
        ORDER BY created_at DESC, hash`,
    );
  }

  byHash(hash: string): { credential: Credential; account: Account } | undefined {
    const row = isStorableText(hash) ? this.#byHash.get([hash]) : undefined;
    const account = row && accountOf(this.#account.get([row[2]]));
    return account && { credential: credentialOf(row), account };
  }

  of(user: string, purpose: CredentialPurpose): Credential[] {
    return isStorableText(user) ? this.#of.all([user, purpose]).map(credentialOf) : [];
  }
}

/** Writes of {@link CredentialStore}. */
export class CredentialWrites {
  readonly #expire;
  readonly #count;
  readonly #add;
  readonly #makePlace;
  readonly #use;
  readonly #removeHash;
  readonly #removeId;

  constructor(connection: Connection) {
    this.#expire = connection.prepare("DELETE FROM credential WHERE user = ? AND expires_at <= ?");
    this.#count = connection.prepare<[number]>(
      "SELECT count(*) FROM credential WHERE user = ? AND purpose = ?",
    );
    this.#add = connection.prepare(
      `INSERT INTO credential (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#makePlace = connection.prepare(
      `DELETE FROM credential WHERE hash IN (SELECT hash FROM credential
        WHERE user = ? AND purpose = ? ORDER BY created_at DESC, hash LIMIT -1 OFFSET ?)`,
    );
    this.#use = connection.prepare("UPDATE credential SET used_at = ?2 WHERE hash = ?1");
    this.#removeHash = connection.prepare("DELETE FROM credential WHERE hash = ?");
    this.#removeId = connection.prepare(
      "DELETE FROM credential WHERE user = ? AND purpose = ? AND id = ?",
    );
  }

  store(...[credential, { most, replaces }]: Parameters<CredentialStore["storeCredential"]>) {
    const { hash, id, user, purpose, name, createdAt, usedAt, expiresAt } = credential;
    const { scopes, boundTo } = credential;
    const row = [hash, id, user, purpose, name, createdAt, usedAt, expiresAt, scopes, boundTo];
    this.#expire.run([user, createdAt]);
    if (replaces) this.#makePlace.run([user, purpose, most - 1]);
    else if (this.#count.one([user, purpose])[0] >= most) return false;
    this.#add.run(row);
    return true;
  }

  use(hash: string, at: number): void {
    this.#use.run([hash, at]);
  }

  remove(which: Parameters<CredentialStore["removeCredential"]>[0]): boolean {
    return "hash" in which
      ? this.#removeHash.run([which.hash]) > 0
      : this.#removeId.run([which.user, which.purpose, which.id]) > 0;
  }
}
