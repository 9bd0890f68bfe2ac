import { randomUUID } from "node:crypto";
import type { MessagePort } from "node:worker_threads";
import type { Ark } from "../../../identifiers/ark.js";
import type { PoolLoads } from "../../connections.js";
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
  FileReference,
  Found,
  FoundLink,
  ListedAccount,
  Holder,
  LeaseStore,
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
import type {
  Submission,
  SubmissionClose,
  SubmissionPage,
  SubmissionStore,
} from "../port/submissions.js";
import { AccessRequests } from "./access-requests.js";
import { AccountReads, Credentials, SubmissionReads } from "./accounts.js";
import { Audit } from "./audit.js";
import { QuadsRewrites, Scores, Vectors } from "./derived.js";
import { LinkReads, ListReads, SelectionReads } from "./lists.js";
import { Feed } from "./feed.js";
import { Leases, Registration, Watch } from "./nodes.js";
import { CrateUseReads, ObjectReads, RecordReads } from "./reads/records.js";
import { ReviewLinks } from "./review-links.js";
import { migrate } from "./schema.js";
import { SearchReads } from "./search/search-reads.js";
import { prepareSpellings } from "./search/spellings.js";
import { asStoreError, Database, type DatabaseOptions, StatementError } from "./statement.js";
import { Writer } from "./writes/writer.js";

export interface PostgresOptions extends Omit<DatabaseOptions, "log"> {
  /** ms between two polls for commits of other nodes. */
  poll: number;
  /** Called with faults in the background. */
  log?(message: string): void;
  /** This node's clock, in ms since 1970. */
  clock?(): number;
}

/**
 * Connections of the pool that are reserved for writes, leases and the watch: slow searches never
 * block these.
 */
const FOR_WRITES = 4;

/** Reads and writes a database that other nodes read and write too. */
class PostgresRecordStore implements RecordStore, LeaseStore {
  readonly #records;
  readonly #lists;
  readonly #selection;
  readonly #links;
  readonly #access;
  readonly #accounts;
  readonly #audit;
  readonly #credentials;
  readonly #reviewLinks;
  readonly #submissions;
  readonly #objects;
  readonly #uses;
  readonly #searches;
  readonly #leases;
  readonly #scores;
  readonly #quads: QuadsRewrites;
  readonly #vectors;

  readonly #database: Database;
  readonly #writing: Database;
  readonly #writer: Writer;
  readonly #watch: Watch;
  readonly #feed: Feed;
  readonly #registration: Registration;

  constructor(
    database: Database,
    writing: Database,
    writer: Writer,
    watch: Watch,
    registration: Registration,
  ) {
    this.#database = database;
    this.#writing = writing;
    this.#writer = writer;
    this.#watch = watch;
    this.#feed = new Feed(database);
    this.#registration = registration;

    this.#records = new RecordReads(database);
    this.#lists = new ListReads(database);
    this.#selection = new SelectionReads(database);
    this.#links = new LinkReads(database);
    this.#access = new AccessRequests(database, writing);
    this.#accounts = new AccountReads(database);
    this.#audit = new Audit(database, writing);
    this.#credentials = new Credentials(database, writing);
    this.#reviewLinks = new ReviewLinks(database, writing);
    this.#submissions = new SubmissionReads(database);
    this.#objects = new ObjectReads(database);
    this.#uses = new CrateUseReads(database);
    this.#searches = new SearchReads(database);
    this.#leases = new Leases(writing);
    this.#scores = new Scores(database, writing);
    this.#vectors = new Vectors(database, writing);
    this.#quads = new QuadsRewrites(writing);
  }

  find = (ark: Ark, viewer?: Viewer): Promise<Found | undefined> =>
    this.#ask(() => this.#records.find(ark, viewer));
  findMany = (arks: readonly string[], viewer?: Viewer): Promise<(StoredRecord | undefined)[]> =>
    this.#ask(() => this.#records.findMany(arks, viewer));
  holders = (keys: readonly string[], viewer?: Viewer): Promise<Holder[]> =>
    this.#ask(() => this.#records.holders(keys, viewer));
  list = (query: ListQuery): Promise<ListedPage> => this.#ask(() => this.#lists.list(query));
  count = (query: Omit<ListQuery, "after" | "limit" | "order">): Promise<number> =>
    this.#ask(() => this.#lists.count(query));
  select = (query: SelectionQuery): Promise<SelectionPage> =>
    this.#ask(() => this.#selection.select(query));
  countSelected = (selection: Selection): Promise<number> =>
    this.#ask(() => this.#selection.count(selection));
  statistics = (query: StatisticsQuery): Promise<Statistics> =>
    this.#ask(() => this.#selection.statistics(query));
  addressRanges = (query: AddressRangesQuery): Promise<AddressRange[]> =>
    this.#ask(() => this.#selection.addressRanges(query));
  addresses = (query: AddressesQuery): Promise<AddressPage> =>
    this.#ask(() => this.#selection.addresses(query));
  atRevision = (
    ark: string,
    revision: number,
  ): Promise<{ document: Uint8Array; action: Revision["action"]; at: number } | undefined> =>
    this.#ask(() => this.#records.atRevision(ark, revision));
  history = (ark: string, options: { before?: number; limit: number }): Promise<Revision[]> =>
    this.#ask(() => this.#records.history(ark, options));
  linksFrom = (...args: Parameters<RecordStore["linksFrom"]>): Promise<Page<FoundLink>[]> =>
    this.#ask(() => this.#links.linksFrom(...args));
  linksTo = (...args: Parameters<RecordStore["linksTo"]>): Promise<Page<FoundLink>[]> =>
    this.#ask(() => this.#links.linksTo(...args));
  countLinks = (query: LinkCountQuery): Promise<number[]> =>
    this.#ask(() => this.#links.count(query));
  search = (query: SearchQuery, signal?: AbortSignal): Promise<SearchPage> =>
    this.#ask(() => this.#searches.search(query, signal));
  quads = (ark: string): Promise<string | undefined> => this.#ask(() => this.#records.quads(ark));

  commit = (commit: Commit): Promise<Committed> => this.#writer.commit(commit);
  sequence = (): Promise<number> => this.#ask(() => this.#watch.sequence());
  changes = (after: LogPosition, limit: number): Promise<ChangeLogPage> =>
    this.#ask(() => this.#records.changes(after, limit));
  openFeed = (): MessagePort => this.#feed.open();
  onCommit = (listener: (sequence: number) => void): void => this.#watch.onCommit(listener);

  askForAccess = (...args: Parameters<AccessRequestStore["askForAccess"]>): Promise<boolean> =>
    this.#ask(() => this.#access.askForAccess(...args));
  accessRequest = (
    ...args: Parameters<AccessRequestStore["accessRequest"]>
  ): Promise<AccessRequest | undefined> => this.#ask(() => this.#access.accessRequest(...args));
  accessGrants = (
    ...args: Parameters<AccessRequestStore["accessGrants"]>
  ): ReturnType<AccessRequestStore["accessGrants"]> =>
    this.#ask(() => this.#access.accessGrants(...args));
  accessRequests = (
    ...args: Parameters<AccessRequestStore["accessRequests"]>
  ): ReturnType<AccessRequestStore["accessRequests"]> =>
    this.#ask(() => this.#access.accessRequests(...args));
  countAccessRequests = (
    ...args: Parameters<AccessRequestStore["countAccessRequests"]>
  ): Promise<number> => this.#ask(() => this.#access.countAccessRequests(...args));
  decideAccess = (...args: Parameters<AccessRequestStore["decideAccess"]>): Promise<boolean> =>
    this.#ask(() => this.#access.decideAccess(...args));

  accountByEmail = (email: string): Promise<Account | undefined> =>
    this.#ask(() => this.#accounts.byEmail(email));
  accountOf = (user: string): Promise<Account | undefined> =>
    this.#ask(() => this.#accounts.byUser(user));
  countAccounts = (): Promise<number> => this.#ask(() => this.#accounts.count());
  accounts = (
    options: Parameters<RecordStore["accounts"]>[0],
  ): ReturnType<RecordStore["accounts"]> => this.#ask(() => this.#accounts.list(options));
  listedAccount = (user: string): Promise<ListedAccount | undefined> =>
    this.#ask(() => this.#accounts.listed(user));
  noteSignIn = (user: string, at: number): Promise<void> =>
    this.#ask(() => this.#credentials.noteSignIn(user, at));
  credential = (hash: string): ReturnType<CredentialStore["credential"]> =>
    this.#ask(() => this.#credentials.credential(hash));
  credentialsOf = (user: string, purpose: CredentialPurpose): Promise<Credential[]> =>
    this.#ask(() => this.#credentials.credentialsOf(user, purpose));
  identity = (issuer: string, subject: string): Promise<Identity | undefined> =>
    this.#ask(() => this.#credentials.identity(issuer, subject));
  identitiesOf = (user: string): Promise<Identity[]> =>
    this.#ask(() => this.#credentials.identitiesOf(user));
  linkIdentity = (identity: Identity): Promise<boolean> =>
    this.#ask(() => this.#credentials.linkIdentity(identity));
  unlinkIdentity = (user: string, issuer: string): Promise<void> =>
    this.#ask(() => this.#credentials.unlinkIdentity(user, issuer));
  reviewLink = (hash: string): Promise<ReviewLink | undefined> =>
    this.#ask(() => this.#reviewLinks.reviewLink(hash));
  reviewLinksOf = (record: string): Promise<ReviewLink[]> =>
    this.#ask(() => this.#reviewLinks.reviewLinksOf(record));
  storeReviewLink = (link: ReviewLink, most: number): Promise<boolean> =>
    this.#ask(() => this.#reviewLinks.storeReviewLink(link, most));
  useReviewLink = (hash: string, at: number): Promise<void> =>
    this.#ask(() => this.#reviewLinks.useReviewLink(hash, at));
  removeReviewLink = (record: string, id: string): Promise<boolean> =>
    this.#ask(() => this.#reviewLinks.removeReviewLink(record, id));
  storeCredential = (...args: Parameters<CredentialStore["storeCredential"]>): Promise<boolean> =>
    this.#ask(() => this.#credentials.storeCredential(...args));
  useCredential = (hash: string, at: number): Promise<void> =>
    this.#ask(() => this.#credentials.useCredential(hash, at));
  removeCredential = (...args: Parameters<CredentialStore["removeCredential"]>): Promise<boolean> =>
    this.#ask(() => this.#credentials.removeCredential(...args));
  setting = (name: string): Promise<string | undefined> =>
    this.#ask(() => this.#accounts.setting(name));
  setSetting = (
    name: string,
    value: string | null,
    options?: { ifAbsent?: boolean },
  ): Promise<string | undefined> => this.#writer.call("setSetting", name, value, options);

  appendAudit = (entry: NewAuditEntry): Promise<void> =>
    this.#ask(() => this.#audit.appendAudit(entry));
  auditEntries = (...args: Parameters<AuditStore["auditEntries"]>): Promise<Page<AuditEntry>> =>
    this.#ask(() => this.#audit.auditEntries(...args));
  countAudit = (filter: AuditFilter): Promise<number> =>
    this.#ask(() => this.#audit.countAudit(filter));
  removeAudit = (before: number, limit: number): Promise<number> =>
    this.#ask(() => this.#audit.removeAudit(before, limit));

  submit = (
    submission: Parameters<SubmissionStore["submit"]>[0],
  ): Promise<{ submission: Submission; existing: boolean }> =>
    this.#writer.call("submit", submission);
  submission = (id: string): Promise<Submission | undefined> =>
    this.#ask(() => this.#submissions.byId(id));
  submissionsOf = (
    user: string | null,
    options: { after?: string; limit: number },
  ): Promise<SubmissionPage> => this.#ask(() => this.#submissions.list(user, options));
  countSubmissions = (user: string | null): Promise<number> =>
    this.#ask(() => this.#submissions.count(user));
  unfinished = (): Promise<Submission[]> => this.#ask(() => this.#submissions.unfinished());
  beginAttempt = (id: string, at: number): Promise<Submission | undefined> =>
    this.#writer.call("beginAttempt", id, at);
  yieldAttempt = (id: string, attempt: number, counts = false): Promise<boolean> =>
    this.#writer.call("yieldAttempt", id, attempt, counts);
  setStage = (id: string, attempt: number, stage: string): Promise<boolean> =>
    this.#writer.call("setStage", id, attempt, stage);
  closeSubmission = (close: SubmissionClose, at: number): Promise<boolean> =>
    this.#writer.call("closeSubmission", close, at);
  cancelSubmission = (id: string, at: number): Promise<Submission | undefined> =>
    this.#writer.call("cancelSubmission", id, at);

  intend = (...args: Parameters<ObjectBookkeeping["intend"]>): Promise<{ removing: string[] }> =>
    this.#writer.call("intend", ...args);
  release = (...args: Parameters<ObjectBookkeeping["release"]>): Promise<void> =>
    this.#writer.call("release", ...args);
  objectsOf = (
    ark: string,
    options?: Parameters<ObjectBookkeeping["objectsOf"]>[1],
  ): Promise<ObjectReference[]> => this.#ask(() => this.#objects.of(ark, options));
  filesOf = (...args: Parameters<ObjectBookkeeping["filesOf"]>): Promise<Page<FileReference>> =>
    this.#ask(() => this.#objects.files(...args));
  contentWasDeleted = (
    ...args: Parameters<ObjectBookkeeping["contentWasDeleted"]>
  ): Promise<boolean> => this.#ask(() => this.#objects.contentWasDeleted(...args));
  claimUnreferenced = (
    ...args: Parameters<ObjectBookkeeping["claimUnreferenced"]>
  ): Promise<string[]> => this.#writer.call("claimUnreferenced", ...args);
  removed = (sha256s: readonly string[]): Promise<void> => this.#writer.call("removed", sha256s);
  referenced = (options: {
    after?: string;
    limit: number;
  }): Promise<{ items: string[]; next?: string }> =>
    this.#ask(() => this.#objects.referenced(options));

  usesOf = (crate: string, viewer?: Viewer): Promise<string[]> =>
    this.#ask(() => this.#uses.of(crate, viewer));
  usedElsewhere = (...args: Parameters<CrateBookkeeping["usedElsewhere"]>): Promise<string[]> =>
    this.#ask(() => this.#uses.elsewhere(...args));
  embargoes = (...args: Parameters<CrateBookkeeping["embargoes"]>): Promise<Page<Embargo>> =>
    this.#ask(() => this.#uses.embargoes(...args));
  closedMembers = (
    ...args: Parameters<CrateBookkeeping["closedMembers"]>
  ): Promise<Page<ClosedMember>> => this.#ask(() => this.#uses.closedMembers(...args));
  danglingLinks = (
    ...args: Parameters<CrateBookkeeping["danglingLinks"]>
  ): Promise<Page<DanglingLink>> => this.#ask(() => this.#uses.danglingLinks(...args));
  stateOfCrate = (crate: string): Promise<string> => this.#ask(() => this.#uses.state(crate));

  lease = (name: string, holder: string, ttl: number): Promise<{ fence: number } | undefined> =>
    this.#ask(() => this.#leases.lease(name, holder, ttl));
  releaseLease = (name: string, holder: string): Promise<void> =>
    this.#ask(() => this.#leases.releaseLease(name, holder));

  storedScore = (crate: string): Promise<StoredScore | undefined> =>
    this.#ask(() => this.#scores.storedScore(crate));
  storeScore = (score: StoredScore): Promise<void> =>
    this.#ask(() => this.#scores.storeScore(score));

  vectorsReach = (model: string): Promise<string> =>
    this.#ask(() => this.#vectors.vectorsReach(model));
  changedTexts = (
    ...args: Parameters<VectorStore["changedTexts"]>
  ): ReturnType<VectorStore["changedTexts"]> =>
    this.#ask(() => this.#vectors.changedTexts(...args));
  storeVectors = (model: string, step: VectorStep): Promise<boolean> =>
    this.#ask(() => this.#vectors.storeVectors(model, step));
  forgetVectors = (exceptModel: string, limit: number): Promise<number> =>
    this.#ask(() => this.#vectors.forgetVectors(exceptModel, limit));

  rewriteQuads = (after: number, limit: number): Promise<number | undefined> =>
    this.#ask(() => this.#quads.rewriteQuads(after, limit));

  pools = (): PoolLoads => ({
    database_reads: this.#database.load(),
    database_writes: this.#writing.load(),
  });

  health = async (): Promise<void> => {
    await this.sequence();
  };

  close = async (): Promise<void> => {
    this.#feed.close();
    await this.#writer.close();
    await this.#watch.close();
    await this.#registration.end();
    await Promise.all([this.#database.close(), this.#writing.close()]);
  };
  /** A statement that fails where it never should may be one of before a change of the schema. */
  async #ask<T>(work: () => Promise<T>): Promise<T> {
    this.#watch.assertKnown();
    return ask(work).catch(async (error: unknown) => {
      if (error instanceof StatementError) await ask(() => this.#watch.sequence());
      throw error;
    });
  }
}

/** A failure of the database is the store's, not the caller's. */
async function ask<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStoreError(error);
  }
}

/**
 * Opens the record store in a PostgreSQL database, making its tables if need be. Any number of
 * nodes may have it open.
 *
 * @param options.url the tables are in the first schema of the connection's `search_path`
 * @throws ServiceError `STORE_UNAVAILABLE`: the database is unavailable, another program's, or of a
 * newer version
 */
export async function openPostgresRecordStore(
  options: PostgresOptions,
): Promise<RecordStore & LeaseStore> {
  const { url, pool, timeout, connectTimeout, poll, log = () => {}, clock = Date.now } = options;
  const [database, writing] = [Math.max(1, pool - FOR_WRITES), FOR_WRITES].map(
    (size) => new Database({ url, pool: size, timeout, connectTimeout, log }),
  ) as [Database, Database];
  const node = randomUUID();
  const [small, large] = [`${node}/small`, `${node}/large`];
  const registration = new Registration(writing, [small, large]);
  const watch = new Watch(writing, poll, clock, [small, large], log);
  try {
    await ask(async () => {
      await migrate(writing);
      await prepareSpellings(writing, log);
      await registration.begin();
      await watch.start();
    });
  } catch (error) {
    await watch.close();
    await Promise.all([database.close(), writing.close()]);
    throw error;
  }
  const writer = new Writer({
    database: writing,
    names: [small, large],
    retryWindow: timeout,
    skew: () => watch.skew,
    done: (sequence) => watch.receive(sequence),
  });
  return new PostgresRecordStore(database, writing, writer, watch, registration);
}
