import type { MessagePort } from "node:worker_threads";
import type { KindName } from "../../model/kind.js";
import type { Link } from "../../model/link.js";
import type { AccountChange, AccountStore } from "./accounts-port.js";
import type { CrateBookkeeping, CrateUses } from "./crates-port.js";
import type { LeaseStore } from "./lease-port.js";
import type { ObjectReference, ObjectBookkeeping } from "./objects-port.js";
import type { ScoreStore } from "./scores-port.js";
import type { SearchStore } from "./search-port.js";
import type { SubmissionClose, SubmissionStore } from "./submissions-port.js";
import type { VectorStore } from "./vectors-port.js";
import type { PoolLoads } from "../pool-load.js";

export type PublicationStatus = "DRAFT" | "PUBLISHED" | "EMBARGOED" | "ARCHIVED";

/** A record as the truth holds it. Times are milliseconds since 1970, UTC. */
export interface StoredRecord {
  /** Stored form of the identifier. */
  ark: string;
  /** Identity key of the identifier ({@link import("../../identifiers/ark.js").arkKey}). */
  key: string;
  kind: KindName;
  name: string | null;
  /** Stored form of the owner's ARK; null for users (each owns itself) and for records without one. */
  owner: string | null;
  revision: number;
  createdAt: number;
  modifiedAt: number;
  publicationStatus: PublicationStatus;
  embargoedUntil: string | null;
  /** The crate this record was minted for, or null. */
  crate: string | null;
  tombstone: Tombstone | null;
  /** Change-log sequence of the newest link of another record that points here; 0 when there is none. Part of the ETag. */
  newestBacklink: number;
  /** The document, UTF-8 JSON, as answered to clients (derived entries not included). */
  document: Uint8Array;
}

export interface Tombstone { at: number; by: string | null; reason: string | null; successor: string | null }

export interface FoundLink extends Link { source: string; sourceKind: KindName; position: string }

export interface Revision { revision: number; at: number; by: string | null; action: "create" | "update" | "delete" | "publish"; changed: string[] }

export interface ListQuery {
  kind?: KindName;
  /** Case-insensitive part of the name. */
  name?: string;
  /** Stored form or alias of the owner's ARK. */
  ownerKey?: string;
  /** A keyword, compared without case. */
  keyword?: string;
  crate?: string;
  /** Leaves out identifiers that end with this; only with `crate`, whose records are read one by one. */
  notEndingWith?: string;
  order?: "created" | "-created" | "name";
  /** Opaque position after which to go on, from {@link Page.next}. */
  after?: string;
  limit: number;
  /** The page ends with the record whose document brings it to more bytes, however many it still could have. */
  bytes?: number;
}
/** A page by key; `next` is absent on the last one. */
export interface Page<T> { items: T[]; next?: string }

/** `positions[i]` is where to go on after `items[i]`. */
export interface ListedPage extends Page<StoredRecord> { positions: string[] }

export type Found = { record: StoredRecord } | { ambiguous: string[] };

/** What is written for one state of a record. */
export interface RecordState {
  kind: KindName;
  name: string | null;
  owner: string | null;
  document: Uint8Array;
  /** Canonical N-Quads of the public view: the record's graph and its inferred graph. As text, or as `packQuads` makes them of it. */
  quads: string | Uint8Array;
  /** As a list, or as `packLinks` makes of it. */
  links: readonly Link[] | Uint8Array;
  /** What keyword search sees. */
  text: SearchText;
  keywords: string[];
}
export interface SearchText { name: string; description: string; keywords: string; other: string }

/** Who has an identifier: what decides over those below it. */
export interface Holder { ark: string; key: string; kind: KindName; owner: string | null; deleted: boolean }

export type RecordWrite =
  | ({ op: "create"; ark: string; key: string; crate?: string; publicationStatus?: PublicationStatus; objects?: ObjectReference[];
      /** Crate members may share a key (`a-b.csv` and `ab.csv`); others may not. */
      mayShareKey?: boolean } & RecordState)
  | ({ op: "replace"; ark: string; /** 412 when the stored revision differs. */ ifRevision: number;
      /** JSON pointers of what differs, for the history; empty makes no revision. */
      changed: string[];
      /** What the record refers to from this revision on; earlier revisions keep theirs. Absent: unchanged. */
      objects?: ObjectReference[];
      /**
       * Takes the objects so far from earlier revisions too, so that their bytes may go; `objects` are those that are new. The archives
       * of the crates that the record came with, or that use it, hold the same bytes and are dropped with them; not one that the commit brings.
       */
      dropObjects?: boolean;
      /** Brings a deleted record back as its next revision; without it a deleted one is `GONE`. */
      revive?: boolean;
      /** The crate that it counts as minted for from now on; absent: as before. */
      crate?: string } & RecordState)
  | { op: "delete"; ark: string; ifRevision: number; reason?: string; successor?: string; /** As for the one above. */ dropObjects?: boolean }
  /** Makes a revision with the document unchanged, so that the ETag changes and the history shows it; none when nothing differs. */
  | { op: "publish"; ark: string; /** As for the others, where it is given. */ ifRevision?: number; status: PublicationStatus; embargoedUntil: string | null };

/** One atomic step: all of it becomes visible, durably, or nothing. */
export interface Commit {
  /** ARK of who did it, or null for the service itself. */
  by: string | null;
  at: number;
  records: RecordWrite[];
  account?: AccountChange;
  /** Keys that nobody held when the commit was decided on: it is refused with `CHANGED_MEANWHILE` (extra: ark) when a record of another commit holds one by now. */
  unheld?: readonly string[];
  /** What a crate uses after this commit. */
  uses?: CrateUses;
  /** Guards the commit by `running AND attempt = mine`, and ends the submission in the same step. */
  submission?: SubmissionClose;
  /** Most ms that others may be kept waiting for it; past that it is undone and refused with `TOO_LARGE`. Default: no limit. */
  within?: number;
}
export interface Committed { sequence: number; records: CommittedRecord[] }
export interface CommittedRecord {
  ark: string;
  revision: number;
  /** Of a record that is new: sequence of the newest link to it that an earlier commit stated, where there is one. */
  newestBacklink?: number;
}

/**
 * The truth. Reads are always current; a write is one {@link Commit}.
 *
 * @throws {import("../../errors.js").ServiceError} from {@link commit}: `DUPLICATE` (extra: ark, kind of the
 * holder, and deleted: true when that is a tombstone), `EMAIL_TAKEN`, `TOO_LARGE` past {@link Commit.within}, `NOT_FOUND`, `GONE`, `REVISION_MISMATCH`
 * (extra: revision), `FORBIDDEN` when what the account change spends was spent already, from lists `BAD_REQUEST` for a position they did not give, and from any call
 * `STORE_UNAVAILABLE`. A commit with a `submission` also throws
 * {@link import("./fence.js").FenceLost}. A commit that throws changed nothing, and leaves commits of others alone.
 */
export interface RecordStore extends AccountStore, SubmissionStore, ObjectBookkeeping, CrateBookkeeping, SearchStore, LeaseStore, ScoreStore, VectorStore {
  /** By stored form first, then by key; tombstones included. */
  find(ark: string): Promise<Found | undefined>;
  /** By stored form or key, in the order asked for; `undefined` where nothing is stored or the key is ambiguous. */
  findMany(arks: readonly string[]): Promise<(StoredRecord | undefined)[]>;
  /** All that hold one of these keys, tombstones included, in no order. */
  holders(keys: readonly string[]): Promise<Holder[]>;
  list(query: ListQuery): Promise<ListedPage>;
  count(query: Omit<ListQuery, "after" | "limit" | "order" | "bytes">): Promise<number>;
  atRevision(ark: string, revision: number): Promise<{ document: Uint8Array; action: Revision["action"]; at: number } | undefined>;
  /** Newest first. */
  history(ark: string, options: { before?: number; limit: number }): Promise<Revision[]>;
  /** Links stated by each source, in the order stated; sources of tombstones have none. */
  linksFrom(arks: readonly string[], options: { predicates?: readonly string[]; /** Of several links to one target only the first counts. */ distinct?: boolean; after?: string; limit: number }): Promise<Page<FoundLink>[]>;
  /** Links that point to each target key, oldest first. */
  linksTo(keys: readonly string[], options: {
    predicates?: readonly string[]; kinds?: readonly KindName[];
    /** Of several links from one source only the oldest counts. */
    distinct?: boolean;
    /** Leaves sources out that the target itself links to by one of these predicates. */
    unlessBack?: readonly string[];
    after?: string; limit: number;
  }): Promise<Page<FoundLink>[]>;
  /** Current canonical N-Quads of a record. */
  quads(ark: string): Promise<string | undefined>;
  commit(commit: Commit): Promise<Committed>;
  /** Number of the last commit that changed records. */
  sequence(): Promise<number>;
  /** Opens a {@link GraphFeed} that a query engine in another thread reads from without touching this one. */
  openFeed(): MessagePort;
  /** Called after each durable commit that changed records. */
  onCommit(listener: (sequence: number) => void): void;
  /** How its connections are used; absent where it has none. */
  pools?(): PoolLoads;
  health(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Protocol of {@link RecordStore.openFeed}: post a {@link FeedRequest}, receive one {@link FeedAnswer}.
 * `all` pages through every live graph (start with `after: 0`, go on with `next`); `since` gives the current
 * graph of every record changed after a sequence, oldest change first. A commit is never cut: `limit` ends an
 * answer after the commit that reaches it, so one answer holds at least one whole commit.
 */
export type FeedRequest = { id: number; all: { after: number; limit: number } } | { id: number; since: { sequence: number; limit: number } };
export interface FeedAnswer {
  id: number;
  error?: string;
  graphs: FeedGraph[];
  /** For `all`: position to go on after, absent at the end. */
  next?: number;
  /** For `all`: the last sequence before reading began. For `since`: the sequence these graphs bring the reader to. */
  sequence: number;
  /** For `since`: more is waiting. */
  more?: boolean;
  /** For `all`: live records in all, for progress. */
  total?: number;
}
/** `nquads` is canonical N-Quads text; null when the record was deleted. */
export interface FeedGraph { ark: string; nquads: string | null }
