// Printed by `npm run generate` from operations.graphql.
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** Kinds of records, by their types. */
export type RecordKind =
  /** A document about another object. */
  | 'ANNOTATION'
  /** One run of software: what it used and what it generated. */
  | 'COMPUTATION'
  /** A set of data; its files are data downloads. */
  | 'DATASET'
  /** A file: its metadata, and its content when it is stored here. */
  | 'DATA_DOWNLOAD'
  /** Anything else that a crate describes: a person, an article, a place. */
  | 'ENTITY'
  /** A stored answer to: what supports this record? */
  | 'EVIDENCE_GRAPH'
  /** Work at the bench or in the field: what it used and what it generated. */
  | 'EXPERIMENT'
  /** A set of users that may own records together. */
  | 'GROUP'
  /** A device that an experiment used. */
  | 'INSTRUMENT'
  /** A trained machine-learning model. */
  | 'ML_MODEL'
  /** An organization with members and projects. */
  | 'ORGANIZATION'
  /** A project of an organization, with its members and records. */
  | 'PROJECT'
  /** A research-object crate: the root of an uploaded archive. */
  | 'RO_CRATE'
  /** A specimen that an experiment used. */
  | 'SAMPLE'
  /** Describes the columns of a table. */
  | 'SCHEMA'
  /** A program, script or workflow. */
  | 'SOFTWARE'
  /** A person with an account. E-mail address and account data are shown to the person and administrators only. */
  | 'USER';

/** PUBLISHED: everyone may read the content; else who may change it. */
export type PublicationStatus =
  /** Not public any more. */
  | 'ARCHIVED'
  /** Not public yet. */
  | 'DRAFT'
  /** The content becomes public when the embargo ends. */
  | 'EMBARGOED'
  /** The content is public. */
  | 'PUBLISHED';

/** Changes that a subscription asks for; all conditions must hold. */
export type RecordChangeFilter = {
  /** Crate that the records came with. */
  crate?: string | number | null | undefined;
  /** These records; at most 1000. */
  ids?: Array<string | number> | null | undefined;
  /** Records of one of these kinds. */
  kinds?: Array<RecordKind> | null | undefined;
  /** User, group, organization or project that owns the records. */
  owner?: string | number | null | undefined;
};

/** What happened to a record. */
export type RecordChangeType =
  /** The record is at its first revision. */
  | 'CREATED'
  /** The record was deleted, or became a draft of others. */
  | 'DELETED'
  /** The record has a new revision, or is linked under another spelling. */
  | 'UPDATED';

export type WhoAmIQueryVariables = Exact<{ [key: string]: never; }>;


export type WhoAmIQuery = { me: { id: string, name: string | null } | null };

export type MyDatasetsQueryVariables = Exact<{
  owner: string | number;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type MyDatasetsQuery = { datasets: { nodes: Array<{ id: string, name: string | null, publicationStatus: PublicationStatus | null, generatedBy: { nodes: Array<
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
          | { id: string, name: string | null }
        > } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ChangesSubscriptionVariables = Exact<{
  filter?: RecordChangeFilter | null | undefined;
  afterSequence?: number | null | undefined;
}>;


export type ChangesSubscription = { recordChanges: { sequence: number, changes: Array<{ id: string, kind: RecordKind, change: RecordChangeType, record:
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
        | { name: string | null }
       | null }> } };


export const WhoAmIDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"WhoAmI"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"me"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]} as unknown as DocumentNode<WhoAmIQuery, WhoAmIQueryVariables>;
export const MyDatasetsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"MyDatasets"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"owner"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}},"defaultValue":{"kind":"IntValue","value":"50"}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"datasets"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"owners"},"value":{"kind":"ListValue","values":[{"kind":"Variable","name":{"kind":"Name","value":"owner"}}]}}]}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"field"},"value":{"kind":"EnumValue","value":"CREATED"}},{"kind":"ObjectField","name":{"kind":"Name","value":"direction"},"value":{"kind":"EnumValue","value":"DESC"}}]}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"publicationStatus"}},{"kind":"Field","name":{"kind":"Name","value":"generatedBy"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"5"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]} as unknown as DocumentNode<MyDatasetsQuery, MyDatasetsQueryVariables>;
export const ChangesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"Changes"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"RecordChangeFilter"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"afterSequence"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"BigInt"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"recordChanges"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"afterSequence"},"value":{"kind":"Variable","name":{"kind":"Name","value":"afterSequence"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sequence"}},{"kind":"Field","name":{"kind":"Name","value":"changes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"change"}},{"kind":"Field","name":{"kind":"Name","value":"record"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]}}]} as unknown as DocumentNode<ChangesSubscription, ChangesSubscriptionVariables>;
