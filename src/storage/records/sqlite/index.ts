import type { MessagePort } from "node:worker_threads";
import { eventLoop } from "../../../event-loop-budget.js";
import type { Ark } from "../../../identifiers/ark.js";
import type { KindName } from "../../../model/kind.js";
import type {
  AccessRequest,
  AccessRequestStore,
  Account,
  ChangeLogPage,
  ClosedMember,
  Embargo,
  Commit,
  Committed,
  CrateBookkeeping,
  DanglingLink,
  Credential,
  CredentialPurpose,
  CredentialStore,
  Identity,
  IdentityStore,
  FileReference,
  Found,
  FoundLink,
  ListedAccount,
  Holder,
  ListedPage,
  ListQuery,
  LogPosition,
  ObjectBookkeeping,
  ObjectReference,
  Page,
  RecordStore,
  ReviewLink,
  Revision,
  SearchPage,
  SearchQuery,
  SelectionPage,
  StoredRecord,
  StoredScore,
  VectorStep,
  VectorStore,
  Viewer,
  AuditEntry,
  AuditFilter,
  AuditStore,
  NewAuditEntry,
} from "../port.js";
import type {
  AddressesQuery,
  AddressPage,
  AddressRange,
  AddressRangesQuery,
  LinkCountQuery,
  Selection,
  SelectionQuery,
  Statistics,
  StatisticsQuery,
} from "../port/selection.js";
import { wholeKinds } from "../selection.js";
import type {
  Submission,
  SubmissionClose,
  SubmissionPage,
  SubmissionStore,
} from "../port/submissions.js";
import { AskedThread, Feed } from "../threads.js";
import { checkedVectors } from "../vectors.js";
import { AccessReads } from "./access-requests.js";
import { AccountReads, CredentialReads, IdentityReads } from "./accounts.js";
import { AuditReads } from "./audit.js";
import { lockFile, openForReading } from "./connection.js";
import { ScoreReads, VectorReads } from "./derived.js";
import { LinkReads } from "./links.js";
import { CrateUseReads, ObjectReads } from "./objects.js";
import { ListReads, RecordReads } from "./reads.js";
import { ReviewLinkReads } from "./review-links.js";
import type { ReadAnswer, ReadQuestion, ReadThreadData } from "./read-thread.js";
import { isQuick, SelectionReads } from "./selection-reads.js";
import { asStoreError, type Connection } from "./statement.js";
import { SubmissionReads } from "./submissions.js";
import { Writer } from "./writer.js";

const READ_THREAD = "src/storage/records/sqlite/read-thread";

/** Reads a file that {@link openSqliteRecordStore} opened; writes through its writer thread. */
class SqliteRecordStore implements RecordStore {
  readonly #records;
  readonly #lists;
  readonly #selection;
  readonly #links;
  readonly #access;
  readonly #accounts;
  readonly #audit;
  readonly #credentials;
  readonly #identities;
  readonly #reviewLinks;
  readonly #submissions;
  readonly #objects;
  readonly #uses;
  readonly #scores;
  readonly #vectors;

  readonly #connection: Connection;
  readonly #writer: Writer;
  readonly #feed: Feed;
  readonly #searches: AskedThread<ReadQuestion, ReadAnswer>;
  readonly #selections: AskedThread<ReadQuestion, ReadAnswer>;
  readonly #unlock: () => void;

  constructor(
    connection: Connection,
    writer: Writer,
    feed: Feed,
    searches: AskedThread<ReadQuestion, ReadAnswer>,
    selections: AskedThread<ReadQuestion, ReadAnswer>,
    unlock: () => void,
  ) {
    this.#connection = connection;
    this.#writer = writer;
    this.#feed = feed;
    this.#searches = searches;
    this.#selections = selections;
    this.#unlock = unlock;

    this.#records = new RecordReads(connection);
    this.#lists = new ListReads(connection);
    this.#selection = new SelectionReads(connection);
    this.#links = new LinkReads(connection);
    this.#access = new AccessReads(connection);
    this.#accounts = new AccountReads(connection);
    this.#audit = new AuditReads(connection);
    this.#credentials = new CredentialReads(connection);
    this.#identities = new IdentityReads(connection);
    this.#reviewLinks = new ReviewLinkReads(connection);
    this.#submissions = new SubmissionReads(connection);
    this.#objects = new ObjectReads(connection);
    this.#uses = new CrateUseReads(connection);
    this.#scores = new ScoreReads(connection);
    this.#vectors = new VectorReads(connection);
  }

  find = async (ark: Ark, viewer?: Viewer): Promise<Found | undefined> => {
    const found = read(() => this.#records.find(ark, viewer));
    if (found && "record" in found) await eventLoop.turnFor(found.record.document.length);
    return found;
  };
  findMany = async (
    arks: readonly string[],
    viewer?: Viewer,
  ): Promise<(StoredRecord | undefined)[]> =>
    inParts(arks, (part) => read(() => this.#records.findMany(part, viewer)));
  holders = async (keys: readonly string[], viewer?: Viewer): Promise<Holder[]> =>
    read(() => this.#records.holders(keys, viewer));
  list = async (query: ListQuery): Promise<ListedPage> => {
    await eventLoop.pause();
    return read(() => this.#lists.list(query));
  };
  count = async (query: Omit<ListQuery, "after" | "limit" | "order">): Promise<number> =>
    read(() => this.#lists.count(query));
  select = async (query: SelectionQuery, signal?: AbortSignal): Promise<SelectionPage> =>
    isQuick(query)
      ? read(() => this.#selection.select(query))
      : ((await this.#selections.ask({ select: query }, signal)) as SelectionPage);
  countSelected = async (selection: Selection, signal?: AbortSignal): Promise<number> => {
    const kinds = wholeKinds(selection);
    return kinds
      ? read(() => this.#selection.tally(kinds, selection.viewer))
      : ((await this.#selections.ask({ count: selection }, signal)) as number);
  };
  countLinks = async (query: LinkCountQuery, signal?: AbortSignal): Promise<number[]> =>
    (await this.#selections.ask({ links: query }, signal)) as number[];
  statistics = async (query: StatisticsQuery, signal?: AbortSignal): Promise<Statistics> =>
    (await this.#selections.ask({ statistics: query }, signal)) as Statistics;
  addressRanges = async (
    query: AddressRangesQuery,
    signal?: AbortSignal,
  ): Promise<AddressRange[]> =>
    (await this.#selections.ask({ addressRanges: query }, signal)) as AddressRange[];
  addresses = async (query: AddressesQuery, signal?: AbortSignal): Promise<AddressPage> =>
    (await this.#selections.ask({ addresses: query }, signal)) as AddressPage;
  atRevision = async (
    ark: string,
    revision: number,
  ): Promise<{ document: Uint8Array; action: Revision["action"]; at: number } | undefined> =>
    read(() => this.#records.atRevision(ark, revision));
  history = async (ark: string, options: { before?: number; limit: number }): Promise<Revision[]> =>
    read(() => this.#records.history(ark, options));
  linksFrom = async (
    arks: readonly string[],
    options: { predicates?: readonly string[]; after?: string; limit: number },
  ): Promise<Page<FoundLink>[]> =>
    inParts(arks, (part) => read(() => this.#links.linksFrom(part, options)));
  linksTo = async (
    keys: readonly string[],
    options: {
      predicates?: readonly string[];
      kinds?: readonly KindName[];
      viewer?: Viewer | undefined;
      after?: string;
      limit: number;
    },
  ): Promise<Page<FoundLink>[]> =>
    inParts(keys, (part) => read(() => this.#links.linksTo(part, options)));
  search = async (query: SearchQuery, signal?: AbortSignal): Promise<SearchPage> =>
    (await this.#searches.ask({ search: query }, signal)) as SearchPage;
  quads = async (ark: string): Promise<string | undefined> => {
    const quads = read(() => this.#records.quads(ark));
    await eventLoop.turnFor(quads?.length ?? 0);
    return quads;
  };

  commit = (commit: Commit): Promise<Committed> => this.#writer.commit(commit);
  sequence = async (): Promise<number> => this.#writer.sequence;
  changes = async (after: LogPosition, limit: number): Promise<ChangeLogPage> =>
    read(() => this.#records.changes(after, limit));
  openFeed = (): MessagePort => this.#feed.open();
  onCommit = (listener: (sequence: number) => void): void => this.#writer.onCommit(listener);

  askForAccess = async (
    ...args: Parameters<AccessRequestStore["askForAccess"]>
  ): Promise<boolean> => this.#writer.call("askForAccess", ...args);
  accessRequest = async (
    ...args: Parameters<AccessRequestStore["accessRequest"]>
  ): Promise<AccessRequest | undefined> => read(() => this.#access.one(...args));
  accessGrants = async (
    ...args: Parameters<AccessRequestStore["accessGrants"]>
  ): ReturnType<AccessRequestStore["accessGrants"]> => read(() => this.#access.grants(...args));
  accessRequests = async (
    ...args: Parameters<AccessRequestStore["accessRequests"]>
  ): ReturnType<AccessRequestStore["accessRequests"]> => read(() => this.#access.list(...args));
  countAccessRequests = async (
    ...args: Parameters<AccessRequestStore["countAccessRequests"]>
  ): Promise<number> => read(() => this.#access.count(...args));
  decideAccess = async (
    ...args: Parameters<AccessRequestStore["decideAccess"]>
  ): Promise<boolean> => this.#writer.call("decideAccess", ...args);

  accountByEmail = async (email: string): Promise<Account | undefined> =>
    read(() => this.#accounts.byEmail(email));
  accountOf = async (user: string): Promise<Account | undefined> =>
    read(() => this.#accounts.byUser(user));
  countAccounts = async (): Promise<number> => read(() => this.#accounts.count());
  accounts = async (
    options: Parameters<RecordStore["accounts"]>[0],
  ): ReturnType<RecordStore["accounts"]> => read(() => this.#accounts.list(options));
  listedAccount = async (user: string): Promise<ListedAccount | undefined> =>
    read(() => this.#accounts.listed(user));
  noteSignIn = async (user: string, at: number): Promise<void> =>
    this.#writer.call("noteSignIn", user, at);
  credential = async (hash: string): ReturnType<CredentialStore["credential"]> =>
    read(() => this.#credentials.byHash(hash));
  credentialsOf = async (user: string, purpose: CredentialPurpose): Promise<Credential[]> =>
    read(() => this.#credentials.of(user, purpose));
  identity = async (issuer: string, subject: string): ReturnType<IdentityStore["identity"]> =>
    read(() => this.#identities.one(issuer, subject));
  identitiesOf = async (user: string): Promise<Identity[]> => read(() => this.#identities.of(user));
  linkIdentity = async (identity: Identity): Promise<boolean> =>
    this.#writer.call("linkIdentity", identity);
  unlinkIdentity = async (user: string, issuer: string): Promise<void> =>
    this.#writer.call("unlinkIdentity", user, issuer);
  storeCredential = async (
    ...args: Parameters<CredentialStore["storeCredential"]>
  ): Promise<boolean> => this.#writer.call("storeCredential", ...args);
  useCredential = async (hash: string, at: number): Promise<void> =>
    this.#writer.call("useCredential", hash, at);
  removeCredential = async (
    ...args: Parameters<CredentialStore["removeCredential"]>
  ): Promise<boolean> => this.#writer.call("removeCredential", ...args);
  reviewLink = async (hash: string): Promise<ReviewLink | undefined> =>
    read(() => this.#reviewLinks.one(hash));
  reviewLinksOf = async (record: string): Promise<ReviewLink[]> =>
    read(() => this.#reviewLinks.of(record));
  storeReviewLink = async (link: ReviewLink, most: number): Promise<boolean> =>
    this.#writer.call("storeReviewLink", link, most);
  useReviewLink = async (hash: string, at: number): Promise<void> =>
    this.#writer.call("useReviewLink", hash, at);
  removeReviewLink = async (record: string, id: string): Promise<boolean> =>
    this.#writer.call("removeReviewLink", record, id);
  setting = async (name: string): Promise<string | undefined> =>
    read(() => this.#accounts.setting(name));
  setSetting = async (
    name: string,
    value: string | null,
    options?: { ifAbsent?: boolean },
  ): Promise<string | undefined> => this.#writer.call("setSetting", name, value, options);

  appendAudit = async (entry: NewAuditEntry): Promise<void> =>
    this.#writer.call("appendAudit", entry);
  auditEntries = async (
    ...args: Parameters<AuditStore["auditEntries"]>
  ): Promise<Page<AuditEntry>> => read(() => this.#audit.list(...args));
  countAudit = async (filter: AuditFilter): Promise<number> =>
    read(() => this.#audit.count(filter));
  removeAudit = async (before: number, limit: number): Promise<number> =>
    this.#writer.call("removeAudit", before, limit);

  lease = async (
    name: string,
    holder: string,
    ttl: number,
  ): Promise<{ fence: number } | undefined> => this.#writer.call("lease", name, holder, ttl);
  releaseLease = async (name: string, holder: string): Promise<void> =>
    this.#writer.call("releaseLease", name, holder);

  submit = async (
    submission: Parameters<SubmissionStore["submit"]>[0],
  ): Promise<{ submission: Submission; existing: boolean }> =>
    this.#writer.call("submit", submission);
  submission = async (id: string): Promise<Submission | undefined> =>
    read(() => this.#submissions.byId(id));
  submissionsOf = async (
    user: string | null,
    options: { after?: string; limit: number },
  ): Promise<SubmissionPage> => read(() => this.#submissions.list(user, options));
  countSubmissions = async (user: string | null): Promise<number> =>
    read(() => this.#submissions.count(user));
  unfinished = async (): Promise<Submission[]> => read(() => this.#submissions.unfinished());
  beginAttempt = async (id: string, at: number): Promise<Submission | undefined> =>
    this.#writer.call("beginAttempt", id, at);
  yieldAttempt = async (id: string, attempt: number, counts = false): Promise<boolean> =>
    this.#writer.call("yieldAttempt", id, attempt, counts);
  setStage = async (id: string, attempt: number, stage: string): Promise<boolean> =>
    this.#writer.call("setStage", id, attempt, stage);
  closeSubmission = async (close: SubmissionClose, at: number): Promise<boolean> =>
    this.#writer.call("closeSubmission", close, at);
  cancelSubmission = async (id: string, at: number): Promise<Submission | undefined> =>
    this.#writer.call("cancelSubmission", id, at);

  intend = async (
    ...args: Parameters<ObjectBookkeeping["intend"]>
  ): Promise<{ removing: string[] }> => this.#writer.call("intend", ...args);
  release = async (...args: Parameters<ObjectBookkeeping["release"]>): Promise<void> =>
    this.#writer.call("release", ...args);
  objectsOf = async (
    ark: string,
    options?: Parameters<ObjectBookkeeping["objectsOf"]>[1],
  ): Promise<ObjectReference[]> => read(() => this.#objects.of(ark, options));
  filesOf = async (
    ...args: Parameters<ObjectBookkeeping["filesOf"]>
  ): Promise<Page<FileReference>> => read(() => this.#objects.files(...args));
  contentWasDeleted = async (ark: string, role?: ObjectReference["role"]): Promise<boolean> =>
    read(() => this.#objects.contentWasDeleted(ark, role));
  claimUnreferenced = async (
    ...args: Parameters<ObjectBookkeeping["claimUnreferenced"]>
  ): Promise<string[]> => this.#writer.call("claimUnreferenced", ...args);
  removed = async (sha256s: readonly string[]): Promise<void> =>
    this.#writer.call("removed", sha256s);
  referenced = async (options: {
    after?: string;
    limit: number;
  }): Promise<{ items: string[]; next?: string }> => read(() => this.#objects.referenced(options));

  usesOf = async (crate: string, viewer?: Viewer): Promise<string[]> =>
    read(() => this.#uses.of(crate, viewer));
  usedElsewhere = async (
    ...args: Parameters<CrateBookkeeping["usedElsewhere"]>
  ): Promise<string[]> => read(() => this.#uses.elsewhere(...args));
  embargoes = async (...args: Parameters<CrateBookkeeping["embargoes"]>): Promise<Page<Embargo>> =>
    read(() => this.#uses.embargoes(...args));
  closedMembers = async (
    ...args: Parameters<CrateBookkeeping["closedMembers"]>
  ): Promise<Page<ClosedMember>> => read(() => this.#uses.closedMembers(...args));
  danglingLinks = async (
    ...args: Parameters<CrateBookkeeping["danglingLinks"]>
  ): Promise<Page<DanglingLink>> => read(() => this.#uses.danglingLinks(...args));
  stateOfCrate = async (crate: string): Promise<string> => read(() => this.#uses.state(crate));

  storedScore = async (crate: string): Promise<StoredScore | undefined> =>
    read(() => this.#scores.of(crate));
  storeScore = async (score: StoredScore): Promise<void> => this.#writer.call("storeScore", score);

  vectorsReach = async (model: string): Promise<string> => read(() => this.#vectors.reach(model));
  changedTexts = async (
    ...args: Parameters<VectorStore["changedTexts"]>
  ): ReturnType<VectorStore["changedTexts"]> => read(() => this.#vectors.changed(...args));
  storeVectors = async (model: string, { after, to, vectors }: VectorStep): Promise<boolean> =>
    this.#writer.call("storeVectors", model, { after, to, vectors: checkedVectors(vectors) });
  forgetVectors = async (exceptModel: string, limit: number): Promise<number> =>
    this.#writer.call("forgetVectors", exceptModel, limit);

  rewriteQuads = (after: number, limit: number): Promise<number | undefined> =>
    this.#writer.call("rewriteQuads", after, limit);

  health = async (): Promise<void> => {
    this.#writer.health();
    read(() => this.#accounts.count());
  };

  close = async (): Promise<void> => {
    await Promise.all([this.#feed.close(), this.#searches.close(), this.#selections.close()]);
    // Readers first: their open snapshots would prevent the copy of the log into the file.
    this.#connection.close();
    await this.#writer.close();
    this.#unlock();
  };
}

/** A failure of the file is the store's, not the caller's. */
function read<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asStoreError(error);
  }
}

/** Records that are read without a pause: with a thousand links each, some milliseconds. */
const MAX_RECORDS_AT_ONCE = 20;

/** Reads for many records, with pauses in which the thread serves other requests. */
async function inParts<T>(
  ids: readonly string[],
  readPart: (part: readonly string[]) => T[],
): Promise<T[]> {
  if (ids.length <= MAX_RECORDS_AT_ONCE) return readPart(ids);
  const found: T[] = [];
  for (let start = 0; start < ids.length; start += MAX_RECORDS_AT_ONCE) {
    await eventLoop.pause();
    for (const each of readPart(ids.slice(start, start + MAX_RECORDS_AT_ONCE))) found.push(each);
  }
  return found;
}

/**
 * Opens the record store in one file of libSQL, making it if need be. One process at a time.
 *
 * @param options.file in an existing folder; `.lock`, `.pid`, `-wal` and `-shm` stand beside it
 * @param options.log called with faults in the background
 * @param options.warn called with what may be lost after an unclean stop
 * @throws ServiceError `STORE_UNAVAILABLE`: in use by another process, not a database, another
 * program's, or of a newer version
 */
export async function openSqliteRecordStore({
  file,
  log = () => {},
  warn = log,
}: {
  file: string;
  log?: (message: string) => void;
  warn?: (message: string) => void;
}): Promise<RecordStore> {
  const unlock = lockFile(file, warn);
  let writer: Writer | undefined;
  try {
    writer = await Writer.open(file);
    const data: ReadThreadData = { file };
    const threadFor = (what: string) =>
      new AskedThread<ReadQuestion, ReadAnswer>(what, READ_THREAD, data, log);
    const feed = new Feed(READ_THREAD, data, log);
    const [searches, selections] = [threadFor("search"), threadFor("selection")];
    return new SqliteRecordStore(openForReading(file), writer, feed, searches, selections, unlock);
  } catch (error) {
    await writer?.close();
    unlock();
    throw asStoreError(error);
  }
}
