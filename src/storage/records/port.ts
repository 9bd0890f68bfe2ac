import type { MessagePort } from "node:worker_threads";
import type { Ark } from "../../identifiers/ark.js";
import type { KindName, Link, PublicationStatus } from "../../model/kind.js";
import type { PoolLoads } from "../connections.js";
import type {
  AddressesQuery,
  AddressPage,
  AddressRange,
  AddressRangesQuery,
  LinkCountQuery,
  RecordFilter,
  Selection,
  SelectionQuery,
  Statistics,
  StatisticsKey,
  StatisticsQuery,
} from "./selection-port.js";
import type { SubmissionClose, SubmissionStore } from "./submissions-port.js";

export type { PublicationStatus };

/** A record in the record store. Times are milliseconds since 1970, UTC. */
export interface StoredRecord {
  /** Stored form of the identifier. */
  ark: string;
  /** Identity key of the identifier ({@link import("../../identifiers/ark.js").arkKey}). */
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
  /** The crate this record was minted for, or null. */
  crate: string | null;
  tombstone: Tombstone | null;
  /** Why it is ARCHIVED, and what to use instead; null for every other status. */
  archived: Withdrawal | null;
  /**
   * Change-log sequence of the newest link of another record that points here; 0 when there is
   * none. Part of the ETag.
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

export interface FoundLink extends Link {
  source: string;
  sourceKind: KindName;
  position: string;
}

/** A link that leads to no live record. */
export interface DanglingLink extends FoundLink {
  /** The target was deleted; otherwise nothing has its identifier. */
  deleted: boolean;
}

export interface Revision {
  revision: number;
  at: number;
  by: string | null;
  action: "create" | "update" | "delete" | "publish";
  changed: string[];
}

export interface ListQuery {
  kind?: KindName;
  /** Case-insensitive part of the name. */
  name?: string;
  /** Stored form or alias of the owner's ARK. */
  ownerKey?: string;
  /** A keyword, compared without case. */
  keyword?: string;
  crate?: string;
  /**
   * Leaves out identifiers that end with this; only with `crate`, whose records are read one by
   * one.
   */
  notEndingWith?: string;
  order?: "created" | "-created" | "name";
  /** Opaque position after which to go on, from {@link Page.next}. */
  after?: string;
  limit: number;
  /** The page ends before a record that brings it to more bytes of documents; it holds one at least. */
  bytes?: number;
}
/** A position in the change log: entries are ordered by sequence, then by number of the record. */
export interface LogPosition {
  sequence: number;
  record: number;
}

/** One entry of the change log, with its record as it is now, without document. */
export interface ChangedRecord extends Pick<
  StoredRecord,
  | "ark"
  | "key"
  | "kind"
  | "owner"
  | "revision"
  | "modifiedAt"
  | "publicationStatus"
  | "crate"
  | "tombstone"
> {
  /** Of the commit that changed it. */
  sequence: number;
  /** True for a DRAFT with another status before. */
  withdrawn: boolean;
}

/** A part of the change log. */
export interface ChangeLogPage {
  changes: ChangedRecord[];
  /** Position of the last one, or the one that the page began behind. */
  position: LogPosition;
  /** The last commit of which this page, or an earlier one, has every entry. */
  complete: number;
  /** More is waiting. */
  more: boolean;
}

/** A page by key; `next` is absent on the last one. */
export interface Page<T> {
  items: T[];
  next?: string;
}

/** `positions[i]` is where to go on after `items[i]`. */
export interface ListedPage extends Page<StoredRecord> {
  positions: string[];
}

export type Found = { record: StoredRecord } | { ambiguous: string[] };

/** Records in the requested order, in both directions; `positions[i]` is that of `items[i]`. */
export interface SelectionPage {
  items: StoredRecord[];
  positions: string[];
  /** There are more in the direction of reading. */
  more: boolean;
}

/** Records by filter. */
interface SelectionStore {
  /**
   * @param signal an abort before the read has begun prevents it; its reason is thrown
   * @throws {import("../../errors.js").ServiceError} `BAD_REQUEST` for a position of another filter
   * or order, or that no selection returned
   */
  select(query: SelectionQuery, signal?: AbortSignal): Promise<SelectionPage>;
  countSelected(selection: Selection, signal?: AbortSignal): Promise<number>;
  /** How many links of each record `linksFrom` and `linksTo` list together, in all pages. */
  countLinks(query: LinkCountQuery, signal?: AbortSignal): Promise<number[]>;
  /** Counts by the values of some keys; with one key, a facet. */
  statistics(query: StatisticsQuery, signal?: AbortSignal): Promise<Statistics>;
  /** Ranges in which there are records to list, in order. */
  addressRanges(query: AddressRangesQuery, signal?: AbortSignal): Promise<AddressRange[]>;
  /** Identifiers alone, without documents: a hundred thousand take less than a second. */
  addresses(query: AddressesQuery, signal?: AbortSignal): Promise<AddressPage>;
}

/** The content of one state of a record. */
export interface RecordState {
  kind: KindName;
  name: string | null;
  owner: string | null;
  document: Uint8Array;
  /**
   * Canonical N-Quads of the public view: the record's graph and its inferred graph. As text, or as
   * `packQuads` makes them of it.
   */
  quads: string | Uint8Array;
  /** As a list, or as `packLinks` makes of it. */
  links: readonly Link[] | Uint8Array;
  /** The text for keyword search. */
  text: SearchText;
  keywords: string[];
  /** As `licenceName` of `model/licences.ts` makes it; absent or null: none is stated. */
  licence?: string | null;
}
export interface SearchText {
  name: string;
  description: string;
  keywords: string;
  other: string;
}

/** The record that has an identifier: it decides about the identifiers below it. */
export interface Holder {
  ark: string;
  key: string;
  kind: KindName;
  owner: string | null;
  deleted: boolean;
}

export type RecordWrite =
  | ({
      op: "create";
      ark: string;
      key: string;
      crate?: string;
      publicationStatus?: PublicationStatus;
      objects?: ObjectReference[];
      /** Crate members may share a key (`a-b.csv` and `ab.csv`); others may not. */
      mayShareKey?: boolean;
    } & RecordState)
  | ({
      op: "replace";
      ark: string;
      /** 412 when the stored revision differs. */ ifRevision: number;
      /** JSON pointers of the differences, for the history; empty makes no revision. */
      changed: string[];
      /**
       * Objects that the record refers to from this revision on; earlier revisions keep theirs.
       * Absent: unchanged.
       */
      objects?: ObjectReference[];
      /**
       * Also removes the objects so far from earlier revisions, so that their bytes may be deleted;
       * `objects` are the new ones. The archives of the crates that the record came with, or that
       * use it, hold the same bytes and are dropped with them; not one that the commit brings.
       */
      dropObjects?: boolean;
      /** Restores a deleted record as its next revision; without it a deleted one is `GONE`. */
      revive?: boolean;
      /** The crate that it counts as minted for from now on; absent: as before. */
      crate?: string;
    } & RecordState)
  | {
      op: "delete";
      ark: string;
      ifRevision: number;
      reason?: string;
      successor?: string;
      /** As for the one above. */ dropObjects?: boolean;
    }
  /**
   * Makes a revision with the document unchanged, so that the ETag changes and the history shows
   * it; none when nothing differs.
   */
  | {
      op: "publish";
      ark: string;
      /** As for the others, where it is given. */ ifRevision?: number;
      status: PublicationStatus;
      embargoedUntil: string | null;
      /** Of ARCHIVED only; absent: none. */
      reason?: string;
      successor?: string;
    };

/** One atomic step: all of it becomes visible, durably, or none of it. */
export interface Commit {
  /** ARK of the user who made it, or null for the service itself. */
  by: string | null;
  at: number;
  records: RecordWrite[];
  account?: AccountChange;
  /**
   * Keys without a holder when the commit was decided on: the commit is refused with
   * `CHANGED_MEANWHILE` (extra: ark) when a record of another commit holds one by now.
   */
  unheld?: readonly string[];
  /** The records that a crate uses after this commit. */
  uses?: CrateUses;
  /**
   * Guards the commit by `running AND attempt = mine`, and ends the submission in the same step.
   */
  submission?: SubmissionClose;
  /**
   * Most ms that the commit may block others; past that it is undone and refused with `TOO_LARGE`.
   * Default: no limit.
   */
  within?: number;
}

export interface Committed {
  sequence: number;
  records: CommittedRecord[];
}
export interface CommittedRecord {
  ark: string;
  revision: number;
  /**
   * Of a record that is new: sequence of the newest link to it that an earlier commit stated, where
   * there is one.
   */
  newestBacklink?: number;
}

/**
 * The record store. Reads are always current; a write is one {@link Commit}.
 *
 * @throws {import("../../errors.js").ServiceError} from {@link commit}: `DUPLICATE` (extra: ark,
 * kind of the holder, and deleted: true when that is a tombstone), `EMAIL_TAKEN`, `TOO_LARGE` past
 * {@link Commit.within}, `NOT_FOUND`, `GONE`, `REVISION_MISMATCH` (extra: revision), `OWNS_RECORDS`
 * (extra: records) for the deletion of a group, organization or project that owns live records,
 * `FORBIDDEN` when a record gets such an owner that was deleted, and when the value that the account
 * change uses up has been used before, from lists `BAD_REQUEST` for
 * a position they did not return, and from any call `STORE_UNAVAILABLE`. A commit with a
 * `submission` also throws {@link import("./refusals.js").FenceLost}. A commit that throws changed
 * nothing, and does not affect commits of others.
 */
export interface RecordStore
  extends
    AccountStore,
    SubmissionStore,
    ObjectBookkeeping,
    CrateBookkeeping,
    SelectionStore,
    SearchStore,
    LeaseStore,
    ScoreStore,
    VectorStore,
    QuadsRewrite {
  /** By stored form first, then by key; tombstones included. */
  find(ark: Ark): Promise<Found | undefined>;
  /**
   * By stored form or key, in the requested order; `undefined` where nothing is stored or the key
   * is ambiguous.
   */
  findMany(arks: readonly string[]): Promise<(StoredRecord | undefined)[]>;
  /** All that hold one of these keys, tombstones included, in no order. */
  holders(keys: readonly string[]): Promise<Holder[]>;
  list(query: ListQuery): Promise<ListedPage>;
  count(query: Omit<ListQuery, "after" | "limit" | "order" | "bytes">): Promise<number>;
  atRevision(
    ark: string,
    revision: number,
  ): Promise<{ document: Uint8Array; action: Revision["action"]; at: number } | undefined>;
  /** Newest first. */
  history(ark: string, options: { before?: number; limit: number }): Promise<Revision[]>;
  /** Links stated by each source, in the order stated; sources of tombstones have none. */
  linksFrom(
    arks: readonly string[],
    options: {
      predicates?: readonly string[];
      /** Of several links to one target only the first counts. */ distinct?: boolean;
      after?: string;
      limit: number;
    },
  ): Promise<Page<FoundLink>[]>;
  /** Links that point to each target key, oldest first. */
  linksTo(
    keys: readonly string[],
    options: {
      predicates?: readonly string[];
      kinds?: readonly KindName[];
      /** Of several links from one source only the oldest counts. */
      distinct?: boolean;
      /** Leaves sources out that the target itself links to by one of these predicates. */
      unlessBack?: readonly string[];
      after?: string;
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

/**
 * Protocol of {@link RecordStore.openFeed}: post a {@link FeedRequest}, receive one
 * {@link FeedAnswer}. `all` pages through every live graph (start with `after: 0`, go on with
 * `next`); `since` gives the current graph of every record changed after a sequence, oldest change
 * first. A commit is never cut: `limit` ends an answer after the commit that reaches it, so one
 * answer holds at least one whole commit.
 */
export type FeedRequest =
  | { id: number; all: { after: number; limit: number } }
  | { id: number; since: { sequence: number; limit: number } };
export interface FeedAnswer {
  id: number;
  error?: string;
  graphs: FeedGraph[];
  /** For `all`: position to go on after, absent at the end. */
  next?: number;
  /**
   * For `all`: the last sequence before reading began. For `since`: the sequence these graphs bring
   * the reader to.
   */
  sequence: number;
  /** For `since`: more is waiting. */
  more?: boolean;
  /** For `all`: live records in all, for progress. */
  total?: number;
}
/** `nquads` is canonical N-Quads text; null when the record was deleted. */
export interface FeedGraph {
  ark: string;
  nquads: string | null;
}

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
export type CredentialPurpose = "session" | "token" | "reset";

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
}

/**
 * Credentials of accounts: browser sessions, access tokens, and tokens to set a new password. Those
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

interface AccountStore extends CredentialStore {
  /** Accounts that are not deleted, the newest first; `positions[i]` is that of `items[i]`. */
  accounts(options: {
    after?: string;
    limit: number;
  }): Promise<Page<ListedAccount> & { positions: string[] }>;
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

/** The records that a crate describes and that were not minted for it. */
export interface CrateUses {
  /** ARK of the crate. */
  crate: string;
  /** Stored forms of the records; they replace the earlier ones. */
  arks: string[];
  /**
   * Records minted for the crate that it has no more: each counts from now on as minted for another
   * crate that uses it.
   */
  released?: string[];
}

/**
 * The fields that decide who may read the content of some members of a crate, with the first of
 * these members as an example.
 */
export type ClosedMember = Pick<
  StoredRecord,
  "ark" | "kind" | "owner" | "publicationStatus" | "embargoedUntil" | "crate"
>;

/** A live record with the end of its embargo, and the crate that it came with. */
export interface Embargo {
  ark: string;
  revision: number;
  until: string;
  crate: string | null;
}

/** Which records a crate has beside those minted for it, which `crate` of a record names. */
export interface CrateBookkeeping {
  /** Of the EMBARGOED records with an end those after a position, in order of creation. */
  embargoes(options: { after?: string; limit: number }): Promise<Page<Embargo>>;
  /** Live records that the crate uses, in order of creation. */
  usesOf(crate: string): Promise<string[]>;
  /** Those of `arks` that a crate other than this one uses. */
  usedElsewhere(arks: readonly string[], crate: string): Promise<string[]>;
  /**
   * Of `limit` of its live records after a position those that have content and are not PUBLISHED:
   * one for all that agree in kind, owner, status, embargo and crate, in no order.
   */
  closedMembers(
    crate: string,
    options: { after?: string; limit: number },
  ): Promise<Page<ClosedMember>>;
  /**
   * Of `limit` links of the crate and of its live records after a position those that lead to no
   * live record, in order of the records.
   */
  danglingLinks(
    crate: string,
    options: { after?: string; limit: number },
  ): Promise<Page<DanglingLink>>;
  /**
   * Text that differs after every change of the crate, of a record minted for it, or of one that it
   * uses.
   */
  stateOfCrate(crate: string): Promise<string>;
}

/** A lease in the record store: at most one holder at a time by the store's own clock. */
export interface LeaseStore {
  /**
   * Takes the lease, or renews it when `holder` has it, for `ttl` ms by the store's own clock.
   * `fence` rises by one with each new holder. `undefined` when another holds it.
   */
  lease(name: string, holder: string, ttl: number): Promise<{ fence: number } | undefined>;
  /** Releases the lease, where `holder` has it. */
  releaseLease(name: string, holder: string): Promise<void>;
}

/** A stored object as a record refers to it. */
export interface ObjectReference {
  /** SHA-256, lower-case hex: the key of the object. */
  sha256: string;
  size: number;
  mediaType: string;
  /** Name offered for download, or the member's path. */
  name: string;
  /**
   * The role of the bytes: the record's content, a crate's archive, its original metadata, an
   * undescribed member.
   */
  role: "content" | "archive" | "metadata" | "member";
}

/** A file of a crate, and the record that has it. */
export interface FileReference extends ObjectReference {
  ark: string;
  position: string;
}

/** Which objects are needed; the object store itself does not know it. */
export interface ObjectBookkeeping {
  /**
   * Stores the intent to put these objects, before any put. Returns the hashes that a sweep is
   * removing right now: wait and ask again for those.
   */
  intend(
    holder: { kind: "submission" | "upload"; id: string; attempt: number },
    sha256s: readonly string[],
    at: number,
  ): Promise<{ removing: string[] }>;
  /** Ends the intents of a holder (its commit ended them already when it succeeded). */
  release(holder: { kind: "submission" | "upload"; id: string }): Promise<void>;
  /** Objects of a record; `revision` absent means now. */
  objectsOf(
    ark: string,
    options?: {
      role?: ObjectReference["role"];
      /** Only those of this name. */ name?: string;
      revision?: number;
    },
  ): Promise<ObjectReference[]>;
  /**
   * The files of a crate: contents of its live records, of those minted for it and of those that it
   * uses, and files that no record describes (the record is then the crate). In order of the
   * records.
   * @param options.minSize only files of at least so many bytes
   */
  filesOf(
    crate: string,
    options: { after?: string; limit: number; minSize?: number },
  ): Promise<Page<FileReference>>;
  /**
   * True when the record once had an object of this role (content unless said otherwise), and has
   * none now.
   */
  contentWasDeleted(ark: string, role?: ObjectReference["role"]): Promise<boolean>;
  /**
   * In one transaction: marks objects that no record, no live intent and no unfinished submission
   * names as being removed, and returns them.
   */
  claimUnreferenced(
    sha256s: readonly string[],
    options: { now: number; intentLifetime: number },
  ): Promise<string[]>;
  /** Ends the marks of {@link claimUnreferenced} after the bytes are gone. */
  removed(sha256s: readonly string[]): Promise<void>;
  /** Every hash a record or unfinished submission refers to, in pages by hash. */
  referenced(options: {
    after?: string;
    limit: number;
  }): Promise<{ items: string[]; next?: string }>;
}

/** A score of a crate, as it was worked out once. */
export interface StoredScore {
  /** ARK of the crate. */
  crate: string;
  /**
   * Text that differs after every change of the data that the score depends on; see
   * `services/scoring/freshness.ts`.
   */
  state: string;
  /**
   * Whether the slow checks were included: such a score is not replaced by a lesser one of the same
   * state.
   */
  whole: boolean;
  /** As `percentOf` makes it, for lists; null or absent where no criterion applies. */
  percent?: number | null;
  /** The data that show whether the score still holds, and the score itself. */
  body: Uint8Array;
}

/**
 * Scores that all nodes share. They are derived data, not part of the source of truth: a missing
 * score is computed again, so scores are not migrated, and no caller waits for the disk to have
 * one. The score of a deleted crate is deleted with it.
 */
export interface ScoreStore {
  storedScore(crate: string): Promise<StoredScore | undefined>;
  /** Replaces the one before, if any. */
  storeScore(score: StoredScore): Promise<void>;
}

/**
 * Fields whose words are found, the weightier first. A hit in other text of a record has no
 * fragment.
 */
export const SEARCHED_FIELDS = ["name", "keywords", "description"] as const;
export type SearchedField = (typeof SEARCHED_FIELDS)[number];

export interface SearchQuery {
  /** As a user typed it; read by {@link import("../../model/search-query.js").parseQuery}. */
  text: string;
  /**
   * `identifier`: records whose key ({@link import("../../identifiers/ark.js").arkKey}) is the text
   * or begins with it, by key. `all`: records that hold every word, by its stem, stop words left
   * out unless there is nothing else, and every other term; when there are none, those that hold
   * words spelt nearly so. `related`: records that hold any of the words and terms, or words that
   * stand in the best of those: a record about the same subject may use other names. Neither finds
   * what the query excludes, and a query that only excludes finds nothing.
   */
  match: "all" | "related" | "identifier";
  /** Only these records are found, counted and compared with each other. */
  filter?: RecordFilter;
  /**
   * Also finds, for `related`, the records whose vectors are nearest to this one: those that stand
   * out, at most {@link import("./vectors.js").NEAREST}. It may have any length. A record's
   * score is then its score by words as a part of the best one, plus how much its vector stands
   * out, 0.5 to 1; without vectors of that model and dimension the result is the same as without
   * it.
   */
  near?: { model: string; vector: Float32Array };
  /** Also answers what made each score. */
  explain?: boolean;
  /** Also counts what is found by each of these, at most `limit` values of each. */
  facets?: { by: readonly StatisticsKey[]; limit: number };
  offset: number;
  /** 0 for counts and facets alone: nothing is ranked. */
  limit: number;
}

/** A part of a text: a hit, or the text around it. */
export interface FragmentPart {
  text: string;
  found: boolean;
}

export interface SearchHit {
  /** Stored form. */
  ark: string;
  /**
   * How well it fits beside the best hit of the search, which has 1 (by BM25 over the weighted
   * fields, or what orders as it does); above 0, comparable within one search only.
   */
  score: number;
  /**
   * Where words were found: name and keywords, whole unless they are long, a stretch of the
   * description.
   */
  fragments: Partial<Record<SearchedField, FragmentPart[]>>;
  /**
   * Where {@link SearchQuery.explain} asks: parts that add up to the score, the largest first, of at
   * most sixteen terms; empty where the record was not ranked.
   */
  parts?: ScorePart[];
}

/** A part of a score. */
export interface ScorePart {
  /** A term of the query; a related word; how near the vector is. */
  reason: "term" | "related" | "nearness";
  /** The term as one types it, or its stem; null for nearness. */
  text: string | null;
  score: number;
}

/** Hits by falling score; equal ones are in the same order on each page. */
export interface SearchPage {
  /** How many records were found. */
  total: number;
  /** False where so many were found that they were not all counted: at least `total`. */
  exact: boolean;
  /**
   * How many of them were ranked: all, or at most a few thousand that are likely to be the best.
   * The others follow those, the newest first.
   */
  ranked: number;
  /** Words that no record holds, each with the likeliest of those that were sought instead. */
  corrected?: readonly { typed: string; meant: string }[];
  /** No record holds all words of the query: these hold some of them. */
  matchesAnyWord?: true;
  /** Where {@link SearchQuery.facets} asks, in that order. */
  facets?: readonly SearchFacet[];
  hits: SearchHit[];
}

/**
 * How many of the found records have a value, those of most records first, equal ones by value. A
 * record without the value counts for none, one with several keywords for each.
 */
export interface SearchFacet {
  by: StatisticsKey;
  values: readonly { value: string; records: number }[];
  /** There are further values. */
  more: boolean;
  /** False where more was found than is counted: of those the newest, some ten thousand, count. */
  exact: boolean;
}

/** Search in the public text of live records. */
interface SearchStore {
  /**
   * @param signal an abort before the search has begun prevents it; its reason is thrown
   * @throws {import("../../errors.js").ServiceError} `QUERY_MEMORY`: {@link SearchQuery.near} needs
   * more memory than VECTORS_MEMORY; without it the same search is answered
   */
  search(query: SearchQuery, signal?: AbortSignal): Promise<SearchPage>;
}

/**
 * Most characters of each text that {@link VectorStore.changedTexts} answers; no embedding model
 * reads more of one.
 */
export const MOST_CHARACTERS = 32_768;
/** Most numbers of one stored vector. */
export const MOST_DIMENSIONS = 16_384;

/** The searchable text of a record that changed. */
export interface ChangedText {
  /** Stored form. */
  ark: string;
  /** Current version, each text cut to {@link MOST_CHARACTERS}; null when the record is deleted. */
  text: { name: string; keywords: string; description: string } | null;
  /**
   * Digest of the text from which the stored vector of the model was made; null without a vector,
   * or where the record was of another kind at that time.
   */
  digest: Uint8Array | null;
}

export interface StoredVector {
  /**
   * Stored form; a record that is not stored is passed over. Of several for one record the last
   * counts.
   */
  ark: string;
  digest: Uint8Array;
  /** Of length 1; null: the record is deleted, or has no text: its vector is removed. */
  vector: Float32Array | null;
}

/**
 * A part of the change log, and the vectors of those of its records whose text differs from the
 * text of their stored vector. Both ends are places in the log: opaque text, "" is its beginning,
 * and they only rise.
 */
export interface VectorStep {
  after: string;
  /** Behind `after`. */
  to: string;
  vectors: readonly StoredVector[];
}

/**
 * Vectors of the searchable text of live records, which all nodes share. They are derived data, not
 * part of the source of truth: a missing vector is made again, so vectors are not migrated. Vectors
 * belong to a model, by its name; those of different models are never compared.
 *
 * @throws {import("../../errors.js").ServiceError} `BAD_REQUEST` for a place that was not returned
 * here; `STORE_UNAVAILABLE`
 */
export interface VectorStore {
  /** How far vectors of a model reach in the change log: "" when there are none. */
  vectorsReach(model: string): Promise<string>;
  /**
   * Records in the order of the change log behind a place, with their current text; at most
   * `limit`, and a commit may be cut. A record comes again for each of its changes. `to` is the
   * place of the last one, `undefined` when nothing is behind `after`.
   */
  changedTexts(
    model: string,
    after: string,
    limit: number,
  ): Promise<{ texts: ChangedText[]; to: string | undefined }>;
  /**
   * Stores vectors and how far they reach now, in one transaction, if they reached to `after`
   * before; otherwise stores nothing and returns false: another node was quicker.
   * @throws Error for a vector that is not of length 1, or of more than {@link MOST_DIMENSIONS}
   * numbers
   */
  storeVectors(model: string, step: VectorStep): Promise<boolean>;
  /**
   * Removes up to `limit` vectors and reaches of other models; answers how many they were, 0 once
   * none is left.
   */
  forgetVectors(exceptModel: string, limit: number): Promise<number>;
}

/** Quads that an earlier version stored in a coding of its own. */
export interface QuadsRewrite {
  /**
   * Stores the quads of up to `limit` states behind a number as {@link import("./codecs.js").packQuads}
   * packs them now.
   * @returns number of the last state that was examined; `undefined` when there is none behind `after`
   */
  rewriteQuads(after: number, limit: number): Promise<number | undefined>;
}
