/** Accounts, their credentials and settings in PostgreSQL. */
import type {
  Account,
  Credential,
  CredentialPurpose,
  CredentialStore,
  Identity,
  IdentityStore,
  ListedAccount,
  RecordStore,
} from "../port.js";
import {
  readNumber,
  type SubmissionRow as Stored,
  submissionOf as ofRow,
  credentialOf,
  type CredentialRow,
} from "../rows.js";
import type { Submission, SubmissionPage } from "../port/submissions.js";
import { isStorableText } from "../text.js";
import { type Database, statement } from "./statement.js";

export const ACCOUNT_COLUMNS =
  "person, email, password_hash, admin, tokens_valid_from, deleted, disabled";
export type AccountRow = [
  user: string,
  email: string,
  passwordHash: string,
  admin: boolean,
  tokensValidFrom: number,
  deleted: boolean,
  disabled: boolean,
];

/** A row of {@link ACCOUNT_COLUMNS} as the port returns it. */
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
  admin,
  tokensValidFrom,
  disabled,
  deleted,
});

// Accounts that were deleted have no address any more.
const BY_EMAIL = statement<AccountRow>(
  `SELECT ${ACCOUNT_COLUMNS} FROM account WHERE email = $1 AND deleted = false`,
);
const BY_USER = statement<AccountRow>(`SELECT ${ACCOUNT_COLUMNS} FROM account WHERE person = $1`);
const COUNT_ACCOUNTS = statement<[number]>("SELECT count(*) FROM account WHERE deleted = false");
type ListedRow = [
  id: number,
  user: string,
  name: string | null,
  email: string,
  admin: boolean,
  disabled: boolean,
  createdAt: number,
  signedInAt: number | null,
];
const LISTED = `SELECT r.id, a.person, r.name, a.email, a.admin, a.disabled, r.created_at,
    a.signed_in_at FROM record AS r JOIN account AS a ON a.person = r.ark
    WHERE r.kind = 'user' AND r.deleted_at IS NULL AND a.deleted = false`;
const LIST = statement<ListedRow>(`${LISTED} AND r.id < $1 ORDER BY r.id DESC LIMIT $2`);
const LISTED_OF = statement<ListedRow>(`${LISTED} AND a.person = $1`);
const SETTING = statement<[string]>("SELECT value FROM setting WHERE name = $1");

type ListedPage = Awaited<ReturnType<RecordStore["accounts"]>>;

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
    return (await this.#database.one(COUNT_ACCOUNTS))[0];
  }

  async list({ after, limit }: { after?: string; limit: number }): Promise<ListedPage> {
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : readNumber(after);
    const rows = await this.#database.query(LIST, [before, limit + 1]);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page.map(listedOf),
      positions: page.map(([id]) => String(id)),
      ...(last && rows.length > limit ? { next: String(last[0]) } : {}),
    };
  }

  async listed(user: string): Promise<ListedAccount | undefined> {
    const [row] = isStorableText(user) ? await this.#database.query(LISTED_OF, [user]) : [];
    return row && listedOf(row);
  }

  async setting(name: string): Promise<string | undefined> {
    return isStorableText(name) ? (await this.#database.query(SETTING, [name]))[0]?.[0] : undefined;
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
  admin,
  disabled,
  createdAt,
  signedInAt,
});

export const SUBMISSION_COLUMNS =
  "number, id, type, person, status, stage, attempt, interrupted, time_created, " +
  "time_started, time_finished, error, warnings, minted, rocrate, sha256, input, " +
  "cancelled::int";
export type SubmissionRow = Stored;

/** A row of {@link SUBMISSION_COLUMNS} as the port returns it. */
export const submissionOf = (row: SubmissionRow): Submission => ofRow(row);

const SELECT = `SELECT ${SUBMISSION_COLUMNS} FROM submission`;
const BY_ID = statement<SubmissionRow>(`${SELECT} WHERE id = $1`);
const OF_USER = statement<SubmissionRow>(
  `${SELECT} WHERE person = $1 AND number < $2 ORDER BY number DESC LIMIT $3`,
);
const ALL = statement<SubmissionRow>(`${SELECT} WHERE number < $1 ORDER BY number DESC LIMIT $2`);
const COUNT_OF_USER = statement<[number]>("SELECT count(*) FROM submission WHERE person = $1");
const COUNT = statement<[number]>("SELECT count(*) FROM submission");
const UNFINISHED = statement<SubmissionRow>(
  `${SELECT} WHERE status IN ('queued', 'running') ORDER BY number`,
);

export class SubmissionReads {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async byId(id: string): Promise<Submission | undefined> {
    const [row] = isStorableText(id) ? await this.#database.query(BY_ID, [id]) : [];
    return row && submissionOf(row);
  }

  /** @param user null for all users */
  async list(
    user: string | null,
    { after, limit }: { after?: string; limit: number },
  ): Promise<SubmissionPage> {
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : readNumber(after);
    if (user !== null && !isStorableText(user)) return { items: [], positions: [] };
    const rows = await (user === null
      ? this.#database.query(ALL, [before, limit + 1])
      : this.#database.query(OF_USER, [user, before, limit + 1]));
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page.map(submissionOf),
      positions: page.map(([number]) => String(number)),
      ...(last && rows.length > limit ? { next: String(last[0]) } : {}),
    };
  }

  /** @param user null for all users */
  async count(user: string | null): Promise<number> {
    if (user !== null && !isStorableText(user)) return 0;
    const [count] = await (user === null
      ? this.#database.one(COUNT)
      : this.#database.one(COUNT_OF_USER, [user]));
    return count;
  }

  async unfinished(): Promise<Submission[]> {
    return (await this.#database.query(UNFINISHED)).map(submissionOf);
  }
}

const COLUMNS =
  "hash, id, person, purpose, name, created_at, used_at, expires_at, scopes, bound_to";
const named = (table: string, columns: string): string =>
  columns.replaceAll(/\w+/g, (column) => `${table}.${column}`);
const BY_HASH = statement<[...CredentialRow, ...AccountRow]>(
  `SELECT ${named("c", COLUMNS)}, ${named("a", ACCOUNT_COLUMNS)} FROM credential AS c
    JOIN account AS a ON a.person = c.person WHERE c.hash = $1`,
);
const OF = statement<CredentialRow>(
  `SELECT ${COLUMNS} FROM credential WHERE person = $1 AND purpose = $2
    ORDER BY created_at DESC, hash`,
);
/** Two requests of one account wait for each other, so that its limit holds. */
const LOCK = statement("SELECT 1 FROM account WHERE person = $1 FOR UPDATE");
const EXPIRE = statement("DELETE FROM credential WHERE person = $1 AND expires_at <= $2");
const COUNT_CREDENTIALS = statement<[number]>(
  "SELECT count(*) FROM credential WHERE person = $1 AND purpose = $2",
);
const MAKE_PLACE = statement(
  `DELETE FROM credential WHERE hash IN (SELECT hash FROM credential
    WHERE person = $1 AND purpose = $2 ORDER BY created_at DESC, hash OFFSET $3)`,
);
const ADD = statement(
  `INSERT INTO credential (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);
const USE = statement("UPDATE credential SET used_at = $2 WHERE hash = $1");
const REMOVE_HASH = statement<[string]>("DELETE FROM credential WHERE hash = $1 RETURNING hash");
const REMOVE_ID = statement<[string]>(
  "DELETE FROM credential WHERE person = $1 AND purpose = $2 AND id = $3 RETURNING hash",
);
const SIGN_IN = statement(
  "UPDATE account SET signed_in_at = $2 WHERE person = $1 AND deleted = false",
);

type IdentityRow = [issuer: string, subject: string, user: string, linkedAt: number];
const identityOf = ([issuer, subject, user, linkedAt]: IdentityRow): Identity => ({
  issuer,
  subject,
  user,
  linkedAt,
});
const IDENTITY = statement<IdentityRow>(
  "SELECT issuer, subject, person, linked_at FROM identity WHERE issuer = $1 AND subject = $2",
);
const IDENTITIES_OF = statement<IdentityRow>(
  `SELECT issuer, subject, person, linked_at FROM identity WHERE person = $1
    ORDER BY linked_at, issuer, subject`,
);
const LINK = statement<[string]>(
  `INSERT INTO identity (issuer, subject, person, linked_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING RETURNING issuer`,
);
const UNLINK = statement("DELETE FROM identity WHERE person = $1 AND issuer = $2");

/** Credentials wait for no commit: they are rows of their own. */
export class Credentials implements CredentialStore, IdentityStore {
  readonly #reading: Database;
  readonly #writing: Database;

  constructor(reading: Database, writing: Database) {
    this.#reading = reading;
    this.#writing = writing;
  }

  async credential(
    hash: string,
  ): Promise<{ credential: Credential; account: Account } | undefined> {
    const [row] = isStorableText(hash) ? await this.#reading.query(BY_HASH, [hash]) : [];
    return (
      row && {
        credential: credentialOf(row.slice(0, 10) as CredentialRow),
        account: accountOf(row.slice(10) as AccountRow),
      }
    );
  }

  async credentialsOf(user: string, purpose: CredentialPurpose): Promise<Credential[]> {
    if (!isStorableText(user)) return [];
    return (await this.#reading.query(OF, [user, purpose])).map(credentialOf);
  }

  storeCredential(
    ...[credential, { most, replaces }]: Parameters<CredentialStore["storeCredential"]>
  ): Promise<boolean> {
    const { hash, id, user, purpose, name, createdAt, usedAt, expiresAt } = credential;
    const { scopes, boundTo } = credential;
    const row = [hash, id, user, purpose, name, createdAt, usedAt, expiresAt, scopes, boundTo];
    return this.#writing.transaction("", async (session) => {
      await session.query(LOCK, [user]);
      await session.query(EXPIRE, [user, createdAt]);
      if (replaces) await session.query(MAKE_PLACE, [user, purpose, most - 1]);
      else if ((await session.one(COUNT_CREDENTIALS, [user, purpose]))[0] >= most) return false;
      await session.query(ADD, row);
      return true;
    });
  }

  async useCredential(hash: string, at: number): Promise<void> {
    await this.#writing.query(USE, [hash, at]);
  }

  async removeCredential(
    which: Parameters<CredentialStore["removeCredential"]>[0],
  ): Promise<boolean> {
    const removed =
      "hash" in which
        ? await this.#writing.query(REMOVE_HASH, [which.hash])
        : await this.#writing.query(REMOVE_ID, [which.user, which.purpose, which.id]);
    return removed.length > 0;
  }

  async identity(issuer: string, subject: string): Promise<Identity | undefined> {
    if (!isStorableText(subject)) return undefined;
    const [row] = await this.#reading.query(IDENTITY, [issuer, subject]);
    return row && identityOf(row);
  }

  async identitiesOf(user: string): Promise<Identity[]> {
    if (!isStorableText(user)) return [];
    return (await this.#reading.query(IDENTITIES_OF, [user])).map(identityOf);
  }

  async linkIdentity({ issuer, subject, user, linkedAt }: Identity): Promise<boolean> {
    return (await this.#writing.query(LINK, [issuer, subject, user, linkedAt])).length > 0;
  }

  async unlinkIdentity(user: string, issuer: string): Promise<void> {
    await this.#writing.query(UNLINK, [user, issuer]);
  }

  async noteSignIn(user: string, at: number): Promise<void> {
    await this.#writing.query(SIGN_IN, [user, at]);
  }
}
