import type { Account, Credential, CredentialPurpose, CredentialStore } from "../port.js";
import { isStorableText } from "../text.js";
import { ACCOUNT_COLUMNS, accountOf, type AccountRow } from "./accounts.js";
import type { Connection } from "./statement.js";

const COLUMNS = "hash, id, user, purpose, name, created_at, used_at, expires_at";
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
      `INSERT INTO credential (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
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
    this.#expire.run([user, createdAt]);
    if (replaces) this.#makePlace.run([user, purpose, most - 1]);
    else if (this.#count.get([user, purpose])![0] >= most) return false;
    this.#add.run([hash, id, user, purpose, name, createdAt, usedAt, expiresAt]);
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
