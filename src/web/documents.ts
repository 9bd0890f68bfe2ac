// Printed by `npm run generate` from the files in queries.
import { TypedDocumentString } from "./document.js";
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> =
  T | { [P in keyof T]?: P extends " $fragmentName" | "__typename" ? T[P] : never };
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
