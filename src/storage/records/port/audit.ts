import type { Page } from "./record.js";

/** What is recorded. A new act of access gets its line in the group where it belongs. */
export const AUDIT_ACTIONS = [
  // Ways in.
  "SIGNED_IN",
  "SIGN_IN_REFUSED",
  "TOKEN_USED",
  // Changes of a way in.
  "TOKEN_CREATED",
  "TOKEN_REVOKED",
  "PASSWORD_CHANGED",
  "PASSWORD_RESET_CREATED",
  "EMAIL_CHANGED",
  "IDENTITY_LINKED",
  "IDENTITY_UNLINKED",
  // Who may do what.
  "OWNER_CHANGED",
  "MEMBERS_CHANGED",
  // What everybody sees.
  "PUBLISHED",
  "WITHDRAWN",
  "DELETED",
  "CONTENT_DELETED",
  // Administration.
  "ACCOUNT_CREATED",
  "ACCOUNT_DISABLED",
  "ACCOUNT_ENABLED",
  "ADMIN_GRANTED",
  "ADMIN_REMOVED",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Few short values; never a secret, a password or the text of a record. */
export type AuditDetail = Readonly<Record<string, string | number | boolean>>;

export interface NewAuditEntry {
  at: number;
  action: AuditAction;
  /** ARK of the user who did it; null for the service itself, and where nobody is known. */
  actor: string | null;
  /** The user name of a refused sign-in. */
  name: string | null;
  /** Of the client; null where no request did it. */
  address: string | null;
  /** ARK of what it was done to, such as a record or an account. */
  subject: string | null;
  detail: AuditDetail;
}

export interface AuditEntry extends NewAuditEntry {
  /** Rises with time. */
  number: number;
}

/** Entries that agree with all of these. */
export interface AuditFilter {
  action?: AuditAction;
  actor?: string;
  subject?: string;
  /** ms since 1970: from this time on. */
  from?: number;
  /** Before this time. */
  to?: number;
}

/** Who did what; acts that a commit does are recorded by the commit itself, in its transaction. */
export interface AuditStore {
  appendAudit(entry: NewAuditEntry): Promise<void>;
  /** The newest first; the position of an entry is its number. */
  auditEntries(options: {
    filter: AuditFilter;
    after?: string;
    limit: number;
  }): Promise<Page<AuditEntry>>;
  countAudit(filter: AuditFilter): Promise<number>;
  /**
   * Removes the oldest entries from before a time (ms).
   * @returns how many, at most `limit`
   */
  removeAudit(before: number, limit: number): Promise<number>;
}
