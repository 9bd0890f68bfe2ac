import type { MessagePort } from "node:worker_threads";
import type { Ark } from "../../identifiers/ark.js";
import type { KindName } from "../../model/kind.js";
import type { PoolLoads } from "../connections.js";
import type { AccessRequestStore } from "./port/access.js";
import type { AccountStore } from "./port/accounts.js";
import type { ChangeLogPage, LogPosition } from "./port/changes.js";
import type { Commit, Committed } from "./port/commits.js";
import type { CrateBookkeeping } from "./port/crates.js";
import type { LeaseStore } from "./port/leases.js";
import type { FoundLink } from "./port/links.js";
import type { ObjectBookkeeping } from "./port/objects.js";
import type { QuadsRewrite } from "./port/quads.js";
import type { ReviewLinkStore } from "./port/review-links.js";
import type { Found, Holder, Page, Revision, StoredRecord, Viewer } from "./port/record.js";
import type { AuditStore } from "./port/audit.js";
import type { ScoreStore } from "./port/scores.js";
import type { SearchStore } from "./port/search.js";
import type { SelectionStore } from "./port/selection.js";
import type { SubmissionStore } from "./port/submissions.js";
import type { VectorStore } from "./port/vectors.js";

export type * from "./port/access.js";
export type * from "./port/accounts.js";
export * from "./port/audit.js";
export type * from "./port/changes.js";
export type * from "./port/commits.js";
export type * from "./port/crates.js";
export type * from "./port/feed.js";
export type * from "./port/leases.js";
export type * from "./port/links.js";
export type * from "./port/objects.js";
export type * from "./port/quads.js";
export type * from "./port/record.js";
export type * from "./port/review-links.js";
export type * from "./port/scores.js";
export * from "./port/search.js";
export * from "./port/selection.js";
export type * from "./port/submissions.js";
export * from "./port/vectors.js";

/**
 * The record store. Reads are always current; a write is one {@link Commit}.
 *
 * @throws {import("../../errors.js").ServiceError} from {@link commit}: `DUPLICATE` (extra: ark,
 * kind of the holder, and deleted: true when that is a tombstone), `EMAIL_TAKEN`, `IDENTITY_TAKEN`,
 * `TOO_LARGE` past {@link Commit.within}, `NOT_FOUND`, `GONE`, `REVISION_MISMATCH` (extra: revision), `OWNS_RECORDS`
 * (extra: records) for the deletion of a group, organization or project that owns live records,
 * `FORBIDDEN` when a record gets such an owner that was deleted, and when the value that the account
 * change uses up has been used before, from lists `BAD_REQUEST` for
 * a position they did not return, and from any call `STORE_UNAVAILABLE`. A commit with a
 * `submission` also throws {@link import("./refusals.js").FenceLost}. A commit that throws changed
 * nothing, and does not affect commits of others.
 */
export interface RecordStore
  extends
    AccessRequestStore,
    AccountStore,
    AuditStore,
    SubmissionStore,
    ObjectBookkeeping,
    CrateBookkeeping,
    SelectionStore,
    SearchStore,
    LeaseStore,
    ScoreStore,
    VectorStore,
    ReviewLinkStore,
    QuadsRewrite {
  /** By stored form first, then by key; tombstones included. */
  find(ark: Ark, viewer?: Viewer): Promise<Found | undefined>;
  /**
   * By stored form or key, in the requested order; `undefined` where nothing is stored or the key
   * is ambiguous.
   */
  findMany(arks: readonly string[], viewer?: Viewer): Promise<(StoredRecord | undefined)[]>;
  /** All that hold one of these keys, tombstones included, in no order. */
  holders(keys: readonly string[], viewer?: Viewer): Promise<Holder[]>;
  atRevision(
    ark: string,
    revision: number,
  ): Promise<{ document: Uint8Array; action: Revision["action"]; at: number } | undefined>;
  /** Newest first. */
  history(ark: string, options: { before?: number; limit: number }): Promise<Revision[]>;
  /**
   * Links stated by each source, in the order stated; sources of tombstones have none. Read
   * backward, a page holds the last links before `before`, in the same order, and `next` is where
   * the page before it ends.
   */
  linksFrom(
    arks: readonly string[],
    options: {
      predicates?: readonly string[];
      /** Of several links to one target only the first counts. */
      distinct?: boolean;
      after?: string;
      before?: string;
      backward?: boolean;
      limit: number;
    },
  ): Promise<Page<FoundLink>[]>;
  /** Links that point to each target key, oldest first; backward as those from a source. */
  linksTo(
    keys: readonly string[],
    options: {
      predicates?: readonly string[];
      kinds?: readonly KindName[];
      /** Of several links from one source only the oldest counts. */
      distinct?: boolean;
      /** Leaves sources out that the target itself links to by one of these predicates. */
      unlessBack?: readonly string[];
      viewer?: Viewer | undefined;
      after?: string;
      before?: string;
      backward?: boolean;
      limit: number;
    },
  ): Promise<Page<FoundLink>[]>;
  /** Current canonical N-Quads of a record. */
  quads(ark: string): Promise<string | undefined>;
  commit(commit: Commit): Promise<Committed>;
  /** Number of the last commit that changed records. */
  sequence(): Promise<number>;
  /**
   * Entries of the change log behind a position, oldest first. A commit may be cut: it goes on
   * behind {@link ChangeLogPage.position}. A record comes again for each commit that changed it.
   */
  changes(after: LogPosition, limit: number): Promise<ChangeLogPage>;
  /**
   * Opens a {@link GraphFeed} that a query engine in another thread reads from without touching
   * this one.
   */
  openFeed(): MessagePort;
  /** Called after each durable commit that changed records. */
  onCommit(listener: (sequence: number) => void): void;
  /** How its connections are used; absent where it has none. */
  pools?(): PoolLoads;
  health(): Promise<void>;
  close(): Promise<void>;
}
