/** The tables whose SQL both databases read. */
import { auditOf } from "../audit.js";
import type { Commit, CommittedRecord, RecordStore } from "../port.js";
import type { Statements } from "../statements.js";
import { AccessRequests } from "./access-requests.js";
import { Accounts } from "./accounts.js";
import { Audit } from "./audit.js";
import { Credentials } from "./credentials.js";
import { Links } from "./links.js";
import { CrateUses, Objects } from "./objects.js";
import { ReviewLinks } from "./review-links.js";
import { Revisions } from "./revisions.js";
import { Scores } from "./scores.js";
import type { TableSql } from "./sql.js";
import { Submissions } from "./submissions.js";
import { Vectors } from "./vectors.js";

export class Tables {
  readonly access: AccessRequests;
  readonly accounts: Accounts;
  readonly audit: Audit;
  readonly credentials: Credentials;
  readonly links: Links;
  readonly objects: Objects;
  readonly reviewLinks: ReviewLinks;
  readonly revisions: Revisions;
  readonly scores: Scores;
  readonly submissions: Submissions;
  readonly uses: CrateUses;
  readonly vectors: Vectors;

  /** @param sql of the database that the statements are sent to */
  constructor(statements: Statements, sql: TableSql) {
    this.access = new AccessRequests(statements);
    this.accounts = new Accounts(statements);
    this.audit = new Audit(statements);
    this.credentials = new Credentials(statements);
    this.links = new Links(statements, sql.links);
    this.objects = new Objects(statements, sql.objects);
    this.reviewLinks = new ReviewLinks(statements);
    this.revisions = new Revisions(statements);
    this.scores = new Scores(statements);
    this.submissions = new Submissions(statements, sql.nextSubmission);
    this.uses = new CrateUses(statements, sql.uses);
    this.vectors = new Vectors(statements, sql.vectors);
  }

  /**
   * What a commit changes here, after its records.
   * @param done its records after the commit
   */
  async follow(
    commit: Parameters<typeof auditOf>[0] & Pick<Commit, "submission" | "uses">,
    done: readonly CommittedRecord[],
  ): Promise<void> {
    const { account, at, records, submission, uses } = commit;
    const deleted = records.flatMap(({ op, ark }) => (op === "delete" ? [ark] : []));
    if (deleted.length > 0) {
      await this.uses.end(deleted);
      await this.scores.forget(deleted);
      await this.access.forget(deleted);
    }
    if (uses) await this.uses.replace(uses);
    if (account) await this.accounts.change(account);
    await Promise.all(auditOf(commit, done).map((entry) => this.audit.appendAudit(entry)));
    if (submission) await this.submissions.closeSubmission(submission, at);
  }
}

/** What is written to them beside commits. */
export type TableWrites = Pick<
  RecordStore,
  | "appendAudit"
  | "askForAccess"
  | "beginAttempt"
  | "cancelSubmission"
  | "closeSubmission"
  | "decideAccess"
  | "forgetVectors"
  | "linkIdentity"
  | "noteSignIn"
  | "removeAudit"
  | "removeCredential"
  | "removeReviewLink"
  | "setSetting"
  | "setStage"
  | "storeCredential"
  | "storeReviewLink"
  | "storeScore"
  | "storeVectors"
  | "submit"
  | "unlinkIdentity"
  | "useCredential"
  | "useReviewLink"
  | "yieldAttempt"
>;

export const writesOf = ({
  access,
  accounts,
  audit,
  credentials,
  reviewLinks,
  scores,
  submissions,
  vectors,
}: Tables): TableWrites => ({
  appendAudit: (entry) => audit.appendAudit(entry),
  askForAccess: (...args) => access.askForAccess(...args),
  beginAttempt: (...args) => submissions.beginAttempt(...args),
  cancelSubmission: (...args) => submissions.cancelSubmission(...args),
  closeSubmission: (...args) => submissions.closeSubmission(...args),
  decideAccess: (decision) => access.decideAccess(decision),
  forgetVectors: (...args) => vectors.forgetVectors(...args),
  linkIdentity: (identity) => credentials.linkIdentity(identity),
  noteSignIn: (...args) => accounts.noteSignIn(...args),
  removeAudit: (...args) => audit.removeAudit(...args),
  removeCredential: (which) => credentials.removeCredential(which),
  removeReviewLink: (...args) => reviewLinks.removeReviewLink(...args),
  setSetting: (...args) => accounts.setSetting(...args),
  setStage: (...args) => submissions.setStage(...args),
  storeCredential: (...args) => credentials.storeCredential(...args),
  storeReviewLink: (...args) => reviewLinks.storeReviewLink(...args),
  storeScore: (score) => scores.storeScore(score),
  storeVectors: (...args) => vectors.storeVectors(...args),
  submit: (submission) => submissions.submit(submission),
  unlinkIdentity: (...args) => credentials.unlinkIdentity(...args),
  useCredential: (...args) => credentials.useCredential(...args),
  useReviewLink: (...args) => reviewLinks.useReviewLink(...args),
  yieldAttempt: (...args) => submissions.yieldAttempt(...args),
});

/**
 * Where each database reads and writes them: a store adds what it does in its own way.
 */
export abstract class TableStore {
  protected readonly tables: Tables;

  /** @param statements reads them */
  constructor(statements: Statements, sql: TableSql) {
    this.tables = new Tables(statements, sql);
  }

  /** Turns failures of the database into errors for the caller. */
  protected abstract ask<T>(work: () => Promise<T>): Promise<T>;
  protected abstract write<Call extends keyof TableWrites>(
    call: Call,
    ...args: Parameters<TableWrites[Call]>
  ): ReturnType<TableWrites[Call]>;

  accessRequest: RecordStore["accessRequest"] = (which) =>
    this.ask(() => this.tables.access.accessRequest(which));
  accessGrants: RecordStore["accessGrants"] = (...args) =>
    this.ask(() => this.tables.access.accessGrants(...args));
  accessRequests: RecordStore["accessRequests"] = (query) =>
    this.ask(() => this.tables.access.accessRequests(query));
  countAccessRequests: RecordStore["countAccessRequests"] = (query) =>
    this.ask(() => this.tables.access.countAccessRequests(query));
  askForAccess: RecordStore["askForAccess"] = (...args) => this.write("askForAccess", ...args);
  decideAccess: RecordStore["decideAccess"] = (decision) => this.write("decideAccess", decision);

  accountByEmail: RecordStore["accountByEmail"] = (email) =>
    this.ask(() => this.tables.accounts.accountByEmail(email));
  accountOf: RecordStore["accountOf"] = (user) =>
    this.ask(() => this.tables.accounts.accountOf(user));
  countAccounts: RecordStore["countAccounts"] = () =>
    this.ask(() => this.tables.accounts.countAccounts());
  accounts: RecordStore["accounts"] = (options) =>
    this.ask(() => this.tables.accounts.accounts(options));
  listedAccount: RecordStore["listedAccount"] = (user) =>
    this.ask(() => this.tables.accounts.listedAccount(user));
  noteSignIn: RecordStore["noteSignIn"] = (...args) => this.write("noteSignIn", ...args);
  setting: RecordStore["setting"] = (name) => this.ask(() => this.tables.accounts.setting(name));
  setSetting: RecordStore["setSetting"] = (...args) => this.write("setSetting", ...args);

  auditEntries: RecordStore["auditEntries"] = (query) =>
    this.ask(() => this.tables.audit.auditEntries(query));
  countAudit: RecordStore["countAudit"] = (filter) =>
    this.ask(() => this.tables.audit.countAudit(filter));
  appendAudit: RecordStore["appendAudit"] = (entry) => this.write("appendAudit", entry);
  removeAudit: RecordStore["removeAudit"] = (...args) => this.write("removeAudit", ...args);

  credential: RecordStore["credential"] = (hash) =>
    this.ask(() => this.tables.credentials.credential(hash));
  credentialsOf: RecordStore["credentialsOf"] = (...args) =>
    this.ask(() => this.tables.credentials.credentialsOf(...args));
  storeCredential: RecordStore["storeCredential"] = (...args) =>
    this.write("storeCredential", ...args);
  useCredential: RecordStore["useCredential"] = (...args) => this.write("useCredential", ...args);
  removeCredential: RecordStore["removeCredential"] = (which) =>
    this.write("removeCredential", which);
  identity: RecordStore["identity"] = (...args) =>
    this.ask(() => this.tables.credentials.identity(...args));
  identitiesOf: RecordStore["identitiesOf"] = (user) =>
    this.ask(() => this.tables.credentials.identitiesOf(user));
  linkIdentity: RecordStore["linkIdentity"] = (identity) => this.write("linkIdentity", identity);
  unlinkIdentity: RecordStore["unlinkIdentity"] = (...args) =>
    this.write("unlinkIdentity", ...args);

  objectsOf: RecordStore["objectsOf"] = (...args) =>
    this.ask(() => this.tables.objects.objectsOf(...args));
  filesOf: RecordStore["filesOf"] = (...args) =>
    this.ask(() => this.tables.objects.filesOf(...args));
  contentWasDeleted: RecordStore["contentWasDeleted"] = (...args) =>
    this.ask(() => this.tables.objects.contentWasDeleted(...args));
  referenced: RecordStore["referenced"] = (options) =>
    this.ask(() => this.tables.objects.referenced(options));

  usesOf: RecordStore["usesOf"] = (...args) => this.ask(() => this.tables.uses.usesOf(...args));
  usedElsewhere: RecordStore["usedElsewhere"] = (...args) =>
    this.ask(() => this.tables.uses.usedElsewhere(...args));
  embargoes: RecordStore["embargoes"] = (options) =>
    this.ask(() => this.tables.uses.embargoes(options));
  closedMembers: RecordStore["closedMembers"] = (...args) =>
    this.ask(() => this.tables.uses.closedMembers(...args));
  danglingLinks: RecordStore["danglingLinks"] = (...args) =>
    this.ask(() => this.tables.uses.danglingLinks(...args));
  stateOfCrate: RecordStore["stateOfCrate"] = (crate) =>
    this.ask(() => this.tables.uses.stateOfCrate(crate));

  vectorsReach: RecordStore["vectorsReach"] = (model) =>
    this.ask(() => this.tables.vectors.vectorsReach(model));
  changedTexts: RecordStore["changedTexts"] = (...args) =>
    this.ask(() => this.tables.vectors.changedTexts(...args));
  storeVectors: RecordStore["storeVectors"] = (...args) => this.write("storeVectors", ...args);
  forgetVectors: RecordStore["forgetVectors"] = (...args) => this.write("forgetVectors", ...args);

  reviewLink: RecordStore["reviewLink"] = (hash) =>
    this.ask(() => this.tables.reviewLinks.reviewLink(hash));
  reviewLinksOf: RecordStore["reviewLinksOf"] = (record) =>
    this.ask(() => this.tables.reviewLinks.reviewLinksOf(record));
  storeReviewLink: RecordStore["storeReviewLink"] = (...args) =>
    this.write("storeReviewLink", ...args);
  useReviewLink: RecordStore["useReviewLink"] = (...args) => this.write("useReviewLink", ...args);
  removeReviewLink: RecordStore["removeReviewLink"] = (...args) =>
    this.write("removeReviewLink", ...args);

  atRevision: RecordStore["atRevision"] = (...args) =>
    this.ask(() => this.tables.revisions.atRevision(...args));
  history: RecordStore["history"] = (...args) =>
    this.ask(() => this.tables.revisions.history(...args));
  quads: RecordStore["quads"] = (ark) => this.ask(() => this.tables.revisions.quads(ark));
  changes: RecordStore["changes"] = (...args) =>
    this.ask(() => this.tables.revisions.changes(...args));

  storedScore: RecordStore["storedScore"] = (crate) =>
    this.ask(() => this.tables.scores.storedScore(crate));
  storeScore: RecordStore["storeScore"] = (score) => this.write("storeScore", score);

  submission: RecordStore["submission"] = (id) =>
    this.ask(() => this.tables.submissions.submission(id));
  submissionsOf: RecordStore["submissionsOf"] = (...args) =>
    this.ask(() => this.tables.submissions.submissionsOf(...args));
  countSubmissions: RecordStore["countSubmissions"] = (user) =>
    this.ask(() => this.tables.submissions.countSubmissions(user));
  unfinished: RecordStore["unfinished"] = () =>
    this.ask(() => this.tables.submissions.unfinished());
  submit: RecordStore["submit"] = (submission) => this.write("submit", submission);
  beginAttempt: RecordStore["beginAttempt"] = (...args) => this.write("beginAttempt", ...args);
  yieldAttempt: RecordStore["yieldAttempt"] = (...args) => this.write("yieldAttempt", ...args);
  setStage: RecordStore["setStage"] = (...args) => this.write("setStage", ...args);
  closeSubmission: RecordStore["closeSubmission"] = (...args) =>
    this.write("closeSubmission", ...args);
  cancelSubmission: RecordStore["cancelSubmission"] = (...args) =>
    this.write("cancelSubmission", ...args);
}
