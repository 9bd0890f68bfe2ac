import type { Page } from "./record.js";

/** What is recorded, in words. A new act of access gets its line in the group where it belongs. */
export const AUDIT_WORDS = {
  // Ways in.
  SIGNED_IN: "Signed in",
  SIGN_IN_REFUSED: "Sign-in, or a secret in its place, refused",
  TOKEN_USED: "First use of a token from an address in an hour",
  // Changes of a way in.
  TOKEN_CREATED: "Access token made",
  TOKEN_REVOKED: "Token revoked",
  PASSWORD_CHANGED: "Password changed",
  PASSWORD_RESET_CREATED: "Link to set a new password made",
  EMAIL_CHANGED: "E-mail address changed",
  IDENTITY_LINKED: "Account at an issuer linked",
  IDENTITY_UNLINKED: "Account at an issuer unlinked",
  // Who may do what.
  OWNER_CHANGED: "Owner changed",
  MEMBERS_CHANGED: "Members changed",
  ACCESS_GRANTED: "Access to content granted",
  ACCESS_ENDED: "Access to content declined or ended",
  REVIEW_LINK_CREATED: "Review link made",
  REVIEW_LINK_REVOKED: "Review link revoked",
  // What everybody sees.
  PUBLISHED: "Published, or under an embargo",
  WITHDRAWN: "Archived, or a draft again",
  DELETED: "Record deleted",
  CONTENT_DELETED: "Content of a file deleted",
  // Administration.
  ACCOUNT_CREATED: "Account created",
  ACCOUNT_DISABLED: "Account disabled",
  ACCOUNT_ENABLED: "Account enabled",
  ADMIN_GRANTED: "Made administrator",
  ADMIN_REMOVED: "Made member",
} as const;
export type AuditAction = keyof typeof AUDIT_WORDS;
export const AUDIT_ACTIONS = Object.keys(AUDIT_WORDS) as AuditAction[];

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
