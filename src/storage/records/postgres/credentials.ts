import type { Account, Credential, CredentialPurpose, CredentialStore } from "../port.js";
import { isStorableText } from "../text.js";
import { ACCOUNT_COLUMNS, accountOf, type AccountRow } from "./reads/accounts.js";
import { type Database, statement } from "./statement.js";

const COLUMNS = "hash, id, person, purpose, name, created_at, used_at, expires_at";
type CredentialRow = [
  hash: string,
  id: string,
  user: string,
  purpose: string,
  name: string | null,
  createdAt: number,
  usedAt: number | null,
  expiresAt: number,
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
]: CredentialRow): Credential => ({
  hash,
  id,
  user,
  purpose: purpose as CredentialPurpose,
  name,
  createdAt,
  usedAt,
  expiresAt,
});

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
const COUNT = statement<[number]>(
  "SELECT count(*) FROM credential WHERE person = $1 AND purpose = $2",
);
const MAKE_PLACE = statement(
  `DELETE FROM credential WHERE hash IN (SELECT hash FROM credential
    WHERE person = $1 AND purpose = $2 ORDER BY created_at DESC, hash OFFSET $3)`,
);
const ADD = statement(
  `INSERT INTO credential (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);
const USE = statement("UPDATE credential SET used_at = $2 WHERE hash = $1");
const REMOVE_HASH = statement<[string]>("DELETE FROM credential WHERE hash = $1 RETURNING hash");
const REMOVE_ID = statement<[string]>(
  "DELETE FROM credential WHERE person = $1 AND purpose = $2 AND id = $3 RETURNING hash",
);
const SIGN_IN = statement(
  "UPDATE account SET signed_in_at = $2 WHERE person = $1 AND deleted = false",
);

/** Credentials wait for no commit: they are rows of their own. */
export class Credentials implements CredentialStore {
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
        credential: credentialOf(row.slice(0, 8) as CredentialRow),
        account: accountOf(row.slice(8) as AccountRow),
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
    return this.#writing.transaction("", async (session) => {
      await session.query(LOCK, [user]);
      await session.query(EXPIRE, [user, createdAt]);
      if (replaces) await session.query(MAKE_PLACE, [user, purpose, most - 1]);
      else if ((await session.query(COUNT, [user, purpose]))[0]![0] >= most) return false;
      await session.query(ADD, [hash, id, user, purpose, name, createdAt, usedAt, expiresAt]);
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

  async noteSignIn(user: string, at: number): Promise<void> {
    await this.#writing.query(SIGN_IN, [user, at]);
  }
}
