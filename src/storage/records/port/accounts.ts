import type { Page } from "./record.js";

/** Private account data; never part of a document or a graph. */
export interface Account {
  /** ARK of the user record. */
  user: string;
  /** Trimmed, NFKC, lower case. */
  email: string;
  /** argon2id in PHC format. */
  passwordHash: string;
  admin: boolean;
  /**
   * Tokens and sessions from before this time (ms) are refused. A token holds the value at its issue;
   * credentials are removed when it changes.
   */
  tokensValidFrom: number;
  /** An administrator has locked it: nobody signs in with it, and its tokens are refused. */
  disabled: boolean;
  deleted: boolean;
}

/**
 * A setting that the commit uses up: it must still have this value, and is empty afterwards. Of two
 * such commits one wins.
 */
export interface SpentSetting {
  name: string;
  value: string;
}

export type AccountChange =
  | {
      op: "create";
      user: string;
      email: string;
      passwordHash: string;
      admin: boolean;
      spends?: SpentSetting;
      /** Linked with it: the commit is refused where another account has it. */
      identity?: Omit<Identity, "user">;
    }
  | {
      op: "update";
      user: string;
      email?: string;
      passwordHash?: string;
      admin?: boolean;
      tokensValidFrom?: number;
      disabled?: boolean;
      spends?: SpentSetting;
    }
  | { op: "delete"; user: string };

/** What a credential is for. */
export type CredentialPurpose = "session" | "token" | "reset" | "refresh" | "device";

/** A secret that stands for an account; only its hash is stored. */
export interface Credential {
  /** SHA-256 of the secret, lower-case hex. */
  hash: string;
  /** Names it to its owner; no secret. */
  id: string;
  /** ARK of the user record. */
  user: string;
  purpose: CredentialPurpose;
  name: string | null;
  createdAt: number;
  /** Last use, as {@link CredentialStore.useCredential} noted it. */
  usedAt: number | null;
  expiresAt: number;
  /** What an access token may do, words with a space between; null: all that its account may. */
  scopes: string | null;
  /** ARK of the only crate, project or group for which it counts; null: it counts for all. */
  boundTo: string | null;
}

/**
 * Credentials of accounts: browser sessions, access tokens, tokens to set a new password, and tokens
 * of the command line that are exchanged for new ones. Those
 * of a deleted account are deleted with it.
 */
export interface CredentialStore {
  /**
   * Stores one, and removes those of the account that have expired by its `createdAt`. At most
   * `most` of its purpose remain for the account: the oldest of them make place, or, unless
   * `replaces`, the new one is refused.
   * @returns false when it was refused
   */
  storeCredential(
    credential: Credential,
    limit: { most: number; replaces: boolean },
  ): Promise<boolean>;
  /** With its account, in one read; also one that has expired. */
  credential(hash: string): Promise<{ credential: Credential; account: Account } | undefined>;
  /** Those of an account, the newest first; also ones that have expired. */
  credentialsOf(user: string, purpose: CredentialPurpose): Promise<Credential[]>;
  /** Notes a use; no caller waits for the disk to have it. */
  useCredential(hash: string, at: number): Promise<void>;
  /** @returns false when there was none: of two callers that remove it, one gets true */
  removeCredential(
    which: { hash: string } | Pick<Credential, "user" | "purpose" | "id">,
  ): Promise<boolean>;
}

/** An account at an issuer of OpenID Connect that is linked with an account here. */
export interface Identity {
  issuer: string;
  /** The issuer's name for the person, which it never gives to another one. */
  subject: string;
  /** ARK of the user record. */
  user: string;
  linkedAt: number;
}

/** Those of a deleted account are deleted with it. */
export interface IdentityStore {
  identity(issuer: string, subject: string): Promise<Identity | undefined>;
  /** Those of an account, in the order in which they were linked. */
  identitiesOf(user: string): Promise<Identity[]>;
  /** @returns false, and nothing is changed, where the identity is linked already */
  linkIdentity(identity: Identity): Promise<boolean>;
  unlinkIdentity(user: string, issuer: string): Promise<void>;
}

/** An account in the list of all. */
export interface ListedAccount {
  user: string;
  name: string | null;
  email: string;
  admin: boolean;
  disabled: boolean;
  createdAt: number;
  signedInAt: number | null;
}

export interface AccountStore extends CredentialStore, IdentityStore {
  /** Accounts that are not deleted, the newest first; `positions[i]` is that of `items[i]`. */
  accounts(options: {
    after?: string;
    limit: number;
  }): Promise<Page<ListedAccount> & { positions: string[] }>;
  /** The same of one of them. */
  listedAccount(user: string): Promise<ListedAccount | undefined>;
  /** Notes that the account's password was entered. */
  noteSignIn(user: string, at: number): Promise<void>;
  accountByEmail(email: string): Promise<Account | undefined>;
  accountOf(user: string): Promise<Account | undefined>;
  countAccounts(): Promise<number>;
  /** Named values of the installation (e.g. the hash of the one-time admin token). */
  setting(name: string): Promise<string | undefined>;
  /**
   * Sets, or removes with null; `ifAbsent` preserves an existing value. Returns the value now
   * stored.
   */
  setSetting(
    name: string,
    value: string | null,
    options?: { ifAbsent?: boolean },
  ): Promise<string | undefined>;
}
