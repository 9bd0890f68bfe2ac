import type { Account } from "../../accounts-port.js";

export const ACCOUNT_COLUMNS = "person, email, password_hash, admin, tokens_valid_from, deleted";
export type AccountRow = [user: string, email: string, passwordHash: string, admin: boolean, tokensValidFrom: number, deleted: boolean];

/** A row of {@link ACCOUNT_COLUMNS} as the port gives it. */
export const accountOf = ([user, email, passwordHash, admin, tokensValidFrom, deleted]: AccountRow): Account => ({ user, email, passwordHash, admin, tokensValidFrom, deleted });
