// Printed by `npm run generate` from the files in queries.
import { TypedDocumentString } from "./document.js";
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> =
  T | { [P in keyof T]?: P extends " $fragmentName" | "__typename" ? T[P] : never };
/** Whose statements count: ANYONE's, or those of an OWNER of the record that a step begins at. */
export type AssertedBy =
  /** All statements count. */
  | "ANYONE"
  /** Statements of third parties are left out. */
  | "OWNER";

/** One run of software: what it used and what it generated. */
export type ComputationInput = {
  /** Further members of the document, as a JSON object. */
  additionalProperties?: unknown;
  /** Who ran the computation. */
  author: string;
  /** Command line, as one string or as a list of arguments. */
  command?: unknown;
  /** Container image. */
  container: string;
  /**
   * Digest of the image that ran here. Only a run in this registry fills it in; another value is
   * refused.
   */
  containerDigest?: string | null | undefined;
  /** Identifier of the container of the run. */
  containerId?: string | null | undefined;
  /** JSON-LD context of the record. */
  context?: unknown;
  /** When the run began. */
  dateCreated?: string | null | undefined;
  /** When the run ended. */
  dateFinished?: string | null | undefined;
  /** Description, at least 5 characters. */
  description: string;
  /** Datasets that the run wrote. */
  generated: Array<string>;
  /** Identifier; minted when absent. A replacement must name it. */
  id?: string | number | null | undefined;
  /** Keywords. */
  keywords?: Array<string> | null | undefined;
  /** URL of the licence. */
  license?: string | null | undefined;
  /** Name, at most 200 characters. */
  name: string;
  /** User, group, organization or project that owns the record. */
  owner: string;
  /** Organization that ran it. */
  sourceOrganization: string;
  /** Project it was run for. */
  sourceProject: string;
  /** Type of the record: `evi:Computation`. */
  type?: unknown;
  /** Web page of the object. */
  url?: string | null | undefined;
  /** Dataset that was read: one identifier, or a list of several. */
  usedDataset: Array<string | number>;
  /** Software that was run: one identifier, or a list of several. */
  usedSoftware: Array<string | number>;
};

/** Whether bytes are stored. */
export type ContentState =
  /** The stored bytes were found damaged: upload the file again. */
  | "DAMAGED"
  /** The bytes were deleted. */
  | "DELETED"
  /** No bytes were stored here. */
  | "NONE"
  /** The bytes are stored here. */
  | "STORED";

/** Verdict on one criterion. */
export type CriterionStatus =
  /** The crate meets it. */
  | "MET"
  /** It does not apply to this crate, and is not counted. */
  | "NOT_APPLICABLE"
  /** The crate does not meet it. */
  | "NOT_MET"
  /** The crate meets a part of it. */
  | "PARTLY";

/** Why a reference leads to no record. */
export type DanglingReason =
  /** The record was deleted. */
  | "DELETED"
  /** No record here has the identifier. */
  | "UNKNOWN";

/** A set of data; its files are data downloads. */
export type DatasetInput = {
  /** Further members of the document, as a JSON object. */
  additionalProperties?: unknown;
  /** Who made the data. */
  author?: string | null | undefined;
  /** JSON-LD context of the record. */
  context?: unknown;
  /** When the data was made. */
  dateCreated?: string | null | undefined;
  /** When the data was last changed. */
  dateModified?: string | null | undefined;
  /** Description, at least 5 characters. */
  description: string;
  /** Data downloads or URLs of the content. */
  distribution?: Array<string> | null | undefined;
  /** Identifier; minted when absent. A replacement must name it. */
  id?: string | number | null | undefined;
  /** Data catalog that lists the record. */
  includedInDataCatalog?: string | null | undefined;
  /** Keywords. */
  keywords?: Array<string> | null | undefined;
  /** URL of the licence. */
  license?: string | null | undefined;
  /** Name, at most 200 characters. */
  name: string;
  /** User, group, organization or project that owns the record. */
  owner: string;
  /** Organization the data came from. */
  sourceOrganization?: string | null | undefined;
  /** Type of the record: `evi:Dataset`. */
  type?: unknown;
  /** Web page of the object. */
  url?: string | null | undefined;
  /** Computations that used the data; those that name it are added when the record is read. */
  usedBy?: Array<string> | null | undefined;
};

/** From one time up to another; each may be left out. */
export type DateTimeRange = {
  /** Before this time. */
  before?: string | null | undefined;
  /** At this time or later. */
  since?: string | null | undefined;
};

/** How a member of a document differs from the earlier state. */
export type DifferenceKind =
  /** The earlier state does not have it. */
  | "ADDED"
  /** Both states have it, with other values. */
  | "CHANGED"
  /** The later state does not have it. */
  | "REMOVED";

/** UPSTREAM: what supports the record; DOWNSTREAM: what the record supports. */
export type Direction =
  /** Both. */
  | "BOTH"
  /** What the record supports. */
  | "DOWNSTREAM"
  /** What supports the record. */
  | "UPSTREAM";

/** Whether the mutation reserveDoi would reserve the DOI of a record for you. */
export type DoiReservation =
  /** You may not change the record. */
  | "FORBIDDEN"
  /** The registry registers no DOIs: DATACITE_URL is not set. */
  | "NO_SERVICE"
  /** It would reserve one. */
  | "POSSIBLE"
  /** The record has one; the mutation repeats a registration that failed. */
  | "RESERVED"
  /** Records of this kind have no DOI. */
  | "WRONG_KIND";

/** A set of users that may own records together. */
export type GroupInput = {
  /** Further members of the document, as a JSON object. */
  additionalProperties?: unknown;
  /** JSON-LD context of the record. */
  context?: unknown;
  /** Description, at least 5 characters. */
  description: string;
  /** Identifier; minted when absent. A replacement must name it. */
  id?: string | number | null | undefined;
  /** Keywords. */
  keywords?: Array<string> | null | undefined;
  /** URL of the licence. */
  license?: string | null | undefined;
  /** Members: users, or groups of users. */
  members?: Array<string> | null | undefined;
  /** Name, at most 200 characters. */
  name: string;
  /** User, group, organization or project that owns the record. */
  owner: string;
  /** Type of the record. */
  type?: unknown;
  /** Web page of the object. */
  url?: string | null | undefined;
};

/** State of a part of the service. */
export type HealthState =
  /** Some of what it stores is damaged; the rest is served. */
  | "DAMAGED"
  /** It does not answer. */
  | "FAILED"
  /** An index that is being filled; records are served meanwhile. */
  | "LOADING"
  /** It works. */
  | "OK";

/** Changes a list: `set` replaces it; `remove` and `add` change entries. */
export type ListPatch = {
  /** Entries to append, unless present. */
  add?: Array<string> | null | undefined;
  /** Entries to take out. */
  remove?: Array<string> | null | undefined;
  /** The whole list from now on. */
  set?: Array<string> | null | undefined;
};

/** Why a file has no preview. */
export type NoPreviewReason =
  /** It is the archive of a crate: see its files. */
  | "ARCHIVE"
  /** It is no text, table, notebook, image or PDF. */
  | "BINARY"
  /** Too many previews are made at the moment. */
  | "BUSY"
  /** It is not what it should be. */
  | "DAMAGED"
  /** You may not read the content. */
  | "NOT_READABLE"
  /** Nothing is stored. */
  | "NO_CONTENT"
  /** It takes too long. */
  | "TIMEOUT"
  /** It is too large, or needs too much memory. */
  | "TOO_LARGE";

/** ASC: the smallest, first or oldest comes first. DESC: the other way round. */
export type OrderDirection =
  /** The smallest, first or oldest comes first. */
  | "ASC"
  /** The largest, last or newest comes first. */
  | "DESC";

/** An organization with members and projects. */
export type OrganizationInput = {
  /** Further members of the document, as a JSON object. */
  additionalProperties?: unknown;
  /** JSON-LD context of the record. */
  context?: unknown;
  /** Description, at least 5 characters. */
  description: string;
  /** Identifier; minted when absent. A replacement must name it. */
  id?: string | number | null | undefined;
  /** Keywords. */
  keywords?: Array<string> | null | undefined;
  /** URL of the licence. */
  license?: string | null | undefined;
  /** Members: users, or groups of users. */
  members?: Array<string> | null | undefined;
  /** Name, at most 200 characters. */
  name: string;
  /** User, group, organization or project that owns the record. */
  owner: string;
  /**
   * Projects of the organization; those that name it in `memberOf` are added when the record is
   * read.
   */
  projects?: Array<string> | null | undefined;
  /** Type of the record. */
  type?: unknown;
  /** Web page of the object. */
  url?: string | null | undefined;
};

/** A project of an organization, with its members and records. */
export type ProjectInput = {
  /** Further members of the document, as a JSON object. */
  additionalProperties?: unknown;
  /** Computations; those found from the other side are added when the record is read. */
  computations?: Array<string> | null | undefined;
  /** JSON-LD context of the record. */
  context?: unknown;
  /** Datasets; those found from the other side are added when the record is read. */
  datasets?: Array<string> | null | undefined;
  /** Description, at least 5 characters. */
  description: string;
  /** Evidence graphs; those found from the other side are added when the record is read. */
  evidencegraphs?: Array<string> | null | undefined;
  /** Identifier; minted when absent. A replacement must name it. */
  id?: string | number | null | undefined;
  /** Keywords. */
  keywords?: Array<string> | null | undefined;
  /** URL of the licence. */
  license?: string | null | undefined;
  /** Organization that the project belongs to. */
  memberOf: string;
  /** Members: users, or groups of users. */
  members?: Array<string> | null | undefined;
  /** Name, at most 200 characters. */
  name: string;
  /** User, group, organization or project that owns the record. */
  owner: string;
  /** Crates; those found from the other side are added when the record is read. */
  rocrates?: Array<string> | null | undefined;
  /** Software; those found from the other side are added when the record is read. */
  software?: Array<string> | null | undefined;
  /** Type of the record. */
  type?: unknown;
  /** Web page of the object. */
  url?: string | null | undefined;
};

/** Who may read the content: everyone when PUBLISHED, else those who may change the record. */
export type PublicationStatus =
  /** Not public any more. */
  | "ARCHIVED"
  /** Not public yet. */
  | "DRAFT"
  /** The content becomes public when the embargo ends. */
  | "EMBARGOED"
  /** The content is public. */
  | "PUBLISHED";

/**
 * Conditions on records; all that are given must hold. A null is ignored. At most 10 levels of and,
 * or and not, and 1000 conditions and values in all.
 */
export type RecordFilter = {
  /** All of these hold. */
  and?: Array<RecordFilter> | null | undefined;
  /** Crate that the records came with; the crate itself is not among them. */
  crate?: string | number | null | undefined;
  /** When the record was created. */
  created?: DateTimeRange | null | undefined;
  /**
   * Deleted records, in place of others, by the time of their deletion. It stands in the outermost
   * filter or in its and, together with kind, owner, group, crate, describedBy and times only.
   */
  deleted?: DateTimeRange | null | undefined;
  /** Records that this crate describes: those that came with it, and those that it uses besides. */
  describedBy?: string | number | null | undefined;
  /** The media type of the stored content is one of these. */
  format?: Array<string> | null | undefined;
  /** What this activity generated, whichever of the two states it. */
  generatedBy?: string | number | null | undefined;
  /** Records that this group, organization or project owns, or one of its members. */
  group?: string | number | null | undefined;
  /** One of the keywords, upper and lower case alike. */
  keyword?: string | null | undefined;
  /** The record has one of these keywords, upper and lower case alike. */
  keywords?: Array<string> | null | undefined;
  /** Of one of these kinds. */
  kind?: Array<RecordKind> | null | undefined;
  /**
   * The licence is one of these: SPDX identifiers, or addresses. Both find a licence that is known,
   * however the record states it.
   */
  licence?: Array<string> | null | undefined;
  /** When it was last changed. */
  modified?: DateTimeRange | null | undefined;
  /** Part of the name, without case. */
  name?: string | null | undefined;
  /** The whole name, without case. */
  nameIs?: string | null | undefined;
  /** Beginning of the name, without case. */
  nameStartsWith?: string | null | undefined;
  /** This does not hold. */
  not?: RecordFilter | null | undefined;
  /** One of these holds; no record meets an empty list. */
  or?: Array<RecordFilter> | null | undefined;
  /**
   * created, -created or name; in the outermost filter of a list of one kind.
   * @deprecated Use the argument orderBy.
   */
  order?: string | null | undefined;
  /** User, group, organization or project that owns the records. */
  owner?: string | number | null | undefined;
  /** One of these owns the record. */
  owners?: Array<string | number> | null | undefined;
  /** Parts of this record, whichever of the two states it. */
  partOf?: string | number | null | undefined;
  /**
   * Records of this project: those that it owns or states, that are parts of it, or that name it as
   * sourceProject.
   */
  project?: string | number | null | undefined;
  /**
   * Crates whose stored AI-readiness score has at least so many per cent. A crate whose score was
   * never asked for has none.
   */
  scoreAtLeast?: number | null | undefined;
  /** Crates whose stored AI-readiness score has fewer per cent. */
  scoreBelow?: number | null | undefined;
  /** The publication status is one of these. */
  status?: Array<PublicationStatus> | null | undefined;
  /** A query in the language of search, without corrections of its spelling. */
  text?: string | null | undefined;
  /** Activities that used this record, whichever of the two states it. */
  used?: string | number | null | undefined;
};

/** Kinds of records, by the name of their path. */
export type RecordKind =
  /** A document about another object. */
  | "ANNOTATION"
  /** One run of software: what it used and what it generated. */
  | "COMPUTATION"
  /** A file: its metadata, and its content when it is stored here. */
  | "DATADOWNLOAD"
  /** A set of data; its files are data downloads. */
  | "DATASET"
  /** Anything else that a crate describes: a person, an article, a place. */
  | "ENTITY"
  /** A stored answer to: what supports this record? */
  | "EVIDENCEGRAPH"
  /** Work at the bench or in the field: what it used and what it generated. */
  | "EXPERIMENT"
  /** A set of users that may own records together. */
  | "GROUP"
  /** A device that an experiment used. */
  | "INSTRUMENT"
  /** A trained machine-learning model. */
  | "MLMODEL"
  /** An organization with members and projects. */
  | "ORGANIZATION"
  /** A project of an organization, with its members and records. */
  | "PROJECT"
  /** A research-object crate: the root of an uploaded archive. */
  | "ROCRATE"
  /** A specimen that an experiment used. */
  | "SAMPLE"
  /** Describes the columns of a table. */
  | "SCHEMA"
  /** A program, script or workflow. */
  | "SOFTWARE"
  /**
   * A person with an account. E-mail address and account data are shown to the person and
   * administrators only.
   */
  | "USER";

/** An order of records. */
export type RecordOrder = {
  /** Which way. */
  direction?: OrderDirection;
  /** What to order by. */
  field: RecordOrderField;
};

/** What records are ordered by. */
export type RecordOrderField =
  /** The order in which the registry stored the records. */
  | "CREATED"
  /** Time of the last change. */
  | "MODIFIED"
  /** Name, without case. */
  | "NAME";

/** A relation between records, by the name of the field that leads along it: USED_BY is usedBy. */
export type RecordRelation =
  /** What the annotation is about. */
  | "ANNOTATES"
  /** Agents responsible for the activity. */
  | "ASSOCIATED_WITH"
  /** Authors that have an identifier. */
  | "AUTHORS"
  /** Cell line that the sample is of. */
  | "CELL_LINE_REFERENCE"
  /** Computations stated here or owned. */
  | "COMPUTATIONS"
  /** Datasets stated here or owned. */
  | "DATASETS"
  /** What this was derived from. */
  | "DERIVED_FROM"
  /** What was derived from this. */
  | "DERIVED_TO"
  /** Data downloads of the content. */
  | "DISTRIBUTION"
  /** Data that the model was evaluated with. */
  | "EVALUATED_ON"
  /** Evidence graphs stated here or owned. */
  | "EVIDENCEGRAPHS"
  /** Models that this one was made from. */
  | "FINE_TUNED_FROM"
  /** What this activity generated. */
  | "GENERATED"
  /** Activities that generated this. */
  | "GENERATED_BY"
  /** Parts. */
  | "HAS_PART"
  /** What this is a part of. */
  | "IS_PART_OF"
  /** Members. */
  | "MEMBERS"
  /** Organizations and groups the user owns or is a member of. */
  | "ORGANIZATIONS"
  /** Projects of the organization. */
  | "PROJECTS"
  /** Crates stated here or owned. */
  | "ROCRATES"
  /** Software stated here or owned. */
  | "SOFTWARE"
  /** Data that the model was trained on. */
  | "TRAINED_ON"
  /** Activities that used this. */
  | "USED_BY"
  /** Data that the activity used. */
  | "USED_DATASET"
  /** Instruments that the activity used. */
  | "USED_INSTRUMENT"
  /** Machine-learning models that the activity used. */
  | "USED_ML_MODEL"
  /** Reagents that the activity used. */
  | "USED_REAGENT"
  /** Samples that the activity used. */
  | "USED_SAMPLE"
  /** Software that the activity used. */
  | "USED_SOFTWARE"
  /** Stains that the activity used. */
  | "USED_STAIN"
  /** Treatments that the activity used. */
  | "USED_TREATMENT";

/** What records are counted by. */
export type RecordStatisticsKey =
  /** Crate that the record came with. */
  | "CRATE"
  /** Media type of the stored content. */
  | "FORMAT"
  /** Each keyword: a record counts once for each that it has. */
  | "KEYWORD"
  /** Kind of the record. */
  | "KIND"
  /** Licence. */
  | "LICENCE"
  /** Month of creation, UTC. */
  | "MONTH"
  /** Owner of the record. */
  | "OWNER"
  /** Each project: a record counts once for each that it belongs to. */
  | "PROJECT"
  /** Band of a crate's stored AI-readiness score. */
  | "SCORE_BAND"
  /** Publication status. */
  | "STATUS";

/** What made a revision. */
export type RevisionAction =
  /** The record was created, or created again after a deletion. */
  | "CREATE"
  /** The record was deleted; a tombstone remains. */
  | "DELETE"
  /** The publication status was changed. */
  | "PUBLISH"
  /** The document was changed. */
  | "UPDATE";

/** Band of an AI-readiness score, in per cent. */
export type ScoreBand =
  /** 0 to 19. */
  | "BELOW_20"
  /** 20 to 39. */
  | "FROM_20"
  /** 40 to 59. */
  | "FROM_40"
  /** 60 to 79. */
  | "FROM_60"
  /** 80 to 100. */
  | "FROM_80";

/**
 * BASIC: every word must occur, by its stem. SEMANTIC: any word, words that are typical of the best
 * results, and records near in meaning where the registry has an embeddings server.
 */
export type SearchMode =
  /** Every word must occur, by its stem. */
  | "BASIC"
  /** Any word counts, typical words and nearness in meaning too. */
  | "SEMANTIC";

/** A field that a search may name and highlight. */
export type SearchedField =
  /** Its description. */
  | "DESCRIPTION"
  /** Its keywords. */
  | "KEYWORDS"
  /** Name of the record. */
  | "NAME";

/** Severity of a SHACL result. */
export type ShapeSeverity =
  /** A remark. */
  | "INFO"
  /** A constraint is broken: the record does not conform. */
  | "VIOLATION"
  /** A constraint that records should meet is not met. */
  | "WARNING";

/** A program, script or workflow. */
export type SoftwareInput = {
  /** Further members of the document, as a JSON object. */
  additionalProperties?: unknown;
  /** JSON-LD context of the record. */
  context?: unknown;
  /** Description, at least 5 characters. */
  description: string;
  /** Data downloads that hold the program. */
  distribution?: Array<string> | null | undefined;
  /** Identifier; minted when absent. A replacement must name it. */
  id?: string | number | null | undefined;
  /** Data catalog that lists the record. */
  includedInDataCatalog?: string | null | undefined;
  /** Keywords. */
  keywords?: Array<string> | null | undefined;
  /** URL of the licence. */
  license?: string | null | undefined;
  /** Type of the record; this kind uses `metadataType`, not `@type`. */
  metadataType?: string | null | undefined;
  /** Name, at most 200 characters. */
  name: string;
  /** User, group, organization or project that owns the record. */
  owner: string;
  /** Organization the software came from. */
  sourceOrganization?: string | null | undefined;
  /** Web page of the object. */
  url?: string | null | undefined;
  /** Computations that used the software; those that name it are added when the record is read. */
  usedBy?: Array<string> | null | undefined;
};

/** State of a submission. */
export type SubmissionStatus =
  /** It ended without results; its errors say why. */
  | "FAILED"
  /** It succeeded, and its results are stored. */
  | "FINISHED"
  /** It waits for its first or its next attempt. */
  | "QUEUED"
  /** It is being worked on. */
  | "RUNNING";

/** Changes parts of a record of any kind. */
export type UpdateRecordInput = {
  /** Refused when the record has changed since. */
  expectedRevision?: number | null | undefined;
  /** Record to change. */
  id: string | number;
  /** JSON Merge Patch (RFC 7396) of the document: null removes a member. */
  patch: unknown;
};

/** Changes parts of a record of kind User. */
export type UpdateUserInput = {
  /** Refused when the record has changed since. */
  expectedRevision?: number | null | undefined;
  /** Record to change. */
  id: string | number;
  /** What changes. */
  patch: UserPatch;
};

/**
 * A person with an account. E-mail address and account data are shown to the person and
 * administrators only.
 */
export type UserInput = {
  /** Further members of the document, as a JSON object. */
  additionalProperties?: unknown;
  /** The one-time token that the first start prints; makes the account an administrator. */
  adminToken?: string | null | undefined;
  /** Computations; those found from the other side are added when the record is read. */
  computations?: Array<string> | null | undefined;
  /** JSON-LD context of the record. */
  context?: unknown;
  /** Datasets; those found from the other side are added when the record is read. */
  datasets?: Array<string> | null | undefined;
  /** E-mail address; unique, also the login name. */
  email: string;
  /** Evidence graphs; those found from the other side are added when the record is read. */
  evidencegraphs?: Array<string> | null | undefined;
  /** Identifier; minted when absent. A replacement must name it. */
  id?: string | number | null | undefined;
  /** Name of the person, at most 200 characters. */
  name?: string | null | undefined;
  /** Organizations; those found from the other side are added when the record is read. */
  organizations?: Array<string> | null | undefined;
  /**
   * Password; stored only as an argon2id hash. A new one has at least PASSWORD_MIN_LENGTH
   * characters (8) and is not among the 10,000 most used.
   */
  password: string;
  /** Projects; those found from the other side are added when the record is read. */
  projects?: Array<string> | null | undefined;
  /** Crates; those found from the other side are added when the record is read. */
  rocrates?: Array<string> | null | undefined;
  /** Software; those found from the other side are added when the record is read. */
  software?: Array<string> | null | undefined;
  /** Type of the record. */
  type?: unknown;
};

/** What changes: an absent field stays, null clears it. */
export type UserPatch = {
  /** Further members that change, as a JSON Merge Patch: null removes a member. */
  additionalProperties?: unknown;
  /** The one-time token that the first start prints; makes the account an administrator. */
  adminToken?: string | null | undefined;
  /** Computations; those found from the other side are added when the record is read. */
  computations?: ListPatch | null | undefined;
  /** JSON-LD context of the record. */
  context?: unknown;
  /** Datasets; those found from the other side are added when the record is read. */
  datasets?: ListPatch | null | undefined;
  /** E-mail address; unique, also the login name. */
  email?: string | null | undefined;
  /** Evidence graphs; those found from the other side are added when the record is read. */
  evidencegraphs?: ListPatch | null | undefined;
  /** Name of the person, at most 200 characters. */
  name?: string | null | undefined;
  /** Organizations; those found from the other side are added when the record is read. */
  organizations?: ListPatch | null | undefined;
  /**
   * Password; stored only as an argon2id hash. A new one has at least PASSWORD_MIN_LENGTH
   * characters (8) and is not among the 10,000 most used.
   */
  password?: string | null | undefined;
  /** Projects; those found from the other side are added when the record is read. */
  projects?: ListPatch | null | undefined;
  /** Crates; those found from the other side are added when the record is read. */
  rocrates?: ListPatch | null | undefined;
  /** Software; those found from the other side are added when the record is read. */
  software?: ListPatch | null | undefined;
};

export type SignUpMutationVariables = Exact<{
  input: UserInput;
}>;

export type SignUpMutation = { createUser: { id: string; name: string | null } };

export type AdministrationQueryVariables = Exact<{
  after?: string | null | undefined;
}>;

export type AdministrationQuery = {
  registryFigures: {
    accounts: number;
    records: number;
    queued: number;
    running: number;
    waitingSince: string | null;
  };
  health: { ok: boolean; lag: number | null; checks: Array<{ part: string; state: HealthState }> };
  sizes: { groups: Array<{ kind: RecordKind | null; count: number; bytes: number }> };
  accounts: {
    nodes: Array<{
      id: string;
      name: string | null;
      email: string;
      admin: boolean;
      disabled: boolean;
      createdAt: string;
      signedInAt: string | null;
    }>;
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
  submissions: {
    nodes: Array<{
      submissionUUID: string;
      status: SubmissionStatus;
      stage: string | null;
      completed: boolean;
      success: boolean;
      retryable: boolean;
      rocrateIdentifier: string | null;
      computationIdentifier: string | null;
      evidenceGraphIdentifier: string | null;
      scoredCrateIdentifier: string | null;
      doiRecordIdentifier: string | null;
      embeddingsModel: string | null;
      timeStarted: string | null;
      timeFinished: string | null;
      record: { id: string; name: string | null; kind: RecordKind | null } | null;
      error: Array<{ code: string; message: string }> | null;
      warnings: Array<{ code: string }>;
    }>;
  };
  embargoed: {
    totalCount: number;
    nodes: Array<{
      id: string;
      kind: RecordKind | null;
      name: string | null;
      description: string | null;
      keywords: Array<string>;
      license: string | null;
      modifiedAt: string | null;
      publicationStatus: PublicationStatus | null;
      embargoEndsAt: string | null;
      owner: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
  };
};

export type SetAccountMutationVariables = Exact<{
  user: string | number;
  admin?: boolean | null | undefined;
  disabled?: boolean | null | undefined;
}>;

export type SetAccountMutation = { setAccount: { id: string } };

export type CreatePasswordResetMutationVariables = Exact<{
  user: string | number;
}>;

export type CreatePasswordResetMutation = {
  createPasswordReset: { token: string; expiresAt: string; user: string };
};

export type ResetPasswordMutationVariables = Exact<{
  token: string;
  password: string;
}>;

export type ResetPasswordMutation = { resetPassword: string };

export type StatusQueryVariables = Exact<{ [key: string]: never }>;

export type StatusQuery = {
  health: {
    ok: boolean;
    ready: boolean;
    lag: number | null;
    checks: Array<{ part: string; state: HealthState }>;
  };
};

export type EditQueryVariables = Exact<{
  id: string | number;
}>;

export type EditQuery = {
  record: {
    revision: number | null;
    mayChange: boolean;
    document: unknown;
    id: string;
    name: string | null;
    kind: RecordKind | null;
  } | null;
};

export type EditSinceQueryVariables = Exact<{
  id: string | number;
  revision: number;
}>;

export type EditSinceQuery = {
  record: {
    revision: number | null;
    mayChange: boolean;
    document: unknown;
    id: string;
    name: string | null;
    kind: RecordKind | null;
  } | null;
  revision: { document: unknown };
  revisions: {
    nodes: Array<{
      at: string;
      byRecord: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
  };
};

export type ChangeRecordMutationVariables = Exact<{
  input: UpdateRecordInput;
}>;

export type ChangeRecordMutation = { updateRecord: { id: string; revision: number | null } };

export type EvidenceQueryVariables = Exact<{
  id: string | number;
  direction: Direction;
  depth?: number | null | undefined;
  first?: number | null | undefined;
  assertedBy: AssertedBy;
  collapse?: number | null | undefined;
  expand?: Array<string> | string | null | undefined;
  kinds?: Array<RecordKind> | RecordKind | null | undefined;
  groupLink?: string | null | undefined;
  outline?: Direction | null | undefined;
}>;

export type EvidenceQuery = {
  record: {
    id: string;
    name: string | null;
    kind: RecordKind | null;
    publicationStatus: PublicationStatus | null;
    embargoEndsAt: string | null;
  } | null;
  evidencePicture: {
    svg: string;
    nodeCount: number;
    edgeCount: number;
    notDrawn: Array<{ reason: string; count: number; about: string }>;
    evidence: {
      truncated: boolean;
      dangling: Array<string>;
      outline: Array<{
        id: string;
        name: string | null;
        depth: number;
        property: string | null;
        inverse: boolean;
        symbol: string;
        count: number | null;
        group: string | null;
        repeated: boolean;
        continues: boolean;
        further: number;
        missing: string | null;
        thirdParty: boolean;
        assertedBy: Array<{ id: string; name: string | null }>;
      }>;
    };
  };
};

export type EvidencePathQueryVariables = Exact<{
  from: string | number;
  to: string | number;
}>;

export type EvidencePathQuery = {
  supportPath: {
    direction: Direction;
    length: number;
    nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
    edges: Array<{ name: string; source: string; target: string; thirdParty: boolean }>;
  } | null;
};

export type ImpactQueryVariables = Exact<{
  id: string | number;
  first: number;
  after?: string | null | undefined;
}>;

export type ImpactQuery = {
  record: { id: string; name: string | null; kind: RecordKind | null } | null;
  impact: {
    total: number;
    direct: number;
    furthest: number;
    unresolved: number;
    byKind: Array<{ kind: RecordKind; count: number }>;
    byOwner: Array<{ count: number; owner: string | null; name: string | null }>;
  };
  evidenceGraph: {
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
    nodes: Array<{
      id: string;
      name: string | null;
      kind: RecordKind | null;
      publicationStatus: PublicationStatus | null;
      modifiedAt: string | null;
      owner: { id: string; name: string | null } | null;
    }>;
  };
};

export type ExplorerQueryVariables = Exact<{ [key: string]: never }>;

export type ExplorerQuery = {
  crate: { nodes: Array<{ id: string }> };
  file: { nodes: Array<{ id: string }> };
  project: { nodes: Array<{ id: string }> };
  group: { nodes: Array<{ id: string }> };
  experiment: { nodes: Array<{ id: string }> };
};

export type ViewerQueryVariables = Exact<{ [key: string]: never }>;

export type ViewerQuery = { me: { id: string; name: string | null } | null };

export type HistoryPageQueryVariables = Exact<{
  id: string | number;
  after?: string | null | undefined;
  newest: boolean;
  compare: boolean;
  from?: number | null | undefined;
  to: number;
}>;

export type HistoryPageQuery = {
  record: {
    revision: number | null;
    mayChange: boolean;
    id: string;
    name: string | null;
    kind: RecordKind | null;
  } | null;
  revisions: {
    totalCount: number;
    nodes: Array<{
      changed: Array<string>;
      revision: number;
      at: string;
      action: RevisionAction;
      byRecord: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
  newest?: {
    nodes: Array<{
      revision: number;
      at: string;
      action: RevisionAction;
      differences: Array<{
        pointer: string;
        kind: DifferenceKind;
        before: unknown;
        after: unknown;
      }>;
      byRecord: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
  };
  revision?: {
    revision: number;
    at: string;
    action: RevisionAction;
    differences: Array<{ pointer: string; kind: DifferenceKind; before: unknown; after: unknown }>;
    byRecord: { id: string; name: string | null; kind: RecordKind | null } | null;
  };
};

export type DeletedHistoryPageQueryVariables = Exact<{
  id: string | number;
  after?: string | null | undefined;
  newest: boolean;
  compare: boolean;
  from?: number | null | undefined;
  to: number;
}>;

export type DeletedHistoryPageQuery = {
  revisions: {
    totalCount: number;
    nodes: Array<{
      changed: Array<string>;
      revision: number;
      at: string;
      action: RevisionAction;
      byRecord: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
  newest?: {
    nodes: Array<{
      revision: number;
      at: string;
      action: RevisionAction;
      differences: Array<{
        pointer: string;
        kind: DifferenceKind;
        before: unknown;
        after: unknown;
      }>;
      byRecord: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
  };
  revision?: {
    revision: number;
    at: string;
    action: RevisionAction;
    differences: Array<{ pointer: string; kind: DifferenceKind; before: unknown; after: unknown }>;
    byRecord: { id: string; name: string | null; kind: RecordKind | null } | null;
  };
};

export type RestoreRevisionMutationVariables = Exact<{
  id: string | number;
  revision: number;
  expectedRevision?: number | null | undefined;
}>;

export type RestoreRevisionMutation = { restoreRevision: { id: string; revision: number | null } };

export type RevisionsShownFragment = {
  revisions: {
    totalCount: number;
    nodes: Array<{
      changed: Array<string>;
      revision: number;
      at: string;
      action: RevisionAction;
      byRecord: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
  newest?: {
    nodes: Array<{
      revision: number;
      at: string;
      action: RevisionAction;
      differences: Array<{
        pointer: string;
        kind: DifferenceKind;
        before: unknown;
        after: unknown;
      }>;
      byRecord: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
  };
  revision?: {
    revision: number;
    at: string;
    action: RevisionAction;
    differences: Array<{ pointer: string; kind: DifferenceKind; before: unknown; after: unknown }>;
    byRecord: { id: string; name: string | null; kind: RecordKind | null } | null;
  };
};

export type RevisionFactsFragment = {
  revision: number;
  at: string;
  action: RevisionAction;
  byRecord: { id: string; name: string | null; kind: RecordKind | null } | null;
};

export type ComparedFragment = {
  revision: number;
  at: string;
  action: RevisionAction;
  differences: Array<{ pointer: string; kind: DifferenceKind; before: unknown; after: unknown }>;
  byRecord: { id: string; name: string | null; kind: RecordKind | null } | null;
};

export type HomeQueryVariables = Exact<{ [key: string]: never }>;

export type HomeQuery = {
  recordStatistics: { groups: Array<{ kind: RecordKind | null; count: number }> };
  roCrates: {
    nodes: Array<{
      id: string;
      kind: RecordKind | null;
      name: string | null;
      description: string | null;
      keywords: Array<string>;
      license: string | null;
      modifiedAt: string | null;
      publicationStatus: PublicationStatus | null;
      embargoEndsAt: string | null;
      owner: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
  };
};

export type RecordCardFragment = {
  id: string;
  kind: RecordKind | null;
  name: string | null;
  description: string | null;
  keywords: Array<string>;
  license: string | null;
  modifiedAt: string | null;
  publicationStatus: PublicationStatus | null;
  embargoEndsAt: string | null;
  owner: { id: string; name: string | null; kind: RecordKind | null } | null;
};

export type MyWorkQueryVariables = Exact<{
  me: string | number;
}>;

export type MyWorkQuery = {
  submissions: {
    nodes: Array<{
      submissionUUID: string;
      status: SubmissionStatus;
      stage: string | null;
      completed: boolean;
      success: boolean;
      retryable: boolean;
      rocrateIdentifier: string | null;
      computationIdentifier: string | null;
      evidenceGraphIdentifier: string | null;
      scoredCrateIdentifier: string | null;
      doiRecordIdentifier: string | null;
      embeddingsModel: string | null;
      timeStarted: string | null;
      timeFinished: string | null;
      record: { id: string; name: string | null; kind: RecordKind | null } | null;
      error: Array<{ code: string; message: string }> | null;
      warnings: Array<{ code: string }>;
    }>;
  };
  statuses: { groups: Array<{ status: PublicationStatus | null; count: number; bytes: number }> };
  crates: {
    totalCount: number;
    nodes: Array<{
      id: string;
      kind: RecordKind | null;
      name: string | null;
      description: string | null;
      keywords: Array<string>;
      license: string | null;
      modifiedAt: string | null;
      publicationStatus: PublicationStatus | null;
      embargoEndsAt: string | null;
      owner: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
  };
  me: {
    organizations: { nodes: Array<{ name: string | null; id: string; kind: RecordKind | null }> };
    projects: { nodes: Array<{ name: string | null; id: string; kind: RecordKind | null }> };
  } | null;
};

export type SubmissionRowFragment = {
  submissionUUID: string;
  status: SubmissionStatus;
  stage: string | null;
  completed: boolean;
  success: boolean;
  retryable: boolean;
  rocrateIdentifier: string | null;
  computationIdentifier: string | null;
  evidenceGraphIdentifier: string | null;
  scoredCrateIdentifier: string | null;
  doiRecordIdentifier: string | null;
  embeddingsModel: string | null;
  timeStarted: string | null;
  timeFinished: string | null;
  record: { id: string; name: string | null; kind: RecordKind | null } | null;
  error: Array<{ code: string; message: string }> | null;
  warnings: Array<{ code: string }>;
};

export type MyUploadsQueryVariables = Exact<{
  after?: string | null | undefined;
}>;

export type MyUploadsQuery = {
  submissions: {
    nodes: Array<{
      submissionUUID: string;
      status: SubmissionStatus;
      stage: string | null;
      completed: boolean;
      success: boolean;
      retryable: boolean;
      rocrateIdentifier: string | null;
      computationIdentifier: string | null;
      evidenceGraphIdentifier: string | null;
      scoredCrateIdentifier: string | null;
      doiRecordIdentifier: string | null;
      embeddingsModel: string | null;
      timeStarted: string | null;
      timeFinished: string | null;
      record: { id: string; name: string | null; kind: RecordKind | null } | null;
      error: Array<{ code: string; message: string }> | null;
      warnings: Array<{ code: string }>;
    }>;
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
};

export type MyRecordsQueryVariables = Exact<{
  filter?: RecordFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;

export type MyRecordsQuery = {
  records: {
    totalCount: number;
    nodes: Array<{
      doiReservation: DoiReservation;
      id: string;
      kind: RecordKind | null;
      name: string | null;
      description: string | null;
      keywords: Array<string>;
      license: string | null;
      modifiedAt: string | null;
      publicationStatus: PublicationStatus | null;
      embargoEndsAt: string | null;
      owner: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
    pageInfo: {
      hasNextPage: boolean;
      hasPreviousPage: boolean;
      startCursor: string | null;
      endCursor: string | null;
    };
  };
  me: { organizations: { nodes: Array<{ name: string | null; id: string }> } } | null;
};

export type ChosenRecordsQueryVariables = Exact<{
  ids: Array<string | number> | string | number;
}>;

export type ChosenRecordsQuery = {
  nodes: Array<{
    name: string | null;
    publicationStatus: PublicationStatus | null;
    id: string;
  } | null>;
};

export type PublishRecordsMutationVariables = Exact<{
  ids: Array<string | number> | string | number;
  publicationStatus: PublicationStatus;
  embargoedUntil?: string | null | undefined;
}>;

export type PublishRecordsMutation = {
  publishRecords: Array<{ id: string; done: boolean; code: string | null; message: string | null }>;
};

export type WithdrawRecordsMutationVariables = Exact<{
  ids: Array<string | number> | string | number;
  reason?: string | null | undefined;
  successor?: string | number | null | undefined;
}>;

export type WithdrawRecordsMutation = {
  deleteRecords: Array<{ id: string; done: boolean; code: string | null; message: string | null }>;
};

export type TransferRecordsMutationVariables = Exact<{
  ids: Array<string | number> | string | number;
  owner: string | number;
}>;

export type TransferRecordsMutation = {
  transferRecords: Array<{
    id: string;
    done: boolean;
    code: string | null;
    message: string | null;
  }>;
};

export type BulkRowFragment = {
  id: string;
  done: boolean;
  code: string | null;
  message: string | null;
};

export type ProfileQueryVariables = Exact<{ [key: string]: never }>;

export type ProfileQuery = {
  me: { id: string; name: string | null; document: unknown; revision: number | null } | null;
  accessTokens: Array<{
    id: string;
    name: string;
    createdAt: string;
    usedAt: string | null;
    expiresAt: string;
  }>;
};

export type UpdateProfileMutationVariables = Exact<{
  input: UpdateUserInput;
}>;

export type UpdateProfileMutation = { updateUser: { id: string; name: string | null } };

export type ChangePasswordMutationVariables = Exact<{
  currentPassword: string;
  newPassword: string;
}>;

export type ChangePasswordMutation = { changePassword: { expiresIn: number } };

export type CreateAccessTokenMutationVariables = Exact<{
  name: string;
  expiresAt?: string | null | undefined;
}>;

export type CreateAccessTokenMutation = {
  createAccessToken: { secret: string; token: { id: string; name: string; expiresAt: string } };
};

export type RevokeAccessTokenMutationVariables = Exact<{
  id: string | number;
}>;

export type RevokeAccessTokenMutation = { revokeAccessToken: boolean };

export type MyGroupsQueryVariables = Exact<{ [key: string]: never }>;

export type MyGroupsQuery = {
  me: {
    id: string;
    organizations: {
      nodes: Array<
        | {
            id: string;
            name: string | null;
            description: string | null;
            revision: number | null;
            owner: { id: string; name: string | null } | null;
            members: { nodes: Array<{ name: string | null; id: string }> };
          }
        | { id: string; name: string | null; description: string | null }
      >;
    };
    projects: { nodes: Array<{ name: string | null; description: string | null; id: string }> };
  } | null;
};

export type CreateGroupMutationVariables = Exact<{
  input: GroupInput;
}>;

export type CreateGroupMutation = { createGroup: { id: string; name: string | null } };

export type AddGroupMemberMutationVariables = Exact<{
  group: string | number;
  user: string | number;
}>;

export type AddGroupMemberMutation = { addGroupMember: { id: string } };

export type RemoveGroupMemberMutationVariables = Exact<{
  group: string | number;
  user: string | number;
}>;

export type RemoveGroupMemberMutation = { removeGroupMember: { id: string } };

export type CreateDatasetMutationVariables = Exact<{
  input: DatasetInput;
}>;

export type CreateDatasetMutation = { createDataset: { id: string } };

export type CreateSoftwareMutationVariables = Exact<{
  input: SoftwareInput;
}>;

export type CreateSoftwareMutation = { createSoftware: { id: string } };

export type CreateComputationMutationVariables = Exact<{
  input: ComputationInput;
}>;

export type CreateComputationMutation = { createComputation: { id: string } };

export type CreateProjectMutationVariables = Exact<{
  input: ProjectInput;
}>;

export type CreateProjectMutation = { createProject: { id: string } };

export type CreateOrganizationMutationVariables = Exact<{
  input: OrganizationInput;
}>;

export type CreateOrganizationMutation = { createOrganization: { id: string } };

type PreviewParts_DocumentPreview_Fragment = { address: string; mediaType: string } & {
  __typename: "DocumentPreview";
};

type PreviewParts_ImagePreview_Fragment = {
  address: string;
  width: number | null;
  height: number | null;
} & { __typename: "ImagePreview" };

type PreviewParts_NoPreview_Fragment = { reason: NoPreviewReason; about: string } & {
  __typename: "NoPreview";
};

type PreviewParts_NotebookPreview_Fragment = {
  language: string;
  truncated: boolean;
  cells: Array<{ kind: string; text: string; outputs: Array<string> }>;
} & { __typename: "NotebookPreview" };

type PreviewParts_TablePreview_Fragment = {
  columns: Array<string>;
  rows: Array<Array<string>>;
  moreRows: boolean;
  moreColumns: boolean;
  schema: string | null;
  problem: string | null;
  errors: Array<{ row: number; column: number | null; message: string }>;
} & { __typename: "TablePreview" };

type PreviewParts_TextPreview_Fragment = {
  text: string;
  charset: string;
  language: string;
  truncated: boolean;
} & { __typename: "TextPreview" };

export type PreviewPartsFragment =
  | PreviewParts_DocumentPreview_Fragment
  | PreviewParts_ImagePreview_Fragment
  | PreviewParts_NoPreview_Fragment
  | PreviewParts_NotebookPreview_Fragment
  | PreviewParts_TablePreview_Fragment
  | PreviewParts_TextPreview_Fragment;

export type PreviewPageQueryVariables = Exact<{
  id: string | number;
  crate: string | number;
  inCrate: boolean;
}>;

export type PreviewPageQuery = {
  record:
    | {
        id: string;
        name: string | null;
        kind: RecordKind | null;
        crate: { id: string; name: string | null; kind: RecordKind | null } | null;
        content: {
          state: ContentState;
          mediaType: string | null;
          size: number | null;
          sha256: string | null;
          address: string | null;
          readable: boolean;
        };
      }
    | {
        id: string;
        name: string | null;
        kind: RecordKind | null;
        crate: { id: string; name: string | null; kind: RecordKind | null } | null;
      }
    | null;
  crate?: { id: string; name: string | null; kind: RecordKind | null } | null;
  preview:
    | ({ address: string; mediaType: string } & { __typename: "DocumentPreview" })
    | ({ address: string; width: number | null; height: number | null } & {
        __typename: "ImagePreview";
      })
    | ({ reason: NoPreviewReason; about: string } & { __typename: "NoPreview" })
    | ({
        language: string;
        truncated: boolean;
        cells: Array<{ kind: string; text: string; outputs: Array<string> }>;
      } & { __typename: "NotebookPreview" })
    | ({
        columns: Array<string>;
        rows: Array<Array<string>>;
        moreRows: boolean;
        moreColumns: boolean;
        schema: string | null;
        problem: string | null;
        errors: Array<{ row: number; column: number | null; message: string }>;
      } & { __typename: "TablePreview" })
    | ({ text: string; charset: string; language: string; truncated: boolean } & {
        __typename: "TextPreview";
      });
};

export type FolderPageQueryVariables = Exact<{
  id: string | number;
  path: string;
  after?: string | null | undefined;
  first: number;
}>;

export type FolderPageQuery = {
  roCrate: {
    id: string;
    name: string | null;
    kind: RecordKind | null;
    folder: {
      fileCount: number;
      size: number;
      nodes: Array<{
        name: string;
        path: string;
        isFolder: boolean;
        fileCount: number;
        size: number;
        file: {
          id: string;
          mediaType: string;
          readable: boolean;
          address: string;
          record: { id: string; name: string | null; kind: RecordKind | null } | null;
        } | null;
      }>;
      pageInfo: { hasNextPage: boolean; endCursor: string | null };
    };
  } | null;
};

export type FolderFragment = {
  fileCount: number;
  size: number;
  nodes: Array<{
    name: string;
    path: string;
    isFolder: boolean;
    fileCount: number;
    size: number;
    file: {
      id: string;
      mediaType: string;
      readable: boolean;
      address: string;
      record: { id: string; name: string | null; kind: RecordKind | null } | null;
    } | null;
  }>;
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
};

export type ShapePageQueryVariables = Exact<{
  id: string | number;
}>;

export type ShapePageQuery = {
  record: {
    id: string;
    name: string | null;
    kind: RecordKind | null;
    shapeReport: {
      conforms: boolean;
      checked: number;
      truncated: boolean;
      results: Array<{
        node: string;
        kind: RecordKind;
        path: string | null;
        severity: ShapeSeverity;
        message: string;
        value: string | null;
      }>;
    } | null;
  } | null;
};

export type RecordPageQueryVariables = Exact<{
  id: string | number;
  activity: boolean;
  thing: boolean;
  agent: boolean;
  crate: boolean;
  cited: boolean;
  indexed: boolean;
  file: boolean;
  group: string;
}>;

export type RecordPageQuery = {
  record:
    | {
        id: string;
        kind: RecordKind | null;
        name: string | null;
        revision: number | null;
        createdAt: string | null;
        modifiedAt: string | null;
        publicationStatus: PublicationStatus | null;
        embargoEndsAt: string | null;
        license: string | null;
        mayChange: boolean;
        doi: string | null;
        doiReservation: DoiReservation;
        schemaOrg?: { text: string } | null;
        references: {
          nodes: Array<{
            predicate: string;
            record: { id: string; name: string | null; kind: RecordKind | null };
          }>;
        };
        backward: {
          nodes: Array<{
            predicate: string;
            record: { id: string; name: string | null; kind: RecordKind | null };
          }>;
          pageInfo: { hasNextPage: boolean };
        };
        generatedBy?: {
          totalCount: number | null;
          nodes: Array<{
            id: string;
            name: string | null;
            kind: RecordKind | null;
            inputs: {
              totalCount: number | null;
              nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
            };
            software: {
              totalCount: number | null;
              nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
            };
          }>;
        };
        derivedFrom?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        derivedTo?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        usedBy?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        distribution?: {
          totalCount: number | null;
          nodes: Array<
            | {
                id: string;
                name: string | null;
                kind: RecordKind | null;
                content: {
                  state: ContentState;
                  mediaType: string | null;
                  size: number | null;
                  address: string | null;
                  readable: boolean;
                };
              }
            | { id: string; name: string | null; kind: RecordKind | null }
            | {
                encodingFormat: string | null;
                id: string;
                name: string | null;
                kind: RecordKind | null;
                content: {
                  state: ContentState;
                  mediaType: string | null;
                  size: number | null;
                  address: string | null;
                  readable: boolean;
                };
              }
          >;
        };
        isPartOf?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        hasPart?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        usedDataset?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        usedSoftware?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        usedSample?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        usedInstrument?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        usedMLModel?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        generated?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        annotates?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        members?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        organizations?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        projects?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        creators: Array<{ id: string | null; name: string | null }>;
        owner: { id: string; name: string | null; kind: RecordKind | null } | null;
        crate: { id: string; name: string | null; kind: RecordKind | null } | null;
        formats: Array<{ name: string; label: string; description: string; address: string }>;
        content: {
          state: ContentState;
          mediaType: string | null;
          size: number | null;
          sha256: string | null;
          address: string | null;
          readable: boolean;
        };
      }
    | {
        id: string;
        kind: RecordKind | null;
        name: string | null;
        revision: number | null;
        createdAt: string | null;
        modifiedAt: string | null;
        publicationStatus: PublicationStatus | null;
        embargoEndsAt: string | null;
        license: string | null;
        mayChange: boolean;
        doi: string | null;
        doiReservation: DoiReservation;
        schemaOrg?: { text: string } | null;
        references: {
          nodes: Array<{
            predicate: string;
            record: { id: string; name: string | null; kind: RecordKind | null };
          }>;
        };
        backward: {
          nodes: Array<{
            predicate: string;
            record: { id: string; name: string | null; kind: RecordKind | null };
          }>;
          pageInfo: { hasNextPage: boolean };
        };
        generatedBy?: {
          totalCount: number | null;
          nodes: Array<{
            id: string;
            name: string | null;
            kind: RecordKind | null;
            inputs: {
              totalCount: number | null;
              nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
            };
            software: {
              totalCount: number | null;
              nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
            };
          }>;
        };
        derivedFrom?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        derivedTo?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        usedBy?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        distribution?: {
          totalCount: number | null;
          nodes: Array<
            | {
                id: string;
                name: string | null;
                kind: RecordKind | null;
                content: {
                  state: ContentState;
                  mediaType: string | null;
                  size: number | null;
                  address: string | null;
                  readable: boolean;
                };
              }
            | { id: string; name: string | null; kind: RecordKind | null }
            | {
                encodingFormat: string | null;
                id: string;
                name: string | null;
                kind: RecordKind | null;
                content: {
                  state: ContentState;
                  mediaType: string | null;
                  size: number | null;
                  address: string | null;
                  readable: boolean;
                };
              }
          >;
        };
        isPartOf?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        hasPart?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        usedDataset?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        usedSoftware?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        usedSample?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        usedInstrument?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        usedMLModel?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        generated?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        annotates?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        members?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        organizations?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        projects?: {
          totalCount: number | null;
          nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
        };
        creators: Array<{ id: string | null; name: string | null }>;
        owner: { id: string; name: string | null; kind: RecordKind | null } | null;
        crate: { id: string; name: string | null; kind: RecordKind | null } | null;
        formats: Array<{ name: string; label: string; description: string; address: string }>;
      }
    | null;
  picture?: { svg: string; nodeCount: number; notDrawn: Array<{ count: number; about: string }> };
  contents?: {
    nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
    pageInfo: { hasNextPage: boolean };
  };
  subcrates?: {
    nodes: Array<{
      description: string | null;
      id: string;
      name: string | null;
      kind: RecordKind | null;
    }>;
    pageInfo: { hasNextPage: boolean };
  };
  holdings?: {
    nodes: Array<{
      id: string;
      kind: RecordKind | null;
      name: string | null;
      description: string | null;
      keywords: Array<string>;
      license: string | null;
      modifiedAt: string | null;
      publicationStatus: PublicationStatus | null;
      embargoEndsAt: string | null;
      owner: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
    pageInfo: { hasNextPage: boolean };
  };
};

export type RecordHeadFragment = {
  id: string;
  kind: RecordKind | null;
  name: string | null;
  revision: number | null;
  createdAt: string | null;
  modifiedAt: string | null;
  publicationStatus: PublicationStatus | null;
  embargoEndsAt: string | null;
  license: string | null;
  mayChange: boolean;
  doi: string | null;
  doiReservation: DoiReservation;
  creators: Array<{ id: string | null; name: string | null }>;
  owner: { id: string; name: string | null; kind: RecordKind | null } | null;
  crate: { id: string; name: string | null; kind: RecordKind | null } | null;
  formats: Array<{ name: string; label: string; description: string; address: string }>;
};

export type CitationsFragment = {
  citation: { text: string } | null;
  bibtex: { text: string } | null;
  ris: { text: string } | null;
};

export type NamedFragment = { id: string; name: string | null; kind: RecordKind | null };

export type NamedLinkFragment = {
  predicate: string;
  record: { id: string; name: string | null; kind: RecordKind | null };
};

export type RelatedFragment = {
  totalCount: number | null;
  nodes: Array<{ id: string; name: string | null; kind: RecordKind | null }>;
};

export type ContentFragment = {
  content: {
    state: ContentState;
    mediaType: string | null;
    size: number | null;
    sha256: string | null;
    address: string | null;
    readable: boolean;
  };
};

type FileFacts_CrknoFmFwAbPxEcy4Y0sXi462w7wSmphdnCDoPwTKtk_Fragment = {
  content: {
    state: ContentState;
    mediaType: string | null;
    size: number | null;
    address: string | null;
    readable: boolean;
  };
};

type FileFacts_DataDownload_Fragment = {
  encodingFormat: string | null;
  content: {
    state: ContentState;
    mediaType: string | null;
    size: number | null;
    address: string | null;
    readable: boolean;
  };
};

export type FileFactsFragment =
  FileFacts_CrknoFmFwAbPxEcy4Y0sXi462w7wSmphdnCDoPwTKtk_Fragment | FileFacts_DataDownload_Fragment;

export type FileContentFragment = {
  content: {
    state: ContentState;
    mediaType: string | null;
    size: number | null;
    address: string | null;
    readable: boolean;
  };
};

export type ContentPreviewFragment = {
  preview:
    | ({ address: string; mediaType: string } & { __typename: "DocumentPreview" })
    | ({ address: string; width: number | null; height: number | null } & {
        __typename: "ImagePreview";
      })
    | ({ reason: NoPreviewReason; about: string } & { __typename: "NoPreview" })
    | ({
        language: string;
        truncated: boolean;
        cells: Array<{ kind: string; text: string; outputs: Array<string> }>;
      } & { __typename: "NotebookPreview" })
    | ({
        columns: Array<string>;
        rows: Array<Array<string>>;
        moreRows: boolean;
        moreColumns: boolean;
        schema: string | null;
        problem: string | null;
        errors: Array<{ row: number; column: number | null; message: string }>;
      } & { __typename: "TablePreview" })
    | ({ text: string; charset: string; language: string; truncated: boolean } & {
        __typename: "TextPreview";
      });
};

export type CratePartsFragment = {
  addresses: { metadata: string; current: string; uploaded: string | null; page: string | null };
  folder: {
    fileCount: number;
    size: number;
    nodes: Array<{
      name: string;
      path: string;
      isFolder: boolean;
      fileCount: number;
      size: number;
      file: {
        id: string;
        mediaType: string;
        readable: boolean;
        address: string;
        record: { id: string; name: string | null; kind: RecordKind | null } | null;
      } | null;
    }>;
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
  datasheet: Array<{
    title: string;
    notStated: Array<string>;
    answers: Array<{ question: string; texts: Array<string> }>;
  }>;
  scoreHistory: Array<{ computedAt: string; met: number; partly: number; total: number }>;
  recordCounts: Array<{ kind: RecordKind; count: number }>;
  score: {
    score: { met: number; partly: number; total: number };
    categories: Array<{
      name: string;
      criteria: Array<{
        name: string;
        status: CriterionStatus;
        details: string | null;
        fix: string | null;
      }>;
    }>;
  } | null;
};

export type ScoreFragment = {
  score: { met: number; partly: number; total: number };
  categories: Array<{
    name: string;
    criteria: Array<{
      name: string;
      status: CriterionStatus;
      details: string | null;
      fix: string | null;
    }>;
  }>;
};

export type ScorePageQueryVariables = Exact<{
  id: string | number;
}>;

export type ScorePageQuery = {
  roCrate: {
    id: string;
    name: string | null;
    kind: RecordKind | null;
    scoreHistory: Array<{ computedAt: string; met: number; partly: number; total: number }>;
  } | null;
  aiReadyScore: {
    score: { met: number; partly: number; total: number };
    categories: Array<{
      name: string;
      criteria: Array<{
        name: string;
        status: CriterionStatus;
        details: string | null;
        fix: string | null;
      }>;
    }>;
  };
};

export type RelatedPageQueryVariables = Exact<{
  id: string | number;
  relation: RecordRelation;
  after?: string | null | undefined;
}>;

export type RelatedPageQuery = {
  record: {
    id: string;
    name: string | null;
    kind: RecordKind | null;
    related: {
      totalCount: number | null;
      nodes: Array<{
        description: string | null;
        id: string;
        name: string | null;
        kind: RecordKind | null;
      }>;
      pageInfo: { hasNextPage: boolean; endCursor: string | null };
    };
  } | null;
};

export type ListedPageQueryVariables = Exact<{
  id: string | number;
  filter: RecordFilter;
  after?: string | null | undefined;
  before?: string | null | undefined;
  first?: number | null | undefined;
  last?: number | null | undefined;
}>;

export type ListedPageQuery = {
  record: { id: string; name: string | null; kind: RecordKind | null } | null;
  records: {
    totalCount: number;
    nodes: Array<{
      id: string;
      kind: RecordKind | null;
      name: string | null;
      description: string | null;
      keywords: Array<string>;
      license: string | null;
      modifiedAt: string | null;
      publicationStatus: PublicationStatus | null;
      embargoEndsAt: string | null;
      owner: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
    pageInfo: {
      hasNextPage: boolean;
      endCursor: string | null;
      hasPreviousPage: boolean;
      startCursor: string | null;
    };
  };
};

export type DanglingFragment = {
  predicate: string;
  target: string;
  reason: DanglingReason;
  successor: string | null;
  record: { id: string; name: string | null; kind: RecordKind | null };
};

export type ReferencesPageQueryVariables = Exact<{
  id: string | number;
  after?: string | null | undefined;
}>;

export type ReferencesPageQuery = {
  roCrate: {
    id: string;
    name: string | null;
    kind: RecordKind | null;
    mayChange: boolean;
    danglingReferences: {
      nodes: Array<{
        predicate: string;
        target: string;
        reason: DanglingReason;
        successor: string | null;
        record: { id: string; name: string | null; kind: RecordKind | null };
      }>;
      pageInfo: { hasNextPage: boolean; endCursor: string | null };
    };
  } | null;
};

export type MyReferencesQueryVariables = Exact<{
  me: string | number;
  after?: string | null | undefined;
}>;

export type MyReferencesQuery = {
  roCrates: {
    totalCount: number;
    nodes: Array<{
      id: string;
      name: string | null;
      kind: RecordKind | null;
      mayChange: boolean;
      danglingReferences: {
        nodes: Array<{
          predicate: string;
          target: string;
          reason: DanglingReason;
          successor: string | null;
          record: { id: string; name: string | null; kind: RecordKind | null };
        }>;
        pageInfo: { hasNextPage: boolean };
      };
    }>;
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
};

export type ReserveQueryVariables = Exact<{
  id: string | number;
}>;

export type ReserveQuery = {
  record: {
    id: string;
    name: string | null;
    kind: RecordKind | null;
    publicationStatus: PublicationStatus | null;
    mayChange: boolean;
    doi: string | null;
    doiReservation: DoiReservation;
  } | null;
};

export type ReserveDoiMutationVariables = Exact<{
  id: string | number;
}>;

export type ReserveDoiMutation = {
  reserveDoi: { id: string; doi: string; submission: { submissionUUID: string } };
};

export type SearchQueryVariables = Exact<{
  query: string;
  filter?: RecordFilter | null | undefined;
  first: number;
  after?: string | null | undefined;
  mode: SearchMode;
}>;

export type SearchQuery = {
  search: {
    totalCount: number;
    totalIsExact: boolean;
    rankedResults: number;
    didYouMean: string | null;
    facets: Array<{
      by: RecordStatisticsKey;
      exact: boolean;
      hasMore: boolean;
      values: Array<{ value: string; label: string | null; count: number }>;
    }>;
    results: Array<{
      fragments: Array<{ field: SearchedField; parts: Array<{ text: string; found: boolean }> }>;
      node: {
        id: string;
        kind: RecordKind | null;
        name: string | null;
        description: string | null;
        keywords: Array<string>;
        license: string | null;
        modifiedAt: string | null;
        publicationStatus: PublicationStatus | null;
        embargoEndsAt: string | null;
        owner: { id: string; name: string | null; kind: RecordKind | null } | null;
      };
    }>;
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
};

export type RecordListQueryVariables = Exact<{
  filter?: RecordFilter | null | undefined;
  orderBy?: RecordOrder | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;

export type RecordListQuery = {
  records: {
    totalCount: number;
    nodes: Array<{
      id: string;
      kind: RecordKind | null;
      name: string | null;
      description: string | null;
      keywords: Array<string>;
      license: string | null;
      modifiedAt: string | null;
      publicationStatus: PublicationStatus | null;
      embargoEndsAt: string | null;
      owner: { id: string; name: string | null; kind: RecordKind | null } | null;
    }>;
    pageInfo: {
      hasNextPage: boolean;
      hasPreviousPage: boolean;
      startCursor: string | null;
      endCursor: string | null;
    };
  };
  kinds: { groups: Array<{ kind: RecordKind | null; count: number }> };
  keywords: { groups: Array<{ keyword: string | null; count: number }> };
  licences: { groups: Array<{ licence: string | null; count: number }> };
  owners: { groups: Array<{ count: number; owner: { id: string; name: string | null } | null }> };
  projects: {
    groups: Array<{ count: number; project: { id: string; name: string | null } | null }>;
  };
  crates: { groups: Array<{ count: number; crate: { id: string; name: string | null } | null }> };
  months: { groups: Array<{ month: string | null; count: number }> };
  formats: { groups: Array<{ format: string | null; count: number }> };
  statuses: { groups: Array<{ status: PublicationStatus | null; count: number }> };
  scores: { groups: Array<{ scoreBand: ScoreBand | null; count: number }> };
};

export type NamesOfQueryVariables = Exact<{
  ids: Array<string | number> | string | number;
}>;

export type NamesOfQuery = {
  nodes: Array<{ id: string; name: string | null; kind: RecordKind | null } | null>;
};

export type UploadQueryVariables = Exact<{
  id: string | number;
}>;

export type UploadQuery = {
  submission: {
    submissionUUID: string;
    status: SubmissionStatus;
    stage: string | null;
    completed: boolean;
    success: boolean;
    retryable: boolean;
    rocrateIdentifier: string | null;
    identifiersMinted: number;
    timeStarted: string | null;
    timeFinished: string | null;
    progress: { done: number; total: number | null; unit: string } | null;
    error: Array<{
      code: string;
      message: string;
      file: string | null;
      pointer: string | null;
      line: number | null;
    }> | null;
    warnings: Array<{
      code: string;
      message: string;
      file: string | null;
      pointer: string | null;
      line: number | null;
    }>;
  };
};

export type UploadFindingFragment = {
  code: string;
  message: string;
  file: string | null;
  pointer: string | null;
  line: number | null;
};

export type UploadedCrateQueryVariables = Exact<{
  id: string | number;
}>;

export type UploadedCrateQuery = {
  roCrate: {
    id: string;
    name: string | null;
    publicationStatus: PublicationStatus | null;
    embargoEndsAt: string | null;
    revision: number | null;
    recordCounts: Array<{ kind: RecordKind; count: number }>;
  } | null;
};

export type PublishRecordMutationVariables = Exact<{
  id: string | number;
  publicationStatus: PublicationStatus;
  embargoedUntil?: string | null | undefined;
  expectedRevision?: number | null | undefined;
}>;

export type PublishRecordMutation = {
  publish: { id: string; publicationStatus: PublicationStatus | null };
};

export type RetryUploadMutationVariables = Exact<{
  id: string | number;
}>;

export type RetryUploadMutation = { retrySubmission: { submissionUUID: string } };

export type CancelUploadMutationVariables = Exact<{
  id: string | number;
}>;

export type CancelUploadMutation = {
  cancelSubmission: { submissionUUID: string; status: SubmissionStatus };
};

export const NamedFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment Named on Record {
      id
      name
      kind
    }
  `,
  { fragmentName: "Named" },
) as unknown as TypedDocumentString<NamedFragment, unknown>;
export const RevisionFactsFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment RevisionFacts on Revision {
      revision
      at
      action
      byRecord {
        ...Named
      }
    }
    fragment Named on Record {
      id
      name
      kind
    }
  `,
  { fragmentName: "RevisionFacts" },
) as unknown as TypedDocumentString<RevisionFactsFragment, unknown>;
export const ComparedFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment Compared on Revision {
      ...RevisionFacts
      differences(since: $from) {
        pointer
        kind
        before
        after
      }
    }
    fragment RevisionFacts on Revision {
      revision
      at
      action
      byRecord {
        ...Named
      }
    }
    fragment Named on Record {
      id
      name
      kind
    }
  `,
  { fragmentName: "Compared" },
) as unknown as TypedDocumentString<ComparedFragment, unknown>;
export const RevisionsShownFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment RevisionsShown on Query {
      revisions(id: $id, first: 30, after: $after) {
        totalCount
        nodes {
          ...RevisionFacts
          changed
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
      newest: revisions(id: $id, first: 1) @include(if: $newest) {
        nodes {
          ...Compared
        }
      }
      revision(id: $id, revision: $to) @include(if: $compare) {
        ...Compared
      }
    }
    fragment RevisionFacts on Revision {
      revision
      at
      action
      byRecord {
        ...Named
      }
    }
    fragment Compared on Revision {
      ...RevisionFacts
      differences(since: $from) {
        pointer
        kind
        before
        after
      }
    }
    fragment Named on Record {
      id
      name
      kind
    }
  `,
  { fragmentName: "RevisionsShown" },
) as unknown as TypedDocumentString<RevisionsShownFragment, unknown>;
export const RecordCardFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment RecordCard on Record {
      id
      kind
      name
      description
      keywords
      license
      modifiedAt
      publicationStatus
      embargoEndsAt
      owner {
        id
        name
        kind
      }
    }
  `,
  { fragmentName: "RecordCard" },
) as unknown as TypedDocumentString<RecordCardFragment, unknown>;
export const SubmissionRowFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment SubmissionRow on Submission {
      submissionUUID
      status
      stage
      completed
      success
      retryable
      record {
        id
        name
        kind
      }
      rocrateIdentifier
      computationIdentifier
      evidenceGraphIdentifier
      scoredCrateIdentifier
      doiRecordIdentifier
      embeddingsModel
      timeStarted
      timeFinished
      error {
        code
        message
      }
      warnings {
        code
      }
    }
  `,
  { fragmentName: "SubmissionRow" },
) as unknown as TypedDocumentString<SubmissionRowFragment, unknown>;
export const BulkRowFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment BulkRow on BulkResult {
      id
      done
      code
      message
    }
  `,
  { fragmentName: "BulkRow" },
) as unknown as TypedDocumentString<BulkRowFragment, unknown>;
export const RecordHeadFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment RecordHead on Record {
      id
      kind
      name
      revision
      createdAt
      modifiedAt
      publicationStatus
      embargoEndsAt
      license
      mayChange
      doi
      doiReservation
      creators {
        id
        name
      }
      owner {
        ...Named
      }
      crate {
        ...Named
      }
      formats {
        name
        label
        description
        address
      }
    }
    fragment Named on Record {
      id
      name
      kind
    }
  `,
  { fragmentName: "RecordHead" },
) as unknown as TypedDocumentString<RecordHeadFragment, unknown>;
export const CitationsFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment Citations on Record {
      citation: as(format: CITATION) {
        text
      }
      bibtex: as(format: BIBTEX) {
        text
      }
      ris: as(format: RIS) {
        text
      }
    }
  `,
  { fragmentName: "Citations" },
) as unknown as TypedDocumentString<CitationsFragment, unknown>;
export const NamedLinkFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment NamedLink on RecordLink {
      predicate
      record {
        ...Named
      }
    }
    fragment Named on Record {
      id
      name
      kind
    }
  `,
  { fragmentName: "NamedLink" },
) as unknown as TypedDocumentString<NamedLinkFragment, unknown>;
export const RelatedFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment Related on RecordConnection {
      totalCount
      nodes {
        ...Named
      }
    }
    fragment Named on Record {
      id
      name
      kind
    }
  `,
  { fragmentName: "Related" },
) as unknown as TypedDocumentString<RelatedFragment, unknown>;
export const ContentFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment Content on HasContent {
      content {
        state
        mediaType
        size
        sha256
        address
        readable
      }
    }
  `,
  { fragmentName: "Content" },
) as unknown as TypedDocumentString<ContentFragment, unknown>;
export const FileContentFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment FileContent on HasContent {
      content {
        state
        mediaType
        size
        address
        readable
      }
    }
  `,
  { fragmentName: "FileContent" },
) as unknown as TypedDocumentString<FileContentFragment, unknown>;
export const FileFactsFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment FileFacts on Record {
      ... on DataDownload {
        encodingFormat
      }
      ...FileContent
    }
    fragment FileContent on HasContent {
      content {
        state
        mediaType
        size
        address
        readable
      }
    }
  `,
  { fragmentName: "FileFacts" },
) as unknown as TypedDocumentString<FileFactsFragment, unknown>;
export const PreviewPartsFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment PreviewParts on Preview {
      __typename
      ... on TablePreview {
        columns
        rows
        errors {
          row
          column
          message
        }
        moreRows
        moreColumns
        schema
        problem
      }
      ... on TextPreview {
        text
        charset
        language
        truncated
      }
      ... on ImagePreview {
        address
        width
        height
      }
      ... on NotebookPreview {
        language
        cells {
          kind
          text
          outputs
        }
        truncated
      }
      ... on DocumentPreview {
        address
        mediaType
      }
      ... on NoPreview {
        reason
        about
      }
    }
  `,
  { fragmentName: "PreviewParts" },
) as unknown as TypedDocumentString<PreviewPartsFragment, unknown>;
export const ContentPreviewFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment ContentPreview on HasContent {
      preview {
        ...PreviewParts
      }
    }
    fragment PreviewParts on Preview {
      __typename
      ... on TablePreview {
        columns
        rows
        errors {
          row
          column
          message
        }
        moreRows
        moreColumns
        schema
        problem
      }
      ... on TextPreview {
        text
        charset
        language
        truncated
      }
      ... on ImagePreview {
        address
        width
        height
      }
      ... on NotebookPreview {
        language
        cells {
          kind
          text
          outputs
        }
        truncated
      }
      ... on DocumentPreview {
        address
        mediaType
      }
      ... on NoPreview {
        reason
        about
      }
    }
  `,
  { fragmentName: "ContentPreview" },
) as unknown as TypedDocumentString<ContentPreviewFragment, unknown>;
export const FolderFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment Folder on FolderEntryConnection {
      fileCount
      size
      nodes {
        name
        path
        isFolder
        fileCount
        size
        file {
          id
          mediaType
          readable
          address
          record {
            ...Named
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
    fragment Named on Record {
      id
      name
      kind
    }
  `,
  { fragmentName: "Folder" },
) as unknown as TypedDocumentString<FolderFragment, unknown>;
export const ScoreFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment Score on AiReadyScore {
      score {
        met
        partly
        total
      }
      categories {
        name
        criteria {
          name
          status
          details
          fix
        }
      }
    }
  `,
  { fragmentName: "Score" },
) as unknown as TypedDocumentString<ScoreFragment, unknown>;
export const CratePartsFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment CrateParts on ROCrate {
      addresses {
        metadata
        current
        uploaded
        page
      }
      folder(first: 60) {
        ...Folder
      }
      datasheet {
        title
        answers {
          question
          texts
        }
        notStated
      }
      scoreHistory {
        computedAt
        met
        partly
        total
      }
      recordCounts {
        kind
        count
      }
      score {
        ...Score
      }
    }
    fragment Folder on FolderEntryConnection {
      fileCount
      size
      nodes {
        name
        path
        isFolder
        fileCount
        size
        file {
          id
          mediaType
          readable
          address
          record {
            ...Named
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
    fragment Named on Record {
      id
      name
      kind
    }
    fragment Score on AiReadyScore {
      score {
        met
        partly
        total
      }
      categories {
        name
        criteria {
          name
          status
          details
          fix
        }
      }
    }
  `,
  { fragmentName: "CrateParts" },
) as unknown as TypedDocumentString<CratePartsFragment, unknown>;
export const DanglingFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment Dangling on DanglingReference {
      record {
        id
        name
        kind
      }
      predicate
      target
      reason
      successor
    }
  `,
  { fragmentName: "Dangling" },
) as unknown as TypedDocumentString<DanglingFragment, unknown>;
export const UploadFindingFragmentDoc = new TypedDocumentString(
  /* GraphQL */ `
    fragment UploadFinding on Finding {
      code
      message
      file
      pointer
      line
    }
  `,
  { fragmentName: "UploadFinding" },
) as unknown as TypedDocumentString<UploadFindingFragment, unknown>;
export const SignUpDocument = new TypedDocumentString(/* GraphQL */ `
  mutation SignUp($input: UserInput!) {
    createUser(input: $input) {
      id
      name
    }
  }
`) as unknown as TypedDocumentString<SignUpMutation, SignUpMutationVariables>;
export const AdministrationDocument = new TypedDocumentString(/* GraphQL */ `
  query Administration($after: String) {
    registryFigures {
      accounts
      records
      queued
      running
      waitingSince
    }
    health {
      ok
      lag
      checks {
        part
        state
      }
    }
    sizes: recordStatistics(by: [KIND]) {
      groups {
        kind
        count
        bytes
      }
    }
    accounts(first: 50, after: $after) {
      nodes {
        id
        name
        email
        admin
        disabled
        createdAt
        signedInAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
    submissions(first: 20) {
      nodes {
        ...SubmissionRow
      }
    }
    embargoed: records(filter: { status: [EMBARGOED] }, first: 50) {
      totalCount
      nodes {
        ...RecordCard
      }
    }
  }
  fragment RecordCard on Record {
    id
    kind
    name
    description
    keywords
    license
    modifiedAt
    publicationStatus
    embargoEndsAt
    owner {
      id
      name
      kind
    }
  }
  fragment SubmissionRow on Submission {
    submissionUUID
    status
    stage
    completed
    success
    retryable
    record {
      id
      name
      kind
    }
    rocrateIdentifier
    computationIdentifier
    evidenceGraphIdentifier
    scoredCrateIdentifier
    doiRecordIdentifier
    embeddingsModel
    timeStarted
    timeFinished
    error {
      code
      message
    }
    warnings {
      code
    }
  }
`) as unknown as TypedDocumentString<AdministrationQuery, AdministrationQueryVariables>;
export const SetAccountDocument = new TypedDocumentString(/* GraphQL */ `
  mutation SetAccount($user: ID!, $admin: Boolean, $disabled: Boolean) {
    setAccount(user: $user, admin: $admin, disabled: $disabled) {
      id
    }
  }
`) as unknown as TypedDocumentString<SetAccountMutation, SetAccountMutationVariables>;
export const CreatePasswordResetDocument = new TypedDocumentString(/* GraphQL */ `
  mutation CreatePasswordReset($user: ID!) {
    createPasswordReset(user: $user) {
      token
      expiresAt
      user
    }
  }
`) as unknown as TypedDocumentString<
  CreatePasswordResetMutation,
  CreatePasswordResetMutationVariables
>;
export const ResetPasswordDocument = new TypedDocumentString(/* GraphQL */ `
  mutation ResetPassword($token: String!, $password: String!) {
    resetPassword(token: $token, password: $password)
  }
`) as unknown as TypedDocumentString<ResetPasswordMutation, ResetPasswordMutationVariables>;
export const StatusDocument = new TypedDocumentString(/* GraphQL */ `
  query Status {
    health {
      ok
      ready
      lag
      checks {
        part
        state
      }
    }
  }
`) as unknown as TypedDocumentString<StatusQuery, StatusQueryVariables>;
export const EditDocument = new TypedDocumentString(/* GraphQL */ `
  query Edit($id: ID!) {
    record(id: $id) {
      ...Named
      revision
      mayChange
      document
    }
  }
  fragment Named on Record {
    id
    name
    kind
  }
`) as unknown as TypedDocumentString<EditQuery, EditQueryVariables>;
export const EditSinceDocument = new TypedDocumentString(/* GraphQL */ `
  query EditSince($id: ID!, $revision: Int!) {
    record(id: $id) {
      ...Named
      revision
      mayChange
      document
    }
    revision(id: $id, revision: $revision) {
      document
    }
    revisions(id: $id, first: 1) {
      nodes {
        at
        byRecord {
          ...Named
        }
      }
    }
  }
  fragment Named on Record {
    id
    name
    kind
  }
`) as unknown as TypedDocumentString<EditSinceQuery, EditSinceQueryVariables>;
export const ChangeRecordDocument = new TypedDocumentString(/* GraphQL */ `
  mutation ChangeRecord($input: UpdateRecordInput!) {
    updateRecord(input: $input) {
      id
      revision
    }
  }
`) as unknown as TypedDocumentString<ChangeRecordMutation, ChangeRecordMutationVariables>;
export const EvidenceDocument = new TypedDocumentString(/* GraphQL */ `
  query Evidence(
    $id: ID!
    $direction: Direction!
    $depth: Int
    $first: Int
    $assertedBy: AssertedBy!
    $collapse: Int
    $expand: [String!]
    $kinds: [RecordKind!]
    $groupLink: String
    $outline: Direction
  ) {
    record(id: $id) {
      id
      name
      kind
      publicationStatus
      embargoEndsAt
    }
    evidencePicture(
      id: $id
      direction: $direction
      depth: $depth
      first: $first
      assertedBy: $assertedBy
      collapse: $collapse
      expand: $expand
      kinds: $kinds
      groupLink: $groupLink
    ) {
      svg
      nodeCount
      edgeCount
      notDrawn {
        reason
        count
        about
      }
      evidence {
        truncated
        dangling
        outline(direction: $outline) {
          id
          name
          depth
          property
          inverse
          symbol
          count
          group
          repeated
          continues
          further
          missing
          thirdParty
          assertedBy {
            id
            name
          }
        }
      }
    }
  }
`) as unknown as TypedDocumentString<EvidenceQuery, EvidenceQueryVariables>;
export const EvidencePathDocument = new TypedDocumentString(/* GraphQL */ `
  query EvidencePath($from: ID!, $to: ID!) {
    supportPath(from: $from, to: $to) {
      direction
      length
      nodes {
        id
        name
        kind
      }
      edges {
        name
        source
        target
        thirdParty
      }
    }
  }
`) as unknown as TypedDocumentString<EvidencePathQuery, EvidencePathQueryVariables>;
export const ImpactDocument = new TypedDocumentString(/* GraphQL */ `
  query Impact($id: ID!, $first: Int!, $after: String) {
    record(id: $id) {
      id
      name
      kind
    }
    impact(id: $id) {
      total
      direct
      furthest
      unresolved
      byKind {
        kind
        count
      }
      byOwner {
        count
        owner
        name
      }
    }
    evidenceGraph(id: $id, direction: DOWNSTREAM, first: $first, after: $after) {
      pageInfo {
        hasNextPage
        endCursor
      }
      nodes {
        id
        name
        kind
        publicationStatus
        modifiedAt
        owner {
          id
          name
        }
      }
    }
  }
`) as unknown as TypedDocumentString<ImpactQuery, ImpactQueryVariables>;
export const ExplorerDocument = new TypedDocumentString(/* GraphQL */ `
  query Explorer {
    crate: roCrates(first: 1, orderBy: { field: CREATED, direction: DESC }) {
      nodes {
        id
      }
    }
    file: dataDownloads(first: 1, orderBy: { field: CREATED, direction: DESC }) {
      nodes {
        id
      }
    }
    project: projects(first: 1, orderBy: { field: CREATED, direction: DESC }) {
      nodes {
        id
      }
    }
    group: groups(first: 1, orderBy: { field: CREATED, direction: DESC }) {
      nodes {
        id
      }
    }
    experiment: experiments(first: 1, orderBy: { field: MODIFIED, direction: DESC }) {
      nodes {
        id
      }
    }
  }
`) as unknown as TypedDocumentString<ExplorerQuery, ExplorerQueryVariables>;
export const ViewerDocument = new TypedDocumentString(/* GraphQL */ `
  query Viewer {
    me {
      id
      name
    }
  }
`) as unknown as TypedDocumentString<ViewerQuery, ViewerQueryVariables>;
export const HistoryPageDocument = new TypedDocumentString(/* GraphQL */ `
  query HistoryPage(
    $id: ID!
    $after: String
    $newest: Boolean!
    $compare: Boolean!
    $from: Int
    $to: Int!
  ) {
    record(id: $id) {
      ...Named
      revision
      mayChange
    }
    ...RevisionsShown
  }
  fragment RevisionsShown on Query {
    revisions(id: $id, first: 30, after: $after) {
      totalCount
      nodes {
        ...RevisionFacts
        changed
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
    newest: revisions(id: $id, first: 1) @include(if: $newest) {
      nodes {
        ...Compared
      }
    }
    revision(id: $id, revision: $to) @include(if: $compare) {
      ...Compared
    }
  }
  fragment RevisionFacts on Revision {
    revision
    at
    action
    byRecord {
      ...Named
    }
  }
  fragment Compared on Revision {
    ...RevisionFacts
    differences(since: $from) {
      pointer
      kind
      before
      after
    }
  }
  fragment Named on Record {
    id
    name
    kind
  }
`) as unknown as TypedDocumentString<HistoryPageQuery, HistoryPageQueryVariables>;
export const DeletedHistoryPageDocument = new TypedDocumentString(/* GraphQL */ `
  query DeletedHistoryPage(
    $id: ID!
    $after: String
    $newest: Boolean!
    $compare: Boolean!
    $from: Int
    $to: Int!
  ) {
    ...RevisionsShown
  }
  fragment RevisionsShown on Query {
    revisions(id: $id, first: 30, after: $after) {
      totalCount
      nodes {
        ...RevisionFacts
        changed
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
    newest: revisions(id: $id, first: 1) @include(if: $newest) {
      nodes {
        ...Compared
      }
    }
    revision(id: $id, revision: $to) @include(if: $compare) {
      ...Compared
    }
  }
  fragment RevisionFacts on Revision {
    revision
    at
    action
    byRecord {
      ...Named
    }
  }
  fragment Compared on Revision {
    ...RevisionFacts
    differences(since: $from) {
      pointer
      kind
      before
      after
    }
  }
  fragment Named on Record {
    id
    name
    kind
  }
`) as unknown as TypedDocumentString<DeletedHistoryPageQuery, DeletedHistoryPageQueryVariables>;
export const RestoreRevisionDocument = new TypedDocumentString(/* GraphQL */ `
  mutation RestoreRevision($id: ID!, $revision: Int!, $expectedRevision: Int) {
    restoreRevision(id: $id, revision: $revision, expectedRevision: $expectedRevision) {
      id
      revision
    }
  }
`) as unknown as TypedDocumentString<RestoreRevisionMutation, RestoreRevisionMutationVariables>;
export const HomeDocument = new TypedDocumentString(/* GraphQL */ `
  query Home {
    recordStatistics(by: [KIND]) {
      groups {
        kind
        count
      }
    }
    roCrates(first: 6, orderBy: { field: CREATED, direction: DESC }) {
      nodes {
        ...RecordCard
      }
    }
  }
  fragment RecordCard on Record {
    id
    kind
    name
    description
    keywords
    license
    modifiedAt
    publicationStatus
    embargoEndsAt
    owner {
      id
      name
      kind
    }
  }
`) as unknown as TypedDocumentString<HomeQuery, HomeQueryVariables>;
export const MyWorkDocument = new TypedDocumentString(/* GraphQL */ `
  query MyWork($me: ID!) {
    submissions(first: 5) {
      nodes {
        ...SubmissionRow
      }
    }
    statuses: recordStatistics(
      filter: { owner: $me, not: { kind: [GROUP, ORGANIZATION, PROJECT] } }
      by: [STATUS]
    ) {
      groups {
        status
        count
        bytes
      }
    }
    crates: records(
      filter: { owner: $me, kind: [ROCRATE] }
      orderBy: { field: MODIFIED, direction: DESC }
      first: 6
    ) {
      totalCount
      nodes {
        ...RecordCard
      }
    }
    me {
      organizations(first: 50) {
        nodes {
          id
          kind
          ... on Record {
            name
          }
        }
      }
      projects(first: 50) {
        nodes {
          id
          kind
          ... on Record {
            name
          }
        }
      }
    }
  }
  fragment RecordCard on Record {
    id
    kind
    name
    description
    keywords
    license
    modifiedAt
    publicationStatus
    embargoEndsAt
    owner {
      id
      name
      kind
    }
  }
  fragment SubmissionRow on Submission {
    submissionUUID
    status
    stage
    completed
    success
    retryable
    record {
      id
      name
      kind
    }
    rocrateIdentifier
    computationIdentifier
    evidenceGraphIdentifier
    scoredCrateIdentifier
    doiRecordIdentifier
    embeddingsModel
    timeStarted
    timeFinished
    error {
      code
      message
    }
    warnings {
      code
    }
  }
`) as unknown as TypedDocumentString<MyWorkQuery, MyWorkQueryVariables>;
export const MyUploadsDocument = new TypedDocumentString(/* GraphQL */ `
  query MyUploads($after: String) {
    submissions(first: 25, after: $after) {
      nodes {
        ...SubmissionRow
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
  fragment SubmissionRow on Submission {
    submissionUUID
    status
    stage
    completed
    success
    retryable
    record {
      id
      name
      kind
    }
    rocrateIdentifier
    computationIdentifier
    evidenceGraphIdentifier
    scoredCrateIdentifier
    doiRecordIdentifier
    embeddingsModel
    timeStarted
    timeFinished
    error {
      code
      message
    }
    warnings {
      code
    }
  }
`) as unknown as TypedDocumentString<MyUploadsQuery, MyUploadsQueryVariables>;
export const MyRecordsDocument = new TypedDocumentString(/* GraphQL */ `
  query MyRecords($filter: RecordFilter, $first: Int, $after: String, $last: Int, $before: String) {
    records(
      filter: $filter
      orderBy: { field: MODIFIED, direction: DESC }
      first: $first
      after: $after
      last: $last
      before: $before
    ) {
      totalCount
      nodes {
        ...RecordCard
        doiReservation
      }
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
    }
    me {
      organizations(first: 50) {
        nodes {
          id
          ... on Record {
            name
          }
        }
      }
    }
  }
  fragment RecordCard on Record {
    id
    kind
    name
    description
    keywords
    license
    modifiedAt
    publicationStatus
    embargoEndsAt
    owner {
      id
      name
      kind
    }
  }
`) as unknown as TypedDocumentString<MyRecordsQuery, MyRecordsQueryVariables>;
export const ChosenRecordsDocument = new TypedDocumentString(/* GraphQL */ `
  query ChosenRecords($ids: [ID!]!) {
    nodes(ids: $ids) {
      id
      ... on Record {
        name
        publicationStatus
      }
    }
  }
`) as unknown as TypedDocumentString<ChosenRecordsQuery, ChosenRecordsQueryVariables>;
export const PublishRecordsDocument = new TypedDocumentString(/* GraphQL */ `
  mutation PublishRecords(
    $ids: [ID!]!
    $publicationStatus: PublicationStatus!
    $embargoedUntil: String
  ) {
    publishRecords(
      ids: $ids
      publicationStatus: $publicationStatus
      embargoedUntil: $embargoedUntil
    ) {
      ...BulkRow
    }
  }
  fragment BulkRow on BulkResult {
    id
    done
    code
    message
  }
`) as unknown as TypedDocumentString<PublishRecordsMutation, PublishRecordsMutationVariables>;
export const WithdrawRecordsDocument = new TypedDocumentString(/* GraphQL */ `
  mutation WithdrawRecords($ids: [ID!]!, $reason: String, $successor: ID) {
    deleteRecords(ids: $ids, reason: $reason, successor: $successor) {
      ...BulkRow
    }
  }
  fragment BulkRow on BulkResult {
    id
    done
    code
    message
  }
`) as unknown as TypedDocumentString<WithdrawRecordsMutation, WithdrawRecordsMutationVariables>;
export const TransferRecordsDocument = new TypedDocumentString(/* GraphQL */ `
  mutation TransferRecords($ids: [ID!]!, $owner: ID!) {
    transferRecords(ids: $ids, owner: $owner) {
      ...BulkRow
    }
  }
  fragment BulkRow on BulkResult {
    id
    done
    code
    message
  }
`) as unknown as TypedDocumentString<TransferRecordsMutation, TransferRecordsMutationVariables>;
export const ProfileDocument = new TypedDocumentString(/* GraphQL */ `
  query Profile {
    me {
      id
      name
      document
      revision
    }
    accessTokens {
      id
      name
      createdAt
      usedAt
      expiresAt
    }
  }
`) as unknown as TypedDocumentString<ProfileQuery, ProfileQueryVariables>;
export const UpdateProfileDocument = new TypedDocumentString(/* GraphQL */ `
  mutation UpdateProfile($input: UpdateUserInput!) {
    updateUser(input: $input) {
      id
      name
    }
  }
`) as unknown as TypedDocumentString<UpdateProfileMutation, UpdateProfileMutationVariables>;
export const ChangePasswordDocument = new TypedDocumentString(/* GraphQL */ `
  mutation ChangePassword($currentPassword: String!, $newPassword: String!) {
    changePassword(currentPassword: $currentPassword, newPassword: $newPassword) {
      expiresIn
    }
  }
`) as unknown as TypedDocumentString<ChangePasswordMutation, ChangePasswordMutationVariables>;
export const CreateAccessTokenDocument = new TypedDocumentString(/* GraphQL */ `
  mutation CreateAccessToken($name: String!, $expiresAt: String) {
    createAccessToken(name: $name, expiresAt: $expiresAt) {
      secret
      token {
        id
        name
        expiresAt
      }
    }
  }
`) as unknown as TypedDocumentString<CreateAccessTokenMutation, CreateAccessTokenMutationVariables>;
export const RevokeAccessTokenDocument = new TypedDocumentString(/* GraphQL */ `
  mutation RevokeAccessToken($id: ID!) {
    revokeAccessToken(id: $id)
  }
`) as unknown as TypedDocumentString<RevokeAccessTokenMutation, RevokeAccessTokenMutationVariables>;
export const MyGroupsDocument = new TypedDocumentString(/* GraphQL */ `
  query MyGroups {
    me {
      id
      organizations(first: 100) {
        nodes {
          ... on Group {
            id
            name
            description
            revision
            owner {
              id
              name
            }
            members(first: 100) {
              nodes {
                id
                ... on Record {
                  name
                }
              }
            }
          }
          ... on Organization {
            id
            name
            description
          }
        }
      }
      projects(first: 100) {
        nodes {
          id
          ... on Record {
            name
            description
          }
        }
      }
    }
  }
`) as unknown as TypedDocumentString<MyGroupsQuery, MyGroupsQueryVariables>;
export const CreateGroupDocument = new TypedDocumentString(/* GraphQL */ `
  mutation CreateGroup($input: GroupInput!) {
    createGroup(input: $input) {
      id
      name
    }
  }
`) as unknown as TypedDocumentString<CreateGroupMutation, CreateGroupMutationVariables>;
export const AddGroupMemberDocument = new TypedDocumentString(/* GraphQL */ `
  mutation AddGroupMember($group: ID!, $user: ID!) {
    addGroupMember(group: $group, user: $user) {
      id
    }
  }
`) as unknown as TypedDocumentString<AddGroupMemberMutation, AddGroupMemberMutationVariables>;
export const RemoveGroupMemberDocument = new TypedDocumentString(/* GraphQL */ `
  mutation RemoveGroupMember($group: ID!, $user: ID!) {
    removeGroupMember(group: $group, user: $user) {
      id
    }
  }
`) as unknown as TypedDocumentString<RemoveGroupMemberMutation, RemoveGroupMemberMutationVariables>;
export const CreateDatasetDocument = new TypedDocumentString(/* GraphQL */ `
  mutation CreateDataset($input: DatasetInput!) {
    createDataset(input: $input) {
      id
    }
  }
`) as unknown as TypedDocumentString<CreateDatasetMutation, CreateDatasetMutationVariables>;
export const CreateSoftwareDocument = new TypedDocumentString(/* GraphQL */ `
  mutation CreateSoftware($input: SoftwareInput!) {
    createSoftware(input: $input) {
      id
    }
  }
`) as unknown as TypedDocumentString<CreateSoftwareMutation, CreateSoftwareMutationVariables>;
export const CreateComputationDocument = new TypedDocumentString(/* GraphQL */ `
  mutation CreateComputation($input: ComputationInput!) {
    createComputation(input: $input) {
      id
    }
  }
`) as unknown as TypedDocumentString<CreateComputationMutation, CreateComputationMutationVariables>;
export const CreateProjectDocument = new TypedDocumentString(/* GraphQL */ `
  mutation CreateProject($input: ProjectInput!) {
    createProject(input: $input) {
      id
    }
  }
`) as unknown as TypedDocumentString<CreateProjectMutation, CreateProjectMutationVariables>;
export const CreateOrganizationDocument = new TypedDocumentString(/* GraphQL */ `
  mutation CreateOrganization($input: OrganizationInput!) {
    createOrganization(input: $input) {
      id
    }
  }
`) as unknown as TypedDocumentString<
  CreateOrganizationMutation,
  CreateOrganizationMutationVariables
>;
export const PreviewPageDocument = new TypedDocumentString(/* GraphQL */ `
  query PreviewPage($id: ID!, $crate: ID!, $inCrate: Boolean!) {
    record(id: $id) {
      ...Named
      crate {
        ...Named
      }
      ...Content
    }
    crate: roCrate(id: $crate) @include(if: $inCrate) {
      ...Named
    }
    preview(id: $id) {
      ...PreviewParts
    }
  }
  fragment PreviewParts on Preview {
    __typename
    ... on TablePreview {
      columns
      rows
      errors {
        row
        column
        message
      }
      moreRows
      moreColumns
      schema
      problem
    }
    ... on TextPreview {
      text
      charset
      language
      truncated
    }
    ... on ImagePreview {
      address
      width
      height
    }
    ... on NotebookPreview {
      language
      cells {
        kind
        text
        outputs
      }
      truncated
    }
    ... on DocumentPreview {
      address
      mediaType
    }
    ... on NoPreview {
      reason
      about
    }
  }
  fragment Named on Record {
    id
    name
    kind
  }
  fragment Content on HasContent {
    content {
      state
      mediaType
      size
      sha256
      address
      readable
    }
  }
`) as unknown as TypedDocumentString<PreviewPageQuery, PreviewPageQueryVariables>;
export const FolderPageDocument = new TypedDocumentString(/* GraphQL */ `
  query FolderPage($id: ID!, $path: String!, $after: String, $first: Int!) {
    roCrate(id: $id) {
      ...Named
      folder(path: $path, first: $first, after: $after) {
        ...Folder
      }
    }
  }
  fragment Folder on FolderEntryConnection {
    fileCount
    size
    nodes {
      name
      path
      isFolder
      fileCount
      size
      file {
        id
        mediaType
        readable
        address
        record {
          ...Named
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
  fragment Named on Record {
    id
    name
    kind
  }
`) as unknown as TypedDocumentString<FolderPageQuery, FolderPageQueryVariables>;
export const ShapePageDocument = new TypedDocumentString(/* GraphQL */ `
  query ShapePage($id: ID!) {
    record(id: $id) {
      ...Named
      shapeReport {
        conforms
        checked
        truncated
        results {
          node
          kind
          path
          severity
          message
          value
        }
      }
    }
  }
  fragment Named on Record {
    id
    name
    kind
  }
`) as unknown as TypedDocumentString<ShapePageQuery, ShapePageQueryVariables>;
export const RecordPageDocument = new TypedDocumentString(/* GraphQL */ `
  query RecordPage(
    $id: ID!
    $activity: Boolean!
    $thing: Boolean!
    $agent: Boolean!
    $crate: Boolean!
    $cited: Boolean!
    $indexed: Boolean!
    $file: Boolean!
    $group: String!
  ) {
    record(id: $id) {
      ...RecordHead
      ...Citations @include(if: $cited)
      schemaOrg: as(format: SCHEMAORG) @include(if: $indexed) {
        text
      }
      ...Content
      references: links(direction: FROM, first: 100) {
        nodes {
          ...NamedLink
        }
      }
      backward: links(direction: TO, first: 60) {
        nodes {
          ...NamedLink
        }
        pageInfo {
          hasNextPage
        }
      }
      generatedBy: related(relation: GENERATED_BY, first: 6) @include(if: $thing) {
        ...Related
        nodes {
          inputs: related(relation: USED_DATASET, first: 6) {
            ...Related
          }
          software: related(relation: USED_SOFTWARE, first: 3) {
            ...Related
          }
        }
      }
      derivedFrom: related(relation: DERIVED_FROM, first: 10) @include(if: $thing) {
        ...Related
      }
      derivedTo: related(relation: DERIVED_TO, first: 10) @include(if: $thing) {
        ...Related
      }
      usedBy: related(relation: USED_BY, first: 10) @include(if: $thing) {
        ...Related
      }
      distribution: related(relation: DISTRIBUTION, first: 20) @include(if: $thing) {
        ...Related
        nodes {
          ...FileFacts
        }
      }
      isPartOf: related(relation: IS_PART_OF, first: 10) @skip(if: $agent) {
        ...Related
      }
      hasPart: related(relation: HAS_PART, first: 20) @skip(if: $agent) {
        ...Related
      }
      usedDataset: related(relation: USED_DATASET, first: 10) @include(if: $activity) {
        ...Related
      }
      usedSoftware: related(relation: USED_SOFTWARE, first: 10) @include(if: $activity) {
        ...Related
      }
      usedSample: related(relation: USED_SAMPLE, first: 10) @include(if: $activity) {
        ...Related
      }
      usedInstrument: related(relation: USED_INSTRUMENT, first: 10) @include(if: $activity) {
        ...Related
      }
      usedMLModel: related(relation: USED_ML_MODEL, first: 10) @include(if: $activity) {
        ...Related
      }
      generated: related(relation: GENERATED, first: 10) @include(if: $activity) {
        ...Related
      }
      annotates: related(relation: ANNOTATES, first: 10) @include(if: $thing) {
        ...Related
      }
      members: related(relation: MEMBERS, first: 50) @include(if: $agent) {
        ...Related
      }
      organizations: related(relation: ORGANIZATIONS, first: 20) @include(if: $agent) {
        ...Related
      }
      projects: related(relation: PROJECTS, first: 20) @include(if: $agent) {
        ...Related
      }
      ...CrateParts @include(if: $crate)
      ...ContentPreview @include(if: $file)
    }
    picture: evidenceNearby(id: $id, groupLink: $group) @skip(if: $agent) {
      svg
      nodeCount
      notDrawn {
        count
        about
      }
    }
    contents: records(filter: { describedBy: $id }, first: 24) @include(if: $crate) {
      nodes {
        ...Named
      }
      pageInfo {
        hasNextPage
      }
    }
    subcrates: records(
      filter: { describedBy: $id, kind: [ROCRATE] }
      orderBy: { field: NAME, direction: ASC }
      first: 12
    ) @include(if: $crate) {
      nodes {
        ...Named
        description
      }
      pageInfo {
        hasNextPage
      }
    }
    holdings: records(
      filter: { owner: $id }
      orderBy: { field: MODIFIED, direction: DESC }
      first: 12
    ) @include(if: $agent) {
      nodes {
        ...RecordCard
      }
      pageInfo {
        hasNextPage
      }
    }
  }
  fragment RecordCard on Record {
    id
    kind
    name
    description
    keywords
    license
    modifiedAt
    publicationStatus
    embargoEndsAt
    owner {
      id
      name
      kind
    }
  }
  fragment PreviewParts on Preview {
    __typename
    ... on TablePreview {
      columns
      rows
      errors {
        row
        column
        message
      }
      moreRows
      moreColumns
      schema
      problem
    }
    ... on TextPreview {
      text
      charset
      language
      truncated
    }
    ... on ImagePreview {
      address
      width
      height
    }
    ... on NotebookPreview {
      language
      cells {
        kind
        text
        outputs
      }
      truncated
    }
    ... on DocumentPreview {
      address
      mediaType
    }
    ... on NoPreview {
      reason
      about
    }
  }
  fragment Folder on FolderEntryConnection {
    fileCount
    size
    nodes {
      name
      path
      isFolder
      fileCount
      size
      file {
        id
        mediaType
        readable
        address
        record {
          ...Named
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
  fragment RecordHead on Record {
    id
    kind
    name
    revision
    createdAt
    modifiedAt
    publicationStatus
    embargoEndsAt
    license
    mayChange
    doi
    doiReservation
    creators {
      id
      name
    }
    owner {
      ...Named
    }
    crate {
      ...Named
    }
    formats {
      name
      label
      description
      address
    }
  }
  fragment Citations on Record {
    citation: as(format: CITATION) {
      text
    }
    bibtex: as(format: BIBTEX) {
      text
    }
    ris: as(format: RIS) {
      text
    }
  }
  fragment Named on Record {
    id
    name
    kind
  }
  fragment NamedLink on RecordLink {
    predicate
    record {
      ...Named
    }
  }
  fragment Related on RecordConnection {
    totalCount
    nodes {
      ...Named
    }
  }
  fragment Content on HasContent {
    content {
      state
      mediaType
      size
      sha256
      address
      readable
    }
  }
  fragment FileFacts on Record {
    ... on DataDownload {
      encodingFormat
    }
    ...FileContent
  }
  fragment FileContent on HasContent {
    content {
      state
      mediaType
      size
      address
      readable
    }
  }
  fragment ContentPreview on HasContent {
    preview {
      ...PreviewParts
    }
  }
  fragment CrateParts on ROCrate {
    addresses {
      metadata
      current
      uploaded
      page
    }
    folder(first: 60) {
      ...Folder
    }
    datasheet {
      title
      answers {
        question
        texts
      }
      notStated
    }
    scoreHistory {
      computedAt
      met
      partly
      total
    }
    recordCounts {
      kind
      count
    }
    score {
      ...Score
    }
  }
  fragment Score on AiReadyScore {
    score {
      met
      partly
      total
    }
    categories {
      name
      criteria {
        name
        status
        details
        fix
      }
    }
  }
`) as unknown as TypedDocumentString<RecordPageQuery, RecordPageQueryVariables>;
export const ScorePageDocument = new TypedDocumentString(/* GraphQL */ `
  query ScorePage($id: ID!) {
    roCrate(id: $id) {
      ...Named
      scoreHistory {
        computedAt
        met
        partly
        total
      }
    }
    aiReadyScore(id: $id) {
      ...Score
    }
  }
  fragment Named on Record {
    id
    name
    kind
  }
  fragment Score on AiReadyScore {
    score {
      met
      partly
      total
    }
    categories {
      name
      criteria {
        name
        status
        details
        fix
      }
    }
  }
`) as unknown as TypedDocumentString<ScorePageQuery, ScorePageQueryVariables>;
export const RelatedPageDocument = new TypedDocumentString(/* GraphQL */ `
  query RelatedPage($id: ID!, $relation: RecordRelation!, $after: String) {
    record(id: $id) {
      ...Named
      related(relation: $relation, first: 100, after: $after) {
        totalCount
        nodes {
          ...Named
          description
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
  fragment Named on Record {
    id
    name
    kind
  }
`) as unknown as TypedDocumentString<RelatedPageQuery, RelatedPageQueryVariables>;
export const ListedPageDocument = new TypedDocumentString(/* GraphQL */ `
  query ListedPage(
    $id: ID!
    $filter: RecordFilter!
    $after: String
    $before: String
    $first: Int
    $last: Int
  ) {
    record(id: $id) {
      ...Named
    }
    records(
      filter: $filter
      orderBy: { field: MODIFIED, direction: DESC }
      after: $after
      before: $before
      first: $first
      last: $last
    ) {
      totalCount
      nodes {
        ...RecordCard
      }
      pageInfo {
        hasNextPage
        endCursor
        hasPreviousPage
        startCursor
      }
    }
  }
  fragment RecordCard on Record {
    id
    kind
    name
    description
    keywords
    license
    modifiedAt
    publicationStatus
    embargoEndsAt
    owner {
      id
      name
      kind
    }
  }
  fragment Named on Record {
    id
    name
    kind
  }
`) as unknown as TypedDocumentString<ListedPageQuery, ListedPageQueryVariables>;
export const ReferencesPageDocument = new TypedDocumentString(/* GraphQL */ `
  query ReferencesPage($id: ID!, $after: String) {
    roCrate(id: $id) {
      id
      name
      kind
      mayChange
      danglingReferences(first: 50, after: $after) {
        nodes {
          ...Dangling
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
  fragment Dangling on DanglingReference {
    record {
      id
      name
      kind
    }
    predicate
    target
    reason
    successor
  }
`) as unknown as TypedDocumentString<ReferencesPageQuery, ReferencesPageQueryVariables>;
export const MyReferencesDocument = new TypedDocumentString(/* GraphQL */ `
  query MyReferences($me: ID!, $after: String) {
    roCrates(
      filter: { owner: $me }
      orderBy: { field: MODIFIED, direction: DESC }
      first: 10
      after: $after
    ) {
      totalCount
      nodes {
        id
        name
        kind
        mayChange
        danglingReferences(first: 5) {
          nodes {
            ...Dangling
          }
          pageInfo {
            hasNextPage
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
  fragment Dangling on DanglingReference {
    record {
      id
      name
      kind
    }
    predicate
    target
    reason
    successor
  }
`) as unknown as TypedDocumentString<MyReferencesQuery, MyReferencesQueryVariables>;
export const ReserveDocument = new TypedDocumentString(/* GraphQL */ `
  query Reserve($id: ID!) {
    record(id: $id) {
      id
      name
      kind
      publicationStatus
      mayChange
      doi
      doiReservation
    }
  }
`) as unknown as TypedDocumentString<ReserveQuery, ReserveQueryVariables>;
export const ReserveDoiDocument = new TypedDocumentString(/* GraphQL */ `
  mutation ReserveDoi($id: ID!) {
    reserveDoi(id: $id) {
      id
      doi
      submission {
        submissionUUID
      }
    }
  }
`) as unknown as TypedDocumentString<ReserveDoiMutation, ReserveDoiMutationVariables>;
export const SearchDocument = new TypedDocumentString(/* GraphQL */ `
  query Search(
    $query: String!
    $filter: RecordFilter
    $first: Int!
    $after: String
    $mode: SearchMode!
  ) {
    search(query: $query, filter: $filter, first: $first, after: $after, mode: $mode) {
      totalCount
      totalIsExact
      rankedResults
      didYouMean
      facets(
        by: [KIND, KEYWORD, LICENCE, OWNER, PROJECT, CRATE, MONTH, FORMAT, STATUS, SCORE_BAND]
        first: 30
      ) {
        by
        exact
        hasMore
        values {
          value
          label
          count
        }
      }
      results {
        fragments {
          field
          parts {
            text
            found
          }
        }
        node {
          ...RecordCard
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
  fragment RecordCard on Record {
    id
    kind
    name
    description
    keywords
    license
    modifiedAt
    publicationStatus
    embargoEndsAt
    owner {
      id
      name
      kind
    }
  }
`) as unknown as TypedDocumentString<SearchQuery, SearchQueryVariables>;
export const RecordListDocument = new TypedDocumentString(/* GraphQL */ `
  query RecordList(
    $filter: RecordFilter
    $orderBy: RecordOrder
    $first: Int
    $after: String
    $last: Int
    $before: String
  ) {
    records(
      filter: $filter
      orderBy: $orderBy
      first: $first
      after: $after
      last: $last
      before: $before
    ) {
      totalCount
      nodes {
        ...RecordCard
      }
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
    }
    kinds: recordStatistics(filter: $filter, by: [KIND], first: 30) {
      groups {
        kind
        count
      }
    }
    keywords: recordStatistics(filter: $filter, by: [KEYWORD], first: 20) {
      groups {
        keyword
        count
      }
    }
    licences: recordStatistics(filter: $filter, by: [LICENCE], first: 20) {
      groups {
        licence
        count
      }
    }
    owners: recordStatistics(filter: $filter, by: [OWNER], first: 20) {
      groups {
        owner {
          id
          name
        }
        count
      }
    }
    projects: recordStatistics(filter: $filter, by: [PROJECT], first: 20) {
      groups {
        project {
          id
          name
        }
        count
      }
    }
    crates: recordStatistics(filter: $filter, by: [CRATE], first: 20) {
      groups {
        crate {
          id
          name
        }
        count
      }
    }
    months: recordStatistics(filter: $filter, by: [MONTH], first: 200) {
      groups {
        month
        count
      }
    }
    formats: recordStatistics(filter: $filter, by: [FORMAT], first: 20) {
      groups {
        format
        count
      }
    }
    statuses: recordStatistics(filter: $filter, by: [STATUS], first: 10) {
      groups {
        status
        count
      }
    }
    scores: recordStatistics(filter: $filter, by: [SCORE_BAND], first: 10) {
      groups {
        scoreBand
        count
      }
    }
  }
  fragment RecordCard on Record {
    id
    kind
    name
    description
    keywords
    license
    modifiedAt
    publicationStatus
    embargoEndsAt
    owner {
      id
      name
      kind
    }
  }
`) as unknown as TypedDocumentString<RecordListQuery, RecordListQueryVariables>;
export const NamesOfDocument = new TypedDocumentString(/* GraphQL */ `
  query NamesOf($ids: [ID!]!) {
    nodes(ids: $ids) {
      ... on Record {
        id
        name
        kind
      }
    }
  }
`) as unknown as TypedDocumentString<NamesOfQuery, NamesOfQueryVariables>;
export const UploadDocument = new TypedDocumentString(/* GraphQL */ `
  query Upload($id: ID!) {
    submission(id: $id) {
      submissionUUID
      status
      stage
      completed
      success
      retryable
      rocrateIdentifier
      identifiersMinted
      timeStarted
      timeFinished
      progress {
        done
        total
        unit
      }
      error {
        ...UploadFinding
      }
      warnings {
        ...UploadFinding
      }
    }
  }
  fragment UploadFinding on Finding {
    code
    message
    file
    pointer
    line
  }
`) as unknown as TypedDocumentString<UploadQuery, UploadQueryVariables>;
export const UploadedCrateDocument = new TypedDocumentString(/* GraphQL */ `
  query UploadedCrate($id: ID!) {
    roCrate(id: $id) {
      id
      name
      publicationStatus
      embargoEndsAt
      revision
      recordCounts {
        kind
        count
      }
    }
  }
`) as unknown as TypedDocumentString<UploadedCrateQuery, UploadedCrateQueryVariables>;
export const PublishRecordDocument = new TypedDocumentString(/* GraphQL */ `
  mutation PublishRecord(
    $id: ID!
    $publicationStatus: PublicationStatus!
    $embargoedUntil: String
    $expectedRevision: Int
  ) {
    publish(
      id: $id
      publicationStatus: $publicationStatus
      embargoedUntil: $embargoedUntil
      expectedRevision: $expectedRevision
    ) {
      id
      publicationStatus
    }
  }
`) as unknown as TypedDocumentString<PublishRecordMutation, PublishRecordMutationVariables>;
export const RetryUploadDocument = new TypedDocumentString(/* GraphQL */ `
  mutation RetryUpload($id: ID!) {
    retrySubmission(id: $id) {
      submissionUUID
    }
  }
`) as unknown as TypedDocumentString<RetryUploadMutation, RetryUploadMutationVariables>;
export const CancelUploadDocument = new TypedDocumentString(/* GraphQL */ `
  mutation CancelUpload($id: ID!) {
    cancelSubmission(id: $id) {
      submissionUUID
      status
    }
  }
`) as unknown as TypedDocumentString<CancelUploadMutation, CancelUploadMutationVariables>;
