/** Private account data; never part of a document or a graph. */
export interface Account {
  /** ARK of the user record. */
  user: string;
  /** Trimmed, NFKC, lower case. */
  email: string;
  /** argon2id in PHC format. */
  passwordHash: string;
  admin: boolean;
  /** Tokens issued before this time (ms) are refused. */
  tokensValidFrom: number;
  deleted: boolean;
}

/** A setting that the commit uses up: it must still have this value, and is empty afterwards. Of two such commits one wins. */
export interface SpentSetting { name: string; value: string }

export type AccountChange =
  | { op: "create"; user: string; email: string; passwordHash: string; admin: boolean; spends?: SpentSetting }
  | { op: "update"; user: string; email?: string; passwordHash?: string; admin?: boolean; tokensValidFrom?: number; spends?: SpentSetting }
  | { op: "delete"; user: string };

export interface AccountStore {
  accountByEmail(email: string): Promise<Account | undefined>;
  accountOf(user: string): Promise<Account | undefined>;
  countAccounts(): Promise<number>;
  /** Named values of the installation (e.g. the hash of the one-time admin token). */
  setting(name: string): Promise<string | undefined>;
  /** Sets, or removes with null; `ifAbsent` keeps a value that is there. Answers the value now stored. */
  setSetting(name: string, value: string | null, options?: { ifAbsent?: boolean }): Promise<string | undefined>;
}
