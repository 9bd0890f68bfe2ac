/** Credentials of accounts, and identities at issuers of OpenID Connect. */
import type {
  Account,
  Credential,
  CredentialPurpose,
  CredentialStore,
  Identity,
  IdentityStore,
} from "../port.js";
import { type Statements, statement } from "../statements.js";
import { isStorableText } from "../text.js";
import { ACCOUNT_COLUMNS, accountOf, type AccountRow, LINK } from "./accounts.js";

type CredentialRow = [
  hash: string,
  id: string,
  user: string,
  purpose: string,
  name: string | null,
  createdAt: number,
  usedAt: number | null,
  expiresAt: number,
  scopes: string | null,
  boundTo: string | null,
];
const credentialOf = ([
  hash,
  id,
  user,
  purpose,
  name,
  createdAt,
  usedAt,
  expiresAt,
  scopes,
  boundTo,
]: CredentialRow): Credential => ({
  hash,
  id,
  user,
  purpose: purpose as CredentialPurpose,
  name,
  createdAt,
  usedAt,
  expiresAt,
  scopes,
  boundTo,
});

const COLUMNS = `c.hash, c.id, c.person, c.purpose, c.name, c.created_at, c.used_at, c.expires_at,
  c.scopes, c.bound_to`;
const BY_HASH = statement<[...CredentialRow, ...AccountRow]>(
  `SELECT ${COLUMNS}, ${ACCOUNT_COLUMNS} FROM credential AS c
    JOIN account AS a ON a.person = c.person WHERE c.hash = $1`,
);
const OF = statement<CredentialRow>(
  `SELECT ${COLUMNS} FROM credential AS c WHERE c.person = $1 AND c.purpose = $2
    ORDER BY c.created_at DESC, c.hash`,
);
/** Two requests of one account wait for each other, so that its limit holds. */
export const LOCK_ACCOUNT = statement("SELECT 1 FROM account WHERE person = $1 FOR UPDATE");
const EXPIRE = statement("DELETE FROM credential WHERE person = $1 AND expires_at <= $2");
const COUNT = statement<[number]>(
  "SELECT count(*) FROM credential WHERE person = $1 AND purpose = $2",
);
// SQLite knows OFFSET behind LIMIT only.
const MAKE_PLACE = statement(
  `DELETE FROM credential WHERE hash IN (SELECT hash FROM credential
    WHERE person = $1 AND purpose = $2 ORDER BY created_at DESC, hash LIMIT 1000000 OFFSET $3)`,
);
const ADD = statement(
  `INSERT INTO credential (hash, id, person, purpose, name, created_at, used_at, expires_at,
    scopes, bound_to) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);
const USE = statement("UPDATE credential SET used_at = $2 WHERE hash = $1");
const REMOVE_HASH = statement("DELETE FROM credential WHERE hash = $1");
const REMOVE_ID = statement(
  "DELETE FROM credential WHERE person = $1 AND purpose = $2 AND id = $3",
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
const UNLINK = statement("DELETE FROM identity WHERE person = $1 AND issuer = $2");

export class Credentials implements CredentialStore, IdentityStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async credential(
    hash: string,
  ): Promise<{ credential: Credential; account: Account } | undefined> {
    const row = isStorableText(hash) ? await this.#statements.first(BY_HASH, [hash]) : undefined;
    return (
      row && {
        credential: credentialOf(row.slice(0, 10) as CredentialRow),
        account: accountOf(row.slice(10) as AccountRow),
      }
    );
  }

  async credentialsOf(user: string, purpose: CredentialPurpose): Promise<Credential[]> {
    if (!isStorableText(user)) return [];
    return (await this.#statements.query(OF, [user, purpose])).map(credentialOf);
  }

  async storeCredential(
    ...[credential, { most, replaces }]: Parameters<CredentialStore["storeCredential"]>
  ): Promise<boolean> {
    const { hash, id, user, purpose, name, createdAt, usedAt, expiresAt } = credential;
    const { scopes, boundTo } = credential;
    await this.#statements.lock(LOCK_ACCOUNT, [user]);
    await this.#statements.run(EXPIRE, [user, createdAt]);
    if (replaces) await this.#statements.run(MAKE_PLACE, [user, purpose, most - 1]);
    else if ((await this.#statements.one(COUNT, [user, purpose]))[0] >= most) return false;
    const row = [hash, id, user, purpose, name, createdAt, usedAt, expiresAt, scopes, boundTo];
    await this.#statements.run(ADD, row);
    return true;
  }

  async useCredential(hash: string, at: number): Promise<void> {
    await this.#statements.run(USE, [hash, at]);
  }

  async removeCredential(
    which: Parameters<CredentialStore["removeCredential"]>[0],
  ): Promise<boolean> {
    const removed =
      "hash" in which
        ? await this.#statements.run(REMOVE_HASH, [which.hash])
        : await this.#statements.run(REMOVE_ID, [which.user, which.purpose, which.id]);
    return removed > 0;
  }

  async identity(issuer: string, subject: string): Promise<Identity | undefined> {
    if (!isStorableText(subject)) return undefined;
    const row = await this.#statements.first(IDENTITY, [issuer, subject]);
    return row && identityOf(row);
  }

  async identitiesOf(user: string): Promise<Identity[]> {
    if (!isStorableText(user)) return [];
    return (await this.#statements.query(IDENTITIES_OF, [user])).map(identityOf);
  }

  async linkIdentity({ issuer, subject, user, linkedAt }: Identity): Promise<boolean> {
    return (await this.#statements.run(LINK, [issuer, subject, user, linkedAt])) > 0;
  }

  async unlinkIdentity(user: string, issuer: string): Promise<void> {
    await this.#statements.run(UNLINK, [user, issuer]);
  }
}
