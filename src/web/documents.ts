// Printed by `npm run generate` from the files in queries.
import { TypedDocumentString } from "./document.js";
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> =
  T | { [P in keyof T]?: P extends " $fragmentName" | "__typename" ? T[P] : never };
/** From one time up to another; each may be left out. */
export type DateTimeRange = {
  /** Before this time. */
  before?: string | null | undefined;
  /** At this time or later. */
  since?: string | null | undefined;
};

/** ASC: the smallest, first or oldest comes first. DESC: the other way round. */
export type OrderDirection =
  /** The smallest, first or oldest comes first. */
  | "ASC"
  /** The largest, last or newest comes first. */
  | "DESC";

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

/** Conditions on records; all that are given must hold. A null is ignored. At most 10 levels of and, or and not, and 1000 conditions and values in all. */
export type RecordFilter = {
  /** All of these hold. */
  and?: Array<RecordFilter> | null | undefined;
  /** Crate that the records came with; the crate itself is not among them. */
  crate?: string | number | null | undefined;
  /** When the record was created. */
  created?: DateTimeRange | null | undefined;
  /** Deleted records, in place of others, by the time of their deletion. It stands in the outermost filter or in its and, together with kind, owner, group, crate, describedBy and times only. */
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
  /** The licence is one of these: SPDX identifiers, or addresses. Both find a licence that is known, however the record states it. */
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
  /** Records of this project: those that it owns or states, that are parts of it, or that name it as sourceProject. */
  project?: string | number | null | undefined;
  /** Crates whose stored AI-readiness score has at least so many per cent. A crate whose score was never asked for has none. */
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
  /** A person with an account. E-mail address and account data are shown to the person and administrators only. */
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

/** What records are counted by. */
export type RecordStatisticsKey =
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
  /** Band of a crate's stored AI-readiness score. */
  | "SCORE_BAND"
  /** Publication status. */
  | "STATUS";

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

/** BASIC: every word must occur, by its stem. SEMANTIC: any word, words that are typical of the best results, and records near in meaning where the registry has an embeddings server. */
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

/** A person with an account. E-mail address and account data are shown to the person and administrators only. */
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
  /** Password; stored only as an argon2id hash. A new one has at least PASSWORD_MIN_LENGTH characters (8) and is not among the 10,000 most used. */
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

export type SignUpMutationVariables = Exact<{
  input: UserInput;
}>;

export type SignUpMutation = { createUser: { id: string; name: string | null } };

export type ViewerQueryVariables = Exact<{ [key: string]: never }>;

export type ViewerQuery = { me: { id: string; name: string | null } | null };

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

export type CancelUploadMutationVariables = Exact<{
  id: string | number;
}>;

export type CancelUploadMutation = {
  cancelSubmission: { submissionUUID: string; status: SubmissionStatus };
};

export const RecordCardFragmentDoc = new TypedDocumentString(
  `
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
export const UploadFindingFragmentDoc = new TypedDocumentString(
  `
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
export const SignUpDocument = new TypedDocumentString(`
    mutation SignUp($input: UserInput!) {
  createUser(input: $input) {
    id
    name
  }
}
    `) as unknown as TypedDocumentString<SignUpMutation, SignUpMutationVariables>;
export const ViewerDocument = new TypedDocumentString(`
    query Viewer {
  me {
    id
    name
  }
}
    `) as unknown as TypedDocumentString<ViewerQuery, ViewerQueryVariables>;
export const HomeDocument = new TypedDocumentString(`
    query Home {
  recordStatistics(by: [KIND]) {
    groups {
      kind
      count
    }
  }
  roCrates(first: 6, orderBy: {field: CREATED, direction: DESC}) {
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
}`) as unknown as TypedDocumentString<HomeQuery, HomeQueryVariables>;
export const SearchDocument = new TypedDocumentString(`
    query Search($query: String!, $filter: RecordFilter, $first: Int!, $after: String, $mode: SearchMode!) {
  search(
    query: $query
    filter: $filter
    first: $first
    after: $after
    mode: $mode
  ) {
    totalCount
    rankedResults
    didYouMean
    facets(
      by: [KIND, KEYWORD, LICENCE, OWNER, MONTH, FORMAT, STATUS, SCORE_BAND]
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
}`) as unknown as TypedDocumentString<SearchQuery, SearchQueryVariables>;
export const RecordListDocument = new TypedDocumentString(`
    query RecordList($filter: RecordFilter, $orderBy: RecordOrder, $first: Int, $after: String, $last: Int, $before: String) {
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
}`) as unknown as TypedDocumentString<RecordListQuery, RecordListQueryVariables>;
export const NamesOfDocument = new TypedDocumentString(`
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
export const UploadDocument = new TypedDocumentString(`
    query Upload($id: ID!) {
  submission(id: $id) {
    submissionUUID
    status
    stage
    completed
    success
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
}`) as unknown as TypedDocumentString<UploadQuery, UploadQueryVariables>;
export const UploadedCrateDocument = new TypedDocumentString(`
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
export const PublishRecordDocument = new TypedDocumentString(`
    mutation PublishRecord($id: ID!, $publicationStatus: PublicationStatus!, $embargoedUntil: String, $expectedRevision: Int) {
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
export const CancelUploadDocument = new TypedDocumentString(`
    mutation CancelUpload($id: ID!) {
  cancelSubmission(id: $id) {
    submissionUUID
    status
  }
}
    `) as unknown as TypedDocumentString<CancelUploadMutation, CancelUploadMutationVariables>;
