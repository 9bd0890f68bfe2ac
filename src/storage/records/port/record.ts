import type { KindName, PublicationStatus } from "../../../model/kind.js";

/**
 * Who reads. Private records of others are not there for it: not in lists, counts, links and pages.
 * A read without a viewer is one of the service itself, or of an administrator, and sees everything.
 */
export interface Viewer {
  /** Key of the user's ARK; null where nobody is signed in. */
  user: string | null;
  /** Hash of the review link by which it reads, instead of as a user. */
  link?: string;
}

/** A record in the record store. Times are milliseconds since 1970, UTC. */
export interface StoredRecord {
  /** Stored form of the identifier. */
  ark: string;
  /** Identity key of the identifier ({@link import("../../../identifiers/ark.js").arkKey}). */
  key: string;
  kind: KindName;
  name: string | null;
  /**
   * Stored form of the owner's ARK; null for users (each owns itself) and for records without one.
   */
  owner: string | null;
  revision: number;
  createdAt: number;
  modifiedAt: number;
  publicationStatus: PublicationStatus;
  embargoedUntil: string | null;
  /** Seen by those who may change it only, until it is published; a deleted one stays private. */
  private: boolean;
  /** The crate this record was minted for, or null. */
  crate: string | null;
  tombstone: Tombstone | null;
  /** Why it is ARCHIVED, and what to use instead; null for every other status. */
  archived: Withdrawal | null;
  /**
   * Change-log sequence of the newest link of another record that points here; 0 when there is
   * none. Links that private records state count for private records only. Part of the ETag.
   */
  newestBacklink: number;
  /** The document, UTF-8 JSON, as answered to clients (derived entries not included). */
  document: Uint8Array;
}

/** What is said of a record that was deleted or archived. */
export interface Withdrawal {
  reason: string | null;
  /** ARK of the record to use in its place. */
  successor: string | null;
}

export interface Tombstone extends Withdrawal {
  at: number;
  by: string | null;
}

export interface Revision {
  revision: number;
  at: number;
  by: string | null;
  action: "create" | "update" | "delete" | "publish";
  changed: string[];
}

/** The record that has an identifier: it decides about the identifiers below it. */
export interface Holder {
  ark: string;
  key: string;
  kind: KindName;
  owner: string | null;
  deleted: boolean;
}

/** A page by key; `next` is absent on the last one. */
export interface Page<T> {
  items: T[];
  next?: string;
}

export type Found = { record: StoredRecord } | { ambiguous: string[] };
